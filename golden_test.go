package vssgp

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/testkit/modeltest"
	"github.com/vssgp/vssgp/internal/testkit/oracle"
)

// flat lays out a golden file's nested rows as the model has them.
func flat(a [][]float64) []float64 {
	var out []float64
	for _, r := range a {
		out = append(out, r...)
	}
	return out
}

// fromOracle is the oracle's Params as the model's; fields that a gradient
// lacks stay empty.
func fromOracle(o *oracle.Params, l, k, q, d int) *Params {
	p := &Params{
		L: l, K: k, Q: q, D: d,
		Variance: o.Variance, Lengthscale: flat(o.Lengthscale), Frequency: flat(o.Frequency),
		Location: flat(o.Location), FreqMean: flat(o.FreqMean), FreqVar: flat(o.FreqVar),
		PhaseLower: o.PhaseLower, PhaseUpper: o.PhaseUpper, NoisePrecision: []float64{o.NoisePrecision},
		CoefMean: flat(o.CoefMean), CoefVar: flat(o.CoefVar),
		Windows: backend.Windows{Center: o.WindowCenter, Length: o.WindowLength}, ComponentWindow: o.ComponentWindow,
	}
	return p
}

func goldenFiles(t *testing.T) []*oracle.Golden {
	t.Helper()
	paths, err := filepath.Glob("testdata/golden/*.json")
	if err != nil || len(paths) < 7 {
		t.Fatalf("golden files: %d found, want 7: %v", len(paths), err)
	}
	var all []*oracle.Golden
	for _, path := range paths {
		g, err := oracle.LoadGolden(path)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, g)
	}
	return all
}

// goldenModel is a golden file's model and data.
func goldenModel(t *testing.T, g *oracle.Golden) (*Model, *Data) {
	t.Helper()
	m, err := NewModel(fromOracle(g.Params, g.L, g.K, g.Q, g.D))
	if err != nil {
		t.Fatal(err)
	}
	return m, &Data{N: g.N, Q: g.Q, D: g.D, X: flat(g.X), Y: flat(g.Y)}
}

func TestGolden(t *testing.T) {
	for _, g := range goldenFiles(t) {
		t.Run(g.Name, func(t *testing.T) {
			m, data := goldenModel(t, g)
			gradTol := goldenGradient
			if g.Name == "q1d1_far_from_origin" || g.Name == "q1d1_confident_frequencies" {
				gradTol = goldenGradientHard
			}
			check := func(what string, inference Inference, rows []int, want oracle.GoldenBound) {
				t.Helper()
				e, err := m.Evaluate(t.Context(), data, inference, rows, true)
				if err != nil {
					t.Fatal(err)
				}
				if math.Abs(e.Bound-want.Bound) > goldenBound*math.Abs(want.Bound) {
					t.Errorf("%s bound %.15g, want %.15g", what, e.Bound, want.Bound)
				}
				wg := fromOracle(want.Gradient, g.L, g.K, g.Q, g.D)
				got := e.Gradient.Tensors()
				for i, w := range wg.Tensors() {
					if len(*w.Data) == 0 {
						continue
					}
					err := modeltest.Worst(*got[i].Data, *w.Data)
					if err > gradTol {
						t.Errorf("%s gradient by %s off by %.2g of its largest entry, want %.0g", what, w.Name, err, gradTol)
					}
					t.Logf("%s ∂/∂%s: %.1e", what, w.Name, err)
				}
			}
			check("exact", Exact, nil, g.Exact)
			check("factorised", Factorized, nil, g.Factorized)
			if g.Minibatch != nil {
				check("mini-batch", Factorized, g.Minibatch.Rows, g.Minibatch.GoldenBound)
			}
			checkPredict(t, m, "factorised", g, g.Predict.FactorizedMean, g.Predict.FactorizedCov)
			if _, err := m.Condition(t.Context(), data); err != nil {
				t.Fatal(err)
			}
			mean, vr, err := m.Coefficients()
			if err != nil {
				t.Fatal(err)
			}
			if e := modeltest.Worst(mean, flat(g.CoefMean)); e > goldenPredict {
				t.Errorf("coefficient mean off by %.2g", e)
			}
			first := make([]float64, len(g.CoefVar))
			for k := range first {
				first[k] = vr[k*m.Params.D]
			}
			if e := modeltest.Worst(first, g.CoefVar); e > goldenPredict {
				t.Errorf("coefficient variance off by %.2g", e)
			}
			clear(mean) // a copy, as vr: the model stays as it is
			clear(vr)
			checkPredict(t, m, "exact", g, g.Predict.ExactMean, g.Predict.ExactCov)
		})
	}
}

func checkPredict(t *testing.T, m *Model, what string, g *oracle.Golden, mean [][]float64, cov [][][]float64) {
	t.Helper()
	p, err := m.Predict(t.Context(), flat(g.Predict.X))
	if err != nil {
		t.Fatal(err)
	}
	if e := modeltest.Worst(p.Mean, flat(mean)); e > goldenPredict {
		t.Errorf("%s mean off by %.2g", what, e)
	}
	var want []float64
	for _, c := range cov {
		want = append(want, flat(c)...)
	}
	if e := modeltest.Worst(p.Cov, want); e > goldenPredict {
		t.Errorf("%s covariance off by %.2g", what, e)
	}
}
