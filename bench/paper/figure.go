package paper

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/vssgp/vssgp/internal/chart"
)

// A figure is one with the name of its files, without ending.
type figure struct {
	name string
	chart.Figure
}

// The colours of the figures: the paper's red, green and blue, and more.
var (
	red, green, blue, pale  = chart.Red, chart.Green, chart.Blue, chart.Pale
	grey, orange, pink, sky = chart.Grey, chart.Orange, chart.Pink, chart.Sky
)

// panel is an empty plot.
func panel(title, x, y string) *plot.Plot { return chart.Panel(title, x, y) }

// points pairs up coordinates.
func points(x, y []float64) plotter.XYs { return chart.Points(x, y) }

// addLine draws a line; name, if any, goes into the legend.
func addLine(p *plot.Plot, name string, x, y []float64, c color.Color) error {
	l, err := plotter.NewLine(points(x, y))
	if err != nil {
		return err
	}
	l.LineStyle = stroke(c)
	p.Add(l)
	if name != "" {
		p.Legend.Add(name, l)
	}
	return nil
}

// addBand draws a curve's mean with two standard deviations to either side.
func addBand(p *plot.Plot, c *Curve) error {
	n := len(c.X)
	outline := make(plotter.XYs, 2*n)
	for i := range n {
		outline[i].X, outline[i].Y = c.X[i], c.Mean[i]+2*c.SD[i]
		outline[2*n-1-i].X, outline[2*n-1-i].Y = c.X[i], c.Mean[i]-2*c.SD[i]
	}
	band, err := plotter.NewPolygon(outline)
	if err != nil {
		return err
	}
	band.Color, band.LineStyle.Width = pale, 0
	p.Add(band)
	return addLine(p, "", c.X, c.Mean, blue)
}

// curveKey is the key of panels by addCurve, in the paper's colours.
var curveKey = []chart.Entry{
	{Name: "observed", Mark: &plotter.Line{LineStyle: stroke(red)}},
	{Name: "left out", Mark: &plotter.Line{LineStyle: stroke(green)}},
	{Name: "predictive mean", Mark: &plotter.Line{LineStyle: stroke(blue)}},
	{Name: "± 2 sd", Mark: &plotter.Polygon{Color: pale}},
}

func stroke(c color.Color) draw.LineStyle { return chart.Stroke(c) }

// addCurve draws a curve's band and mean over its data. Axes are by the data and
// means not too far from them: wider bands are cut off.
func addCurve(p *plot.Plot, c *Curve) error {
	if err := addBand(p, c); err != nil {
		return err
	}
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, t := range []struct {
		*Trace
		color color.Color
	}{{c.Observed, red}, {c.Missing, green}} {
		if t.Trace == nil {
			continue
		}
		lo, hi = min(lo, slices.Min(t.Y)), max(hi, slices.Max(t.Y))
		for _, r := range t.runs() {
			if err := addLine(p, "", r.X, r.Y, t.color); err != nil {
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

// A view is a panel to draw: the first line of a method and start that has a
// curve.
type view struct{ method, start, title string }

// curves is a column of panels with curves; none, if no line has one.
func curves(name string, lines []Line, views []view, height vg.Length) ([]figure, error) {
	f := figure{name: name, Figure: chart.Figure{Width: 18 * vg.Centimeter, Key: slices.Concat(curveKey[:1], curveKey[2:])}}
	for _, v := range views {
		i := slices.IndexFunc(lines, func(l Line) bool { return l.Method == v.method && l.Start == v.start && l.Curve != nil })
		if i < 0 {
			continue
		}
		title := v.title
		if test, have := lines[i].Scores[TestRMSE]; have {
			title += ": test RMSE " + digits(test)
		}
		p := panel(title, "", "")
		if err := addCurve(p, lines[i].Curve); err != nil {
			return nil, err
		}
		f.Panels = append(f.Panels, p)
		if lines[i].Curve.Missing != nil {
			f.Key = curveKey
		}
	}
	if len(f.Panels) == 0 {
		return nil, nil
	}
	last := len(f.Panels) - 1
	for _, p := range f.Panels[:last] {
		p.HideX()
	}
	f.Panels[last].X.Label.Text = "year"
	f.Height = vg.Length(len(f.Panels))*height + vg.Centimeter
	return []figure{f}, nil
}

// runs are the stretches of a trace without holes: steps of x more than half
// as long again as the usual one.
func (t *Trace) runs() []Trace {
	if len(t.X) < 3 {
		return []Trace{*t}
	}
	steps := make([]float64, len(t.X)-1)
	for i := range steps {
		steps[i] = t.X[i+1] - t.X[i]
	}
	slices.Sort(steps)
	usual := steps[len(steps)/2]
	var out []Trace
	from := 0
	for i := 1; i <= len(t.X); i++ {
		if i == len(t.X) || t.X[i]-t.X[i-1] > 1.5*usual {
			out = append(out, Trace{t.X[from:i], t.Y[from:i]})
			from = i
		}
	}
	return out
}
