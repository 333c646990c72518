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

// charts returns the charts of output d: the prediction, each part, and the remainder.
func (s *Series) charts(name string, x, y []float64, p *series.Prediction, parts []series.Component, d int) (all []*chart) {
	time := s.Time
	if time == nil {
		time = func(x float64) float64 { return x }
	}
	at := make([]float64, len(x))
	for i, v := range x {
		at[i] = time(v)
	}
	chartOf := func(title, text, up string) *chart {
		c := newChart(title, text, s.XName, up)
		if s.Time != nil {
			c.panel.X.Tick.Marker = plot.TickerFunc(dateTicks)
		}
		return c
	}
	end, begins := s.begins()
	for i, first := range begins {
		title, n := name, 0
		if i < len(begins)-1 {
			title += ": the end"
		}
		for n < len(x)-1 && x[n] < first {
			n++
		}
		c := chartOf(title, "The data, and the predictive mean with 95 % prediction intervals.", name)
		c.band("95 % band", Blue, at[n:], p.Lower[d][n:], p.Upper[d][n:])
		for _, level := range s.Levels {
			lower, upper, tail := make([]float64, len(x)), make([]float64, len(x)), (1-level/100)/2
			for k := n; k < len(x); k++ {
				lower[k], upper[k] = p.Quantile(d, k, tail), p.Quantile(d, k, 1-tail)
			}
			c.band(fmt.Sprintf("%v %% band", level), Sky, at[n:], lower[n:], upper[n:])
		}
		c.points("data", color.Black, at[n:], y[n:])
		c.line("mean", Blue, at[n:], p.Mean[d][n:])
		labels := 0
		for i, part := range s.Model.Parts() {
			if shift, ok := part.(series.LevelShift); ok && shift.At >= first {
				c.panel.Add(rule{time(shift.At), s.Parts[i], labels})
				labels++
			}
		}
		if s.Forecast {
			c.panel.Add(rule{time(end), "forecast begins", labels})
		}
		all = append(all, c)
	}
	left := slices.Clone(y)
	if s.Model.Log() {
		name = "log of " + name
		for i, v := range y {
			left[i] = math.Log(v)
		}
	}
	for _, part := range parts {
		c := chartOf(name+": "+s.Label(part.Name), "The contribution of this part with its 95 % interval.", name)
		lower, upper := make([]float64, len(x)), make([]float64, len(x))
		for i, v := range part.Mean[d] {
			lower[i], upper[i] = v-bayes.SD95*part.SD[d][i], v+bayes.SD95*part.SD[d][i]
			left[i] -= v
		}
		c.band("95 % band", Blue, at, lower, upper)
		c.line("mean", Blue, at, part.Mean[d])
		all = append(all, c)
	}
	if remainder := chartOf(name+": remainder", "The data minus all parts.", name); len(s.X) > 0 {
		remainder.points("remainder", color.Black, at, left)
		all = append(all, remainder)
	}
	return all
}
