package report

import (
	"context"
	"fmt"
	"image/color"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/internal/bayes"
)

// MostRows bounds the rows that a chart of data or of a prediction shows.
const MostRows = 20000

// mostSteps bounds the points of a chart of convergence.
const mostSteps = 5000

// Trace keeps the progress reports of a fit.
type Trace struct{ steps []vssgp.Progress }

// Add records a step. Once there are too many, it drops every second one.
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

// Fit reports on a fit of data from the file called name.
func Fit(name string, m *vssgp.Model, r *vssgp.Result, data *vssgp.Data, trace *Trace, settings []Setting) (*Document, error) {
	p := m.Params
	d := &Document{Title: "Fit of " + name}
	d.Lead = []string{fmt.Sprintf("%s, %s inference: bound %.9g after %s in %.1f s on %s; %s, %s.",
		Counted(data.N, "row"), m.Inference, r.Bound, Counted(r.Iterations, "iteration"), r.Elapsed.Seconds(), r.Device,
		Counted(p.L, "component"), Counted(p.M(), "feature"))}
	d.Lead = append(d.Lead, tooMany(m)...)
	shown := firstRows(data)
	if shown.N < data.N {
		d.Lead = append(d.Lead, fmt.Sprintf("The charts of the data show the first %d rows along %s, "+
			"as many as a page bears; predict --plot shows any others.", shown.N, inputNames(m)[0]))
	}
	prediction, err := m.Predict(context.Background(), shown.X)
	if err != nil {
		return nil, err
	}
	fits, residuals := against(m, shown, prediction)
	d.add("Fit", fits...)
	d.add("Residuals", residuals...)
	d.add("Frequencies", spectra(m, ranges(data.X, data.Q))...)
	d.add("Covariance", densities(m)...)
	d.add("Convergence", append(trace.charts(), startsTable(r))...)
	d.add("Bound and noise", termsTable(m, r))
	d.addSettings(settings)
	return d, nil
}

// tooMany says which inputs and outputs the charts leave out.
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

// firstRows returns the rows to show, in the order of the first input.
func firstRows(data *vssgp.Data) *vssgp.Data {
	out := &vssgp.Data{N: min(data.N, MostRows), Q: data.Q, D: data.D, XNames: data.XNames, YNames: data.YNames}
	for _, n := range sorted(column(data.X, data.Q, 0))[:out.N] {
		out.X = append(out.X, data.X[n*data.Q:][:data.Q]...)
		out.Y = append(out.Y, data.Y[n*data.D:][:data.D]...)
	}
	return out
}

// against returns the charts of data with a prediction at their rows: of one input
// along it, of several against the prediction.
func against(m *vssgp.Model, data *vssgp.Data, p *vssgp.Prediction) (fits, residuals []part) {
	sd := p.SD(true)
	for d, name := range outputNames(m)[:min(data.D, mostSeries)] {
		x, y, mean := column(data.X, data.Q, 0), column(data.Y, data.D, d), column(p.Mean, p.D, d)
		fit := &chart{Title: name, XLabel: inputNames(m)[0], YLabel: name}
		if data.Q > 1 {
			x = mean
			fit.Title, fit.XLabel, fit.YLabel = name+", observed against predicted", "predicted "+name, "observed "+name
		}
		order := sorted(x)
		around, line := meanBand(p, sd, x, order, d)
		if data.Q > 1 {
			line.name = "as predicted"
		}
		given := layer{name: "data", kind: asPoints, ink: dataInk, x: around.x}
		left := layer{name: "residual", kind: asPoints, ink: dataInk, x: around.x}
		rest := layer{name: around.name, kind: asBand, ink: meanInk, x: around.x}
		inside := 0
		for i, n := range order {
			lo, mid, hi := around.lo[i], line.y[i], around.hi[i]
			if lo <= y[n] && y[n] <= hi {
				inside++
			}
			given.y, left.y = append(given.y, y[n]), append(left.y, y[n]-mid)
			rest.lo, rest.hi = append(rest.lo, lo-mid), append(rest.hi, hi-mid)
		}
		fit.Text = fmt.Sprintf("Root mean square of the residuals %s; %.1f %% of the rows lie in the 95 %% band.",
			short(bayes.RMSE(mean, y)), 100*float64(inside)/float64(p.N))
		fit.layers = []layer{around, given, line}
		fits, residuals = append(fits, fit), append(residuals, &chart{
			Title: "Residuals of " + name, Text: "What the mean leaves of each row, with the band that holds 95 % of them by the model.",
			XLabel: fit.XLabel, YLabel: name + " − mean", layers: []layer{rest, left},
		})
	}
	return fits, residuals
}

