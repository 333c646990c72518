package vssgp

import (
	"bytes"
	"context"
	"errors"
	"math"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/fileio/safetensors"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/modeltest"
)

// gapped returns a wave with a rough part and noise, without the rows from 4 to 6, and the wave there.
func gapped(rough float64) (known *Data, x, f []float64) {
	rng := modeltest.NewRNG(3)
	known = &Data{Q: 1, D: 1}
	own := 0.0
	for i := range 200 {
		own = 0.9*own + rough*rng.NormFloat64()
		t := float64(i) / 20
		y := 50 + 3*(math.Sin(2.5*t)+own)
		if t >= 4 && t < 6 {
			x, f = append(x, t), append(f, y)
			continue
		}
		add(known, t, y+0.3*rng.NormFloat64())
	}
	return known, x, f
}

// TestSearchIsTheDefault checks which options lead to the search.
func TestSearchIsTheDefault(t *testing.T) {
	one, two := wave(60, 0.1), surface(60, 0.1)
	for name, c := range map[string]struct {
		data *Data
		o    Options
		want Init
	}{
		"default":    {one, Options{}, InitSearch},
		"method":     {one, Options{Method: VSSGP, Inference: Exact}, InitSearch},
		"no windows": {one, Options{Windows: WindowOptions{Length: WindowNone}}, InitSearch},
		"draws":      {one, Options{Posterior: PosteriorOptions{Draws: 5}, Seed: 2, Raw: true, MemoryLimit: 1e9}, InitSearch},
		"given":      {one, Options{Init: InitSearch}, InitSearch},
		"components": {one, Options{Components: 3}, InitSpectrum},
		"window":     {one, Options{Windows: WindowOptions{Length: 2}}, InitSpectrum},
		"iterations": {one, Options{Iterations: 5}, InitSpectrum},
		"no priors":  {one, Options{Priors: NoPriors()}, InitSpectrum},
		"lengths":    {one, Options{Paper: PaperOptions{Lengthscales: []float64{1}}}, InitPaper},
		"two inputs": {two, Options{}, InitSearch},
		"few rows":   {surface(19, 0.1), Options{}, InitPaper},
		"on a line":  {&Data{N: 30, Q: 2, D: 1, X: make([]float64, 60), Y: make([]float64, 30)}, Options{}, initTable},
		"three":      {&Data{N: 20, Q: 3, D: 1, X: two.X[:60], Y: two.Y[:20]}, Options{}, initTable},
		"a table":    {two, Options{Iterations: 5}, initTable},
	} {
		pr, err := c.o.problem(c.data)
		if err != nil || pr.init != c.want {
			t.Errorf("%s: %s, %v; want %s", name, pr.init, err, c.want)
		}
	}
	for name, c := range map[string]struct {
		data *Data
		o    Options
	}{
		"components": {one, Options{Init: InitSearch, Components: 3}}, "fix": {one, Options{Init: InitSearch, Fix: []string{"noise.precision"}}},
		"restarts": {one, Options{Init: InitSearch, Restarts: 1}}, "line": {&Data{N: 2, Q: 2, D: 1, X: []float64{1, 1, 2, 1}, Y: []float64{1, 2}}, Options{Init: InitSearch}},
		"inputs":   {&Data{N: 20, Q: 3, D: 1, X: two.X[:60], Y: two.Y[:20]}, Options{Init: InitSearch}},
		"constant": {&Data{N: 2, Q: 1, D: 1, X: []float64{1, 1}, Y: []float64{1, 2}}, Options{Init: InitSearch}},
	} {
		testkit.Fails(t, fitError(c.data, c.o), ErrOptions, "init search", name)
	}
}

