package paper

import (
	"image/color"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/vssgp/vssgp/bench/internal/jsonl"
	"github.com/vssgp/vssgp/internal/report"
)

// A figure is one with the name of its files, without ending.
type figure struct {
	name string
	report.Figure
}

// lineMark stands for lines of a colour in keys.
func lineMark(c color.Color) *plotter.Line { return &plotter.Line{LineStyle: report.Stroke(c)} }

// addLine draws a line.
func addLine(p *plot.Plot, xy plotter.XYs, c color.Color) error {
	l, err := plotter.NewLine(xy)
	if err != nil {
		return err
	}
	l.LineStyle = report.Stroke(c)
	p.Add(l)
	return nil
}

// addArea fills what an outline encloses.
func addArea(p *plot.Plot, outline plotter.XYs, c color.Color) error {
	area, err := plotter.NewPolygon(outline)
	if err != nil {
		return err
	}
	area.Color, area.LineStyle.Width = c, 0
	p.Add(area)
	return nil
}

// addBand draws a curve's mean with two standard deviations to either side. What lies beyond [lo, hi] is drawn at its edge: a plot would
// draw it beyond its axes.
func addBand(p *plot.Plot, c *Curve, lo, hi float64) error {
	inside := func(v float64) float64 { return min(hi, max(lo, v)) }
	n := len(c.X)
	outline, mean := make(plotter.XYs, 2*n), make(plotter.XYs, n)
	for i, x := range c.X {
		m, sd := c.Mean[i], c.SD[i]
		outline[i], outline[2*n-1-i] = plotter.XY{X: x, Y: inside(m + 2*sd)}, plotter.XY{X: x, Y: inside(m - 2*sd)}
		mean[i] = plotter.XY{X: x, Y: inside(m)}
	}
	if err := addArea(p, outline, report.Pale); err != nil {
		return err
	}
	return addLine(p, mean, report.Blue)
}

// curveKey is the key of panels by addCurve, in the paper's colours.
var curveKey = []report.Entry{
	{Name: "observed", Mark: lineMark(report.Red)},
	{Name: "left out", Mark: lineMark(report.Green)},
	{Name: "predictive mean", Mark: lineMark(report.Blue)},
	{Name: "± 2 sd", Mark: &plotter.Polygon{Color: report.Pale}},
}

// addCurve draws a curve's band and mean over its data. Axes are by the data and means not too far from them: wider bands are cut off.
func addCurve(p *plot.Plot, c *Curve) error {
	if err := addBand(p, c, math.Inf(-1), math.Inf(1)); err != nil {
		return err
	}
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, t := range []struct {
		*Trace
		color color.Color
	}{{c.Observed, report.Red}, {c.Missing, report.Green}} {
		if t.Trace == nil {
			continue
		}
		lo, hi = min(lo, slices.Min(t.Y)), max(hi, slices.Max(t.Y))
		for _, r := range t.runs() {
			if err := addLine(p, report.Points(r.X, r.Y), t.color); err != nil {
				return err
			}
		}
	}
	p.X.Min, p.X.Max = c.X[0], c.X[len(c.X)-1]
	if room := (hi - lo) / 2; room > 0 {
		p.Y.Min = max(lo-room, min(lo, slices.Min(c.Mean))) - room/3
		p.Y.Max = min(hi+room, max(hi, slices.Max(c.Mean))) + room/3
	}
	return nil
}

// runs are the parts of a trace without holes: steps of x more than half as long again as the usual one.
func (t *Trace) runs() (out []Trace) {
	if len(t.X) < 3 {
		return []Trace{*t}
	}
	steps := make([]float64, len(t.X)-1)
	floats.SubTo(steps, t.X[1:], t.X[:len(steps)])
	slices.Sort(steps)
	usual, from := steps[len(steps)/2], 0
	for i := 1; i <= len(t.X); i++ {
		if i == len(t.X) || t.X[i]-t.X[i-1] > 1.5*usual {
			out = append(out, Trace{t.X[from:i], t.Y[from:i]})
			from = i
		}
	}
	return out
}

// A view is a panel to draw: the first line of a variant that has a curve.
type view struct {
	variant
	title string
}

// firstCurve is the first curve of a variant and its line; nil if it has none.
func firstCurve(lines []Line, v variant) *Line {
	i := slices.IndexFunc(lines, func(l Line) bool { return variantOf(l) == v && l.Curve != nil })
	if i < 0 {
		return nil
	}
	return &lines[i]
}

// curves is a column of panels with curves, none if no line has one.
func curves(name string, lines []Line, views []view, height vg.Length) ([]figure, error) {
	f := figure{name: name, Figure: report.Figure{Width: 18 * vg.Centimeter, Key: slices.Concat(curveKey[:1], curveKey[2:])}}
	for _, v := range views {
		l := firstCurve(lines, v.variant)
		if l == nil {
			continue
		}
		title := v.title
		if test, have := l.Scores[TestRMSE]; have {
			title += ": test RMSE " + digits(test)
		}
		p := report.Panel(title, "", "")
		if err := addCurve(p, l.Curve); err != nil {
			return nil, err
		}
		f.Panels = append(f.Panels, p)
		if l.Curve.Missing != nil {
			f.Key = curveKey
		}
	}
	for i, p := range f.Panels {
		if i < len(f.Panels)-1 {
			p.HideX()
		} else {
			p.X.Label.Text = "year"
		}
	}
	f.Height = vg.Length(len(f.Panels))*height + vg.Centimeter
	return []figure{f}, nil
}

// addMeans draws the mean of some values of the lines of each x, joined by a line, and with bars a standard deviation to either side.
func addMeans(p *plot.Plot, lines []Line, x func(Line) int, of func([]Line) []float64, bars bool, c color.Color) error {
	var means struct {
		plotter.XYs
		plotter.YErrors
	}
	for _, at := range jsonl.Groups(lines, x) {
		v := of(at)
		if len(v) == 0 {
			continue
		}
		mean, sd := stat.Mean(v, nil), 0.0
		if len(v) > 1 {
			sd = stat.StdDev(v, nil)
		}
		const most = 0.9 // of the mean: bars stay positive on a logarithmic axis
		means.XYs = append(means.XYs, plotter.XY{X: float64(x(at[0])), Y: mean})
		means.YErrors = append(means.YErrors, struct{ Low, High float64 }{min(sd, most*mean), sd})
	}
	if len(means.XYs) == 0 {
		return nil
	}
	if err := addLine(p, means.XYs, c); err != nil || !bars {
		return err
	}
	b, err := plotter.NewYErrorBars(means)
	if err != nil {
		return err
	}
	b.Color = c
	p.Add(b)
	return nil
}

// logTicks makes an axis logarithmic and marks some numbers on it. What is added to a plot later widens its axes.
func logTicks(a *plot.Axis, numbers []int) {
	var ticks plot.ConstantTicks
	for _, n := range numbers {
		ticks = append(ticks, plot.Tick{Value: float64(n), Label: strconv.Itoa(n)})
	}
	a.Scale, a.Tick.Marker = plot.LogScale{}, ticks
}
