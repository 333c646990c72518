package nufft

import (
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
)

// direct returns mode g of a sum by definition, with compensated summation and exact reduction of the phases to one
// period.
func direct(u, low, v []float64, g int) complex128 {
	var sum, lost complex128
	for n := range u {
		term := complex(v[n], 0)*cmplx.Rect(1, 2*math.Pi*phase(u, low, n, g)) - lost
		next := sum + term
		sum, lost = next, (next-sum)-term
	}
	return sum
}

// phase returns g·(u_n + low_n) in periods, less whole ones.
func phase(u, low []float64, n, g int) float64 {
	x := u[n] - math.RoundToEven(u[n])
	turns := float64(g) * x
	rest := math.FMA(float64(g), x, -turns)
	if low != nil {
		rest += float64(g) * low[n]
	}
	return turns - math.RoundToEven(turns) + rest
}

// absolute returns Σ|v|.
func absolute(v []float64) (sum float64) {
	for _, x := range v {
		sum += math.Abs(x)
	}
	return sum
}

func normal(rng *rand.Rand, n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	return v
}

// tolerance is twice the maximum measured error of a single value, relative to Σ|v|.
const tolerance = 2.5e-14

func TestTransformIsTheSum(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		name string
		low  bool
		at   func(i, n, count int) float64
	}{
		{"random", false, func(int, int, int) float64 { return rng.Float64() }},
		{"even", false, func(i, n, _ int) float64 { return float64(i) / float64(n) }},
		{"all equal", false, func(int, int, int) float64 { return 0.3 }},
		{"negative", false, func(int, int, int) float64 { return -rng.Float64() / 3 }},
		{"many turns", false, func(int, int, int) float64 { return 1e5 * rng.NormFloat64() }},
		{"with low parts", true, func(int, int, int) float64 { return 1e5 * rng.NormFloat64() }},
		{"borders of cells", true, func(_, _, count int) float64 {
			return float64(rng.IntN(length(count))) / float64(length(count))
		}},
		{"tiny", true, func(int, int, int) float64 { return 1e-20 * rng.NormFloat64() }},
		{"ascending", false, func(i, n, _ int) float64 { return (float64(i) + rng.Float64()) / float64(n) }},
		{"ascending over three turns", true, func(i, n, _ int) float64 {
			return -1.3 + 3*(float64(i)+rng.Float64())/float64(n)
		}},
		{"ascending, near a turn", true, func(i, n, _ int) float64 { return 900 + 1e-5*(float64(i)/float64(n)-0.5) }},
	} {
		for _, n := range []int{1, 2, 17, 1000, 20000} {
			for _, count := range []int{1, 2, 15, 16, 17, 100, 4096, 30000} {
				if n == 20000 && count < 4096 {
					continue // slow, and the errors of many values cancel
				}
				u, v := make([]float64, n), normal(rng, n)
				var low []float64
				for i := range u {
					u[i] = c.at(i, n, count)
					if c.low {
						low = append(low, 1e-11*rng.NormFloat64())
					}
				}
				got := NewPlan(u, low, count).Transform(nil, v)
				for i := range min(count, 4+1000/n) {
					g := count - 1 - i*(count-1)/(3+1000/n)
					if err := cmplx.Abs(got[g]-direct(u, low, v, g)) / absolute(v); !(err <= tolerance) {
						t.Fatalf("%s: %d values: mode %d of %d has an error of %.2g", c.name, n, g, count, err)
					}
				}
			}
		}
	}
}

func TestTransformIsLinear(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	u, v, w, both := normal(rng, 50), normal(rng, 50), normal(rng, 50), make([]float64, 50)
	for i := range both {
		both[i] = 3*v[i] - w[i]
	}
	p := NewPlan(u, nil, 70)
	fv, fw := p.Transform(nil, v), p.Transform(nil, w)
	for g, f := range p.Transform(nil, both) {
		if err := cmplx.Abs(f-(3*fv[g]-fw[g])) / absolute(both); !(err <= tolerance) {
			t.Errorf("mode %d has an error of %.2g", g, err)
		}
	}
}

// TestTransformRepeats checks that a Plan can be reused, and that results do not depend on the number of processors.
func TestTransformRepeats(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	u, v, dst := normal(rng, 3000), normal(rng, 3000), make([]complex128, 0, 15000)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for range 2 {
		p := NewPlan(u, nil, 14000)
		first := p.Transform(nil, v)
		for _, procs := range []int{1, 2, 7} {
			runtime.GOMAXPROCS(procs)
			p.Transform(dst, u)
			if again := p.Transform(dst, v); !slices.Equal(first, again) || &again[0] != &dst[:1][0] {
				t.Errorf("%d processors: different result, or not in dst", procs)
			}
		}
		for i := range u { // ascending, from −2 to 2 turns
			u[i] = math.Remainder(u[i], 4)
		}
		slices.Sort(u)
	}
}

// TestPolynomials compares the polynomials with the kernel.
func TestPolynomials(t *testing.T) {
	var weights [width]float64
	for i := range 1001 {
		offset := float64(i) / 1001
		polynomials().at(&weights, offset)
		for cell, w := range weights {
			if want := kernel(float64(cell-width/2+1) - offset); !(math.Abs(w-want) <= 1e-15) {
				t.Fatalf("cell %d, offset %v: %v, want %v", cell, offset, w, want)
			}
		}
	}
}

func TestTransformOfNoNumbers(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e300, -1e300} {
		for i := range 3 {
			x := [3]float64{0.25, 0, 1}
			x[i] = bad
			for _, count := range []int{1, 50} {
				p := NewPlan([]float64{0.1, x[0]}, []float64{0, x[1]}, count)
				if got := len(p.Transform(nil, []float64{1, x[2]})); got != count {
					t.Errorf("%v: %d modes, want %d", x, got, count)
				}
			}
		}
	}
	if got := NewPlan(nil, nil, 3).Transform(nil, nil); !slices.Equal(got, make([]complex128, 3)) {
		t.Errorf("no values: %v, want zeros", got)
	}
}

// BenchmarkTransform measures transforms of N random positions to 3·N modes.
func BenchmarkTransform(b *testing.B) {
	for _, n := range []int{1e5, 1e6} {
		rng := rand.New(rand.NewPCG(7, 8))
		u, v := normal(rng, n), normal(rng, n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			p := NewPlan(u, nil, 3*n)
			dst := p.Transform(nil, v)
			for b.Loop() {
				dst = p.Transform(dst, v)
			}
		})
	}
}
