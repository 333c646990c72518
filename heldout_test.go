package vssgp

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"
)

// calendar is CO2-like: a trend, a season and noise at the first of each month,
// leap days and all, a tenth of the months left out.
func calendar() (known, asked *Data) {
	rng := newRNG(4)
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
	rng := newRNG(5)
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
	p, err := m.PredictRows(asked.X, asked.N)
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
	a, err := New(known, Options{Window: WindowNone})
	if err != nil {
		t.Fatal(err)
	}
	b, err := New(back, Options{Window: WindowNone})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "frequency", a.Params.Frequency, b.Params.Frequency, rounding)
	near(t, "variance", a.Params.Variance, b.Params.Variance, 1e-6)
}

// walk is a random walk of n steps, which the lines of a spectrum do not
// describe.
func walk(n int) *Data {
	rng := newRNG(6)
	d, y := &Data{N: n, Q: 1, D: 1}, 0.0
	for i := range n {
		y += rng.NormFloat64()
		d.X, d.Y = append(d.X, float64(i)), append(d.Y, y)
	}
	return d
}

// TestHeldOutParts: about a tenth of the rows in stretches of the data's own
// gap, and lines between the neighbours that are left.
func TestHeldOutParts(t *testing.T) {
	data := &Data{Q: 1, D: 2}
	for i := range 500 {
		if i%25 < 22 { // gaps of three
			data.X = append(data.X, float64(i))
			data.Y = append(data.Y, 2*float64(i)+1, -float64(i))
			data.N++
		}
	}
	known, asked, line := parted(data)
	if known.N+asked.N != data.N || !(math.Abs(float64(asked.N)/float64(data.N)-0.1) <= 0.03) || asked.N%3 != 0 {
		t.Errorf("%d known and %d asked of %d rows", known.N, asked.N, data.N)
	}
	near(t, "lines", line, asked.Y, 1e-12)
	for _, x := range asked.X {
		if slices.Contains(known.X, x) {
			t.Errorf("x = %v is known and asked for", x)
		}
	}
}

// TestHeldOutEnds: the first and the last row are known, whatever their number.
func TestHeldOutEnds(t *testing.T) {
	for n := 2; n < 60; n++ {
		data := &Data{N: n, Q: 1, D: 1, Y: make([]float64, n)}
		for i := range n {
			data.X = append(data.X, float64((n-i)*(n-i)))
		}
		known, asked, line := parted(data)
		if known.X[0] != 1 || known.X[known.N-1] != float64(n*n) || len(line) != asked.N || known.N+asked.N != n {
			t.Errorf("of %d rows the known ones are %v", n, known.X)
		}
	}
}

// TestTypicalGap: the median of the gaps, of a twentieth of the rows at most; 1
// where there are none, or no places.
func TestTypicalGap(t *testing.T) {
	for _, c := range []struct {
		name string
		gaps []int // before each tenth row
		want int
	}{
		{"none", nil, 1}, {"one", []int{4}, 4}, {"some", []int{1, 7, 2, 3, 1}, 2}, {"one long among them", []int{60, 2, 2}, 2}, {"long ones", []int{70, 40, 60}, 10},
	} {
		d := &Data{Q: 1, D: 1}
		at := 0
		for i := range 200 {
			if i%10 == 5 && i/10 < len(c.gaps) {
				at += c.gaps[i/10]
			}
			d.X, d.Y, d.N = append(d.X, float64(at)), append(d.Y, 0), d.N+1
			at++
		}
		if got := d.typicalGap(); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
		for i := range d.X {
			d.X[i] *= d.X[i]
		}
		if got := d.typicalGap(); got != 1 {
			t.Errorf("%s, uneven: %d, want 1", c.name, got)
		}
	}
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
	data := walk(heldFewest)
	few := &Data{N: heldFewest - 1, Q: 1, D: 1, X: data.X[1:], Y: data.Y[1:]}
	place := &Data{N: data.N, Q: 1, D: 1, X: make([]float64, data.N), Y: data.Y}
	large, small, windows := NewParams(directLimit, 2, 1, 1), NewParams(1, 2, 1, 1), NewParams(directLimit, 2, 1, 1)
	windows.Windows.Center = []float64{1, 2}
	for _, c := range []struct {
		name      string
		p         *Params
		inference Inference
		data      *Data
		want      bool
	}{
		{"exact", large, Exact, data, true}, {"small", small, Factorised, data, true}, {"windows", windows, Factorised, data, true},
		{"large", large, Factorised, data, false}, {"few rows", small, Exact, few, false}, {"one place", small, Exact, place, false},
	} {
		if got := (&Model{Params: c.p, Inference: c.inference}).holdsOut(c.data); got != c.want {
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
		m, err := New(data, o)
		if err != nil {
			t.Fatal(err)
		}
		f := &fitting{model: m, data: data, o: o}
		p := float64(c.estimates)
		if got, want := f.optimism(), math.Sqrt((50+p)/(50-p)); !(math.Abs(got-want) <= 1e-12) {
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
	for _, o := range []Options{
		{Lengthscales: []float64{1}}, {Lengthscales: []float64{1}, Periods: []float64{2}}, {FrequencyVariance: 0.1},
	} {
		if m, err := New(data, o); err != nil || m.Params.K != paperFeatures {
			t.Errorf("%+v: %v; want the paper's start", o, err)
		}
		o.Init = InitSpectrum
		if _, err := New(data, o); !errors.Is(err, ErrOptions) {
			t.Errorf("%+v: error %v, want one that wraps ErrOptions", o, err)
		}
	}
}

// TestWindowZero: the zero value chooses windows as WindowAuto, and WindowNone
// has none.
func TestWindowZero(t *testing.T) {
	data := walk(700)
	m, err := New(data, Options{Iterations: 5})
	if err != nil {
		t.Fatal(err)
	}
	auto, err := New(data, Options{Iterations: 5, Window: WindowAuto})
	if err != nil {
		t.Fatal(err)
	}
	none, err := New(data, Options{Iterations: 5, Window: WindowNone})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "frequency", m.Params.Frequency, auto.Params.Frequency, 0)
	if none.Params.Windows.Count() != 1 || none.Params.L == m.Params.L {
		t.Errorf("%d windows of none, %d components with and %d without", none.Params.Windows.Count(), m.Params.L, none.Params.L)
	}
}
