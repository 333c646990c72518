package vssgp

import (
	"bytes"
	"context"
	"errors"
	"math"
	"strings"
	"testing"
)

// TestRestarts: the best start is kept, each has a seed of its own, and is what
// a fit with that seed alone gives.
func TestRestarts(t *testing.T) {
	data := wave(80, 0.2)
	o := Options{Init: InitPaper, Features: 6, Iterations: 12, Restarts: 3, Seed: 5}
	m, r := mustFit(t, data, o)
	if len(r.Starts) != 4 {
		t.Fatalf("%d starts, want 4", len(r.Starts))
	}
	best := 0
	for s, start := range r.Starts {
		if start.Seed != 5+uint64(s) {
			t.Errorf("start %d has seed %d", s, start.Seed)
		}
		if start.Bound > r.Starts[best].Bound {
			best = s
		}
	}
	if r.Kept != best || r.Bound != r.Starts[best].Bound {
		t.Errorf("kept start %d of %+v", r.Kept, r.Starts)
	}
	o.Restarts, o.Seed = 0, r.Starts[best].Seed
	if one, _ := mustFit(t, data, o); !bytes.Equal(encoded(t, one), encoded(t, m)) {
		t.Error("the kept start differs from a fit with its seed")
	}
}

// TestCollapsed: the two bad optima are recognized and started again from; data
// that are constant are no bad optimum.
func TestCollapsed(t *testing.T) {
	noise := wave(60, 100)
	for name, c := range map[string]struct {
		data   *Data
		o      Options
		says   string
		starts int
	}{
		"noise":                     {noise, Options{Init: InitPaper, Features: 4, Iterations: 60, Priors: NoPriors()}, "noise", 1 + extraStarts},
		"noise, asked for restarts": {noise, Options{Init: InitPaper, Features: 4, Iterations: 60, Restarts: 1, Priors: NoPriors()}, "noise", 2 + extraStarts},
		"short reach": {wave(60, 0.1), Options{
			Init: InitPaper, Features: 5, Iterations: 5, Paper: PaperOptions{Lengthscales: []float64{0.001}}, NoisePrecision: 100,
			Fix: []string{"kernel.lengthscale", "frequency.variance", "noise.precision"},
		}, "reach", 1 + extraStarts},
		"good":     {wave(60, 0.1), Options{Components: 8, Iterations: 5}, "", 1},
		"constant": {&Data{N: 3, Q: 1, D: 1, X: []float64{1, 2, 3}, Y: []float64{7, 7, 7}}, Options{Features: 4, Iterations: 3}, "", 1},
	} {
		m, r := mustFit(t, c.data, c.o)
		if len(r.Starts) != c.starts {
			t.Errorf("%s: %d starts, want %d", name, len(r.Starts), c.starts)
		}
		for _, s := range r.Starts {
			if collapsed := strings.HasPrefix(s.Ended, "collapsed: "); collapsed != (c.says != "") || !strings.Contains(s.Ended, c.says) {
				t.Errorf("%s: ended %q", name, s.Ended)
			}
		}
		if m == nil || math.IsNaN(r.Bound) {
			t.Errorf("%s: no model", name)
		}
	}
}

// TestFrom: a fit goes on from a saved model, whose file and posterior it
// leaves alone.
func TestFrom(t *testing.T) {
	data := wave(80, 0.1)
	first, r := mustFit(t, data, Options{Init: InitPaper, Features: 8, Iterations: 8})
	before := encoded(t, first)
	loaded, err := read(before)
	if err != nil {
		t.Fatal(err)
	}
	for _, inference := range []Inference{Exact, Factorized} {
		further, r2 := mustFit(t, data, Options{From: loaded, Iterations: 8, Inference: inference})
		if inference == Exact && r2.Bound <= r.Bound {
			t.Errorf("going on from %g gives %g", r.Bound, r2.Bound)
		}
		if further.Inference != inference || further.Params.M() != 8 || further.X.Offset[0] != first.X.Offset[0] {
			t.Errorf("%s: went on as %s with %d features", inference, further.Inference, further.Params.M())
		}
		if !bytes.Equal(encoded(t, loaded), before) {
			t.Errorf("%s: the model that it started from has changed", inference)
		}
	}
	p, _ := made(kind{Name: "turned", N: 1, L: 1, K: 3, Q: 1, D: 1})
	p.CoefMean, p.CoefVar = nil, nil
	for k := range p.PhaseLower {
		p.PhaseLower[k], p.PhaseUpper[k] = p.PhaseLower[k]-20, p.PhaseUpper[k]-20
	}
	turned, _ := mustFit(t, data, Options{From: mustModel(t, p), Iterations: 2})
	for k, a := range turned.Params.PhaseLower {
		if a < 0 || a >= 2*math.Pi {
			t.Errorf("phase.lower[%d] is %v after a fit, want it in the first turn", k, a)
		}
	}
	if _, _, err := Fit(context.Background(), &Data{N: 2, Q: 2, D: 1, X: make([]float64, 4), Y: make([]float64, 2)}, Options{From: loaded}); !errors.Is(err, ErrData) {
		t.Errorf("data with other inputs: error %v, want one that wraps ErrData", err)
	}
}
