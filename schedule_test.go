package vssgp

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/internal/cost"
)

// TestMeanFrom: how many rows the coefficients start from, and whether their mean
// is solved for: a part of them where the rest of the fit sees mini-batches alone,
// and where there are too many features to solve for.
func TestMeanFrom(t *testing.T) {
	const many = 3 * directRows
	small, large, huge, windows := NewParams(1, 2, 1, 1), NewParams(directLimit, 2, 1, 1), NewParams(directLimit, 10, 1, 1), NewParams(directLimit, 2, 1, 1)
	windows.Windows.Center = []float64{1, 2}
	for _, c := range []struct {
		name      string
		p         *Params
		inference Inference
		n, rows   int
		direct    bool
	}{
		{"small", small, Factorised, many, many, true}, {"small, mini-batches", small, Stochastic, many, directRows, true}, {"small and few, mini-batches", small, Stochastic, 100, 100, true},
		{"windows, mini-batches", windows, Stochastic, many, many, true}, {"large", large, Factorised, many, meanRows, false}, {"large and few", large, Factorised, 500, 500, false},
		{"huge", huge, Stochastic, many, 10 * directLimit * meanShare, false},
	} {
		f := &fitting{o: Options{Inference: c.inference}, data: &Data{N: c.n}, model: &Model{Params: c.p}}
		if rows, direct := f.meanFrom(); rows != c.rows || direct != c.direct {
			t.Errorf("%s: %d rows of %d, solved for %v; want %d, %v", c.name, rows, c.n, direct, c.rows, c.direct)
		}
	}
}

// TestMeanEnds: the mean from a part of the rows ends with the fit's context, and
// coefficients that a model brings along stay.
func TestMeanEnds(t *testing.T) {
	d := tonal(300, 0)
	o := Options{Window: WindowNone, Inference: Stochastic}
	m, err := New(d, o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	f, err := newFitting(ctx, m, d, o)
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	if err := f.startCoefficients(); err != nil {
		t.Fatal(err)
	}
	m.Params.CoefMean[0] = 42
	if err := f.startCoefficients(); err != nil || m.Params.CoefMean[0] != 42 {
		t.Errorf("a coefficient of 42 is %v, %v", m.Params.CoefMean[0], err)
	}
	cancel()
	if _, _, err := f.directMean([]int{1, 5, 7}); !errors.Is(err, context.Canceled) {
		t.Errorf("the mean of three rows once the context has ended: %v", err)
	}
}

// TestPlanMean: what the coefficients start from is in the plan, once a start.
func TestPlanMean(t *testing.T) {
	d := tonal(directRows+100, 0)
	work := func(inference Inference) float64 {
		p, err := NewPlan(d, Options{Window: WindowNone, Components: 2, Features: 2, Inference: inference, Restarts: 1})
		if err != nil {
			t.Fatal(err)
		}
		return p.StartFlops
	}
	const m = 4
	if got, want := work(Stochastic)-work(Factorised), 2*(cost.Moments(directRows, m, 1)+m*m*m/3.); got < 0.999*want || got > 1.001*want {
		t.Errorf("two means of %d rows take %v, want %v", directRows, got, want)
	}
}

// TestRandomSchedule: from random starting values the noise precision stays
// for the first stage, and moves in the second, except where it is fixed, given
// by a model, or the method does without; many features have a warm-up.
func TestRandomSchedule(t *testing.T) {
	data := &Data{N: 60, Q: 1, D: 1}
	for i := range data.N {
		data.X = append(data.X, float64(i))
		data.Y = append(data.Y, math.Sin(0.3*float64(i)))
	}
	paper := Options{Init: InitPaper, Lengthscales: []float64{8}, Features: 6, NoisePrecision: 50, Iterations: 20}
	many := func(o *Options) { o.Features = warmFeatures }
	for name, c := range map[string]struct {
		change     func(o *Options)
		held, warm bool
	}{
		"paper":            {func(*Options) {}, true, false},
		"factorised":       {func(o *Options) { o.Inference = Factorised }, true, false},
		"stochastic":       {func(o *Options) { o.Inference = Stochastic }, true, false},
		"fixed":            {func(o *Options) { o.Fix = []string{"noise.precision"} }, false, false},
		"ssgp":             {func(o *Options) { o.Method = SSGP }, false, false},
		"spectrum":         {func(o *Options) { o.Init, o.Lengthscales, o.NoisePrecision = InitSpectrum, nil, 0 }, false, false},
		"many":             {many, true, true},
		"many, factorised": {func(o *Options) { many(o); o.Inference = Factorised }, true, true},
		"many, stochastic": {func(o *Options) { many(o); o.Inference = Stochastic }, true, false},
		"many, ssgp":       {func(o *Options) { many(o); o.Method = SSGP }, false, false},
	} {
		o := paper
		c.change(&o)
		sawHeld, sawWarm := false, false
		o.Progress = func(p Progress) {
			held := strings.HasSuffix(p.Stage, ", noise held")
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
		if (m.Inference == Factorised) != (o.Inference == Factorised || o.Inference == Stochastic) {
			t.Errorf("%s: the model's inference is %s", name, m.Inference)
		}
		if sd := m.Y.Scale[0] / math.Sqrt(m.Params.NoisePrecision[0]); c.held && math.Abs(sd*math.Sqrt(50)-1) < 1e-9 {
			t.Errorf("%s: the noise never moved", name)
		}
	}
}
