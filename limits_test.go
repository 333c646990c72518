package vssgp

import (
	"errors"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit/modeltest"
)

// TestFarFromFeatures: where no feature reaches, the mean is 0 and the
// covariance τ⁻¹I + Ψ′, Ψ′_de = Σ_k (σ²_i/K)(m_kd m_ke + 1[d=e] s_kd): the
// appendix's discussion, for both posteriors.
func TestFarFromFeatures(t *testing.T) {
	for _, c := range []kind{
		{Name: "uniform phases", N: 20, L: 2, K: 3, Q: 1, D: 2},
		{Name: "fixed phases, two inputs", N: 20, L: 2, K: 3, Q: 2, D: 2, Fixed: true},
	} {
		p, data := made(c)
		for name, m := range map[string]*Model{"exact": conditioned(t, p, data), "factorised": mustModel(t, p)} {
			mean, vr, err := m.Coefficients()
			if err != nil {
				t.Fatal(err)
			}
			want := make([]float64, 4)
			for d := range 2 {
				want[3*d] = 1 / p.NoisePrecision[0]
				for e := range 2 {
					for k := range p.M() {
						share := p.Variance[k/p.K] / float64(p.K)
						want[2*d+e] += share * mean[2*k+d] * mean[2*k+e]
						if d == e {
							want[2*d+e] += share * vr[2*k+d]
						}
					}
				}
			}
			far := make([]float64, c.Q)
			for q := range far {
				far[q] = -1e4
			}
			got, err := m.Predict(t.Context(), far)
			if err != nil {
				t.Fatal(err)
			}
			modeltest.Near(t, c.Name+", "+name+": covariance", got.Cov, want, rounding)
			modeltest.Near(t, c.Name+", "+name+": mean", got.Mean, []float64{0, 0}, 0)
		}
	}
}

// TestOneWindow: predictions under a single window are those without any.
func TestOneWindow(t *testing.T) {
	p, data := made(modeltest.FindKind(t, "one window"))
	plain := p.Clone()
	plain.Windows.Center, plain.Windows.Length, plain.ComponentWindow = nil, 0, nil
	x := []float64{-3, 1, 2, 50}
	a, err := conditioned(t, p, data).Predict(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	b, err := conditioned(t, plain, data).Predict(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	modeltest.Near(t, "covariance", a.Cov, b.Cov, 0)
}

// Sizes that a small file may ask for and no memory holds are refused.
func TestLimitsOfFiles(t *testing.T) {
	p := NewParams(1, MaxExact+1, 1, 1)
	for _, a := range [][]float64{p.Variance, p.Lengthscale, p.NoisePrecision} {
		a[0] = 1
	}
	p.CoefMean, p.CoefVar = nil, nil
	data := wave(4, 0.1)
	if _, err := mustModel(t, p).Condition(t.Context(), data); !errors.Is(err, ErrParams) {
		t.Errorf("%d features: %v, want ErrParams", p.K, err)
	}
	const d = 1 << 16
	wide := mustModel(t, oneFeature(d))
	if _, err := wide.Predict(t.Context(), make([]float64, 1)); !errors.Is(err, ErrData) {
		t.Errorf("%d outputs: %v, want ErrData", d, err)
	}
}

// oneFeature is a model of one feature and d outputs.
func oneFeature(d int) *Params {
	p := NewParams(1, 1, 1, d)
	p.Variance[0], p.Lengthscale[0], p.NoisePrecision[0] = 1, 1, 1
	for i := range p.CoefVar {
		p.CoefVar[i] = 1
	}
	return p
}
