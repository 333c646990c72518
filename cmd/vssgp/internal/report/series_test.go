package report

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/plotter"

	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/series"
)

// TestForecastCharts checks that charts mark the beginning of the forecast. If it is short, a chart of the last part of the data comes
// first.
func TestForecastCharts(t *testing.T) {
	x := make([]float64, 120)
	y := make([]float64, len(x))
	for i := range x {
		x[i], y[i] = float64(i), math.Sin(2*math.Pi*float64(i)/12)+0.01*float64(i*i%7)
	}
	fit := func(parts ...series.Part) *series.Model {
		o := series.Options{Parts: append([]series.Part{series.Constant{}, series.Noise{}}, parts...), Known: true}
		return testkit.Must(series.Fit(t.Context(), series.Series{X: x, Y: [][]float64{y}}, o))(t)
	}
	plain, seasonal := fit(), fit(series.Season{Period: 12})
	dense := slices.Clone(x)
	for i := range maxRows {
		dense = append(dense, 119-19*float64(i)/maxRows)
	}
	for _, c := range []struct {
		name     string
		model    *series.Model
		horizon  int
		forecast bool
		x        []float64
		first    []float64 // of each chart of the data
	}{
		{"four horizons", plain, 5, true, x, []float64{99, 0}}, {"two seasons", seasonal, 5, true, x, []float64{95, 0}},
		{"a long forecast", plain, 40, true, x, []float64{0}}, {"most of the data anyway", plain, 24, true, x, []float64{0}},
		{"no forecast", plain, 5, false, x, []float64{0}},
		{"rows that are not shown", plain, 5, true, dense, []float64{dense[len(x)+1980]}},
	} {
		s := &Series{Model: c.model, Parts: c.model.PartNames(), XName: "t", YNames: []string{"y"}, X: c.x, Y: [][]float64{make([]float64, len(c.x))},
			At: c.model.Next(c.horizon), Forecast: c.forecast}
		d := testkit.Must(s.Plot(t.Context()))(t)
		var first []float64
		for _, ch := range d.Sections[0].Charts {
			if strings.Contains(ch.Title, ": ") && !strings.HasSuffix(ch.Title, ": the end") {
				continue // a part
			}
			if marked := strings.Contains(pictureOf(t, ch), ">forecast begins<"); marked != c.forecast {
				t.Errorf("%s: %q marks where the forecast begins: %v", c.name, ch.Title, marked)
			}
			if end := strings.HasSuffix(ch.Title, ": the end"); end != (len(c.first) == 2 && len(first) == 0) {
				t.Errorf("%s: chart %d is %q", c.name, len(first), ch.Title)
			}
			first = append(first, ch.panel.X.Min)
		}
		testkit.Equal(t, first, c.first, c.name, ": charts begin at")
	}
}

// TestPartLabels checks that charts and the table of hyper-parameters have the labels of the model's parts.
func TestPartLabels(t *testing.T) {
	x := testkit.Numbers(100, func(n int) float64 { return float64(n) })
	y := testkit.Numbers(100, func(n int) float64 { return float64(n * n % 7) })
	o := series.Options{Known: true, Parts: []series.Part{series.Constant{}, series.Season{Period: 12},
		series.Season{Period: 12.5}, series.ShortMemory{}, series.Noise{}}}
	m := testkit.Must(series.Fit(t.Context(), series.Series{X: x, Y: [][]float64{y}}, o))(t)
	s := &Series{Model: m,
		Parts: []string{"constant", "a year", "a year and a half month", "a residual", "noise"}, XName: "t", YNames: []string{"y"},
		X: x, Y: [][]float64{y}}
	for name, want := range map[string]string{"season 12": "a year", "season 12.5": "a year and a half month", "trend": "trend",
		"season 12.amplitude[1]": "a year.amplitude[1]", "season 12.5.length": "a year and a half month.length", "noise.sd": "noise.sd",
		"short memory": "a residual", "short_memory.sd": "a residual.sd",
		"season 12.75": "season 12.75", "season 120": "season 120"} {
		testkit.Equal(t, s.Label(name), want, name)
	}
	d := testkit.Must(s.Report(t.Context(), nil))(t)
	testkit.Contains(t, fmt.Sprint(d.Sections[1].Tables[0].Rows), "a year.amplitude[1]")
	testkit.Contains(t, pictureOf(t, d.Sections[0].Charts[2]), "y: a year")
}

// TestLevelShiftCharts checks that the charts of the data mark the level shifts in their range.
func TestLevelShiftCharts(t *testing.T) {
	var x, y []float64
	for i := range 100 {
		x, y = append(x, float64(i)), append(y, 0.01*float64(i*i%7)+float64(i/40))
	}
	o := series.Options{Known: true, Parts: []series.Part{series.Constant{}, series.Noise{}, series.LevelShift{At: 40}, series.LevelShift{At: 80}}}
	m := testkit.Must(series.Fit(t.Context(), series.Series{X: x, Y: [][]float64{y}}, o))(t)
	s := &Series{Model: m, Parts: m.PartNames(), XName: "t", YNames: []string{"y"}, X: x, Y: [][]float64{y}, At: m.Next(8), Forecast: true}
	charts := testkit.Must(s.Plot(t.Context()))(t).Sections[0].Charts
	end, all := pictureOf(t, charts[0]), pictureOf(t, charts[1])
	testkit.Contains(t, all, ">level shift 40<", ">level shift 80<", ">forecast begins<")
	testkit.Contains(t, end, ">level shift 80<", ">forecast begins<")
	if strings.Contains(end, "shift 40") {
		t.Error("the end of the data shows a level shift before it")
	}
}

