package report

import (
	"context"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"

	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/series"
)

// A Series is the content of a report on a time series: its last rows, the model's mean at these rows, and predictions after them.
type Series struct {
	Title  string
	Model  *series.Model
	Parts  []string // names of the parts in the charts, in the order of Model.Parts
	XName  string
	YNames []string
	// Time converts an input to seconds since 1970. It is nil if the input is not a time.
	Time func(x float64) float64

	X  []float64   // [N] inputs of the data, in any order; nil without data
	Y  [][]float64 // [D][N], NaN if missing
	At []float64   // further inputs for the mean and its band, in any order

	Regressors func(x []float64) ([][]float64, error) // values of the model's regressors at x; nil without regressors

	Levels []float64 // levels of further bands, in percent

	Forecast bool // mark the end of the data, and plot their last part separately if the forecast is short
}

// maxRows is the maximum number of rows of data, and of further inputs, in the charts of a series.
const maxRows = 2000

// Plot returns the charts of the data with the mean and its band, and of the model's parts.
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
		d.Lead = append(d.Lead, fmt.Sprintf("The charts show only %d inputs: "+
			"the last rows of the data and the first predicted rows.", len(x)))
	}
	for i, name := range s.YNames[:min(len(s.YNames), maxSeries)] {
		d.add(section{Title: name, Charts: s.charts(name, x, y[i], p, parts, i)})
	}
	return d, nil
}

// Report returns the document of Plot with tables of the hyper-parameters and the settings.
func (s *Series) Report(ctx context.Context, settings []Setting) (*Document, error) {
	d, err := s.Plot(ctx)
	if err != nil {
		return nil, err
	}
	t := Table{Caption: "The mode of each hyper-parameter, and the central 95 % interval of its posterior.",
		Head: []string{"", "mode", "lower", "upper"}}
	for _, v := range s.Model.Hyper() {
		t.Rows = append(t.Rows, []string{s.Label(v.Name), short(v.Mode), short(v.Lower), short(v.Upper)})
	}
	d.add(section{Title: "Hyper-parameters", Tables: []Table{t}})
	d.addSettings(settings)
	return d, nil
}

// Label returns the name of a component or a hyper-parameter for readers. The model's names of seasons have no unit.
func (s *Series) Label(name string) string {
	for i, part := range s.Model.PartNames() {
		rest, ok := strings.CutPrefix(name, part)
		if !ok { // hyper-parameters have underscores: short_memory.sd
			rest, ok = strings.CutPrefix(name, strings.ReplaceAll(part, " ", "_"))
		}
		_, hyper, _ := strings.Cut(rest, ".")
		decimals := strings.Trim(hyper[:min(len(hyper), 1)], "0123456789") == "" // season 36 is not season 36.5
		if ok && (rest == "" || rest[0] == '.' && !decimals) {
			return s.Parts[i] + rest
		}
	}
	return name
}

// shown returns the distinct inputs of the last rows and of the first further inputs, sorted, and the data at these inputs.
func (s *Series) shown() (x []float64, y [][]float64) {
	order := sorted(s.X)
	order = order[max(0, len(order)-maxRows):]
	further := slices.Sorted(slices.Values(s.At))
	further = further[:min(len(further), maxRows)]
	row := map[float64]int{}
	for _, n := range order {
		x, row[s.X[n]] = append(x, s.X[n]), n
	}
	x = slices.Compact(slices.Sorted(slices.Values(append(x, further...))))
	for d := range s.YNames {
		y = append(y, slices.Repeat([]float64{math.NaN()}, len(x)))
		for i, v := range x {
			if n, ok := row[v]; ok {
				y[d][i] = s.Y[d][n]
			}
		}
	}
	return x, y
}

// begins returns the last input of the data and the first input of each chart. If the forecast is shorter than a quarter of the data, the
// first chart shows the last part of the data, four horizons or two of the longest seasons. The last chart shows all data.
func (s *Series) begins() (end float64, first []float64) {
	all := math.Inf(-1)
	if !s.Forecast || len(s.X) == 0 || len(s.At) == 0 {
		return math.NaN(), []float64{all}
	}
	order := sorted(s.X)
	begin, end := s.X[order[max(0, len(order)-maxRows)]], s.X[order[len(order)-1]]
	horizon := slices.Max(s.At) - end
	shown := 4 * horizon
	if periods := s.Model.Periods(); len(periods) > 0 {
		shown = max(shown, 2*slices.Max(periods))
	}
	if horizon > 0 && 4*horizon < end-begin && shown < 0.75*(end-begin) {
		first = append(first, end-shown)
	}
	return end, append(first, all)
}