// TestSearchCoversTheGap checks the structure, the averaged predictions and their intervals, and that rows of the gap rely on the prior.
func TestSearchCoversTheGap(t *testing.T) {
	for name, rough := range map[string]float64{"smooth": 0, "rough": 0.2} {
		known, x, f := gapped(rough)
		m, r := mustFit(t, known, Options{})
		if (m.rows != nil) != (rough > 0) {
			t.Errorf("%s: components %+v", name, m.Components())
		}
		e := testkit.Must(m.Evaluate(t.Context(), known, Exact, nil, false))(t)
		testkit.Near(t, e.Bound, r.Bound, 1e-6, name)
		p := testkit.Must(m.Predict(t.Context(), x))(t)
		if c := bayes.Coverage(p.Mean, p.SD(false), f); c < 0.9 {
			t.Errorf("%s: the intervals cover %g of the gap", name, c)
		}
		if rough == 0 && p.Beyond != nil {
			t.Errorf("%s: rows of the gap are marked, although the wave is known there", name)
		}
		parts := m.Posterior().Draws
		if len(parts) != searchDraws {
			t.Fatalf("%s: %d draws", name, len(parts))
		}
		mean := 0.0
		for _, d := range parts {
			mean += testkit.Must(d.Predict(t.Context(), x[:1]))(t).Mean[0] / searchDraws
		}
		testkit.Near(t, p.Mean[0], mean, 1e-9*math.Abs(mean), name+": mean of the draws")
		_, cov, err := m.PredictJoint(t.Context(), x[:3])
		testkit.OK(t, err)
		for i := range 3 {
			testkit.Near(t, math.Sqrt(cov.At(i, i)), p.SD(false)[i], 1e-6, name+": joint and marginal standard deviation")
		}
		single, _ := mustFit(t, known, Options{Posterior: PosteriorOptions{Draws: NoPosterior}})
		if single.Posterior() != nil || single.Params.M() != m.Params.M() {
			t.Errorf("%s: a fit without a posterior has %+v", name, single.Posterior())
		}
	}
}

// TestBeyondInsideAGap checks that rows far from the data are marked if only a broad component predicts them.
func TestBeyondInsideAGap(t *testing.T) {
	rng := modeltest.NewRNG(8)
	known := &Data{Q: 1, D: 1}
	level := 0.0
	for i := range 300 {
		level = 0.95*level + 0.3*rng.NormFloat64()
		if i < 100 || i >= 200 {
			add(known, float64(i), level+0.1*rng.NormFloat64())
		}
	}
	m, _ := mustFit(t, known, Options{})
	p := testkit.Must(m.Predict(t.Context(), []float64{50, 150, 250, 400}))(t)
	if want := []bool{false, true, false, true}; !slices.Equal(p.Beyond, want) {
		t.Errorf("marked %v, want %v; components %+v", p.Beyond, want, m.Components())
	}
}

// TestContinueSearch checks that a fit from a model that a search has found keeps its components, rough ones too, or with NoIterations
// only conditions it.
func TestContinueSearch(t *testing.T) {
	known, _, _ := gapped(0.2)
	m, r := mustFit(t, known, Options{})
	again, more := mustFit(t, known, Options{From: m})
	if more.Init != InitSearch || more.Bound < r.Bound-0.1 || len(again.Components()) != len(m.Components()) {
		t.Errorf("the fit from %+v with bound %g has %+v with bound %g", m.Components(), r.Bound, again.Components(), more.Bound)
	}
	other := &Data{N: 100, Q: 1, D: 1, X: known.X[:100], Y: known.Y[:100]}
	same, _ := mustFit(t, other, Options{From: m, Iterations: NoIterations})
	if !reflect.DeepEqual(same.Components(), m.Components()) || same.Posterior() != nil {
		t.Errorf("without iterations %+v becomes %+v", m.Components(), same.Components())
	}
	e := testkit.Must(m.Evaluate(t.Context(), other, Exact, nil, false))(t)
	testkit.Near(t, testkit.Must(same.Evaluate(t.Context(), other, Exact, nil, false))(t).Bound, e.Bound, 1e-9, "bound of other rows")
	for name, o := range map[string]Options{"iterations": {Iterations: 5}, "restarts": {Restarts: 1}, "priors": {Priors: NoPriors()}} {
		o.From = m
		testkit.Fails(t, fitError(known, o), ErrOptions, name, "a model to start from that a search has found")
	}
}

// TestSearchFile checks that a loaded model predicts the same bits, and that damaged files are rejected.
func TestSearchFile(t *testing.T) {
	for name, rough := range map[string]float64{"smooth": 0, "rough": 0.2} {
		known, x, _ := gapped(rough)
		m, _ := mustFit(t, known, Options{Posterior: PosteriorOptions{Draws: 3}})
		path := filepath.Join(t.TempDir(), "m.safetensors")
		testkit.OK(t, m.Save(path))
		loaded := testkit.Must(Load(path))(t)
		p, q := testkit.Must(m.Predict(t.Context(), x))(t), testkit.Must(loaded.Predict(t.Context(), x))(t)
		if !slices.Equal(p.Mean, q.Mean) || !slices.Equal(p.Cov, q.Cov) {
			t.Errorf("%s: the loaded model predicts other bits", name)
		}
		if !bytes.Equal(encoded(t, loaded), encoded(t, m)) {
			t.Errorf("%s: the loaded model has another file", name)
		}
		mean, variance, err := loaded.Coefficients()
		if err != nil || len(mean) != m.Params.M() || len(variance) != len(mean) || slices.Min(variance) <= 0 {
			t.Errorf("%s: coefficients %v %v, %v", name, mean, variance, err)
		}
		for what, spoil := range map[string]func(f *safetensors.File){
			"components":       func(f *safetensors.File) { f.Metadata["components"] = "{" },
			"component kind":   func(f *safetensors.File) { f.Metadata["components"] = `{"components":[{"kind":"x","sd":1}]}` },
			"draws.components": func(f *safetensors.File) { delete(f.Metadata, "draws.components") },
		} {
			f := testkit.Must(m.file())(t)
			spoil(f)
			_, err := fromFile(f)
			testkit.Fails(t, err, ErrParams, what, name)
		}
		if rough > 0 {
			f := testkit.Must(m.file())(t)
			f.Tensors[nameRowsY] = vector([]float64{1})
			_, err := fromFile(f)
			testkit.Fails(t, err, ErrParams, nameRowsY, name)
		}
	}
}

