package vssgp

import (
	"context"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/modeltest"
	"github.com/vssgp/vssgp/internal/testkit/oracle"
)

type kind = modeltest.Kind

// made draws a model of a kind and its data.
func made(c kind) (*Params, *Data) {
	p, d := c.Make()
	return p, &Data{N: d.N, Q: d.Q, D: d.D, X: d.X, Y: d.Y}
}

// mustModel returns the result of NewModel and fails the test on an error.
func mustModel(t testing.TB, p *Params) *Model {
	t.Helper()
	return testkit.Must(NewModel(p))(t)
}

// conditioned returns an exact model conditioned on data.
func conditioned(t testing.TB, p *Params, data *Data) *Model {
	t.Helper()
	m := mustModel(t, p.Clone())
	testkit.Must(m.Condition(context.Background(), data))(t)
	return m
}

// Tolerances of this package's tests and the reason for each.
const (
	// goldenBound: bounds are sums of some hundred terms of the size of the bound, each
	// rounded at 1e-16.
	goldenBound = 1e-11
	// goldenGradient: the same sums times A⁻¹, with condition numbers up to 1e5.
	goldenGradient = 1e-9
	// goldenGradientHard: x near 1e5 costs five digits of x − z, and Σ near 1e-8 gives
	// terms that differ by a factor of 1e8.
	goldenGradientHard = 1e-7
	// goldenPredict: one solve with A.
	goldenPredict = 1e-9
	rounding      = modeltest.Rounding
)

// goldenModel returns the model and the data of a golden file.
func goldenModel(t *testing.T, g *oracle.Golden) (*Model, *Data) {
	t.Helper()
	return mustModel(t, modeltest.FromOracle(g.Params, g)),
		&Data{N: g.N, Q: g.Q, D: g.D, X: slices.Concat(g.X...), Y: slices.Concat(g.Y...)}
}

func TestGolden(t *testing.T) {
	paths := testkit.Must(filepath.Glob("testdata/golden/*.json"))(t)
	if len(paths) < 7 {
		t.Fatalf("%d golden files, want 7", len(paths))
	}
	for _, path := range paths {
		g := testkit.Must(oracle.LoadGolden(path))(t)
		t.Run(g.Name, func(t *testing.T) {
			m, data := goldenModel(t, g)
			gradTol := goldenGradient
			if g.Name == "q1d1_far_from_origin" || g.Name == "q1d1_confident_frequencies" {
				gradTol = goldenGradientHard
			}
			check := func(what string, inference Inference, rows []int, want oracle.GoldenBound) {
				t.Helper()
				e := testkit.Must(m.Evaluate(t.Context(), data, inference, rows, true))(t)
				modeltest.Near(t, what+" bound", []float64{e.Bound}, []float64{want.Bound}, goldenBound)
				got := e.Gradient.Tensors()
				for i, w := range modeltest.FromOracle(want.Gradient, g).Tensors() {
					if len(*w.Data) > 0 {
						modeltest.Near(t, what+" gradient by "+w.Name, *got[i].Data, *w.Data, gradTol)
					}
				}
			}
			check("exact", Exact, nil, g.Exact)
			check("factorized", Factorized, nil, g.Factorized)
			if g.Minibatch != nil {
				check("mini-batch", Factorized, g.Minibatch.Rows, g.Minibatch.GoldenBound)
			}
			checkPredict(t, m, "factorized", g, g.Predict.FactorizedMean, g.Predict.FactorizedCov)
			testkit.Must(m.Condition(t.Context(), data))(t)
			mean, vr, err := m.Coefficients()
			testkit.OK(t, err)
			modeltest.Near(t, "coefficient mean", mean, slices.Concat(g.CoefMean...), goldenPredict)
			first := testkit.Numbers(len(g.CoefVar), func(k int) float64 { return vr[k*m.Params.D] })
			modeltest.Near(t, "coefficient variance", first, g.CoefVar, goldenPredict)
			clear(mean) // a copy: the model does not change
			clear(vr)
			checkPredict(t, m, "exact", g, g.Predict.ExactMean, g.Predict.ExactCov)
		})
	}
}

func checkPredict(t *testing.T, m *Model, what string, g *oracle.Golden, mean [][]float64, cov [][][]float64) {
	t.Helper()
	p := testkit.Must(m.Predict(t.Context(), slices.Concat(g.Predict.X...)))(t)
	modeltest.Near(t, what+" mean", p.Mean, slices.Concat(mean...), goldenPredict)
	modeltest.Near(t, what+" covariance", p.Cov, slices.Concat(slices.Concat(cov...)...), goldenPredict)
}

