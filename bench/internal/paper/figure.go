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

// A figure is a plot with its file name without extension. Its numbers come from JSON, so they are finite.
type figure struct {
	name string
	report.Figure
}

// stroke returns a line through points. Without points it is the symbol in a legend.
func stroke(c color.Color, xy plotter.XYs) *plotter.Line {
	return &plotter.Line{XYs: xy, LineStyle: report.Stroke(c)}
}

// area returns the area enclosed by an outline.
func area(c color.Color, outline plotter.XYs) *plotter.Polygon {
	return &plotter.Polygon{XYs: []plotter.XYs{outline}, Color: c}
}

// addBand draws the mean of a curve and a band of ±2 standard deviations. Values are limited to [lo, hi], because the plot would draw them
// outside its axes.
func addBand(p *plot.Plot, c *Curve, lo, hi float64) {
	n := len(c.X)
	outline, mean := make(plotter.XYs, 2*n), make(plotter.XYs, n)
	for i, x := range c.X {
		at := func(sds float64) plotter.XY { return plotter.XY{X: x, Y: min(hi, max(lo, c.Mean[i]+sds*c.SD[i]))} }
		mean[i], outline[i], outline[2*n-1-i] = at(0), at(2), at(-2)
	}
	p.Add(area(report.Pale, outline), stroke(report.Blue, mean))
}

// curveLegend is the legend of the panels drawn by addCurve, in the paper's colors.
var curveLegend = []report.Entry{
	{Name: "observed", Mark: stroke(report.Red, nil)},
	{Name: "left out", Mark: stroke(report.Green, nil)},
	{Name: "predictive mean", Mark: stroke(report.Blue, nil)},
	{Name: "± 2 sd", Mark: area(report.Pale, nil)},
}

// addCurve draws the band and the mean of a curve, and its data. The y axis covers the data and means near them. Wider bands are clipped.
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

// runs splits a trace at steps of x that exceed 1.5 times the median step.
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

// A view is a panel of a figure. It shows the first line of a variant that has a curve.
type view struct {
	variant
	title string
}

// firstCurve returns the first line of a variant that has a curve, or nil if there is none.
func firstCurve(lines []Line, v variant) *Line {
	i := slices.IndexFunc(lines, func(l Line) bool { return variantOf(l) == v && l.Curve != nil && len(l.Curve.X) > 0 })
	if i < 0 {
		return nil
	}
	return &lines[i]
}

// curves returns a figure with a column of panels, for the views that have a curve.
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

// A group contains lines that a panel draws in one color.
type group struct {
	label string
	color color.Color
	lines []Line
}

// legend returns the legend entries of the groups with values of a quantity.
func legend(groups []group, of quantity) (entries []report.Entry) {
	for _, g := range groups {
		if len(values(g.lines, of)) > 0 {
			entries = append(entries, report.Entry{Name: g.label, Mark: stroke(g.color, nil)})
		}
	}
	return entries
}

// addMeans draws, for each group, the mean of a quantity over the lines with equal x. The x axis is logarithmic, with ticks at these x. If
// bars is true, it adds error bars of one standard deviation.
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
			const most = 0.9 // maximum bar relative to the mean, so that bars remain positive on a logarithmic axis
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
