package variational_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/modeltest"
	"github.com/vssgp/vssgp/internal/testkit/oracle"
	"github.com/vssgp/vssgp/variational"
)

// bound opens data, evaluates the bound and closes them.
func bound(t testing.TB, p *variational.Params, data *backend.Data, inference variational.Inference, rows []int) *variational.Evaluation {
	t.Helper()
	return evaluated(t, open(t, data), p, inference, rows, false)
}

// logGaussian returns Σ_d log N(y_d; 0, ΦΦᵀ + τ⁻¹I), computed with a dense covariance.
func logGaussian(t *testing.T, p *variational.Params, data *backend.Data) float64 {
	t.Helper()
	op, xs := modeltest.ToOracle(p), modeltest.Nest(data.X, data.N)
	phi, cov := mat.NewDense(data.N, p.M(), nil), &mat.SymDense{}
	phi.Apply(func(n, k int, _ float64) float64 {
		return oracle.Feature(op, xs[n], op.FreqMean[k], p.PhaseLower[k], k)
	}, phi)
	cov.SymOuterK(1, phi)
	for n := range data.N {
		cov.SetSym(n, n, cov.At(n, n)+1/p.NoisePrecision[0])
	}
	var c mat.Cholesky
	if !c.Factorize(cov) {
		t.Fatal("ΦΦᵀ + τ⁻¹I is not positive definite")
	}
	var product mat.Dense // Y∘(cov⁻¹Y)
	y := mat.NewDense(data.N, data.D, data.Y)
	testkit.OK(t, c.SolveTo(&product, y))
	product.MulElem(y, &product)
	return -0.5 * (float64(data.D)*(float64(data.N)*math.Log(2*math.Pi)+c.LogDet()) + mat.Sum(&product))
}

// TestPointIsSparseSpectrum checks that with Σ = 0 and fixed phases the exact bound equals the
// sparse spectrum model's log marginal likelihood.
func TestPointIsSparseSpectrum(t *testing.T) {
	for _, c := range []kind{
		{Name: "fewer features", N: 30, L: 2, K: 4, Q: 1, D: 1, Fixed: true, Variance: -1},
		{Name: "more features", N: 10, L: 2, K: 10, Q: 2, D: 2, Fixed: true, Variance: -1},
		{Name: "under windows", N: 30, L: 6, K: 2, Q: 1, D: 2, Fixed: true, Variance: -1, Windows: 3},
	} {
		p, data := c.Make()
		want := logGaussian(t, p, data)
		modeltest.Near(t, c.Name, []float64{bound(t, p, data, variational.Exact, nil).Bound}, []float64{want}, rounding)
		p.FreqVar[0] = 0.5
		if b := bound(t, p, data, variational.Exact, nil).Bound; b >= want-1e-3 {
			t.Errorf("%s: with an uncertain frequency the bound is %g of %g: the test is not sensitive", c.Name, b, want)
		}
	}
}

// TestFactorizedBelowExact checks that the bound with the best diagonal q(A), s = 1/(1 + τG_kk)
// and m = A⁻¹C, is below the exact bound, equals it if there is one feature, and decreases if
// the coefficients change.
func TestFactorizedBelowExact(t *testing.T) {
	for _, c := range []kind{
		{Name: "several", N: 30, L: 2, K: 5, Q: 1, D: 2},
		{Name: "in windows", N: 40, L: 6, K: 2, Q: 1, D: 1, Windows: 3},
		{Name: "single", N: 30, L: 1, K: 1, Q: 2, D: 2},
	} {
		p, data := c.Make()
		exact := bound(t, p, data, variational.Exact, nil).Bound
		diag, mean, err := open(t, data).SolveMean(p)
		testkit.OK(t, err)
		copy(p.CoefMean, mean)
		for i := range p.CoefVar {
			p.CoefVar[i] = 1 / (1 + p.NoisePrecision[0]*diag[i/p.D])
		}
		best := bound(t, p, data, variational.Factorized, nil).Bound
		if p.M() == 1 {
			modeltest.Near(t, c.Name, []float64{best}, []float64{exact}, rounding)
		} else if best >= exact {
			t.Errorf("%s: factorized %g, exact %g: want less", c.Name, best, exact)
		}
		for _, a := range [][]float64{p.CoefMean, p.CoefVar} {
			for _, step := range []float64{1.01, 1 / 1.01} {
				a[0] *= step
				if b := bound(t, p, data, variational.Factorized, nil).Bound; b >= best {
					t.Errorf("%s: with other coefficients the bound is %v, with the best ones %v", c.Name, b, best)
				}
				a[0] /= step
			}
		}
	}
}

// TestOneWindow checks that a single window is equivalent to no windows.
func TestOneWindow(t *testing.T) {
	p, data := modeltest.FindKind(t, "one window").Make()
	plain := p.Clone()
	plain.Windows.Center, plain.Windows.Length, plain.ComponentWindow = nil, 0, nil
	bare := *data
	bare.Windows = plain.Windows
	for _, inference := range []variational.Inference{variational.Exact, variational.Factorized} {
		if a, b := bound(t, p, data, inference, nil).Bound, bound(t, plain, &bare, inference, nil).Bound; a != b {
			t.Errorf("%s: bound %v with one window, %v without", inference, a, b)
		}
	}
}
