package rowspectrum

import (
	"errors"
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/backend/backendtest"
	"github.com/vssgp/vssgp/internal/simd"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/slow"
)

// TestPlaneAccuracy compares G, C and the gradient for two inputs with sums over rows with exact phases, for every
// instruction set.
func TestPlaneAccuracy(t *testing.T) {
	now, _ := simd.Chosen()
	defer simd.Use(now.String())
	for _, n := range slow.Pick([]int{50, 1000, 10_000, 100_000}, []int{50, 1000, 8000}) {
		m, sets := 16, simd.Sets()
		if n > 10_000 {
			m, sets = 8, sets[len(sets)-1:]
		}
		for kind := range backendtest.Places {
			side := math.Sqrt(float64(n))
			for _, s := range []backendtest.Stretch{
				{0.05, 2, 0.05}, {2, 0.3 * side, 0.05}, {0.3 * side, 100 * side, 0.2}, {0.2 * side, 10 * side, 9.5},
			} {
				if kind == "scattered, with a huge gap" && s[0] == 2 && n > 10_000 {
					continue // the features are in the gap: errors are relative to N, but the largest entry of a gradient is not
				}
				rng := rand.New(rand.NewPCG(uint64(n), 22))
				d := backendtest.SpectrumData(kind, n, 1, rng)
				f := backendtest.SpectrumFeatures(d, m, s, rng)
				for _, set := range sets {
					testkit.OK(t, simd.Use(set.String()))
					r := &Rows{data: *d, passCost: math.Inf(1)}
					g, c, grad := backendtest.SpectrumErrors(t, d, f, r, rng)
					what := fmt.Sprintf("%d rows %s, reach %.3g to %.3g, %v: errors of G %.1e, C %.1e, gradient %.1e", n, kind, s[0], s[1], set,
						g, c, grad)
					if !(g <= 3e-13 && c <= 1e-13 && grad <= 1e-11) {
						t.Error(what)
					}
				}
			}
		}
	}
}

// TestTwins checks that features that differ only in phase and amplitudes have the sums of features that differ in
// frequency, too, for any number of cores.
func TestTwins(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for kind := range backendtest.Places {
		for _, m := range slow.Pick([]int{1, 2, 9, 17}, []int{9, 17}) {
			rng := rand.New(rand.NewPCG(uint64(m), 24))
			d := backendtest.SpectrumData(kind, 1500, m%4, rng)
			f := backendtest.SpectrumFeatures(d, m, backendtest.Stretch{20, 200, 0.5}, rng)
			for k := 1; k < m; k++ { // runs of one, two and three
				if k%6 != 0 && k%6 != 1 && k%6 != 3 {
					copy(f.Freq[2*k:2*k+2], f.Freq[2*k-2:])
					copy(f.Decay[2*k:2*k+2], f.Decay[2*k-2:])
					copy(f.Center[2*k:2*k+2], f.Center[2*k-2:])
				}
			}
			var first []float64
			for _, cores := range []int{1, 2, 7} {
				runtime.GOMAXPROCS(cores)
				r := &Rows{data: *d, passCost: math.Inf(1)}
				g, c, grad := backendtest.SpectrumErrors(t, d, f, r, rand.New(rand.NewPCG(1, 1)))
				if !(g <= 3e-13 && c <= 1e-13 && grad <= 1e-11) {
					t.Errorf("%s, %d features: G is off by %.2g, C by %.2g, the gradient by %.2g", kind, m, g, c, grad)
				}
				got := slices.Concat(r.sums.along[0].pairs, r.sums.along[1].pairs, momentsOf(t, r, f).C)
				if first == nil {
					first = got
				}
				testkit.Equal(t, got, first, kind, ", ", m, " features on ", cores, " cores")
			}
			if runs := len(New(d).table.(*plane).twinsOf(f)); m == 17 && runs != 9+1 {
				t.Errorf("%d runs of twins", runs-1)
			}
		}
	}
}

// twinsOf returns the beginnings of the runs of twins, and M.
func (p *plane) twinsOf(f *backend.Features) []int {
	u := sums{waves: [][]wave{make([]wave, f.M), make([]wave, f.M)}}
	s := Spectrum{table: p, axes: p.axes[:]}
	s.waves(u.waves, f)
	p.prepare(&u, f)
	return p.twins
}

