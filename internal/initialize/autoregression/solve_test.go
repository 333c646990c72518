package autoregression

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

// TestModifiedCovariance checks that sinusoids are predicted exactly and that a model is approximately recovered from samples.
func TestModifiedCovariance(t *testing.T) {
	for _, c := range processes[1:] {
		testkit.Within(t, c.name, modifiedCovariance(process(c.model, 100_000, 5), len(c.model.A)-1), c.model.A, 0.02)
	}
	x := tones(200)
	for _, p := range []int{6, 20} { // three sinusoids need six
		a := modifiedCovariance(x, p)
		for n := p; n < len(x); n++ {
			e := 0.0
			for j, v := range a {
				e += v * x[n-j]
			}
			if math.Abs(e) > 1e-6 {
				t.Fatalf("order %d: error %g at sample %d of three sinusoids, want none", p, e, n)
			}
		}
	}
	if a := modifiedCovariance(make([]float64, 20), 4); !slices.Equal(a, []float64{1, 0, 0, 0, 0}) {
		t.Errorf("silence: %v", a)
	}
}

// TestModifiedCovarianceIsMinimum checks that the coefficients minimize the forward and backward error.
func TestModifiedCovarianceIsMinimum(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	z := testkit.Numbers(80, func(int) float64 { return r.NormFloat64() })
	cost := func(a []float64) (e float64) {
		for n := 5; n < len(z); n++ {
			var f, b float64
			for k, v := range a {
				f += v * z[n-k]
				b += v * z[n-5+k]
			}
			e += f*f + b*b
		}
		return e
	}
	a := modifiedCovariance(z, 5)
	least := cost(a)
	for k := 1; k <= 5; k++ {
		for _, step := range []float64{-1e-3, 1e-3} {
			a[k] += step
			if cost(a) <= least {
				t.Errorf("a_%d moved by %g costs less: not the minimum", k, step)
			}
			a[k] -= step
		}
	}
}

// TestSolveMissing checks that the fill minimizes the forward and backward error.
func TestSolveMissing(t *testing.T) {
	m := processes[3].model
	for _, u := range [][]int{{20, 21, 22, 25, 40}, {0, 1, 30, 58, 59}} {
		x := process(m, 60, 9)
		if !solveMissing(x, u, m.A) {
			t.Fatalf("%v: not solved", u)
		}
		cost := func() float64 {
			s, p := 0.0, len(m.A)-1
			for n := 0; n+p < len(x); n++ {
				var e, f float64
				for j, a := range m.A {
					e += a * x[n+p-j]
					f += a * x[n+j]
				}
				s += e*e + f*f
			}
			return s
		}
		least := cost()
		for _, i := range u {
			for _, step := range []float64{1e-3, -1e-3} {
				x[i] += step
				if c := cost(); c <= least {
					t.Errorf("%v: sample %d moved by %g: the sum is %v, at the fill %v", u, i, step, c, least)
				}
				x[i] -= step
			}
		}
	}
}

// tones returns the sum of three sinusoids.
func tones(n int) []float64 {
	return testkit.Numbers(n, func(i int) float64 {
		return math.Sin(0.2*float64(i)) + 0.6*math.Sin(0.53*float64(i)+1) + 0.3*math.Cos(1.1*float64(i))
	})
}
