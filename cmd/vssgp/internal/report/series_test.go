package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

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
	o := series.Options{Known: true, Parts: []series.Part{series.Constant{}, series.Season{Period: 12}, series.Season{Period: 12.5},
		series.ShortMemory{}, series.Noise{}}}
	m := testkit.Must(series.Fit(t.Context(), series.Series{X: x, Y: [][]float64{y}}, o))(t)
	s := &Series{Model: m, Parts: []string{"constant", "a year", "a year and a half month", "a residual", "noise"}, XName: "t", YNames: []string{"y"},
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
