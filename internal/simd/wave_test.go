package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit/precise"
	"github.com/vssgp/vssgp/internal/testkit/slow"
)

// These are error bounds in units in the last place: of 1 for the cosine and the sine, of the
// result for the exponential. The plain loop rounds 2π·turns before math.Sincos, and has the
// errors of math.Exp.
var (
	circleULP = [...]float64{Plain: 2, AVX2: 1.3, AVX512: 1.3}
	decayULP  = [...]float64{Plain: 2, AVX2: 1, AVX512: 1.2}
)

// newParams allocates count panels of features of q inputs.
func newParams(count, q int) FeatureParams {
	return FeatureParams{Q: q, Count: count, Data: Aligned(count * (1 + 3*q) * Lanes)}
}

// circle returns cos 2πt and sin 2πt for any t. It first subtracts the integer part of t, which is
// exact.
func circle(t float64) (cos, sin precise.Real) {
	angle := precise.TwoPi.Times(precise.Of(t - math.RoundToEven(t)))
	return angle.Cos(), angle.Sinc().Times(angle)
}

// errorIn returns |got − want| in units of u.
func errorIn(got float64, want precise.Real, u float64) float64 {
	return math.Abs(precise.Of(got).Minus(want).Over(precise.Of(u)).Float())
}

// ulp returns the unit in the last place of x.
func ulp(x float64) float64 {
	x = math.Abs(x)
	return math.Nextafter(x, math.Inf(1)) - x
}

// waves computes Features for the given phases in turns and quad = Σ P d². The frequency is 0, and d = 1 in the only row.
func waves(t testing.TB, turns, quad []float64) (cos, sin []float64) {
	t.Helper()
	for len(turns)%Lanes != 0 {
		turns, quad = append(turns, 0), append(quad, 0)
	}
	count := len(turns) / Lanes
	b := newParams(count, 1)
	for k := range turns {
		p := b.Panel(k / Lanes)[k%Lanes:]
		p[0], p[2*Lanes] = turns[k], quad[k]
	}
	c, s := NewPanels(count, 1), NewPanels(count, 1)
	(&Tile{Cos: c, Sin: s, Params: b, X: []float64{1}, Gate: []float64{1}}).Features()
	return c.Data, s.Data
}

func TestCircle(t *testing.T) {
	slow.Race(t)
	r := rand.New(rand.NewPCG(5, 6))
	var turns []float64
	for i := -64; i <= 64; i++ { // the boundaries and their neighbors
		x := float64(i) / 32
		turns = append(turns, x, math.Nextafter(x, 9), math.Nextafter(x, -9))
	}
	for range 10000 {
		turns = append(turns, r.Float64()-0.5)
	}
	for e := -60; e < 45; e++ {
		for range 40 {
			turns = append(turns, math.Ldexp(2*r.Float64()-1, e))
		}
	}
	truth := make([][2]precise.Real, len(turns))
	for i, x := range turns {
		truth[i][0], truth[i][1] = circle(x)
	}
	eachSet(t, func(t *testing.T) {
		cos, sin := waves(t, turns, make([]float64, len(turns)))
		worst, at := 0.0, 0.0
		for i, x := range turns {
			if e := max(errorIn(cos[i], truth[i][0], 0x1p-52), errorIn(sin[i], truth[i][1], 0x1p-52)); e > worst {
				worst, at = e, x
			}
		}
		t.Logf("cos and sin: maximum error %.3f units in the last place of 1, at %v turns", worst, at)
		if !(worst <= circleULP[use]) {
			t.Errorf("error %.3f, want %v", worst, circleULP[use])
		}
	})
}

func TestDecayMatchesExp(t *testing.T) {
	slow.Race(t)
	r := rand.New(rand.NewPCG(7, 8))
	quad := []float64{0, math.SmallestNonzeroFloat64, 1e-300, far, math.Nextafter(far, 400), 356, 708, 745, 1420, 1490, 1492, 1600, 1e4, 1e20, 1e64}
	for k := range 256 * 16 { // the boundaries
		x := 2 * math.Ln2 / 32 * float64(2*k+1)
		quad = append(quad, x, math.Nextafter(x, 0))
	}
	for range 8000 {
		quad = append(quad, 400*r.Float64(), 4*r.Float64())
	}
	for e := -60; e < 12; e++ {
		for range 40 {
			quad = append(quad, math.Ldexp(r.Float64(), e))
		}
	}
	truth := make([]precise.Real, len(quad))
	for i, q := range quad {
		if q <= far {
			truth[i] = precise.Of(-q / 2).Exp()
		}
	}
	eachSet(t, func(t *testing.T) {
		e, _ := waves(t, make([]float64, len(quad)), quad)
		worst, at := 0.0, 0.0
		for i, q := range quad {
			if q > far {
				if e[i] != 0 {
					t.Errorf("exp(−%v/2) is %v", q, e[i])
				}
				continue
			}
			near := truth[i].Float()
			if d := errorIn(e[i], truth[i], ulp(near)); d > worst {
				worst, at = d, q
			}
		}
		t.Logf("exp: maximum error %.3f units in the last place, at %v", worst, at)
		if !(worst <= decayULP[use]) {
			t.Errorf("error %.3f, want %v", worst, decayULP[use])
		}
		if e[0] != 1 {
			t.Errorf("no decay is %v, want exactly 1", e[0])
		}
	})
}

