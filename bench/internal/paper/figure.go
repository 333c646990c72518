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

// A figure is a picture with the name of its files, without their extension. Its numbers come from JSON, so they are finite.
type figure struct {
	name string
	report.Figure
}

// stroke returns a line through some points; without points it is the symbol in a legend.
func stroke(c color.Color, xy plotter.XYs) *plotter.Line {
	return &plotter.Line{XYs: xy, LineStyle: report.Stroke(c)}
}

// area returns the area that an outline encloses.
func area(c color.Color, outline plotter.XYs) *plotter.Polygon {
	return &plotter.Polygon{XYs: []plotter.XYs{outline}, Color: c}
}

// addBand draws a curve's mean with two standard deviations to either side. Values beyond [lo, hi] are drawn at its edge: a plot would
// draw them beyond its axes.
func addBand(p *plot.Plot, c *Curve, lo, hi float64) {
	n := len(c.X)
	outline, mean := make(plotter.XYs, 2*n), make(plotter.XYs, n)
	for i, x := range c.X {
		at := func(sds float64) plotter.XY { return plotter.XY{X: x, Y: min(hi, max(lo, c.Mean[i]+sds*c.SD[i]))} }
		mean[i], outline[i], outline[2*n-1-i] = at(0), at(2), at(-2)
	}
	p.Add(area(report.Pale, outline), stroke(report.Blue, mean))
}

// curveLegend is the legend of panels by addCurve, in the paper's colors.
var curveLegend = []report.Entry{
	{Name: "observed", Mark: stroke(report.Red, nil)},
	{Name: "left out", Mark: stroke(report.Green, nil)},
	{Name: "predictive mean", Mark: stroke(report.Blue, nil)},
	{Name: "± 2 sd", Mark: area(report.Pale, nil)},
}

// addCurve draws a curve's band and mean over its data. The axes follow the data and means not too far from them: wider bands are cut off.
func addCurve(p *plot.Plot, c *Curve) {
	addBand(p, c, math.Inf(-1), math.Inf(1))
	lo, hi := math.Inf(1), math.Inf(-1)
	for i, t := range []*Trace{c.Observed, c.Missing} {
		if t == nil {
			continue
		}
		lo, hi = min(lo, slices.Min(t.Y)), max(hi, slices.Max(t.Y))
		for _, r := range t.runs() {
			p.Add(stroke([]color.Color{report.Red, report.Green}[i], report.Points(r.X, r.Y)))
		}
	}
	p.X.Min, p.X.Max = c.X[0], c.X[len(c.X)-1]
	if room := (hi - lo) / 2; room > 0 {
		p.Y.Min = max(lo-room, min(lo, slices.Min(c.Mean))) - room/3
		p.Y.Max = min(hi+room, max(hi, slices.Max(c.Mean))) + room/3
	}
}

// runs splits a trace at its holes: steps of x more than half as long again as the usual one.
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

// firstCurve returns the first line of a variant that has a curve; nil if none has.
func firstCurve(lines []Line, v variant) *Line {
	i := slices.IndexFunc(lines, func(l Line) bool { return variantOf(l) == v && l.Curve != nil && len(l.Curve.X) > 0 })
	if i < 0 {
		return nil
	}
	return &lines[i]
}

// curves returns a column of panels with curves; it has none if no line has a curve.
func curves(name string, lines []Line, views []view, height vg.Length) figure {
	f := figure{name: name, Figure: report.Figure{Width: 18 * vg.Centimeter, Legend: slices.Concat(curveLegend[:1], curveLegend[2:])}}
	for _, v := range views {
		l := firstCurve(lines, v.variant)
		if l == nil {
			continue
		}
		title := v.title
		if test, have := l.Scores[TestRMSE]; have {
			title += ": test RMSE " + digits(test)
		}
		if l.Curve.Missing != nil {
			f.Legend = curveLegend
		}
		p := report.Panel(title, "", "")
		addCurve(p, l.Curve)
		f.Panels = append(f.Panels, p)
	}
	for i, p := range f.Panels {
		if i < len(f.Panels)-1 {
			p.HideX()
		} else {
			p.X.Label.Text = "year"
		}
	}
	f.Height = vg.Length(len(f.Panels))*height + vg.Centimeter
	return f
}

// A group is lines that a panel draws in one color.
type group struct {
	label string
	color color.Color
	lines []Line
}

// legend returns the legend entries of the groups that have the quantity.
func legend(groups []group, of quantity) (entries []report.Entry) {
	for _, g := range groups {
		if len(values(g.lines, of)) > 0 {
			entries = append(entries, report.Entry{Name: g.label, Mark: stroke(g.color, nil)})
		}
	}
	return entries
}

// addMeans draws, for each group, the mean of a quantity over the lines of each x, on a logarithmic axis with these x as its ticks. Bars
// reach a standard deviation to either side.
func addMeans(p *plot.Plot, groups []group, x func(Line) int, of quantity, bars bool) {
	var ticks plot.ConstantTicks
	for _, g := range groups {
		e := &plotter.YErrorBars{LineStyle: report.Stroke(g.color), CapWidth: plotter.DefaultCapWidth}
		for _, at := range jsonl.Groups(rising(g.lines, x), x) {
			n, v := x(at[0]), values(at, of)
			if tick := (plot.Tick{Value: float64(n), Label: strconv.Itoa(n)}); !slices.Contains(ticks, tick) {
				ticks = append(ticks, tick)
			}
			if len(v) == 0 {
				continue
			}
			mean, sd := stat.Mean(v, nil), 0.0
			if len(v) > 1 {
				sd = stat.StdDev(v, nil)
			}
			const most = 0.9 // of the mean: bars stay positive on a logarithmic axis
			e.XYs = append(e.XYs, plotter.XY{X: float64(n), Y: mean})
			e.YErrors = append(e.YErrors, struct{ Low, High float64 }{min(sd, most*mean), sd})
		}
		p.Add(stroke(g.color, e.XYs))
		if bars {
			p.Add(e)
		}
	}
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, ticks
}
