package variational_test

import (
	"math"
	"testing"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/modeltest"
	"github.com/vssgp/vssgp/internal/testkit/precise"
	"github.com/vssgp/vssgp/variational"
)

// TestNoiseLevel checks that at the noise level, where a fit of noiseless data ends, the bound
// and the predicted variances are as accurate as the margin requires.
func TestNoiseLevel(t *testing.T) {
	for _, s := range modeltest.Noiseless() {
		if len(s.X) > 51 { // 192-bit arithmetic is slow
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			data := &vssgp.Data{N: len(s.X), Q: 1, D: 1, X: s.X, Y: s.Y}
			m, r, err := vssgp.Fit(t.Context(), data, vssgp.Options{Priors: vssgp.NoPriors()}) // priors keep the noise above the level
			testkit.OK(t, err)
			if r.NoiseFloor == 0 {
				t.Errorf("the fit does not end at the noise level: the test is not sensitive")
			}
			p := testkit.Must(m.Predict(t.Context(), data.X))(t)
			checkAgainstTruth(t, m, data, r.Bound, p)
		})
	}
}

// checkAgainstTruth compares a fit's bound and some predicted variances with 192-bit values. The
// relative error of A's eigenvalues is at most the inverse of the margin.
func checkAgainstTruth(t *testing.T, m *vssgp.Model, data *vssgp.Data, bound float64, p *vssgp.Prediction) {
	t.Helper()
	const margin = variational.ConditionMargin
	tr := newTruth(m.Params, &backend.Data{N: data.N, Q: 1, D: 1, X: m.X.ToModel(data.X), Y: m.Y.ToModel(data.Y)})
	want := tr.exact().Float()
	if most := 0.5 * float64(data.N+m.Params.M()) / margin; !(math.Abs(bound-want) <= most) {
		t.Errorf("bound %.10g, in 192 bits %.10g: want a difference below %.2g", bound, want, most)
	}
	variance := tr.variances()
	for _, n := range []int{0, data.N / 3, data.N - 1} {
		total := variance(n)*m.Y.Scale[0]*m.Y.Scale[0] + p.Noise[0]
		if d := math.Abs(p.Cov[n]-total) / total; !(d <= 1.0/margin) {
			t.Errorf("variance at row %d is %g, in 192 bits %g", n, p.Cov[n], total)
		}
	}
}

// variances returns the predicted variances of the function by row, in the model's units
// (eq. pred_uncertainty).
func (t *truth) variances() func(n int) float64 {
	tau := t.value["noise.precision"][0]
	c, a := t.moments(t.all())
	for k := range a {
		a[k][k] = a[k][k].Plus(precise.Of(1).Over(tau))
	}
	precise.Cholesky(a)
	mean := precise.Solved(a, c[0])
	self := make([]precise.Real, len(a)) // diagonal of A⁻¹
	for k := range a {
		one := precise.Matrix(1, len(a))[0]
		one[k] = precise.Of(1)
		self[k] = precise.Solved(a, one)[k]
	}
	return func(n int) float64 {
		phi, v := make([]precise.Real, len(a)), precise.Of(0)
		for k := range phi {
			first, second := t.at(n, k)
			phi[k] = first
			left := second.Minus(first.Times(first))
			v = v.Plus(left.Times(self[k].Over(tau).Plus(mean[k].Times(mean[k]))))
		}
		for k, x := range precise.Solved(a, phi) {
			v = v.Plus(phi[k].Times(x).Over(tau))
		}
		return v.Float()
	}
}
