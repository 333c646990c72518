package report

import (
	"context"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/internal/bayes"
)

// Limits of charts.
const (
	// MaxRows is the maximum number of rows in a chart of data or of a prediction.
	MaxRows = 20000
	// MaxDraws is the maximum number of draws in the charts of a prediction.
	MaxDraws = 20
	// maxSteps is the maximum number of points in a convergence chart.
	maxSteps = 5000
	// gaps is the number of points per range of x that a curve has at least.
	gaps = 500
	// maxSeries is the maximum number of inputs, outputs or channels with separate charts.
	maxSeries = 4
)

// A Trace records the progress of a fit.
type Trace struct{ steps []vssgp.Progress }

// Add records a step. If there are too many steps, it drops every second one.
func (t *Trace) Add(p vssgp.Progress) {
	t.steps = append(t.steps, p)
	if len(t.steps) < 2*maxSteps {
		return
	}
	for i := range maxSteps {
		t.steps[i] = t.steps[2*i+1]
	}
	t.steps = t.steps[:maxSteps]
}

// Fit returns the report on a fit of data from the file called name.
func Fit(name string, m *vssgp.Model, r *vssgp.Result, data *vssgp.Data, trace *Trace, settings []Setting) (*Document, error) {
	p := m.Params
	d := &Document{Title: "Fit of " + name}
	d.Lead = []string{fmt.Sprintf("%s, %s inference: bound %.9g %s in %.1f s on %s; %s, %s.",
		Counted(data.N, "row"), m.Inference, r.Bound, Effort(r), r.Elapsed.Seconds(), r.Device,
		Counted(len(m.Components()), "component"), Counted(p.M(), "feature"))}
	d.Lead = append(d.Lead, leftOut(m)...)
	shown := firstRows(data)
	if shown.N < data.N {
		d.Lead = append(d.Lead, fmt.Sprintf("The charts of the data show only the first %d rows along %s; "+
			"use predict --plot for other rows.", shown.N, inputNames(m)[0]))
	}
	x := shown.X
	if data.Q == 1 {
		x = append(slices.Clone(x), between(x)...)
	}
	prediction, err := m.Predict(context.Background(), x)
	if err != nil {
		return nil, err
	}
	maps, err := fitMaps(context.Background(), m, data)
	if err != nil {
		return nil, err
	}
	d.add(section{Title: "Maps", Charts: maps})
	fits, residuals := comparisons(m, shown, x, prediction)
	d.add(section{Title: "Fit", Charts: fits})
	d.add(section{Title: "Residuals", Charts: residuals})
	d.add(frequencies(m, ranges(data.X, data.Q)))
	d.add(section{Title: "Covariance", Charts: densities(m)})
	d.add(section{Title: "Convergence", Charts: trace.charts(), Tables: []Table{startsTable(r)}})
	d.add(section{Title: "Bound and noise", Tables: []Table{termsTable(m, r)}})
	d.addSettings(settings)
	return d, nil
}

// Effort describes what led to the bound of a fit.
func Effort(r *vssgp.Result) string {
	switch {
	case r.Init == vssgp.InitSearch:
		return "after a search for components"
	case r.Init == "":
		return fmt.Sprintf("after %s from the model", Counted(r.Iterations, "iteration"))
	}
	return fmt.Sprintf("after %s from %s of init %s", Counted(r.Iterations, "iteration"), Counted(len(r.Starts), "initialization"), r.Init)
}

// Searched reports whether a search has found the model's components, or that there are none.
func Searched(m *vssgp.Model) bool {
	c := m.Components()
	return len(c) == 0 || c[0].Kind != ""
}

// leftOut returns sentences about inputs and outputs without charts.
func leftOut(m *vssgp.Model) (text []string) {
	if m.Params.D > maxSeries {
		text = append(text, fmt.Sprintf("Of %d outputs, the charts show the first %d.", m.Params.D, maxSeries))
	}
	if m.Params.Q > maxSeries {
		text = append(text, fmt.Sprintf("Of %d inputs, the first %d have spectra.", m.Params.Q, maxSeries))
	}
	return text
}

