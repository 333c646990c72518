package variational_test

import (
	"math"
	"testing"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/testkit/modeltest"
	"github.com/vssgp/vssgp/variational"
)

// TestNoiseLevel: at the noise level, where a fit of noiseless data ends, the
// bound and the predicted variances keep the digits that the margin promises.
func TestNoiseLevel(t *testing.T) {
	for _, s := range modeltest.Noiseless() {
		if len(s.X) > 51 { // 192 bits take their time
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			data := &vssgp.Data{N: len(s.X), Q: 1, D: 1, X: s.X, Y: s.Y}
			m, r, err := vssgp.Fit(t.Context(), data, vssgp.Options{Priors: vssgp.NoPriors()}) // a prior of the noise would keep it above
			if err != nil {
				t.Fatal(err)
			}
			if r.NoiseFloor == 0 {
				t.Errorf("the fit does not end at the noise level: the test is blunt")
			}
			p, err := m.Predict(t.Context(), data.X)
			if err != nil {
				t.Fatal(err)
			}
			checkAgainstTruth(t, m, data, r.Bound, p)
		})
	}
}

// checkAgainstTruth holds a fit's bound and some predicted variances to 192 bits.
// A's eigenvalues are right but for a part in the margin.
func checkAgainstTruth(t *testing.T, m *vssgp.Model, data *vssgp.Data, bound float64, p *vssgp.Prediction) {
	t.Helper()
	const margin = variational.ConditionMargin
	tr := newTruth(m.Params, &backend.Data{N: data.N, Q: 1, D: 1, X: m.X.ToModel(data.X), Y: m.Y.ToModel(data.Y)})
	want := tr.exact().float()
	if most := 0.5 * float64(data.N+m.Params.M()) / margin; !(math.Abs(bound-want) <= most) {
		t.Errorf("bound %.10g, in 192 bits %.10g: want it within %.2g", bound, want, most)
	}
	variance := tr.variances()
	for _, n := range []int{0, data.N / 3, data.N - 1} {
		total := variance(n)*m.Y.Scale[0]*m.Y.Scale[0] + p.Noise[0]
		if d := math.Abs(p.Cov[n]-total) / total; !(d <= 1.0/margin) {
			t.Errorf("variance at row %d is %g, in 192 bits %g", n, p.Cov[n], total)
		}
	}
}

// variances are the predicted variances of the function at row n, in the model's
// units (eq. pred_uncertainty).
func (t *truth) variances() func(n int) float64 {
	tau := t.value["noise.precision"][0]
	c, a := t.moments(t.all())
	for k := range a {
		a[k][k] = a[k][k].plus(exactly(1).over(tau))
	}
	cholesky(a)
	solved := func(v []real) []real { // A⁻¹v
		x := whitened(a, v)
		for i := len(x) - 1; i >= 0; i-- {
			for j := i + 1; j < len(x); j++ {
				x[i] = x[i].minus(a[j][i].times(x[j]))
			}
			x[i] = x[i].over(a[i][i])
		}
		return x
	}
	mean := solved(c[0])
	self := make([]real, len(a)) // of A⁻¹'s diagonal
	for k := range a {
		one := reals(1, len(a))[0]
		one[k] = exactly(1)
		self[k] = solved(one)[k]
	}
	return func(n int) float64 {
		phi, v := make([]real, len(a)), exactly(0)
		for k := range phi {
			first, second := t.at(n, k)
			phi[k] = first
			left := second.minus(first.times(first))
			v = v.plus(left.times(self[k].over(tau).plus(mean[k].times(mean[k]))))
		}
		for k, x := range solved(phi) {
			v = v.plus(phi[k].times(x).over(tau))
		}
		return v.float()
	}
}
