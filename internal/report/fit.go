package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/internal/figure"
	"github.com/vssgp/vssgp/internal/page"
)

// mostRows bounds the rows that a chart of data shows.
const mostRows = 20000

// mostSteps bounds the points of a chart of convergence.
const mostSteps = 5000

// Trace keeps what a fit has said of its progress.
type Trace struct{ steps []vssgp.Progress }

// Add takes a step in; of many, every second goes once there is no more room.
func (t *Trace) Add(p vssgp.Progress) {
	t.steps = append(t.steps, p)
	if len(t.steps) < 2*mostSteps {
		return
	}
	for i := range mostSteps {
		t.steps[i] = t.steps[2*i+1]
	}
	t.steps = t.steps[:mostSteps]
}

// Fit is the report of a fit of the data, which the file name names.
func Fit(name string, m *vssgp.Model, r *vssgp.Result, data *vssgp.Data, trace *Trace, settings []Setting) (*Document, error) {
	p := m.Params
	d := &Document{}
	d.Page.Title = "Fit of " + name
	d.Page.Lead = []string{fmt.Sprintf("%s, %s inference: bound %.9g after %s in %.1f s on %s; %s, %s.",
		Counted(data.N, "row"), m.Inference, r.Bound, Counted(r.Iterations, "iteration"), r.Elapsed.Seconds(), r.Device, Counted(p.L, "component"), Counted(p.M(), "feature"))}
	d.Page.Lead = append(d.Page.Lead, tooMany(m)...)
	shown := firstRows(data)
	if shown.N < data.N {
		d.Page.Lead = append(d.Page.Lead, fmt.Sprintf("The charts of the data show the first %d rows along %s, as many as a page bears; predict --plot shows any others.", shown.N, inputNames(m)[0]))
	}
	prediction, err := m.PredictRows(shown.X, shown.N)
	if err != nil {
		return nil, err
	}
	fits, residuals := against(m, shown, prediction)
	d.section("Fit", charts(fits)...)
	d.section("Residuals", charts(residuals)...)
	d.section("Frequencies", spectra(m, ranges(data.X, data.Q))...)
	d.section("Covariance", charts(densities(m))...)
	d.section("Convergence", append(charts(trace.figures()), startsTable(r))...)
	d.section("Bound and noise", termsTable(m, r))
	d.settings(settings)
	return d, nil
}

// tooMany says what charts leave out of a model with many inputs or outputs.
func tooMany(m *vssgp.Model) []string {
	var out []string
	if m.Params.D > mostSeries {
		out = append(out, fmt.Sprintf("Of %d outputs the charts show the first %d.", m.Params.D, mostSeries))
	}
	if m.Params.Q > mostSeries {
		out = append(out, fmt.Sprintf("Of %d inputs the spectra are along the first %d.", m.Params.Q, mostSeries))
	}
	return out
}

// firstRows are the rows to show, in the order of the first input.
func firstRows(data *vssgp.Data) *vssgp.Data {
	order := make([]int, data.N)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(data.X[a*data.Q], data.X[b*data.Q]) })
	out := &vssgp.Data{N: min(data.N, mostRows), Q: data.Q, D: data.D, XNames: data.XNames, YNames: data.YNames}
	for _, n := range order[:out.N] {
		out.X = append(out.X, data.X[n*data.Q:][:data.Q]...)
		out.Y = append(out.Y, data.Y[n*data.D:][:data.D]...)
	}
	return out
}

// against are the charts of data with a prediction at their rows: of one input
// along it, of several against what was predicted.
func against(m *vssgp.Model, data *vssgp.Data, p *vssgp.Prediction) (fits, residuals []*figure.Figure) {
	sd := p.SD(true)
	x, outputs := inputNames(m)[0], outputNames(m)
	for d := range min(data.D, mostSeries) {
		at, y, mean, lo, hi := column(data.X, data.Q, 0), column(data.Y, data.D, d), column(p.Mean, p.D, d), make([]float64, p.N), make([]float64, p.N)
		inside := 0
		for n := range p.N {
			s := interval * sd[n*p.D+d]
			lo[n], hi[n] = mean[n]-s, mean[n]+s
			if lo[n] <= y[n] && y[n] <= hi[n] {
				inside++
			}
		}
		text := fmt.Sprintf("Root mean square of the residuals %s; %.1f %% of the rows lie in the 95 %% band.", short(rms(y, mean)), 100*float64(inside)/float64(p.N))
		f := &figure.Figure{Title: outputs[d], Text: text, XLabel: x, YLabel: outputs[d], Layers: []figure.Layer{
			{Name: "95 % band", Kind: figure.Band, Ink: figure.Mean, X: at, Lo: lo, Hi: hi},
			{Name: "data", Kind: figure.Points, Ink: figure.Data, X: at, Y: y},
			{Name: "mean", Kind: figure.Line, Ink: figure.Mean, X: at, Y: mean},
		}}
		if data.Q > 1 {
			f = observedPredicted(f, y, mean, lo, hi)
			at, y, mean, lo, hi = sortedBy(mean, y, mean, lo, hi)
			x = "predicted " + outputs[d]
		}
		fits = append(fits, f)
		residuals = append(residuals, residual(outputs[d], x, at, y, mean, lo, hi))
	}
	return fits, residuals
}

