package vssgp

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/vssgp/vssgp/internal/initialize"
	"github.com/vssgp/vssgp/internal/optimize"
	"github.com/vssgp/vssgp/internal/testkit/modeltest"
)

// calendar is CO2-like: a trend, a season and noise at the first of each month,
// leap days and all, a tenth of the months left out.
func calendar() (known, asked *Data) {
	rng := modeltest.NewRNG(4)
	known, asked = &Data{Q: 1, D: 1}, &Data{Q: 1, D: 1}
	for i := range 400 {
		t := time.Date(1960, time.Month(1+i), 1, 0, 0, 0, 0, time.UTC)
		begin := time.Date(t.Year(), 1, 1, 0, 0, 0, 0, time.UTC)
		x := float64(t.Year()) + t.Sub(begin).Hours()/begin.AddDate(1, 0, 0).Sub(begin).Hours()
		y := 300 + 1.2*(x-1960) + 3*math.Sin(2*math.Pi*x) + 0.3*rng.NormFloat64()
		to := known
		if i > 0 && i < 399 && rng.IntN(10) == 0 {
			to = asked
		}
		to.X, to.Y, to.N = append(to.X, x), append(to.Y, y), to.N+1
	}
	return known, asked
}

// timesAtRandom are 800 rows of a day and a week over 32 days, and the truth at
// a hundred others.
func timesAtRandom() (known, asked *Data) {
	rng := modeltest.NewRNG(5)
	known, asked = &Data{Q: 1, D: 1}, &Data{Q: 1, D: 1}
	for i := range 900 {
		x := 0.5 + 31*rng.Float64()
		y := math.Sin(2*math.Pi*x) + 1.5*math.Sin(2*math.Pi*x/7+1)
		to := known
		if i >= 800 {
			to = asked
		} else {
			y += 0.5 * rng.NormFloat64()
		}
		to.X, to.Y, to.N = append(to.X, x), append(to.Y, y), to.N+1
	}
	return known, asked
}

func rmse(t *testing.T, m *Model, asked *Data) float64 {
	t.Helper()
	p, err := m.Predict(t.Context(), asked.X)
	if err != nil {
		t.Fatal(err)
	}
	s := 0.0
	for i, v := range asked.Y {
		s += (v - p.Mean[i]) * (v - p.Mean[i]) / float64(asked.N)
	}
	return math.Sqrt(s)
}

// TestOneInputAnySpacing: by default, months of the calendar and times at random
// are told to within their noise, by several components.
func TestOneInputAnySpacing(t *testing.T) {
	for name, c := range map[string]struct {
		data func() (known, asked *Data)
		most float64
	}{"calendar": {calendar, 0.45}, "at random": {timesAtRandom, 0.25}} {
		known, asked := c.data()
		m, r, err := Fit(t.Context(), known, Options{Iterations: 60})
		if err != nil {
			t.Fatal(err)
		}
		if e := rmse(t, m, asked); e > c.most || m.Params.L < 2 || r.HeldOut.Rows == 0 || r.HeldOut.Worse() {
			t.Errorf("%s: RMSE %.3g with %d components, want at most %g with several; held out: %+v", name, e, m.Params.L, c.most, r.HeldOut)
		}
	}
}

// TestUnevenOrder: rows in any order give the same start.
func TestUnevenOrder(t *testing.T) {
	known, _ := timesAtRandom()
	back := &Data{N: known.N, Q: 1, D: 1, X: slices.Clone(known.X), Y: slices.Clone(known.Y)}
	slices.Reverse(back.X)
	slices.Reverse(back.Y)
	a, err := New(t.Context(), known, Options{Window: WindowNone})
	if err != nil {
		t.Fatal(err)
	}
	b, err := New(t.Context(), back, Options{Window: WindowNone})
	if err != nil {
		t.Fatal(err)
	}
	modeltest.Near(t, "frequency", a.Params.Frequency, b.Params.Frequency, rounding)
	modeltest.Near(t, "variance", a.Params.Variance, b.Params.Variance, 1e-6)
}

// walk is a random walk of n steps, which the lines of a spectrum do not
// describe.
func walk(n int) *Data {
	rng := modeltest.NewRNG(6)
	d, y := &Data{N: n, Q: 1, D: 1}, 0.0
	for i := range n {
		y += rng.NormFloat64()
		d.X, d.Y = append(d.X, float64(i)), append(d.Y, y)
	}
	return d
}

// TestHeldOutMargins: another start is tried as soon as lines are better, and a
// fit is said to be worse only where they are so by a tenth; what errs by next to
// nothing is as good as any.
func TestHeldOutMargins(t *testing.T) {
	for _, c := range []struct {
		rmse, line float64
		try, worse bool
	}{
		{0.99, 1, false, false}, {1.01, 1, true, false}, {1.09, 1, true, false}, {1.11, 1, true, true},
		{9e-4, 1e-6, false, false}, {1.1e-3, 1e-6, true, true}, {0, 0, false, false},
	} {
		h := HeldOut{RMSE: c.rmse, Line: c.line}
		if h.above(heldTry) != c.try || h.Worse() != c.worse {
			t.Errorf("%v by the fit and %v by lines: another start %v, worse %v", c.rmse, c.line, h.above(heldTry), h.Worse())
		}
	}
}

