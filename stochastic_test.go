package vssgp

import (
	"cmp"
	"math"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit/modeltest"
	"github.com/vssgp/vssgp/variational"
)

// poorCoefficients is a fitted model as a factorised one whose coefficients
// have not been learnt, and the factorised bound of the best ones.
func poorCoefficients(t *testing.T, data *Data) (m *Model, best float64) {
	t.Helper()
	m, _ = mustFit(t, data, Options{Init: InitPaper, Features: 8, Iterations: 15})
	rows, err := m.open(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	p := m.Params
	diag, mean, err := rows.SolveMean(p)
	if err != nil {
		t.Fatal(err)
	}
	p.CoefMean, p.CoefVar = mean, make([]float64, p.M())
	for i := range p.CoefVar {
		p.CoefVar[i] = 1 / (1 + p.NoisePrecision[0]*diag[i])
	}
	e, err := rows.Factorized(p, nil, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	m.Inference = Factorized
	for i := range p.CoefVar {
		p.CoefMean[i], p.CoefVar[i] = 0, 1
	}
	return m, e.Bound
}

// TestFactorizedReachesBest: with all else fixed, both climbs reach the best
// diagonal posterior, which is known in closed form, within a stated distance
// of its bound.
func TestFactorizedReachesBest(t *testing.T) {
	data := wave(80, 0.2)
	from, best := poorCoefficients(t, data)
	poor := evaluated(t, from, data).Bound
	start := from.clone()
	start.Params.CoefMean, start.Params.CoefVar = nil, nil
	modeltest.Near(t, "bound at the fit's own start", []float64{startBound(t, start, data, Options{Inference: Factorized, From: start})}, []float64{best}, rounding)
	for name, c := range map[string]struct {
		o      Options
		within float64 // nats
	}{
		"L-BFGS":                  {Options{Inference: Factorized, Iterations: 300}, 0.01},
		"RMSPROP":                 {Options{Inference: Stochastic, Iterations: 3000, Batch: 20}, 1},
		"RMSPROP, contiguous":     {Options{Inference: Stochastic, Iterations: 3000, Batch: 20, Contiguous: true}, 1},
		"RMSPROP, 5 rows a batch": {Options{Inference: Stochastic, Iterations: 3000, Batch: 5}, 3},
	} {
		c.o.From, c.o.Fix = from, variational.Names(func(t Tensor) bool { return t.Group != variational.Coefficients })
		_, r := mustFit(t, data, c.o)
		if r.Bound > best+1e-9*math.Abs(best) || r.Bound < best-c.within {
			t.Errorf("%s: bound %.6g from %.6g, the best is %.6g: want within %g of it", name, r.Bound, poor, best, c.within)
		}
	}
}

// TestFactorizedBelowItsExact: fitted freely, both end above their start, and
// below the exact bound of the same parameters.
func TestFactorizedBelowItsExact(t *testing.T) {
	data := wave(80, 0.2)
	_, exact := mustFit(t, data, Options{Init: InitPaper, Features: 8, Iterations: 60})
	for name, c := range map[string]struct {
		o      Options
		within float64
	}{
		"factorised": {Options{Inference: Factorized, Iterations: 200}, 60},
		"stochastic": {Options{Inference: Stochastic, Iterations: 3000, Batch: 40}, 60},
	} {
		c.o.Init, c.o.Features = InitPaper, 8
		start, err := New(t.Context(), data, c.o)
		if err != nil {
			t.Fatal(err)
		}
		from := startBound(t, start, data, c.o)
		m, r := mustFit(t, data, c.o)
		above, err := m.Evaluate(t.Context(), data, Exact, nil, false)
		if err != nil {
			t.Fatal(err)
		}
		if r.Bound <= from || r.Bound >= above.Bound {
			t.Errorf("%s: bound %.5g from %.5g; the exact bound there is %.5g", name, r.Bound, from, above.Bound)
		}
		if r.Bound < exact.Bound-c.within {
			t.Errorf("%s: bound %.5g, exact inference reaches %.5g: want within %g", name, r.Bound, exact.Bound, c.within)
		}
	}
}

// TestStochasticFeatures: mini-batches of many rows of several inputs have more features than the paper's 50, unless the options say.
func TestStochasticFeatures(t *testing.T) {
	table := func(n int) *Data { return &Data{N: n, Q: 2, D: 1, X: varied(2 * n), Y: varied(n)} }
	for name, c := range map[string]struct {
		data *Data
		o    Options
		want int
	}{
		"few rows":        {table(100), Options{}, 50},
		"many rows":       {table(manyRows), Options{}, manyFeatures},
		"given":           {table(manyRows), Options{Features: 30}, 30},
		"two components":  {table(manyRows), Options{Components: 2}, 50},
		"with windows":    {table(manyRows), Options{Window: 0.5}, 50},
		"exact inference": {table(manyRows), Options{Inference: Exact, Init: InitPaper}, 50},
	} {
		c.o.Inference = cmp.Or(c.o.Inference, Stochastic)
		m, err := New(t.Context(), c.data, c.o)
		if err != nil {
			t.Fatal(err)
		}
		if m.Params.K != c.want {
			t.Errorf("%s: K = %d, want %d", name, m.Params.K, c.want)
		}
	}
}

// varied are n numbers in [0, 1).
func varied(n int) []float64 {
	a := make([]float64, n)
	for i := range a {
		_, a[i] = math.Modf(float64(i) * math.Phi)
	}
	return a
}
