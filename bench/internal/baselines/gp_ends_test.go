package baselines

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/vssgp/vssgp"
)

// Data that have little or nothing to say still give a model that predicts
// them with finite numbers.
func TestGPCollapses(t *testing.T) {
	for name, data := range map[string]*vssgp.Data{
		"one row":        {N: 1, Q: 1, D: 1, X: []float64{2}, Y: []float64{5}},
		"constant":       {N: 4, Q: 1, D: 1, X: []float64{0, 1, 2, 3}, Y: []float64{5, 5, 5, 5}},
		"constant input": {N: 4, Q: 1, D: 1, X: []float64{2, 2, 2, 2}, Y: []float64{4, 6, 4, 6}},
		"no noise":       {N: 6, Q: 1, D: 1, X: []float64{0, 1, 2, 3, 4, 5}, Y: []float64{0, 2, 4, 6, 8, 10}},
		"rows twice":     {N: 4, Q: 1, D: 1, X: []float64{0, 2, 0, 2}, Y: []float64{5, 5.1, 5, 5.1}},
	} {
		fit := fitGP(t, Options{Iterations: 100}, data)
		p, err := fit.Model.Predict(t.Context(), column(2, 1e9))
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range slices.Concat(p.Mean, p.Cov, p.Noise, []float64{fit.Bound, fit.NoiseSD}) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("%s: number %d is %v", name, i, v)
			}
		}
		want := map[string]float64{"no noise": 4, "rows twice": 5.1}[name]
		if want == 0 {
			want = 5
		}
		if math.Abs(p.Mean[0]-want) > 0.1 {
			t.Errorf("%s: mean %v at 2, want about %v", name, p.Mean[0], want)
		}
	}
}

func TestGPInterrupted(t *testing.T) {
	data := noisyData(60, 1, 1, 5)
	ctx, cancel := context.WithCancel(t.Context())
	fit, err := GP{Options{Progress: func(p vssgp.Progress) {
		if p.Iteration == 3 {
			cancel()
		}
	}}}.Fit(ctx, data)
	if !errors.Is(err, context.Canceled) || fit == nil {
		t.Fatalf("fit %v, error %v; want both", fit, err)
	}
	start := fitGP(t, Options{Iterations: NoIterations}, data)
	if fit.Iterations != 3 || !(fit.Bound > start.Bound) {
		t.Errorf("bound %v after %d iterations, want 3 and more than the start's %v", fit.Bound, fit.Iterations, start.Bound)
	}
	fit, err = GP{}.Fit(ctx, data) // canceled before it began
	if !errors.Is(err, context.Canceled) || fit == nil || fit.Bound != start.Bound {
		t.Errorf("fit %v, error %v; want the starting values and the cancellation", fit, err)
	}
}

func TestMistakes(t *testing.T) {
	good := noisyData(5, 1, 1, 1)
	many := noisyData(MaxRows+1, 1, 1, 1)
	bad := noisyData(5, 1, 1, 1)
	bad.Y[3] = math.NaN()
	with := func(f func(c *Covariance)) Options {
		c := SE(1, 1, 2)
		f(&c)
		return Options{Covariance: c}
	}
	for name, c := range map[string]struct {
		o    Options
		data *vssgp.Data
		want error
	}{
		"no data":             {Options{}, nil, vssgp.ErrData},
		"not a number":        {Options{}, bad, vssgp.ErrData},
		"too many rows":       {Options{}, many, vssgp.ErrOptions},
		"another Q":           {Options{Covariance: SE(2, 1)}, good, vssgp.ErrOptions},
		"negative variance":   {with(func(c *Covariance) { c.Variance[1] = -1 }), good, vssgp.ErrOptions},
		"length-scale 0":      {with(func(c *Covariance) { c.Lengthscale[0] = 0 }), good, vssgp.ErrOptions},
		"infinite frequency":  {with(func(c *Covariance) { c.Frequency[0] = math.Inf(1) }), good, vssgp.ErrOptions},
		"missing frequencies": {with(func(c *Covariance) { c.Frequency = nil }), good, vssgp.ErrOptions},
		"negative iterations": {Options{Iterations: -2}, good, vssgp.ErrOptions},
		"negative precision":  {Options{NoisePrecision: -1}, good, vssgp.ErrOptions},
		"precision NaN":       {Options{NoisePrecision: math.NaN()}, good, vssgp.ErrOptions},
		"precision infinite":  {Options{NoisePrecision: math.Inf(1)}, good, vssgp.ErrOptions},
	} {
		if fit, err := (GP{c.o}).Fit(t.Context(), c.data); !errors.Is(err, c.want) || fit != nil {
			t.Errorf("%s: fit %v, error %v; want none and %v", name, fit, err, c.want)
		}
	}
	m := fitGP(t, Options{Iterations: NoIterations}, good).Model
	for name, x := range map[string][]float64{
		"not a number": {1, math.NaN()}, "no rows": nil,
	} {
		if _, err := m.Predict(t.Context(), x); !errors.Is(err, vssgp.ErrData) {
			t.Errorf("predict at %s: %v, want ErrData", name, err)
		}
	}
}

// A caller may reuse its arrays after a fit.
func TestGPKeepsNothing(t *testing.T) {
	data := noisyData(20, 1, 1, 1)
	fit := fitGP(t, Options{Iterations: 5}, data)
	before, err := fit.Model.Predict(t.Context(), column(1))
	if err != nil {
		t.Fatal(err)
	}
	clear(data.X)
	clear(data.Y)
	after, err := fit.Model.Predict(t.Context(), column(1))
	if err != nil {
		t.Fatal(err)
	}
	if before.Mean[0] != after.Mean[0] || before.Cov[0] != after.Cov[0] {
		t.Errorf("prediction %v before and %v after the data have changed", before, after)
	}
}

func BenchmarkGPEvaluation(b *testing.B) {
	data := noisyData(1000, 1, 1, 1)
	p, err := prepare(data, Options{})
	if err != nil {
		b.Fatal(err)
	}
	e := newEvidence(p)
	for b.Loop() {
		if _, err := e.value(p.start); err != nil {
			b.Fatal(err)
		}
		e.gradient(newCoordinates(p.start, false).zero())
	}
}