// TestPlaneClasses checks that all methods of computing a wave's sums occur, and that they agree with sums over all
// rows on both sides of their boundaries.
func TestPlaneClasses(t *testing.T) {
	for kind := range backendtest.Places {
		rng := rand.New(rand.NewPCG(3, 25))
		d := backendtest.SpectrumData(kind, 1500, 1, rng)
		p := newPlane(d)
		testkit.OK(t, p.compute(Size{1200, 1200}, never))
		counts := map[class]int{}
		var w planeWork
		for range 300 {
			var m, all patch
			var e [2]envelope
			var c [2]carrier
			for q, a := range p.axes {
				reach := a.span * math.Pow(10, 1-4*rng.Float64())
				e[q] = envelope{p: 1 / (reach * reach), z: a.span * (rng.Float64() - 0.5) * 1.5, log: -40 * rng.Float64() * rng.Float64()}
				c[q] = carrier{rng.Int64N(400) - 200, rng.Float64() - 0.5, 0}
			}
			m.set(p, e)
			counts[m.class]++
			all = m
			for q := range e {
				all.axes[q].spread(p.axes[q], e[q])
				all.radius[q] = math.Inf(1)
			}
			for v, values := range p.values {
				got, want := w.sum(p, v, &m, c), p.direct(&all, c, values)
				tolerance := 1e-13 * float64(d.N)
				if off := cmplx.Abs(got.zero - want.zero); !(off <= tolerance) {
					t.Errorf("%s: class %d, %+v: S_0 is %v, want %v", kind, m.class, e, got.zero, want.zero)
				}
				for q, a := range p.axes {
					for r := range 2 {
						scale := math.Pow(max(1, a.span), float64(1+r))
						if off := cmplx.Abs(got.along[q][r] - want.along[q][r]); !(off <= tolerance*scale) {
							t.Errorf("%s: class %d, %+v: S_%d along %d is off by %.2g", kind, m.class, e, r+1, q, off)
						}
					}
				}
			}
		}
		t.Logf("%s: %v", kind, counts)
		if counts[few] == 0 || counts[grid] == 0 || counts[none] == 0 {
			t.Errorf("%s: waves of each class: %v", kind, counts)
		}
	}
}

// TestPlanePlaces checks the layout of rows with two inputs: on a grid if both inputs are even and the grid has few
// points without a row.
func TestPlanePlaces(t *testing.T) {
	for kind, even := range map[string]bool{
		"grid": true, "grid with holes": true, "grid with a huge gap": true, "scattered": false, "clustered": false, "collinear": false,
		"one input constant": false, "scattered, with a huge gap": false,
	} {
		rng := rand.New(rand.NewPCG(5, 26))
		d := backendtest.SpectrumData(kind, 1000, 1, rng)
		p := newPlane(d)
		_, onGrid := p.places.(cells)
		testkit.Equal(t, onGrid, even, kind)
		for range 50 {
			var z, radius [2]float64
			for q, a := range p.axes {
				z[q], radius[q] = a.span*(rng.Float64()-0.5), a.span*rng.Float64()*0.3
			}
			found, sum, want := 0, 0.0, 0.0
			inside := func(i int) bool {
				for q := range z {
					if math.Abs(p.places.at(i, q).Hi-z[q]) > radius[q] {
						return false
					}
				}
				return true
			}
			p.places.each(z, radius, func(from, to int) {
				for i := from; i < to; i++ {
					found++
					if inside(i) {
						sum += p.values[1][i]
					}
				}
			})
			for i, v := range p.values[1] {
				if inside(i) {
					want += v
				}
			}
			testkit.Near(t, sum, want, 1e-12*float64(d.N), kind)
			testkit.Equal(t, p.places.count(z, radius), found, kind)
		}
	}
	for _, x := range [][]float64{{0, 1, 1, math.NaN()}, {0, 1, 1, math.Inf(1)}, {-1e308, 0, 1e308, 1}, {0, 1e308, 1, 1e308}} {
		if newPlane(&backend.Data{N: 2, Q: 2, X: x}) != nil {
			t.Errorf("%v have tables", x)
		}
	}
}

// TestPlaneHistory checks that sums do not depend on the tables of earlier features, and that Pullback does not depend
// on earlier calls of Moments.
func TestPlaneHistory(t *testing.T) {
	for kind := range backendtest.Places {
		rng := rand.New(rand.NewPCG(2, 27))
		d := backendtest.SpectrumData(kind, 1500, 2, rng)
		stretch := backendtest.Stretch{3, 300, 0}
		f, other := backendtest.SpectrumFeatures(d, 12, stretch, rng), backendtest.SpectrumFeatures(d, 12, stretch, rng)
		for k := range other.Freq {
			other.Freq[k] *= 3
		}
		fresh, used := &Rows{data: *d, passCost: math.Inf(1)}, &Rows{data: *d, passCost: math.Inf(1)}
		momentsOf(t, used, other)
		bar := momentsOf(t, &Rows{data: *d, passCost: math.Inf(1)}, f)
		want, got := backend.NewFeatures(12, 2), backend.NewFeatures(12, 2)
		testkit.OK(t, errors.Join(fresh.Pullback(want, f, bar), used.Pullback(got, f, bar)))
		for i, field := range want.Fields() {
			testkit.Equal(t, got.Fields()[i].Data, field.Data, kind, ", ", field.Name)
		}
		a, b := momentsOf(t, fresh, f), momentsOf(t, used, f)
		testkit.Equal(t, a.Gram.Diag[0], b.Gram.Diag[0], kind)
		testkit.Equal(t, a.C, b.C, kind)
	}
}