// TestFileOfMixedDraws checks the file of a model whose draws have rough components, although it has none.
func TestFileOfMixedDraws(t *testing.T) {
	known, x, _ := gapped(0)
	m, _ := mustFit(t, known, Options{Posterior: PosteriorOptions{Draws: 2}})
	known, _, _ = gapped(0.2)
	rough, _ := mustFit(t, known, Options{Posterior: PosteriorOptions{Draws: 1}})
	if m.rows != nil || rough.rows == nil {
		t.Fatalf("components %+v and %+v", m.Components(), rough.Components())
	}
	m.hyper.Draws[1] = rough.hyper.Draws[0]
	m.hyper.Draws[1].X, m.hyper.Draws[1].Y = m.X, m.Y // which a file has once
	loaded, err := fromFile(testkit.Must(m.file())(t))
	testkit.OK(t, err)
	p, q := testkit.Must(m.Predict(t.Context(), x))(t), testkit.Must(loaded.Predict(t.Context(), x))(t)
	if !slices.Equal(p.Mean, q.Mean) || loaded.rows != nil {
		t.Error("the loaded model differs")
	}
}

// TestSearchBits checks that a fit does not depend on the number of cores, or on interruptions after which it resumes.
func TestSearchBits(t *testing.T) {
	known, _, _ := gapped(0.2)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	runtime.GOMAXPROCS(1)
	m, r := mustFit(t, known, Options{Seed: 4})
	want := encoded(t, m)
	runtime.GOMAXPROCS(3)
	o := Options{Seed: 4, Checkpoint: CheckpointOptions{Path: filepath.Join(t.TempDir(), "c"), Every: time.Hour}}
	if m, _ := mustFit(t, known, o); !bytes.Equal(encoded(t, m), want) {
		t.Error("three cores give another model than one")
	}
	for stop := 1; stop <= r.Iterations; stop++ {
		ctx, cancel := context.WithCancel(t.Context())
		o.Progress = func(p Progress) {
			if p.Iteration == stop {
				cancel()
			}
		}
		m, _, err := Fit(ctx, known, o)
		if !errors.Is(err, context.Canceled) || m == nil || !m.Fitted() {
			t.Fatalf("stopped at %d: %v, %v", stop, m, err)
		}
		o.Progress, o.Checkpoint.Resume = nil, true
		again, result := mustFit(t, known, o)
		if !bytes.Equal(encoded(t, again), want) || result.Resumed < 0 || result.Starts[0].Ended != "converged" {
			t.Errorf("stopped at %d and resumed: another model", stop)
		}
		o.Checkpoint.Resume = false
	}
}

// TestResumeContinuedSearch checks that a resumed search does not need the model it started from, which the interrupted fit may have
// replaced, and that its result is the same.
func TestResumeContinuedSearch(t *testing.T) {
	known, _, _ := gapped(0.2)
	from, _ := mustFit(t, &Data{N: 60, Q: 1, D: 1, X: known.X[:60], Y: known.Y[:60]}, Options{})
	o := Options{From: from, Checkpoint: CheckpointOptions{Path: filepath.Join(t.TempDir(), "c"), Every: time.Hour}}
	want, _ := mustFit(t, known, Options{From: from})
	ctx, cancel := context.WithCancel(t.Context())
	o.Progress = func(Progress) { cancel() }
	m, _, err := Fit(ctx, known, o)
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	o.From, o.Progress, o.Checkpoint.Resume = m, nil, true
	if again, _ := mustFit(t, known, o); !bytes.Equal(encoded(t, again), encoded(t, want)) {
		t.Error("the resumed search ends with another model")
	}
}