// TestHoldsOut: a fit of few rows, of one place, of several inputs or of a matrix
// that only mini-batches bear is not held against lines.
func TestHoldsOut(t *testing.T) {
	data := walk(initialize.HeldFewest)
	few := &Data{N: initialize.HeldFewest - 1, Q: 1, D: 1, X: data.X[1:], Y: data.Y[1:]}
	place := &Data{N: data.N, Q: 1, D: 1, X: make([]float64, data.N), Y: data.Y}
	two := &Data{N: data.N, Q: 2, D: 1, X: append(data.X, data.Y...), Y: data.Y}
	const small, large = 2, 2 * optimize.DirectLimit
	for _, c := range []struct {
		name      string
		m         int
		windows   bool
		inference Inference
		data      *Data
		want      bool
	}{
		{"exact", large, false, Exact, data, true}, {"small", small, false, Factorized, data, true}, {"windows", large, true, Factorized, data, true},
		{"large", large, false, Factorized, data, false}, {"few rows", small, false, Exact, few, false}, {"one place", small, false, Exact, place, false},
		{"two inputs", small, false, Exact, two, false},
	} {
		f, err := Options{}.frame(c.data)
		if err != nil {
			t.Fatal(c.name, err)
		}
		if got := f.holdsOut(c.inference, c.m, c.windows); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestOptimism: by Akaike's formula, and 3 at most: what rows bear as many point
// estimates?
func TestOptimism(t *testing.T) {
	data := wave(50, 0.1)
	for _, c := range []struct{ components, estimates int }{{4, 13}, {40, 40}} { // σ², l and p of each, and τ; or 0.8 of the rows
		o := Options{Components: c.components, Window: WindowNone}
		m, err := New(t.Context(), data, o)
		if err != nil {
			t.Fatal(err)
		}
		f, run := running(t, m, data, o)
		p := float64(c.estimates)
		if got, want := (&fit{frame: f}).optimism(&attempt{points: run.PointEstimates()}), math.Sqrt((50+p)/(50-p)); !(math.Abs(got-want) <= 1e-12) {
			t.Errorf("%d components: %v, want %v", c.components, got, want)
		}
	}
}

// TestHeldOutUnits: the errors are in units of the outputs' deviations.
func TestHeldOutUnits(t *testing.T) {
	var want HeldOut
	for _, unit := range []float64{1, 1024} {
		data := walk(200)
		data.Y = scaled(data.Y, unit)
		_, r, err := Fit(t.Context(), data, Options{Iterations: 5, Components: 4})
		if err != nil {
			t.Fatal(err)
		}
		if unit == 1 {
			want = r.HeldOut
		}
		if r.HeldOut != want || want.Rows == 0 || !(want.Line > 0) {
			t.Errorf("in a unit of 1/%v: %+v, want %+v", unit, r.HeldOut, want)
		}
	}
}

// TestSpectrumReadsScales: what the spectrum start would not look at is refused.
func TestSpectrumReadsScales(t *testing.T) {
	data := wave(60, 0.1)
	paper, err := New(t.Context(), data, Options{Init: InitPaper})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []Options{
		{Lengthscales: []float64{1}}, {Lengthscales: []float64{1}, Periods: []float64{2}}, {FrequencyVariance: 0.1},
	} {
		if m, err := New(t.Context(), data, o); err != nil || m.Params.K != paper.Params.K {
			t.Errorf("%+v: %v; want the paper's start", o, err)
		}
		o.Init = InitSpectrum
		if _, err := New(t.Context(), data, o); !errors.Is(err, ErrOptions) {
			t.Errorf("%+v: error %v, want one that wraps ErrOptions", o, err)
		}
	}
}

// TestWindowZero: the zero value chooses windows as WindowAuto, and WindowNone
// has none.
func TestWindowZero(t *testing.T) {
	data := walk(700)
	m, err := New(t.Context(), data, Options{Iterations: 5})
	if err != nil {
		t.Fatal(err)
	}
	auto, err := New(t.Context(), data, Options{Iterations: 5, Window: WindowAuto})
	if err != nil {
		t.Fatal(err)
	}
	none, err := New(t.Context(), data, Options{Iterations: 5, Window: WindowNone})
	if err != nil {
		t.Fatal(err)
	}
	modeltest.Near(t, "frequency", m.Params.Frequency, auto.Params.Frequency, 0)
	if none.Params.Windows.Count() != 1 || none.Params.L == m.Params.L {
		t.Errorf("%d windows of none, %d components with and %d without", none.Params.Windows.Count(), m.Params.L, none.Params.L)
	}
}
