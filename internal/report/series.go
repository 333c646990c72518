package report

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/series"
)

// Series is what charts of a series show: its last rows, what the model says there, and predictions beyond.
type Series struct {
	Title  string
	Model  *series.Model
	Parts  []string // their names
	XName  string
	YNames []string
	// Time gives a place in seconds since 1970; nil: the input is no time.
	Time func(x float64) float64

	X  []float64   // [N] the data, in any order; nil: none
	Y  [][]float64 // [D][N], NaN where missing
	At []float64   // further places of the mean and its band, in any order

	Regressors func(x []float64) ([][]float64, error) // the model's, at x; nil: it has none

	Forecast bool // the chart marks where the data end, and shows their last part by itself if the forecast is short
}

// mostRows bounds the rows of data that the charts of a series show, and as many further places.
const mostRows = 2000

// Plot shows the data with the mean and its band, and the model's parts.
func (s *Series) Plot(ctx context.Context) (*Document, error) {
	d := &Document{Title: s.Title, Lead: []string{fmt.Sprintf("%s, %s. Parts: %s.",
		Counted(s.Model.Rows(), "row"), Counted(s.Model.Features(), "feature"), strings.Join(s.Parts, ", "))}}
	x, y := s.shown()
	var z [][]float64
	if s.Regressors != nil {
		var err error
		if z, err = s.Regressors(x); err != nil {
			return nil, err
		}
	}
	p, err := s.Model.Predict(ctx, x, z...)
	if err != nil {
		return nil, err
	}
	parts, err := s.Model.Components(ctx, x, z...)
	if err != nil {
		return nil, err
	}
	if len(x) < len(s.X)+len(s.At) {
		d.Lead = append(d.Lead, fmt.Sprintf("The charts show %d places, the most for a page: of the last rows, and the first to be predicted.",
			len(x)))
	}
	at := slices.Clone(x)
	for i, v := range x {
		if s.Time != nil {
			at[i] = s.Time(v)
		}
	}
	for i, name := range s.YNames[:min(len(s.YNames), mostSeries)] {
		d.add(name, s.charts(name, at, y, p, parts, i)...)
	}
	return d, nil
}

// Report is Plot with the model in tables.
func (s *Series) Report(ctx context.Context, settings []Setting) (*Document, error) {
	d, err := s.Plot(ctx)
	if err != nil {
		return nil, err
	}
	t := Table{Caption: "The mode of each hyper-parameter, and the central 95 % interval of its posterior.",
		Head: []string{"", "mode", "lower", "upper"}}
	for _, v := range s.Model.Hyper() {
		t.Rows = append(t.Rows, []string{v.Name, short(v.Mode), short(v.Lower), short(v.Upper)})
	}
	d.add("Hyper-parameters", t)
	d.addSettings(settings)
	return d, nil
}

// shown are the places to show, rising, none twice, and the data there: of the last rows, and of the first further places.
func (s *Series) shown() (x []float64, y [][]float64) {
	order := sorted(s.X)
	order = order[max(0, len(order)-mostRows):]
	further := slices.Sorted(slices.Values(s.At))
	further = further[:min(len(further), mostRows)]
	values := map[float64]int{} // a place's row
	for _, n := range order {
		x, values[s.X[n]] = append(x, s.X[n]), n
	}
	x = slices.Compact(slices.Sorted(slices.Values(append(x, further...))))
	for d := range s.YNames {
		y = append(y, slices.Repeat([]float64{math.NaN()}, len(x)))
		for i, v := range x {
			if n, ok := values[v]; ok {
				y[d][i] = s.Y[d][n]
			}
		}
	}
	return x, y
}