// TestFrequenciesOfSearch checks that each line has one frequency, with its standard deviation, and other components have none.
func TestFrequenciesOfSearch(t *testing.T) {
	rng := modeltest.NewRNG(5)
	data := &Data{Q: 1, D: 1}
	for i := range 300 {
		x := float64(i) / 10
		add(data, x, 2*math.Sin(2*x)+math.Cos(5*x)+0.3*rng.NormFloat64())
	}
	m, _ := mustFit(t, data, Options{})
	all := m.Frequencies()
	if len(m.Components()) != 2 || len(all) != 2 {
		t.Fatalf("%d components with %d frequencies, want 2 lines", len(m.Components()), len(all))
	}
	for _, f := range all {
		nearest := min(math.Abs(f.Mean[0]-1/math.Pi), math.Abs(f.Mean[0]-2.5/math.Pi))
		if nearest > 4*f.SD[0] || f.SD[0] > 0.01 {
			t.Errorf("frequency %g ± %g", f.Mean[0], f.SD[0])
		}
	}
	smooth, _, _ := gapped(0.2)
	if rough, _ := mustFit(t, smooth, Options{}); rough.rows == nil || len(rough.Frequencies()) > len(rough.Components()) {
		t.Errorf("%d frequencies of %+v", len(rough.Frequencies()), rough.Components())
	}
}

// TestConditionRough checks that a model with rough components can be conditioned on other data, and has only the exact bound.
func TestConditionRough(t *testing.T) {
	known, x, _ := gapped(0.2)
	m, _ := mustFit(t, known, Options{})
	less := &Data{N: 90, Q: 1, D: 1, X: known.X[:90], Y: known.Y[:90]}
	before := testkit.Must(m.Predict(t.Context(), x))(t)
	e := testkit.Must(m.Condition(t.Context(), less))(t)
	after := testkit.Must(m.Predict(t.Context(), x))(t)
	if slices.Equal(before.Mean, after.Mean) || !(e.Bound < 0) {
		t.Errorf("conditioning on other rows changed nothing: %v", e)
	}
	_, err := m.Evaluate(t.Context(), known, Exact, nil, true)
	testkit.Fails(t, err, ErrOptions, "rough components", "gradient")
	_, err = m.Evaluate(t.Context(), known, Factorized, nil, false)
	testkit.Fails(t, err, ErrOptions, "rough components", "factorized")
}

// TestDrawRough checks that a drawn function is the same for any set of rows, and that draws have the moments of the posterior.
func TestDrawRough(t *testing.T) {
	known, _, _ := gapped(0.2)
	m, _ := mustFit(t, known, Options{Posterior: PosteriorOptions{Draws: NoPosterior}})
	x := []float64{1, 4.2, 5, 5.05, 12}
	all := testkit.Must(m.Draw(t.Context(), x, 300, 1))(t)
	draws := testkit.Must(m.Draws(1))(t)
	one := testkit.Must(draws.At(t.Context(), 2, x[2:4]))(t)
	if math.Abs(one[0]-all[2][2])+math.Abs(one[1]-all[2][3]) > 1e-9 {
		t.Errorf("function 2 is %v at two rows and %v among others", one, all[2][2:4])
	}
	p := testkit.Must(m.Predict(t.Context(), x))(t)
	sd := p.SD(false)
	for i := range x {
		values := testkit.Numbers(len(all), func(k int) float64 { return all[k][i] })
		mean, spread := bayes.MeanSD(values, 0, 1)
		testkit.Near(t, mean, p.Mean[i], 0.25*sd[i], "mean")
		testkit.Near(t, spread, sd[i], 0.2*sd[i], "standard deviation")
	}
}

// TestSearchOfSeveralOutputs checks that outputs share the components.
func TestSearchOfSeveralOutputs(t *testing.T) {
	rng := modeltest.NewRNG(12)
	d := &Data{Q: 1, D: 2}
	for i := range 150 {
		x := float64(i)
		d.X = append(d.X, x)
		d.Y = append(d.Y, math.Sin(x/4)+0.2*rng.NormFloat64(), 7+5*math.Cos(x/4)+rng.NormFloat64())
		d.N++
	}
	m, _ := mustFit(t, d, Options{})
	c := m.Components()
	if len(c) != 1 || math.Abs(c[0].Period[0]-8*math.Pi) > 0.2 || len(c[0].SD) != 2 {
		t.Errorf("components %+v, want one with period %g", c, 8*math.Pi)
	}
	if sd := m.NoiseSD(); math.Abs(math.Log(sd[0]/0.2)) > 0.3 || math.Abs(math.Log(sd[1])) > 0.3 {
		t.Errorf("noise %v", sd)
	}
}