// TestFan checks that each band has its own color in the chart and in the legend, that wider bands are paler.
func TestFan(t *testing.T) {
	x := []float64{0, 1}
	for name, c := range map[string]struct {
		levels []float64
		alphas []uint8 // from the widest band on; 0x48 is the color of 95 % bands in other charts
	}{
		"one":                 {[]float64{95}, []uint8{0x48}},
		"narrower":            {[]float64{95, 50, 80}, []uint8{0x48, 0x74, 0xa0}},
		"wider":               {[]float64{95, 99}, []uint8{0x24, 0x48}},
		"wider and narrower":  {[]float64{80, 95, 99.5}, []uint8{0x24, 0x48, 0x74}},
		"a band of no height": {[]float64{95, 0}, []uint8{0x48, 0x74}},
	} {
		var bands []interval
		for _, level := range c.levels {
			bands = append(bands, interval{level, []float64{-level, -level}, []float64{level, level}})
		}
		ch := newChart("", "", "x", "y")
		ch.fan(Blue, x, bands)
		var alphas []uint8
		for i, e := range ch.legend {
			alphas = append(alphas, e.mark.(*plotter.Polygon).Color.(color.NRGBA).A)
			testkit.Equal(t, e.name, fmt.Sprintf("%v %% band", slices.Sorted(slices.Values(c.levels))[len(c.levels)-1-i]), name)
		}
		testkit.Equal(t, alphas, c.alphas, name, ": opacity of the legend")
	}
}

// TestComponentCharts checks that parts that are zero have no chart, and that all charts have the same range of x and
// no point on their border.
func TestComponentCharts(t *testing.T) {
	x, zeros := testkit.Numbers(30, func(n int) float64 { return float64(n) }), make([]float64, 33)
	y := testkit.Numbers(30, func(n int) float64 { return float64(n*n%7) - 3 })
	counts := testkit.Numbers(30, func(n int) float64 { return float64(n * n % 7 % 2) })
	ones := slices.Repeat([]float64{1}, 33)
	parts := []series.Component{
		{Name: "trend", Mean: [][]float64{ones}, SD: [][]float64{zeros}},
		{Name: "nothing", Mean: [][]float64{zeros}, SD: [][]float64{zeros}},
		{Name: "unknown", Mean: [][]float64{zeros}, SD: [][]float64{ones}},
	}
	for name, c := range map[string]struct {
		y      []float64
		titles []string
		lowest float64 // of the remainder
	}{
		"numbers": {y, []string{"v: trend", "v: unknown", "v: remainder"}, -4},
		"counts":  {counts, []string{"log of v: trend", "log of v: unknown", "v: remainder"}, -0.3},
	} {
		o := series.Options{Log: map[string]series.Log{"numbers": series.LogNever}[name]}
		m := testkit.Must(series.Fit(t.Context(), series.Series{X: x, Y: [][]float64{c.y}}, o))(t)
		testkit.Equal(t, m.Counts(), name == "counts", name)
		s := &Series{Model: m, Parts: m.PartNames(), XName: "t", YNames: []string{"v"}, X: x, Y: [][]float64{c.y},
			At: m.Next(3), Forecast: true}
		at, values := s.shown()
		mean := slices.Repeat([]float64{0.3}, len(at))
		charts := s.components("v", at, values[0], mean, parts, 0)
		var titles []string
		for _, ch := range charts {
			titles = append(titles, ch.Title)
			testkit.Equal(t, []float64{ch.panel.X.Min, ch.panel.X.Max}, []float64{0, 32}, name, ": range of x of ", ch.Title)
		}
		testkit.Equal(t, titles, c.titles, name)
		testkit.Near(t, charts[2].panel.Y.Min, c.lowest, 0.3, name, ": the remainder begins at")
		if !(charts[2].panel.Y.Min < c.lowest) {
			t.Errorf("%s: a point is on the border, %v", name, charts[2].panel.Y.Min)
		}
	}
}

// TestBoundary checks that the mark of a forecast is between the last row of the data and the first row of the
// forecast.
func TestBoundary(t *testing.T) {
	for name, c := range map[string]struct {
		at   []float64
		time func(float64) float64
		want float64
	}{
		"the next rows":               {[]float64{10, 11}, nil, 9.5},
		"not in order":                {[]float64{14, 12, 11}, nil, 10},
		"some between rows":           {[]float64{3.5, 8.5, 12}, nil, 10.5},
		"only between rows":           {[]float64{3.5, 8.5}, nil, 9},
		"months of different lengths": {[]float64{10}, func(x float64) float64 { return x * x }, 90.5},
	} {
		s := &Series{At: c.at, Time: c.time}
		testkit.Equal(t, s.boundary(9), c.want, name)
	}
}