// TestPlaneChoice checks that tables are used for two inputs if their operation count is lower, and passes over the
// rows otherwise and for features that tables do not support.
func TestPlaneChoice(t *testing.T) {
	side := func(n int) float64 { return math.Sqrt(float64(n)) }
	for _, c := range []struct {
		name   string
		n, m   int
		reach  float64 // in ranges
		change func(f *backend.Features)
		tables bool
	}{
		{name: "few rows", n: 2*minRows - 1, m: 100, reach: 10},
		{name: "some rows", n: 3000, m: 100, reach: 10},
		{name: "some rows, cosines and sines", n: 3000, m: 100, reach: 10, tables: true, change: func(f *backend.Features) {
			for k := 1; k < f.M; k += 2 {
				copy(f.Freq[2*k:2*k+2], f.Freq[2*k-2:])
				copy(f.Decay[2*k:2*k+2], f.Decay[2*k-2:])
				copy(f.Center[2*k:2*k+2], f.Center[2*k-2:])
			}
		}},
		{name: "many rows", n: 20_000, m: 100, reach: 10, tables: true},
		{name: "many rows, one feature", n: 20_000, m: 1, reach: 10, tables: true},
		{name: "short features", n: 20_000, m: 100, reach: 0.1},
		{name: "very short features", n: 20_000, m: 100, reach: 0.003, tables: true}, // by their rows
		{name: "a frequency that is not a number", n: 20_000, m: 10, reach: 10, change: func(f *backend.Features) { f.Freq[3] = math.NaN() }},
		{name: "an infinite center", n: 20_000, m: 10, reach: 10, change: func(f *backend.Features) { f.Center[3] = math.Inf(1) }},
		{name: "a frequency beyond the tables", n: 20_000, m: 10, reach: 10, change: func(f *backend.Features) { f.Freq[3] = 1e5 }},
	} {
		rng := rand.New(rand.NewPCG(4, 28))
		d := backendtest.SpectrumData("scattered", c.n, 1, rng)
		f := backendtest.SpectrumFeatures(d, c.m, backendtest.Stretch{c.reach * side(c.n), c.reach * side(c.n), 0}, rng)
		for i := range f.Freq {
			f.Freq[i] *= 0.2
		}
		if c.change != nil {
			c.change(f)
		}
		p := &passes{}
		testkit.OK(t, Over(p, d).Moments(backend.NewMoments(f, 1), f))
		testkit.Equal(t, p.calls == 0, c.tables, c.name)
	}
}

// BenchmarkPlane measures moments and pullback from tables for two inputs.
func BenchmarkPlane(b *testing.B) {
	const n = 100_000
	for _, kind := range []string{"grid with holes", "scattered"} {
		for _, damped := range []bool{false, true} {
			for _, m := range []int{512, 1024} {
				b.Run(fmt.Sprintf("%s/damped=%v/%d", kind, damped, m), func(b *testing.B) {
					rng := rand.New(rand.NewPCG(uint64(m), 23))
					d := backendtest.SpectrumData(kind, n, 1, rng)
					f := backend.NewFeatures(m, 2)
					for k := range m {
						f.Amp[k] = 1
						for q := range 2 {
							lo, hi := d.Extent(q)
							f.Center[2*k+q], f.Freq[2*k+q] = lo+(hi-lo)*rng.Float64(), 2*math.Pi*40*(2*rng.Float64()-1)/(hi-lo)
							if damped {
								f.Decay[2*k+q] = 1 / ((hi - lo) * (hi - lo))
							}
						}
					}
					r := &Rows{data: *d, passCost: CPU}
					mom, grad := backend.NewMoments(f, 1), backend.NewFeatures(m, 2)
					testkit.OK(b, r.Moments(mom, f))
					for b.Loop() {
						f.Phase[0] += 1e-9
						testkit.OK(b, errors.Join(r.Moments(mom, f), r.Pullback(grad, f, mom)))
					}
				})
			}
		}
	}
}

// TestChooseOfPlane checks that a GPU uses tables up to the number of terms that these have on both sides of a
// frequency, also for the second moment of a feature.
func TestChooseOfPlane(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 24))
	d := backendtest.SpectrumData("scattered", 500, 2, rng)
	s := New(d)
	p := s.table.(*plane)
	for q, a := range p.axes {
		for more, want := range []bool{true, false} {
			f := backend.NewFeatures(2, 2)
			root := (float64(p.reach+more) - 0.6) * a.h / digits // of 4P + P₀
			for k := range f.M {
				f.Freq[2*k+q], f.Decay[2*k+q] = 3, (root*root-a.p0)/4/(a.step.Hi*a.step.Hi)
			}
			of, size := s.Choose(f, math.Inf(1))
			if chosen := size != (Size{}); chosen != want || chosen && len(of.Along) != 2 {
				t.Errorf("%d terms along input %d: size %v", p.reach+more, q, size)
			} else if chosen {
				waves := [][]wave{make([]wave, 2), make([]wave, 2)}
				s.waves(waves, f)
				testkit.Equal(t, of.Runs, []int{0, 2})
				testkit.Equal(t, size[q] >= p.reach+int(waves[q][0].cycles*2), true)
			}
		}
	}
}
