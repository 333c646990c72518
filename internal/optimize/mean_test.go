package optimize

import (
	"math"
	"testing"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/internal/initialize"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/modeltest"
	"github.com/vssgp/vssgp/variational"
)

// roomy is an evaluator in which every model fits into memory.
type roomy struct{ initialize.Evaluator }

func (roomy) Fits(variational.Shape) error     { return nil }
func (roomy) FitsInitialization(float64) error { return nil }

// tonesRun returns a stochastic run with a spectral initialization at the given noise precision,
// or the default one if it is 0.
func tonesRun(t *testing.T, d *backend.Data, noise float64) *Run {
	t.Helper()
	series := initialize.NewSeries(*d, initialize.GridOf(d.X, 1))
	p, _, err := series.Spectrum(t.Context(), initialize.Settings{Optimized: true, Noise: noise}, roomy{})
	testkit.OK(t, err)
	r := testkit.Must(New(t.Context(), *d, p, variational.Setting{Backend: cpu.New()}, Settings{Inference: variational.Stochastic}))(t)
	t.Cleanup(func() { r.Close() })
	return r
}

// directMean calls Run.directMean and fails the test on an error.
func directMean(t *testing.T, r *Run, rows []int) (diag, mean []float64) {
	t.Helper()
	diag, mean, err := r.directMean(rows)
	testkit.OK(t, err)
	return diag, mean
}

// TestDirectMean checks that the mean from all rows is exact and that half of the rows give
// nearly the same bound.
func TestDirectMean(t *testing.T) {
	d := modeltest.Tones(4000, 0)
	r := tonesRun(t, d, 0)
	var all, half []int
	for i := range d.N {
		all = append(all, i)
		if i%2 == 0 {
			half = append(half, i)
		}
	}
	bound := func(diag, mean []float64) float64 {
		p := r.Params.Clone()
		p.CoefMean, p.CoefVar = mean, make([]float64, len(mean))
		for i := range p.CoefVar {
			p.CoefVar[i] = 1 / (1 + p.NoisePrecision[0]*diag[i])
		}
		e := testkit.Must(r.Rows.Factorized(p, nil, nil, false))(t)
		return e.Bound
	}
	diag, mean := directMean(t, r, nil)
	best, zero := bound(diag, mean), bound(diag, make([]float64, len(mean)))
	for _, c := range []struct {
		rows   []int
		within float64
	}{{all, 1e-9}, {half, 0.05}} {
		if near := bound(directMean(t, r, c.rows)); !(math.Abs(best-near) <= c.within*(best-zero)) {
			t.Errorf("%d rows: the bound is %v, with all rows %v, with a mean of zero %v", len(c.rows), near, best, zero)
		}
	}
}

// TestDirectMeanOfHalf checks that for data that occur twice, the first copy gives the mean and
// the diagonal of all rows, including the effect of the noise.
func TestDirectMeanOfHalf(t *testing.T) {
	d := modeltest.Tones(300, 0)
	d.N, d.X, d.Y = 2*d.N, append(d.X, d.X...), append(d.Y, d.Y...)
	r := tonesRun(t, d, 0.3) // enough noise to affect the mean
	half := testkit.Numbers(d.N/2, func(i int) int { return i })
	diag, mean := directMean(t, r, nil)
	of, got := directMean(t, r, half)
	modeltest.Near(t, "diagonal", of, diag, 1e-9)
	modeltest.Near(t, "mean", got, mean, 1e-9)
}