// TestFrequencies compares frequencies with values computed by hand, in the data's units and
// in order of increasing uncertainty. The sort is stable.
func TestFrequencies(t *testing.T) {
	p := NewParams(2, 2, 1, 1)
	p.Variance = []float64{1, 1}
	p.Lengthscale = []float64{2, 4}
	p.Frequency = []float64{0, 0.25}
	p.Location = []float64{0, 1, 2, 3}
	p.FreqMean = []float64{2 * math.Pi, -4 * math.Pi, 0, 8 * math.Pi}
	p.FreqVar = []float64{4, 1, 4, 0}
	p.NoisePrecision = []float64{1}
	p.CoefMean, p.CoefVar = nil, nil
	m := testkit.Must(NewModel(p))(t)
	m.X = Affine{Offset: []float64{100}, Scale: []float64{10}}
	inf := math.Inf(1)
	want := []Frequency{ // l is 20 and 40, p 0.025 for the second component
		{Feature: 3, Component: 1, Location: []float64{130}, Mean: []float64{0.1 + 0.025}, Spread: []float64{0}, Reach: []float64{inf}},
		{Feature: 1, Component: 0, Location: []float64{110}, Mean: []float64{0.1}, Spread: []float64{1 / (40 * math.Pi)},
			Reach: []float64{20}},
		{Feature: 2, Component: 1, Location: []float64{120}, Mean: []float64{0.025}, Spread: []float64{2 / (80 * math.Pi)},
			Reach: []float64{20}},
		{Feature: 0, Component: 0, Location: []float64{100}, Mean: []float64{0.05}, Spread: []float64{2 / (40 * math.Pi)},
			Reach: []float64{10}},
	}
	checkFrequencies(t, m.Frequencies(), want)
	m.hyper = &Posterior{Features: []float64{0.4, 3, 0.2, 1}} // by feature, in cycles of the model's unit
	for i := range want {
		want[i].SD = []float64{m.hyper.Features[want[i].Feature] / 10}
	}
	want = []Frequency{want[2], want[3], want[0], want[1]}
	checkFrequencies(t, m.Frequencies(), want)
}

func checkFrequencies(t *testing.T, all, want []Frequency) {
	t.Helper()
	numbers := func(f Frequency) []float64 {
		return slices.Concat(f.Location, f.Mean, f.Spread, f.Reach, f.Period, f.SD, f.PeriodSD)
	}
	for i, got := range all {
		w := want[i]
		w.Period = []float64{1 / w.Mean[0]}
		if w.SD != nil {
			w.PeriodSD = []float64{w.SD[0] / (w.Mean[0] * w.Mean[0])}
		}
		a, b := numbers(got), numbers(w)
		if got.Feature != w.Feature || got.Component != w.Component || len(a) != len(b) {
			t.Fatalf("index %d: %+v, want %+v", i, got, w)
		}
		for j, v := range b {
			if a[j] != v && !(math.Abs(a[j]-v) <= 1e-15*v) {
				t.Errorf("feature %d: %v, want %v", got.Feature, a, b)
			}
		}
	}
}

// TestComponents compares components and noise with values computed by hand, in the data's
// units. An invalid model has none.
func TestComponents(t *testing.T) {
	p := NewParams(2, 1, 1, 2)
	p.Variance, p.Lengthscale, p.Frequency = []float64{4, 9}, []float64{3, 5}, []float64{0.5, 0}
	p.NoisePrecision, p.CoefMean, p.CoefVar = []float64{25}, nil, nil
	m := testkit.Must(NewModel(p))(t)
	m.X, m.Y = Affine{Offset: []float64{1}, Scale: []float64{10}}, Affine{Offset: []float64{0, 0}, Scale: []float64{100, 1}}
	want := []Component{
		{SD: []float64{200, 2}, Lengthscale: []float64{30}, Period: []float64{20}},
		{SD: []float64{300, 3}, Lengthscale: []float64{50}, Period: []float64{math.Inf(1)}},
	}
	if got := m.Components(); !reflect.DeepEqual(got, want) {
		t.Errorf("components %v, want %v", got, want)
	}
	if got := m.NoiseSD(); !slices.Equal(got, []float64{20, 0.2}) {
		t.Errorf("noise %v, want 20 and 0.2", got)
	}
	var none *Model
	if none.Components() != nil || none.NoiseSD() != nil || (&Model{}).Components() != nil {
		t.Error("an invalid model has components")
	}
}