// firstRows returns the rows to show, in the order of the first input.
func firstRows(data *vssgp.Data) *vssgp.Data {
	out := &vssgp.Data{N: min(data.N, MaxRows), Q: data.Q, D: data.D, XNames: data.XNames, YNames: data.YNames}
	for _, n := range sorted(column(data.X, data.Q, 0))[:out.N] {
		out.X = append(out.X, data.X[n*data.Q:][:data.Q]...)
		out.Y = append(out.Y, data.Y[n*data.D:][:data.D]...)
	}
	return out
}

// curve is an output's mean and 95 % band, in the order of increasing x.
type curve struct {
	order                 []int
	x, mean, lower, upper []float64
}

// curveOf returns the curve of output d of a prediction with standard deviations sd over x.
func curveOf(p *vssgp.Prediction, sd, x []float64, d int) curve {
	c := curve{order: sorted(x)}
	c.x, c.mean = pick(x, c.order), pick(column(p.Mean, p.D, d), c.order)
	half := pick(column(sd, p.D, d), c.order)
	c.lower, c.upper = slices.Clone(c.mean), slices.Clone(c.mean)
	floats.AddScaled(c.lower, -bayes.SD95, half)
	floats.AddScaled(c.upper, bayes.SD95, half)
	return c
}

// between returns points in the gaps of sorted x, so that a curve shows what the model predicts there.
func between(x []float64) (more []float64) {
	step := (x[len(x)-1] - x[0]) / gaps
	if step == 0 {
		return nil
	}
	for i, v := range x[1:] {
		gap := v - x[i]
		n := int(gap / step)
		for k := range n {
			more = append(more, x[i]+gap*float64(k+1)/float64(n+1))
		}
	}
	return more
}

// comparisons returns the charts of data with a prediction at its rows and, if there is a single input, at more points x. They are plotted
// along a single input, or against the prediction if there are several inputs.
func comparisons(m *vssgp.Model, data *vssgp.Data, x []float64, p *vssgp.Prediction) (fits, residuals []*chart) {
	sd, input := p.SD(true), inputNames(m)[0]
	for d, name := range outputNames(m)[:min(data.D, maxSeries)] {
		at, title, along, up, meanName := x, name, input, name, "mean"
		if data.Q > 1 {
			at, title, along, up = column(p.Mean, p.D, d), name+", observed against predicted", "predicted "+name, "observed "+name
			meanName = "as predicted"
		}
		y, mean, half := column(data.Y, data.D, d), column(p.Mean, p.D, d)[:data.N], column(sd, p.D, d)
		rest := floats.SubTo(make([]float64, data.N), y, mean)
		inside := 0
		for i, r := range rest {
			if math.Abs(r) <= bayes.SD95*half[i] {
				inside++
			}
		}
		c := curveOf(p, sd, at, d)
		fit := newChart(title, fmt.Sprintf("Root mean square of the residuals %s; %.1f %% of the rows are within the 95 %% band.",
			short(bayes.RMSE(mean, y)), 100*float64(inside)/float64(data.N)), along, up)
		fit.band("95 % band", Blue, c.x, c.lower, c.upper)
		fit.points("data", color.Black, at[:data.N], y)
		fit.line(meanName, Blue, c.x, c.mean)
		residual := newChart("Residuals of "+name, "The data minus the mean, with the model's 95 % band.", along, name+" − mean")
		floats.Sub(c.lower, c.mean)
		floats.Sub(c.upper, c.mean)
		residual.band("95 % band", Blue, c.x, c.lower, c.upper)
		residual.points("residual", color.Black, at[:data.N], rest)
		fits, residuals = append(fits, fit), append(residuals, residual)
	}
	return fits, residuals
}

// sorted returns the order of rows by their keys.
func sorted(keys []float64) []int {
	order := make([]int, len(keys))
	floats.ArgsortStable(slices.Clone(keys), order)
	return order
}