// meanBand returns the band and the mean of output d at the rows in that order, over x.
func meanBand(p *vssgp.Prediction, sd, x []float64, order []int, d int) (band, mean layer) {
	band, mean = layer{name: "95 % band", kind: asBand, ink: meanInk}, layer{name: "mean", kind: asLine, ink: meanInk}
	for _, n := range order {
		v, s := p.Mean[n*p.D+d], interval*sd[n*p.D+d]
		band.x, band.lo, band.hi = append(band.x, x[n]), append(band.lo, v-s), append(band.hi, v+s)
		mean.y = append(mean.y, v)
	}
	mean.x = band.x
	return band, mean
}

// sorted returns the order of rows by their keys.
func sorted(keys []float64) []int {
	order := make([]int, len(keys))
	floats.ArgsortStable(slices.Clone(keys), order)
	return order
}

// column returns column c of rows of n numbers.
func column(rows []float64, n, c int) []float64 {
	out := make([]float64, 0, len(rows)/n)
	for i := c; i < len(rows); i += n {
		out = append(out, rows[i])
	}
	return out
}

// ranges returns the largest number less the smallest in each of n columns.
func ranges(rows []float64, n int) []float64 {
	out := make([]float64, n)
	for q := range out {
		c := column(rows, n, q)
		out[q] = slices.Max(c) - slices.Min(c)
	}
	return out
}

// charts returns the bound against time and against iterations, with a line for
// each start; nil if every start took one step at most.
func (t *Trace) charts() []part {
	byTime := &chart{Title: "Bound against time", Text: "How the bound rose as the fit went on.", XLabel: "seconds since the start"}
	byIteration := &chart{Title: "Bound against iterations", Text: "Of each start, over all its stages.", XLabel: "iteration"}
	byTime.YLabel, byIteration.YLabel = "bound", "bound"
	for steps := t.steps; len(steps) > 0; {
		first := steps[0]
		var time, iteration, bound []float64
		for ; len(steps) > 0 && steps[0].Start == first.Start; steps = steps[1:] {
			s := steps[0]
			time, iteration, bound = append(time, s.Elapsed.Seconds()), append(iteration, float64(s.Iteration)), append(bound, s.Bound)
		}
		if len(bound) < 2 {
			continue
		}
		l := layer{name: "bound", kind: asLine, ink: []color.RGBA{meanInk, referenceInk, drawInk, dataInk}[(first.Start+3)%4], x: time,
			y: bound}
		if first.Starts > 1 {
			l.name = fmt.Sprintf("start %d", first.Start)
		}
		byTime.layers = append(byTime.layers, l)
		l.x = iteration
		byIteration.layers = append(byIteration.layers, l)
	}
	if len(byTime.layers) == 0 {
		return nil
	}
	return []part{byTime, byIteration}
}

func startsTable(r *vssgp.Result) Table {
	t := Table{Caption: "Starts", Head: []string{"start", "seed", "bound", "kept", "ended"}}
	for i, s := range r.Starts {
		kept := ""
		if i == r.Kept {
			kept = "yes"
		}
		t.Rows = append(t.Rows, []string{fmt.Sprint(i + 1), fmt.Sprint(s.Seed), short(s.Bound), kept, s.Ended})
	}
	return t
}

func termsTable(m *vssgp.Model, r *vssgp.Result) Table {
	t := Table{Caption: "The bound's terms, and the noise's standard deviation", Head: []string{"", "value"}}
	for _, term := range r.Terms {
		t.Rows = append(t.Rows, []string{strings.ReplaceAll(term.Name, "_", " "), short(term.Value)})
	}
	t.Rows = append(t.Rows, []string{"bound", fmt.Sprintf("%.9g", r.Bound)})
	for d, name := range outputNames(m) {
		t.Rows = append(t.Rows, []string{"noise sd, " + name, short(m.NoiseSD()[d])})
	}
	return t
}

// Info reports on the model in the file called name.
func Info(name string, m *vssgp.Model) *Document {
	d := &Document{Title: "Model " + name}
	d.Lead = []string{fmt.Sprintf("%s inference, %s, %s, %s.",
		m.Inference, Counted(m.Params.L, "component"), Counted(m.Params.M(), "feature"),
		Counted(max(1, len(m.Params.Windows.Center)), "window"))}
	d.Lead = append(d.Lead, tooMany(m)...)
	var places []float64 // of the inducing inputs, whose ranges are roughly those of the data
	for _, f := range m.Frequencies() {
		places = append(places, f.Location...)
	}
	learnt := spectra(m, ranges(places, m.Params.Q))
	if learnt == nil {
		learnt = []part{paragraph("The model has no posterior over its coefficients yet, so its features have no amplitude.")}
	}
	d.add("Frequencies", learnt...)
	d.add("Covariance", densities(m)...)
	return d
}
