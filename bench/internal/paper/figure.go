package paper

import (
	"image/color"
	"io"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/vssgp/vssgp/bench/internal/jsonl"
	"github.com/vssgp/vssgp/internal/fileio"
)

// A figure is a grid of panels with its file name without extension. Its numbers come from JSON, so they are finite.
type figure struct {
	name          string
	panels        []*plot.Plot
	columns       int
	width, height vg.Length
}

// The colors of figures, which most color-blind readers can distinguish (Okabe & Ito).
var (
	red   = color.RGBA{0xd5, 0x5e, 0x00, 0xff}
	green = color.RGBA{0x00, 0x9e, 0x73, 0xff}
	blue  = color.RGBA{0x00, 0x72, 0xb2, 0xff}
	pale  = color.RGBA{0xbf, 0xdc, 0xec, 0xff}
	gray  = color.RGBA{0x80, 0x80, 0x80, 0xff}
)

// save writes PATH.png and PATH.svg.
func (f figure) save(path string) error {
	rows := slices.Collect(slices.Chunk(f.panels, f.columns))
	last := &rows[len(rows)-1]
	*last = append(slices.Clip(*last), make([]*plot.Plot, f.columns-len(*last))...)
	const pad = 3 * vg.Millimeter
	tiles := draw.Tiles{
		Rows: len(rows), Cols: f.columns,
		PadX: pad, PadY: pad, PadTop: pad, PadLeft: pad, PadRight: pad,
	}

	for _, format := range []string{"png", "svg"} {
		to, err := draw.NewFormattedCanvas(f.width, f.height, format)
		if err != nil {
			return err
		}
		for i, row := range plot.Align(rows, tiles, draw.New(to)) {
			for j, c := range row {
				if p := rows[i][j]; p != nil {
					p.Draw(c)
				}
			}
		}
		write := func(w io.Writer) error { _, err := to.WriteTo(w); return err }
		if err := fileio.Write(path+"."+format, write); err != nil {
			return err
		}
	}
	return nil
}

// panel returns an empty plot with a title and axis labels.
func panel(title, x, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Legend.Top, p.Legend.Left = true, true
	return p
}

// points returns the points (x[i], y[i]).
func points(x, y []float64) plotter.XYs {
	p := make(plotter.XYs, len(x))
	for i := range x {
		p[i].X, p[i].Y = x[i], y[i]
	}
	return p
}

// stroke returns a line through points.
func stroke(c color.Color, xy plotter.XYs) *plotter.Line {
	return &plotter.Line{XYs: xy, LineStyle: draw.LineStyle{Color: c, Width: vg.Points(1)}}
}

// area returns the area enclosed by an outline.
func area(c color.Color, outline plotter.XYs) *plotter.Polygon {
	return &plotter.Polygon{XYs: []plotter.XYs{outline}, Color: c}
}

// addBand draws the mean of a curve and a band of ±2 standard deviations. Values are limited to [lo, hi], because the
// plot would draw them outside its axes.
func addBand(p *plot.Plot, c *Curve, lo, hi float64) {
	n := len(c.X)
	outline, mean := make(plotter.XYs, 2*n), make(plotter.XYs, n)
	for i, x := range c.X {
		at := func(sds float64) plotter.XY { return plotter.XY{X: x, Y: min(hi, max(lo, c.Mean[i]+sds*c.SD[i]))} }
		mean[i], outline[i], outline[2*n-1-i] = at(0), at(2), at(-2)
	}
	p.Add(area(pale, outline), stroke(blue, mean))
}

// addCurve draws the band and the mean of a curve, and its data. The y axis covers the data and means near them. Wider
// bands are clipped.
func addCurve(p *plot.Plot, c *Curve) {
	addBand(p, c, math.Inf(-1), math.Inf(1))
	lo, hi := math.Inf(1), math.Inf(-1)
	for i, t := range []*Trace{c.Observed, c.Missing} {
		if t == nil {
			continue
		}
		lo, hi = min(lo, slices.Min(t.Y)), max(hi, slices.Max(t.Y))
		for _, r := range t.runs() {
			p.Add(stroke([]color.Color{red, green}[i], points(r.X, r.Y)))
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

// curves returns a figure with a column of panels, for the views that have a curve. Another panel has the legend.
func curves(name string, lines []Line, views []view, height vg.Length) figure {
	f := figure{name: name, columns: 1, width: 18 * vg.Centimeter}
	for _, v := range views {
		l := firstCurve(lines, v.variant)
		if l == nil {
			continue
		}
		title := v.title
		if test, have := l.Scores[TestRMSE]; have {
			title += ": test RMSE " + digits(test)
		}
		p := panel(title, "", "")
		addCurve(p, l.Curve)
		f.panels = append(f.panels, p)
	}
	for i, p := range f.panels {
		if i < len(f.panels)-1 {
			p.HideX()
		} else {
			p.X.Label.Text = "year"
		}
	}
	if len(f.panels) > 0 {
		legend := panel("", "", "")
		legend.HideAxes()
		legend.Legend.Add("observed", stroke(red, nil))
		legend.Legend.Add("left out", stroke(green, nil))
		legend.Legend.Add("predictive mean", stroke(blue, nil))
		legend.Legend.Add("± 2 sd", area(pale, nil))
		f.panels = append(f.panels, legend)
	}
	f.height = vg.Length(len(f.panels))*height + vg.Centimeter
	return f
}

// A group contains lines that a panel draws in one color.
type group struct {
	label string
	color color.Color
	lines []Line
}

// addMeans draws, for each group, the mean of a quantity over the lines with equal x. The x axis is logarithmic, with
// ticks at these x. The error bars are one standard deviation.
func addMeans(p *plot.Plot, groups []group, x func(Line) int, of quantity) {
	var ticks plot.ConstantTicks
	for _, g := range groups {
		e := &plotter.YErrorBars{LineStyle: stroke(g.color, nil).LineStyle, CapWidth: plotter.DefaultCapWidth}
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
		p.Add(stroke(g.color, e.XYs), e)
	}
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, ticks
}