// pick returns values[order[i]] for all i.
func pick(values []float64, order []int) []float64 {
	out := make([]float64, len(order))
	for i, n := range order {
		out[i] = values[n]
	}
	return out
}

// column returns column c of rows of n numbers.
func column(rows []float64, n, c int) []float64 {
	out := make([]float64, 0, len(rows)/n)
	for i := c; i < len(rows); i += n {
		out = append(out, rows[i])
	}
	return out
}

// ranges returns the difference of the largest and the smallest number in each of n columns.
func ranges(rows []float64, n int) []float64 {
	out := make([]float64, n)
	for q := range out {
		c := column(rows, n, q)
		out[q] = slices.Max(c) - slices.Min(c)
	}
	return out
}

// charts returns charts of the bound over time and iterations. It returns nil if no initialization took more than one step.
func (t *Trace) charts() []*chart {
	byTime := newChart("Bound over time", "The bound during the fit.", "seconds since the beginning", "bound")
	byIteration := newChart("Bound over iterations", "The bound of each initialization over all its stages.", "iteration", "bound")
	drawn := false
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
		name, clr := "bound", []color.Color{Blue, Red, Green, Gray}[(first.Start+3)%4]
		if first.Starts > 1 {
			name = fmt.Sprintf("initialization %d", first.Start)
		}
		byTime.line(name, clr, time, bound)
		byIteration.line(name, clr, iteration, bound)
		drawn = true
	}
	if !drawn {
		return nil
	}
	return []*chart{byTime, byIteration}
}

func startsTable(r *vssgp.Result) Table {
	t := Table{Caption: "Initializations", Head: []string{"initialization", "seed", "bound", "kept", "ended"}, Words: true}
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
	t := Table{Caption: "Terms of the bound, and standard deviation of the noise", Head: []string{"", "value"}}
	for _, term := range r.Terms {
		t.Rows = append(t.Rows, []string{strings.ReplaceAll(term.Name, "_", " "), short(term.Value)})
	}
	t.Rows = append(t.Rows, []string{"bound", fmt.Sprintf("%.9g", r.Bound)})
	for d, name := range outputNames(m) {
		t.Rows = append(t.Rows, []string{"noise sd, " + name, short(m.NoiseSD()[d])})
	}
	return t
}

// Info returns the report on the model in the file called name.
func Info(name string, m *vssgp.Model) *Document {
	d := &Document{Title: "Model " + name}
	d.Lead = []string{fmt.Sprintf("%s inference, %s, %s, %s.",
		m.Inference, Counted(len(m.Components()), "component"), Counted(m.Params.M(), "feature"),
		Counted(max(1, len(m.Params.Windows.Center)), "window"))}
	d.Lead = append(d.Lead, leftOut(m)...)
	d.add(frequencies(m, reach(m)))
	d.add(section{Title: "Covariance", Charts: densities(m)})
	return d
}

// reach returns the range of each input: of the data, or if it is not known of the inducing inputs, which span approximately as much.
func reach(m *vssgp.Model) []float64 {
	var rows []float64
	for _, r := range m.Range {
		rows = append(rows, r[1]-r[0])
	}
	if rows != nil {
		return rows
	}
	for _, f := range m.Frequencies() {
		rows = append(rows, f.Location...)
	}
	return ranges(rows, m.Params.Q)
}

// Predicted is a prediction to plot.
type Predicted struct {
	X []float64         // inputs [N,Q]: the first of Rows predicted rows, at most MaxRows, or a grid
	P *vssgp.Prediction // at X
	// Sizes are the numbers of values of each input of a grid X, whose last input varies fastest. It is nil for other
	// rows.
	Sizes []int
	Rows  int // number of predicted rows
	// Value returns a value of input q for a text: a date as text, else the number. It is needed for several inputs.
	Value     func(q int, x float64) any
	Draws     [][]float64 // the first of Drawn functions, at most MaxDraws, each [N,D]
	Drawn     int
	Data      []float64 // inputs of data to mark in a map [·,Q]
	DataShare string    // describes Data
	Noise     bool      // standard deviations include the noise
	Settings  []Setting
}