// seconds returns the positions of inputs in charts.
func (s *Series) seconds(x []float64) []float64 {
	if s.Time == nil {
		return x
	}
	at := make([]float64, len(x))
	for i, v := range x {
		at[i] = s.Time(v)
	}
	return at
}

// boundary returns the position of the mark where the forecast begins, between the last input of the data and the first
// one after it.
func (s *Series) boundary(end float64) float64 {
	next := math.Inf(1)
	for _, v := range s.At {
		if v > end {
			next = min(next, v)
		}
	}
	if math.IsInf(next, 1) { // such as a forecast of rows before the last one
		next = end
	}
	at := s.seconds([]float64{end, next})
	return at[0] + (at[1]-at[0])/2
}

// newChart returns a chart with the input as its x.
func (s *Series) newChart(title, text, up string) *chart {
	c := newChart(title, text, s.XName, up)
	if s.Time != nil {
		c.panel.X.Tick.Marker = plot.TickerFunc(dateTicks)
	}
	return c
}

// charts returns the charts of output d: the prediction, each part that is not zero, and the remainder.
func (s *Series) charts(
	name string, x, y []float64, p *series.Prediction, parts []series.Component, d int,
) (all []*chart) {
	end, begins := s.begins()
	for i, first := range begins {
		title := name
		if i < len(begins)-1 {
			title += ": the end"
		}
		c := s.prediction(title, name, first, x, y, p, d)
		labels := 0
		for i, part := range s.Model.Parts() {
			if shift, ok := part.(series.LevelShift); ok && shift.At >= first {
				c.panel.Add(rule{s.seconds([]float64{shift.At})[0], s.Parts[i], labels})
				labels++
			}
		}
		if s.Forecast {
			c.panel.Add(rule{s.boundary(end), "forecast begins", labels})
		}
		all = append(all, c)
	}
	return append(all, s.components(name, x, y, p.Mean[d], parts, d)...)
}

// prediction returns the chart of the data and the prediction of output d from the input first on.
func (s *Series) prediction(title, name string, first float64, x, y []float64, p *series.Prediction, d int) *chart {
	n := 0
	for n < len(x)-1 && x[n] < first {
		n++
	}
	c := s.newChart(title, "The data, and the predictive mean with prediction intervals.", name)
	at, bands := s.seconds(x[n:]), []interval{{95, p.Lower[d][n:], p.Upper[d][n:]}}
	for _, level := range s.Levels {
		if level == 95 {
			continue
		}
		b, tail := interval{level: level}, (1-level/100)/2
		for k := n; k < len(x); k++ {
			b.lower, b.upper = append(b.lower, p.Quantile(d, k, tail)), append(b.upper, p.Quantile(d, k, 1-tail))
		}
		bands = append(bands, b)
	}
	c.fan(Blue, at, bands)
	c.points("data", color.Black, at, y[n:])
	c.line("mean", Blue, at, p.Mean[d][n:])
	c.frame(at[0], at[len(at)-1])
	return c
}

// components returns the charts of the parts of output d that are not zero, and of the remainder. The remainder of
// counts is the difference from the predictive mean, because zero has no logarithm.
func (s *Series) components(name string, x, y, mean []float64, parts []series.Component, d int) (all []*chart) {
	at, sum, scale := s.seconds(x), make([]float64, len(x)), name
	if s.Model.Log() {
		scale = "log of " + name
	}
	for _, part := range parts {
		c := s.newChart(scale+": "+s.Label(part.Name), "The contribution of this part with its 95 % interval.", scale)
		lower, upper := make([]float64, len(x)), make([]float64, len(x))
		for i, v := range part.Mean[d] {
			lower[i], upper[i] = v-bayes.SD95*part.SD[d][i], v+bayes.SD95*part.SD[d][i]
			sum[i] += v
		}
		if !slices.ContainsFunc(slices.Concat(part.Mean[d], part.SD[d]), func(v float64) bool { return v != 0 }) {
			continue
		}
		c.band("95 % band", Blue, at, lower, upper)
		c.line("mean", Blue, at, part.Mean[d])
		c.frame(at[0], at[len(at)-1])
		all = append(all, c)
	}
	left, text := make([]float64, len(x)), "The data minus all parts."
	if s.Model.Counts() {
		sum, scale, text = mean, name, "The data minus the predictive mean."
	}
	for i, v := range y {
		if left[i] = v - sum[i]; s.Model.Log() && !s.Model.Counts() {
			left[i] = math.Log(v) - sum[i]
		}
	}
	if remainder := s.newChart(scale+": remainder", text, scale); len(s.X) > 0 {
		remainder.points("remainder", color.Black, at, left)
		remainder.frame(at[0], at[len(at)-1])
		all = append(all, remainder)
	}
	return all
}