// window returns where the data end, and where charts begin: first, if the forecast is shorter than a quarter of the data, the last part of
// them, of four horizons or two of the longest seasons; then all.
func (s *Series) window() (end float64, first []float64) {
	time := s.Time
	if time == nil {
		time = func(x float64) float64 { return x }
	}
	all := math.Inf(-1)
	if !s.Forecast || len(s.X) == 0 || len(s.At) == 0 {
		return 0, []float64{all}
	}
	order := sorted(s.X)
	begin, last := s.X[order[max(0, len(order)-mostRows)]], s.X[order[len(order)-1]]
	horizon := slices.Max(s.At) - last
	shown := 4 * horizon
	if periods := s.Model.Periods(); len(periods) > 0 {
		shown = max(shown, 2*slices.Max(periods))
	}
	if horizon > 0 && 4*horizon < last-begin && shown < 0.75*(last-begin) {
		first = append(first, time(last-shown))
	}
	return time(last), append(first, all)
}

// from is the layer from a place on.
func (l layer) from(first float64) layer {
	n := 0
	for n < len(l.x) && l.x[n] < first {
		n++
	}
	l.x = l.x[n:]
	for _, values := range []*[]float64{&l.y, &l.lo, &l.hi} {
		if *values != nil {
			*values = (*values)[n:]
		}
	}
	return l
}

// charts are one output's: everything, each part, and what they leave.
func (s *Series) charts(name string, x []float64, y [][]float64, p *series.Prediction, parts []series.Component, d int) []part {
	data := layer{name: "data", kind: asPoints, ink: dataInk}
	left := layer{name: "remainder", kind: asPoints, ink: dataInk}
	for i, v := range y[d] {
		if math.IsNaN(v) {
			continue
		}
		data.x, data.y = append(data.x, x[i]), append(data.y, v)
		if s.Model.Log() {
			v = math.Log(v)
		}
		for _, c := range parts {
			v -= c.Mean[d][i]
		}
		left.x, left.y = append(left.x, x[i]), append(left.y, v)
	}
	chartOf := func(title, text string, layers ...layer) *chart {
		layers = slices.DeleteFunc(layers, func(l layer) bool { return len(l.x) == 0 })
		return &chart{Title: title, Text: text, XLabel: s.XName, YLabel: name, dates: s.Time != nil, layers: layers}
	}
	var all []part
	end, last := s.window()
	for _, first := range last {
		band := layer{name: "95 % band", kind: asBand, ink: meanInk, x: x, lo: p.Lower[d], hi: p.Upper[d]}.from(first)
		mean := layer{name: "mean", kind: asLine, ink: meanInk, x: x, y: p.Mean[d]}.from(first)
		points, title, begin := data.from(first), name, layer{}
		if s.Forecast {
			low, high := math.Inf(1), math.Inf(-1)
			for _, values := range [][]float64{band.lo, band.hi, points.y} {
				for _, v := range values {
					low, high = min(low, v), max(high, v)
				}
			}
			begin = layer{name: "forecast begins", kind: asLine, ink: referenceInk, x: []float64{end, end}, y: []float64{low, high}}
		}
		if len(all) < len(last)-1 {
			title += ": the end"
		}
		all = append(all, chartOf(title, "The data, and the predictive mean with the band that contains 95 % of observations.",
			band, points, begin, mean))
	}
	if s.Model.Log() {
		name = "log of " + name
	}
	for _, c := range parts {
		band := layer{name: "95 % band", kind: asBand, ink: meanInk, x: x}
		for i, v := range c.Mean[d] {
			band.lo, band.hi = append(band.lo, v-bayes.SD95*c.SD[d][i]), append(band.hi, v+bayes.SD95*c.SD[d][i])
		}
		all = append(all, chartOf(fmt.Sprintf("%s: %s", name, c.Name),
			"What this part adds, with the band that holds it with 95 % probability.",
			band, layer{name: "mean", kind: asLine, ink: meanInk, x: x, y: c.Mean[d]}))
	}
	if len(left.x) > 0 {
		all = append(all, chartOf(name+": remainder", "What the parts leave.", left))
	}
	return all
}