// TestNotFinite checks that NaN and infinities give NaN.
func TestNotFinite(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name                          string
		x, gate, z, p, w, phase, want float64
	}{
		{"all finite", 1, 1, 1, 1, 1, 0, 1},
		{"x NaN", nan, 1, 0, 1, 1, 0, nan},
		{"x infinite", inf, 1, 0, 1, 1, 0, nan},
		{"x infinite, no decay", -inf, 1, 0, 0, 1, 0, nan},
		{"x infinite, no decay, no frequency", inf, 1, 0, 0, 0, 0, nan},
		{"gate NaN", 1, nan, 0, 1, 1, 0, nan},
		{"gate infinite", 1, inf, 1, 1, 1, 0, inf},
		{"center NaN", 1, 1, nan, 1, 1, 0, nan},
		{"center infinite", 1, 1, inf, 1, 1, 0, nan},
		{"decay NaN", 1, 1, 0, nan, 1, 0, nan},
		{"decay infinite", 1, 1, 0, inf, 1, 0, 0},
		{"decay huge, far away", 1e14, 1, 0, 1e300, 0, 0, 0},
		{"frequency NaN", 1, 1, 0, 1, nan, 0, nan},
		{"frequency infinite", 1, 1, 0, 1, inf, 0, nan},
		{"frequency infinite, no distance", 1, 1, 1, 1, -inf, 0, nan},
		{"frequency huge", 1e14, 1, 0, 0, 1e300, 0, nan},
		{"phase NaN", 1, 1, 0, 1, 1, nan, nan},
		{"phase infinite", 1, 1, 0, 1, 1, inf, nan},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachSet(t, func(t *testing.T) {
				for q := 1; q <= 2; q++ {
					b := newParams(1, q)
					z, p, w := []float64{c.z, 0}, []float64{c.p, 0}, []float64{c.w, 0}
					b.Set(3, z, p, w, c.phase)
					cos, sin := NewPanels(1, 1), NewPanels(1, 1)
					(&Tile{Cos: cos, Sin: sin, Params: b, X: []float64{c.x, 0}[:q], Gate: []float64{c.gate}}).Features()
					if got := cos.at(0, 3); math.Abs(got) != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
						t.Errorf("%d inputs: cos is %v, want %v", q, got, c.want)
					}
				}
			})
		})
	}
}

// TestFeatures compares every set with the plain loop for every size.
func TestFeatures(t *testing.T) {
	slow.Race(t)
	for count := 1; count <= 7; count += 2 {
		for _, n := range sizes {
			for q := 1; q <= 3; q++ {
				t.Run(fmt.Sprintf("%d panels, %d rows, %d inputs", count, n, q), func(t *testing.T) {
					eachSet(t, func(t *testing.T) { testFeatures(t, count, n, q) })
				})
			}
		}
	}
}

func testFeatures(t *testing.T, count, n, q int) {
	f := &fence{t: t}
	r := rand.New(rand.NewPCG(9, uint64(n)))
	b := f.params(r, count, q, n)
	x, gate, w := f.random(r, n*q, float64(n)), f.random(r, n, 1), f.random(r, count*Lanes, 1)
	cos, sin := f.panels(r, count, n), f.panels(r, count, n)
	(&Tile{Cos: cos, Sin: sin, Params: b, X: x, Gate: gate}).Features()
	for i := range count {
		c, s := make([]float64, n*Lanes), make([]float64, n*Lanes)
		featurePlain(c, s, x, q, gate, b.Panel(i))
		for k := range c {
			what := fmt.Sprintf("panel %d, row %d, lane %d", i, k/Lanes, k%Lanes)
			near(t, what+", cos", cos.Panel(i)[k], c[k], 1, 4e-15)
			near(t, what+", sin", sin.Panel(i)[k], s[k], 1, 4e-15)
		}
	}
	if q == 1 {
		testFeaturesFit(t, f, Tile{Params: b, X: x, Gate: gate}, w, true)
	}
	f.check()
	for _, p := range []Panels{cos, sin} {
		f.between(p)
	}
}

// testFeaturesFit checks that one pass gives the same results as two, with and without gates.
func testFeaturesFit(t *testing.T, f *fence, tile Tile, w []float64, exact bool) {
	t.Helper()
	n, count := len(tile.X), tile.Params.Count
	r := rand.New(rand.NewPCG(10, uint64(n)))
	ones := slices.Repeat([]float64{1}, n)
	for _, c := range [][2][]float64{{tile.Gate, tile.Gate}, {ones, nil}} {
		acc := f.random(r, n*Lanes, 1)
		two, one := tile, tile
		two.Cos, two.Sin, two.Gate = f.panels(r, count, n), f.panels(r, count, n), c[0]
		one.Cos, one.Sin, one.Gate, one.Acc, one.W = f.panels(r, count, n), f.panels(r, count, n), c[1], f.floats(len(acc), 0), w
		copy(one.Acc, acc)
		two.Features()
		Fit(acc, two.Cos, w)
		one.Features()
		for i, v := range acc {
			if near(t, "fit", one.Acc[i], v, float64(count), 1e-15); exact && one.Acc[i] != v {
				t.Fatalf("fit %d is %v in one pass, %v in two", i, one.Acc[i], v)
			}
		}
		for i := range count {
			if !slices.Equal(one.Cos.Panel(i), two.Cos.Panel(i)) || !slices.Equal(one.Sin.Panel(i), two.Sin.Panel(i)) {
				t.Fatalf("panel %d: features differ with a fit", i)
			}
		}
		f.between(one.Cos)
		f.between(one.Sin)
	}
}