// observedPredicted is the chart of a fit with several inputs.
func observedPredicted(f *figure.Figure, y, mean, lo, hi []float64) *figure.Figure {
	at, y, mean, lo, hi := sortedBy(mean, y, mean, lo, hi)
	f.Title, f.XLabel, f.YLabel = f.Title+", observed against predicted", "predicted "+f.YLabel, "observed "+f.YLabel
	f.Layers = []figure.Layer{
		{Name: "95 % band", Kind: figure.Band, Ink: figure.Mean, X: at, Lo: lo, Hi: hi},
		{Name: "data", Kind: figure.Points, Ink: figure.Data, X: at, Y: y},
		{Name: "as predicted", Kind: figure.Line, Ink: figure.Mean, X: at, Y: mean},
	}
	return f
}

// sortedBy puts columns into the order of the first, of which there may be one more.
func sortedBy(by, y, mean, lo, hi []float64) (at, y1, mean1, lo1, hi1 []float64) {
	order := make([]int, len(by))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(by[a], by[b]) })
	in := func(v []float64) []float64 {
		out := make([]float64, len(v))
		for i, n := range order {
			out[i] = v[n]
		}
		return out
	}
	return in(by), in(y), in(mean), in(lo), in(hi)
}

func residual(output, x string, at, y, mean, lo, hi []float64) *figure.Figure {
	r, below, above := make([]float64, len(y)), make([]float64, len(y)), make([]float64, len(y))
	for i := range y {
		r[i], below[i], above[i] = y[i]-mean[i], lo[i]-mean[i], hi[i]-mean[i]
	}
	return &figure.Figure{
		Title: "Residuals of " + output, Text: "What the mean leaves of each row, with the band that holds 95 % of them by the model.",
		XLabel: x, YLabel: output + " − mean", Layers: []figure.Layer{
			{Name: "95 % band", Kind: figure.Band, Ink: figure.Mean, X: at, Lo: below, Hi: above},
			{Name: "residual", Kind: figure.Points, Ink: figure.Data, X: at, Y: r},
		},
	}
}

// column is column c of rows of n.
func column(rows []float64, n, c int) []float64 {
	out := make([]float64, 0, len(rows)/n)
	for i := c; i < len(rows); i += n {
		out = append(out, rows[i])
	}
	return out
}

func rms(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += (a[i] - b[i]) * (a[i] - b[i])
	}
	return math.Sqrt(sum / float64(len(a)))
}

// figures are the bound against time and against iterations, each start a line.
func (t *Trace) figures() []*figure.Figure {
	byTime := &figure.Figure{Title: "Bound against time", Text: "How the bound rose as the fit went on.", XLabel: "seconds since the start", YLabel: "bound"}
	byIteration := &figure.Figure{Title: "Bound against iterations", Text: "Of each start, over all its stages.", XLabel: "iteration", YLabel: "bound"}
	for from := 0; from < len(t.steps); {
		to := from
		var time, iteration, bound []float64
		for ; to < len(t.steps) && t.steps[to].Start == t.steps[from].Start; to++ {
			s := t.steps[to]
			time, iteration, bound = append(time, s.Elapsed.Seconds()), append(iteration, float64(s.Iteration)), append(bound, s.Bound)
		}
		layer := figure.Layer{Name: "bound", Kind: figure.Line, Ink: []figure.Ink{figure.Mean, figure.Reference, figure.Draw, figure.Data}[(t.steps[from].Start+3)%4], Y: bound}
		if t.steps[from].Starts > 1 {
			layer.Name = fmt.Sprintf("start %d", t.steps[from].Start)
		}
		if len(bound) > 1 {
			layer.X = time
			byTime.Layers = append(byTime.Layers, layer)
			layer.X = iteration
			byIteration.Layers = append(byIteration.Layers, layer)
		}
		from = to
	}
	if len(byTime.Layers) == 0 {
		return nil
	}
	return []*figure.Figure{byTime, byIteration}
}

func startsTable(r *vssgp.Result) page.Part {
	t := page.Table{Caption: "Starts", Head: []string{"start", "seed", "bound", "kept", "ended"}}
	for i, s := range r.Starts {
		kept := ""
		if i == r.Kept {
			kept = "yes"
		}
		t.Rows = append(t.Rows, []string{fmt.Sprint(i + 1), fmt.Sprint(s.Seed), short(s.Bound), kept, s.Ended})
	}
	return t
}

func termsTable(m *vssgp.Model, r *vssgp.Result) page.Part {
	t := page.Table{Caption: "The bound's terms, and the noise's standard deviation", Head: []string{"", "value"}}
	for _, term := range r.Terms {
		t.Rows = append(t.Rows, []string{strings.ReplaceAll(term.Name, "_", " "), short(term.Value)})
	}
	t.Rows = append(t.Rows, []string{"bound", fmt.Sprintf("%.9g", r.Bound)})
	for d, name := range outputNames(m) {
		t.Rows = append(t.Rows, []string{"noise sd, " + name, short(m.Y.Scale[d] / math.Sqrt(m.Params.NoisePrecision[0]))})
	}
	return t
}
