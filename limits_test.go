package vssgp

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp/internal/oracle"
)

// bound is Evaluate where it must succeed.
func bound(t testing.TB, p *Params, data *Data, inference Inference, rows []int) *Evaluation {
	t.Helper()
	e, err := mustModel(t, p).Evaluate(data, inference, rows, false)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// logGaussian is Σ_d log N(y_d; 0, ΦΦᵀ + τ⁻¹I), the covariance formed densely.
func logGaussian(t *testing.T, p *Params, data *Data) float64 {
	t.Helper()
	op := toOracle(p)
	cov := mat.NewSymDense(data.N, nil)
	phi := make([][]float64, data.N)
	for n, x := range nest(data.X, data.N) {
		for k := range p.M() {
			phi[n] = append(phi[n], oracle.Feature(op, x, op.FreqMean[k], p.PhaseLower[k], k))
		}
		for o := range n + 1 {
			s := 0.0
			for k, v := range phi[n] {
				s += v * phi[o][k]
			}
			if n == o {
				s += 1 / p.NoisePrecision[0]
			}
			cov.SetSym(n, o, s)
		}
	}
	var c mat.Cholesky
	if !c.Factorize(cov) {
		t.Fatal("ΦΦᵀ + τ⁻¹I is not positive definite")
	}
	sum := -0.5 * float64(data.D) * (float64(data.N)*math.Log(2*math.Pi) + c.LogDet())
	for d := range data.D {
		y := mat.NewVecDense(data.N, nil)
		for n := range data.N {
			y.SetVec(n, data.Y[n*data.D+d])
		}
		var v mat.VecDense
		if err := c.SolveVecTo(&v, y); err != nil {
			t.Fatal(err)
		}
		sum -= 0.5 * mat.Dot(y, &v)
	}
	return sum
}

// TestSureIsSparseSpectrum: with Σ = 0 and fixed phases the exact bound is the
// sparse spectrum model's log marginal likelihood.
func TestSureIsSparseSpectrum(t *testing.T) {
	for _, c := range []kind{
		{name: "fewer features", n: 30, l: 2, k: 4, q: 1, d: 1, fixed: true, variance: -1},
		{name: "more features", n: 10, l: 2, k: 10, q: 2, d: 2, fixed: true, variance: -1},
		{name: "under windows", n: 30, l: 6, k: 2, q: 1, d: 2, fixed: true, variance: -1, windows: 3},
	} {
		p, data := c.make()
		want := logGaussian(t, p, data)
		near(t, c.name, []float64{bound(t, p, data, Exact, nil).Bound}, []float64{want}, rounding)
		p.FreqVar[0] = 0.5
		if b := bound(t, p, data, Exact, nil).Bound; b >= want-1e-3 {
			t.Errorf("%s: an unsure frequency leaves the bound at %g of %g: the test is blunt", c.name, b, want)
		}
	}
}

// TestFarFromFeatures: where no feature reaches, the mean is 0 and the
// covariance τ⁻¹I + Ψ′, Ψ′_de = Σ_k (σ²_i/K)(m_kd m_ke + 1[d=e] s_kd): the
// appendix's discussion, for both posteriors.
func TestFarFromFeatures(t *testing.T) {
	for _, c := range []kind{
		{name: "uniform phases", n: 20, l: 2, k: 3, q: 1, d: 2},
		{name: "fixed phases, two inputs", n: 20, l: 2, k: 3, q: 2, d: 2, fixed: true},
	} {
		p, data := c.make()
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
						want[2*d+e] += share * mean.At(k, d) * mean.At(k, e)
						if d == e {
							want[2*d+e] += share * vr.At(k, d)
						}
					}
				}
			}
			far := make([]float64, c.q)
			for q := range far {
				far[q] = -1e4
			}
			got, err := m.PredictRows(far, 1)
			if err != nil {
				t.Fatal(err)
			}
			near(t, c.name+", "+name+": covariance", got.Cov, want, rounding)
			near(t, c.name+", "+name+": mean", got.Mean, []float64{0, 0}, 0)
		}
	}
}

// TestFactorisedBelowExact: the best diagonal q(A), s = 1/(1 + τG_kk) beside
// m = A⁻¹C, stays below the optimal one, meets it where there is one feature,
// and is the best: a step away from it lowers the bound.
func TestFactorisedBelowExact(t *testing.T) {
	for _, c := range []kind{
		{name: "several", n: 30, l: 2, k: 5, q: 1, d: 2},
		{name: "in windows", n: 40, l: 6, k: 2, q: 1, d: 1, windows: 3},
		{name: "single", n: 30, l: 1, k: 1, q: 2, d: 2},
	} {
		p, data := c.make()
		exact := bound(t, p, data, Exact, nil).Bound
		h, err := mustModel(t, p).hold(data)
		if err != nil {
			t.Fatal(err)
		}
		diag, mean, err := h.exactDiagonal(p)
		if err != nil {
			t.Fatal(err)
		}
		copy(p.CoefMean, mean)
		for i := range p.CoefVar {
			p.CoefVar[i] = 1 / (1 + p.NoisePrecision[0]*diag[i/p.D])
		}
		best := bound(t, p, data, Factorised, nil).Bound
		if p.M() == 1 {
			near(t, c.name, []float64{best}, []float64{exact}, rounding)
		} else if best >= exact {
			t.Errorf("%s: factorised %g, exact %g: want less", c.name, best, exact)
		}
		for _, a := range [][]float64{p.CoefMean, p.CoefVar} {
			for _, step := range []float64{1.01, 1 / 1.01} {
				a[0] *= step
				if b := bound(t, p, data, Factorised, nil).Bound; b >= best {
					t.Errorf("%s: off the best coefficients the bound is %v, at them %v", c.name, b, best)
				}
				a[0] /= step
			}
		}
	}
}