// IsMap reports whether Predict shows a prediction at x [N,q] as maps: exactly two inputs vary.
func IsMap(x []float64, q int) bool { return len(varying(x, q)) == 2 }

// Predict returns the report on a prediction: maps if two inputs vary, else curves along the input that varies or along
// the rows.
func Predict(m *vssgp.Model, v Predicted) *Document {
	d := &Document{Title: "Prediction"}
	d.Lead = append(v.lead(m), leftOut(m)...)
	s := section{Title: "Prediction"}
	if inputs := varying(v.X, m.Params.Q); len(inputs) == 2 {
		at := planeOf(inputNames(m), v.X, inputs, v.Sizes)
		s.Charts = predictionMaps(m, v.P, v.Noise, at, planeOf(inputNames(m), v.Data, inputs, nil))
	} else {
		s.Charts = v.curves(m, inputs)
	}
	d.add(s)
	d.addSettings(v.Settings)
	return d
}

// lead returns sentences about the prediction and what its charts omit.
func (v *Predicted) lead(m *vssgp.Model) []string {
	lead := []string{fmt.Sprintf("%s, %s, %s inference.",
		Counted(v.Rows, "row"), Counted(m.Params.M(), "feature"), m.Inference)}
	switch isMap := IsMap(v.X, m.Params.Q); {
	case isMap && v.Sizes != nil && v.P.N < v.Rows:
		lead = append(lead, fmt.Sprintf("The maps have %d points over the same range; the output has all.", v.P.N))
	case v.P.N < v.Rows:
		lead = append(lead, fmt.Sprintf("The charts show only the first %d rows; the output has all.", v.P.N))
	}
	if len(v.Draws) < v.Drawn {
		lead = append(lead, fmt.Sprintf("Of the %d functions drawn from the posterior, the charts show %d.",
			v.Drawn, len(v.Draws)))
	}
	if v.DataShare != "" {
		lead = append(lead, v.DataShare)
	}
	return lead
}

// curves returns the charts of the outputs along the input that varies or, if there is not exactly one, along the rows.
func (v *Predicted) curves(m *vssgp.Model, inputs []int) (charts []*chart) {
	q := m.Params.Q
	along, x, fixed := inputNames(m)[0], column(v.X, q, 0), ""
	switch {
	case len(inputs) == 1:
		along, x = inputNames(m)[inputs[0]], column(v.X, q, inputs[0])
		fixed = v.fixed(inputNames(m), inputs[0])
	case q > 1:
		along = "row"
		for n := range x {
			x[n] = float64(n)
		}
	}
	for d, name := range outputNames(m)[:min(v.P.D, maxSeries)] {
		chart := newChart(name+fixed, "The predictive mean with the 95 % interval of "+predicted(v.Noise)+".", along, name)
		c := curveOf(v.P, v.P.SD(v.Noise), x, d)
		chart.band("95 % band", Blue, c.x, c.lower, c.upper)
		for _, f := range v.Draws {
			chart.line("draws", Pink, c.x, pick(column(f, v.P.D, d), c.order))
		}
		chart.line("mean", Blue, c.x, c.mean)
		charts = append(charts, chart)
	}
	return charts
}

// fixed returns the values of all inputs but one that varies, such as " at longitude 12".
func (v *Predicted) fixed(names []string, varies int) string {
	var parts []string
	for q, name := range names {
		if q != varies {
			parts = append(parts, fmt.Sprintf("%s %v", name, v.Value(q, v.X[q])))
		}
	}
	if parts == nil {
		return ""
	}
	return " at " + strings.Join(parts, ", ")
}

// predicted describes what a standard deviation belongs to.
func predicted(noise bool) string {
	if noise {
		return "an observation"
	}
	return "the function without noise"
}
