package vssgp

import (
	"math"
	"strings"
	"testing"
)

// TestRandomSchedule: from random starting values the noise precision stays
// for the first stage, and moves in the second, except where it is fixed, given
// by a model, or the method does without; many features have a warm-up.
func TestRandomSchedule(t *testing.T) {
	data := &Data{N: 60, Q: 1, D: 1}
	for i := range data.N {
		data.X = append(data.X, float64(i))
		data.Y = append(data.Y, math.Sin(0.3*float64(i)))
	}
	paper := Options{Init: InitPaper, Paper: PaperOptions{Lengthscales: []float64{8}}, Features: 6, NoisePrecision: 50, Iterations: 20}
	many := func(o *Options) { o.Features = 100 } // the least that have a warm-up
	for name, c := range map[string]struct {
		change     func(o *Options)
		held, warm bool
	}{
		"paper":            {func(*Options) {}, true, false},
		"factorised":       {func(o *Options) { o.Inference = Factorized }, true, false},
		"stochastic":       {func(o *Options) { o.Inference = Stochastic }, true, false},
		"fixed":            {func(o *Options) { o.Fix = []string{"noise.precision"} }, false, false},
		"ssgp":             {func(o *Options) { o.Method = SSGP }, false, false},
		"spectrum":         {func(o *Options) { o.Init, o.Paper.Lengthscales, o.NoisePrecision = InitSpectrum, nil, 0 }, false, false},
		"many":             {many, true, true},
		"many, factorised": {func(o *Options) { many(o); o.Inference = Factorized }, true, true},
		"many, stochastic": {func(o *Options) { many(o); o.Inference = Stochastic }, true, false},
		"many, ssgp":       {func(o *Options) { many(o); o.Method = SSGP }, false, false},
	} {
		o := paper
		c.change(&o)
		sawHeld, sawWarm := false, false
		o.Progress = func(p Progress) {
			held := strings.HasSuffix(p.Stage, ", noise fixed")
			sawHeld, sawWarm = sawHeld || held, sawWarm || strings.HasPrefix(p.Stage, "warm-up")
			if moved := math.Abs(p.NoiseSD*math.Sqrt(50)-1) > 1e-9; held && moved {
				t.Errorf("%s: the noise moved while it was held, to sd %v", name, p.NoiseSD)
			}
		}
		m, _, err := Fit(t.Context(), data, o)
		if err != nil {
			t.Fatal(err)
		}
		if sawHeld != c.held || sawWarm != c.warm {
			t.Errorf("%s: the noise was held: %v, want %v; a warm-up: %v, want %v", name, sawHeld, c.held, sawWarm, c.warm)
		}
		if (m.Inference == Factorized) != (o.Inference == Factorized || o.Inference == Stochastic) {
			t.Errorf("%s: the model's inference is %s", name, m.Inference)
		}
		if sd := m.Y.Scale[0] / math.Sqrt(m.Params.NoisePrecision[0]); c.held && math.Abs(sd*math.Sqrt(50)-1) < 1e-9 {
			t.Errorf("%s: the noise never moved", name)
		}
	}
}