// TestSplitRowsAdd: the data's term of mini-batches that partition the rows,
// each scaled back by |S|/N, is that of all rows.
func TestSplitRowsAdd(t *testing.T) {
	p, data := kind{name: "split", n: 37, l: 6, k: 2, q: 1, d: 2, windows: 3}.make()
	sum := 0.0
	for _, rows := range [][]int{{36, 0, 5}, {1, 2, 3, 4}, nil} {
		if rows == nil {
			for n := 6; n < 36; n++ {
				rows = append(rows, n)
			}
		}
		sum += term(t, bound(t, p, data, Factorised, rows), "fit") * float64(len(rows)) / float64(data.N)
	}
	near(t, "sum of the parts", []float64{sum}, []float64{term(t, bound(t, p, data, Factorised, nil), "fit")}, rounding)
}

func term(t *testing.T, e *Evaluation, name string) float64 {
	t.Helper()
	for _, x := range e.Terms {
		if x.Name == name {
			return x.Value
		}
	}
	t.Fatalf("the bound has no term %q", name)
	return 0
}

// TestBelowEvidence: whatever q, both bounds stay below log p(Y|X), here by
// quadrature; and without the KL terms they would not.
func TestBelowEvidence(t *testing.T) {
	overtakes := false
	for _, c := range []struct {
		kind
		nw, nb int
	}{
		{kind{name: "tiny, one feature", n: 3, l: 1, k: 1, q: 1, d: 1, tau: 2}, 97, 48},
		{kind{name: "tiny, two features", n: 2, l: 1, k: 2, q: 1, d: 1, tau: 4}, 25, 24},
	} {
		p, data := c.make()
		evidence := oracle.LogEvidence(toOracle(p), nest(data.X, data.N), data.Y, c.nw, c.nb)
		rng := newRNG(9)
		for range 60 {
			for k := range p.M() {
				p.FreqMean[k] = 1.5 * rng.NormFloat64()
				p.FreqVar[k] = math.Exp(rng.NormFloat64() - 1)
				p.PhaseLower[k] = 3 * rng.Float64()
				p.PhaseUpper[k] = 3.2 + 3*rng.Float64()
			}
			e := bound(t, p, data, Exact, nil)
			if e.Bound > evidence {
				t.Fatalf("%s: bound %g above the evidence %g", c.name, e.Bound, evidence)
			}
			if f := bound(t, p, data, Factorised, nil).Bound; f > e.Bound {
				t.Fatalf("%s: factorised bound %g above the exact %g", c.name, f, e.Bound)
			}
			overtakes = overtakes || e.Bound-term(t, e, "kl_frequencies")-term(t, e, "kl_phases") > evidence
		}
	}
	if !overtakes {
		t.Error("without its KL terms the bound never overtakes the evidence: the test is blunt")
	}
}

// TestOneWindow: a single window is none.
func TestOneWindow(t *testing.T) {
	p, data := findKind(t, "one window").make()
	plain := p.Clone()
	plain.Windows.Center, plain.Windows.Length, plain.ComponentWindow = nil, 0, nil
	for _, inference := range []Inference{Exact, Factorised} {
		if a, b := bound(t, p, data, inference, nil).Bound, bound(t, plain, data, inference, nil).Bound; a != b {
			t.Errorf("%s: bound %v under one window, %v without", inference, a, b)
		}
	}
	x := []float64{-3, 1, 2, 50}
	a, err := conditioned(t, p, data).PredictRows(x, 4)
	if err != nil {
		t.Fatal(err)
	}
	b, err := conditioned(t, plain, data).PredictRows(x, 4)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "covariance", a.Cov, b.Cov, 0)
}

// Sizes that a small file may ask for and no memory holds are refused.
func TestLimitsOfFiles(t *testing.T) {
	p := NewParams(1, MaxExact+1, 1, 1)
	for _, a := range [][]float64{p.Variance, p.Lengthscale, p.NoisePrecision} {
		a[0] = 1
	}
	p.CoefMean, p.CoefVar = nil, nil
	data := wave(4, 0.1)
	if _, err := mustModel(t, p).Condition(data); !errors.Is(err, ErrParams) {
		t.Errorf("%d features: %v, want ErrParams", p.K, err)
	}
	const d = 1 << 16
	wide := mustModel(t, oneFeature(d))
	if _, err := wide.PredictRows(make([]float64, 1), 1); !errors.Is(err, ErrData) {
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
