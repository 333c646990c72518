package variational_test

import (
	"math"
	"testing"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/modeltest"
)

// conjugateWithin is the tolerance for the error of the fit when conjugateGradients ends early.
const conjugateWithin = 5e-3

// TestApproximateMean checks that the diagonal of G equals the diagonal of the moments, that the
// mean fits nearly as well as the exact mean, and that a subset of the rows approximates all.
func TestApproximateMean(t *testing.T) {
	for _, c := range []struct{ n, d int }{{300, 1}, {200, 3}} {
		data := &vssgp.Data{N: c.n, Q: 1, D: c.d}
		for i := range c.n {
			data.X = append(data.X, float64(i))
			for d := range c.d {
				data.Y = append(data.Y, math.Sin(0.2*float64(i)+float64(d))+0.1*math.Sin(7.1*float64(i)))
			}
		}
		m := testkit.Must(vssgp.New(t.Context(), data, vssgp.Options{
			Init: vssgp.InitPaper, Paper: vssgp.PaperOptions{Lengthscales: []float64{4, 15}}, Features: 20, NoisePrecision: 20,
		}))(t)
		rows := open(t, &backend.Data{N: c.n, Q: 1, D: c.d, X: m.X.ToModel(data.X), Y: m.Y.ToModel(data.Y), Windows: m.Params.Windows})
		wantDiag, wantMean, err := rows.SolveMean(m.Params)
		testkit.OK(t, err)
		diag, mean, err := rows.ApproximateMean(m.Params, nil)
		testkit.OK(t, err)
		modeltest.Near(t, "G's diagonal", diag, wantDiag, 1e-12)
		value := func(mean []float64) float64 {
			p := m.Params.Clone()
			p.CoefMean, p.CoefVar = mean, make([]float64, len(mean))
			for i := range p.CoefVar {
				p.CoefVar[i] = 1 / (1 + p.NoisePrecision[0]*wantDiag[i/c.d])
			}
			e := testkit.Must(rows.Factorized(p, nil, nil, false))(t)
			return e.Bound
		}
		zero, near, best := value(make([]float64, len(mean))), value(mean), value(wantMean)
		if near > best || best-near > conjugateWithin*(best-zero) {
			t.Errorf("D=%d: the bound is %v, at the exact mean %v, at zero %v", c.d, near, best, zero)
		}
		half := testkit.Numbers(c.n/2, func(i int) int { return 2 * i })
		part, _, err := rows.ApproximateMean(m.Params, half)
		testkit.OK(t, err)
		modeltest.Near(t, "G's diagonal from half the rows", part, wantDiag, 0.1)
	}
}
