package report

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/series"
)

// TestForecastCharts: the chart of a forecast marks where it begins. If it is short, the last part of the data comes first.
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
	for i := range mostRows {
		dense = append(dense, 119-19*float64(i)/mostRows)
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
		for _, p := range d.Sections[0].Parts {
			ch := p.(*chart)
			begins := slices.IndexFunc(ch.layers, func(l layer) bool { return l.name == "forecast begins" })
			data := slices.IndexFunc(ch.layers, func(l layer) bool { return l.name == "data" })
			if data < 0 {
				continue
			}
			if (begins >= 0) != c.forecast || begins >= 0 && !slices.Equal(ch.layers[begins].x, []float64{119, 119}) {
				t.Errorf("%s: mark %d of %+v", c.name, begins, ch.layers)
			}
			if end := strings.HasSuffix(ch.Title, ": the end"); end != (len(c.first) == 2 && len(first) == 0) {
				t.Errorf("%s: chart %d is %q", c.name, len(first), ch.Title)
			}
			for _, l := range ch.layers {
				if i := len(first); l.name != "forecast begins" && (i >= len(c.first) || l.x[0] != c.first[i]) {
					t.Errorf("%s: chart %d begins at %v, want %v", c.name, i, l.x[0], c.first)
				}
			}
			first = append(first, ch.layers[data].x[0])
		}
		if !slices.Equal(first, c.first) {
			t.Errorf("%s: charts from %v, want %v", c.name, first, c.first)
		}
	}
}
