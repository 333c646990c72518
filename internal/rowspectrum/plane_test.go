package rowspectrum

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/backend/backendtest"
	"github.com/vssgp/vssgp/internal/simd"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/slow"
)

// TestPlaneAccuracy compares G, C and the gradient for two inputs with sums over rows with exact phases, for every instruction set.
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

// TestChooseOfPlane checks that a GPU uses tables up to the number of terms that these have on both sides of a frequency, also for the
// second moment of a feature.
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
