package report

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"html/template"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A chart is drawn by gonum/plot, in a page as SVG.
type chart struct {
	Title          string
	Text           string // describes the chart for readers who cannot see it
	XLabel, YLabel string
	logY           bool // all y are positive
	dates          bool // x is in seconds since 1970, on a clock of its own
	layers         []layer
	labels         []label // the most important first
}

// kind is how a layer is drawn.
type kind string

const (
	// asLine joins the points (X, Y). X does not fall; a NaN in Y interrupts it.
	asLine kind = "line"
	// asPoints are dots at (X, Y). X does not fall.
	asPoints kind = "points"
	// asBand lies between Lo and Hi over X, which does not fall.
	asBand kind = "band"
	// asStems are dots at (X, Y) on a line from below, each with an interval
	// [Lo, Hi] along x. X does not fall.
	asStems kind = "stems"
)

// The colors of layers, by their subject.
var (
	dataInk      = color.RGBA{0x40, 0x4a, 0x54, 0xff}
	meanInk      = color.RGBA{0x00, 0x5a, 0xb5, 0xff}
	referenceInk = color.RGBA{0xc4, 0x28, 0x1b, 0xff}
	drawInk      = color.RGBA{0x8a, 0x5a, 0x00, 0xff}
	gapsInk      = color.RGBA{0xe6, 0x9f, 0x00, 0xff}
)

// A layer is one series of a chart. Its slices are equally long; those that its
// kind does not use are nil.
type layer struct {
	name         string
	kind         kind
	ink          color.RGBA
	x, y, lo, hi []float64
}

// A label is a text above a point.
type label struct {
	X, Y float64
	Text string
}

// Source returns the chart without its title, which the page has, as the address of an SVG picture.
func (c *chart) Source() (template.URL, error) {
	plain := *c
	plain.Title = ""
	f, err := figureOf([]*chart{&plain})
	if err != nil {
		return "", fmt.Errorf("draw %q: %w", c.Title, err)
	}
	var b bytes.Buffer
	if err := f.SVG(&b); err != nil {
		return "", fmt.Errorf("draw %q: %w", c.Title, err)
	}
	return template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(b.Bytes())), nil
}

const (
	figureWidth, panelHeight = 22 * vg.Centimeter, 8 * vg.Centimeter
	// labelWidth and labelHeight are a label's size as shares of the chart's:
	// labels that would overlap are left out.
	labelWidth, labelHeight = 0.16, 0.07
)

// figureOf puts charts below each other.
func figureOf(charts []*chart) (Figure, error) {
	out := Figure{Width: figureWidth, Height: panelHeight * vg.Length(len(charts))}
	for _, c := range charts {
		if err := out.add(c); err != nil {
			return out, fmt.Errorf("%s: %w", c.Title, err)
		}
	}
	return out, nil
}

// add draws a chart into a panel of its own. Its layers are in the key, unless it
// has only one, which its title describes.
func (f *Figure) add(c *chart) error {
	p := Panel(c.Title, c.XLabel, c.YLabel)
	f.Panels = append(f.Panels, p)
	if c.logY {
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: 6}
	}
	if c.dates {
		p.X.Tick.Marker = plot.TimeTicks{Ticker: plot.DefaultTicks{}, Format: "2006-01-02"} // x is in seconds since 1970
	}
	for _, l := range c.layers {
		mark, err := l.add(p, c.logY)
		if err != nil {
			return err
		}
		known := slices.ContainsFunc(f.Key, func(e Entry) bool { return e.Name == l.name })
		if mark != nil && len(c.layers) > 1 && !known {
			f.Key = append(f.Key, Entry{l.name, mark})
		}
	}
	if c.logY && !(p.Y.Max > 1.1*p.Y.Min) { // plot would widen an empty range past 0
		p.Y.Min, p.Y.Max = p.Y.Min/2, 2*p.Y.Max
	}
	return c.addLabels(p)
}

// add draws the layer and returns its mark for a key, nil where nothing is drawn.
func (l layer) add(p *plot.Plot, logY bool) (plot.Thumbnailer, error) {
	switch l.kind {
	case asLine:
		return l.addLine(p)
	case asBand:
		return l.addBand(p)
	case asStems:
		base := floats.Min(l.y)
		if !logY {
			base = min(0, base)
		}
		for i, x := range l.x {
			if _, err := l.stroke(p, []float64{x, x}, []float64{base, l.y[i]}); err != nil {
				return nil, err
			}
			if _, err := l.stroke(p, []float64{l.lo[i], l.hi[i]}, []float64{l.y[i], l.y[i]}); err != nil {
				return nil, err
			}
		}
	}
	return l.addPoints(p)
}

func (l layer) addPoints(p *plot.Plot) (plot.Thumbnailer, error) {
	s, err := plotter.NewScatter(Points(l.x, l.y))
	if err != nil {
		return nil, err
	}
	s.GlyphStyle = draw.GlyphStyle{Color: l.ink, Radius: vg.Points(1.2), Shape: draw.CircleGlyph{}}
	p.Add(s)
	return s, nil
}

// addLine draws the line between values that are not finite.
func (l layer) addLine(p *plot.Plot) (mark plot.Thumbnailer, err error) {
	for at := 0; at < len(l.x); {
		end := at
		for end < len(l.x) && !math.IsNaN(l.y[end]) && !math.IsInf(l.y[end], 0) {
			end++
		}
		if end > at {
			if mark, err = l.stroke(p, l.x[at:end], l.y[at:end]); err != nil {
				return nil, err
			}
		}
		at = end + 1
	}
	return mark, nil
}

// stroke draws a line in the layer's color.
func (l layer) stroke(p *plot.Plot, x, y []float64) (plot.Thumbnailer, error) {
	s, err := plotter.NewLine(Points(x, y))
	if err != nil {
		return nil, err
	}
	s.LineStyle = Stroke(l.ink)
	p.Add(s)
	return s, nil
}

func (l layer) addBand(p *plot.Plot) (plot.Thumbnailer, error) {
	outline, lower := Points(l.x, l.hi), Points(l.x, l.lo)
	slices.Reverse(lower)
	area, err := plotter.NewPolygon(append(outline, lower...))
	if err != nil {
		return nil, err
	}
	mix := func(v uint8) uint8 { return uint8(0xff - (0xff-int(v))/4) }
	area.Color, area.LineStyle.Width = color.RGBA{mix(l.ink.R), mix(l.ink.G), mix(l.ink.B), 0xff}, 0
	p.Add(area)
	return area, nil
}

// addLabels writes those labels that do not overlap an earlier one and that no
// stem goes through.
func (c *chart) addLabels(p *plot.Plot) error {
	if len(c.labels) == 0 {
		return nil
	}
	if c.logY { // make room for them above the highest point
		p.Y.Max *= math.Pow(p.Y.Max/p.Y.Min, 0.15)
	} else {
		p.Y.Max += 0.15 * (p.Y.Max - p.Y.Min)
	}
	place := func(x, y float64) (across, up float64) {
		return p.X.Scale.Normalize(p.X.Min, p.X.Max, x), p.Y.Scale.Normalize(p.Y.Min, p.Y.Max, y)
	}
	var kept plotter.XYLabels
	for _, l := range c.labels {
		across, up := place(l.X, l.Y)
		_, from, to := extent(across)
		if c.stemAt(func(x, y float64) bool {
			at, top := place(x, y)
			return x != l.X && at > from && at < to && top > up
		}) || slices.ContainsFunc(kept.XYs, func(k plotter.XY) bool {
			x, y := place(k.X, k.Y)
			return math.Abs(x-across) < labelWidth && math.Abs(y-up) < labelHeight
		}) {
			continue
		}
		kept.XYs = append(kept.XYs, plotter.XY{X: l.X, Y: l.Y})
		kept.Labels = append(kept.Labels, l.Text)
	}
	if len(kept.XYs) == 0 {
		return nil
	}
	labels, err := plotter.NewLabels(kept)
	if err != nil {
		return err
	}
	labels.Offset.Y = vg.Points(5)
	for i, k := range kept.XYs {
		across, _ := place(k.X, k.Y)
		labels.TextStyle[i].Font.Size = vg.Points(9)
		labels.TextStyle[i].XAlign, _, _ = extent(across)
	}
	p.Add(labels)
	return nil
}

// stemAt reports whether there is a stem whose top is where the function says.
func (c *chart) stemAt(there func(x, y float64) bool) bool {
	for _, l := range c.layers {
		for i, x := range l.x {
			if l.kind == asStems && there(x, l.y[i]) {
				return true
			}
		}
	}
	return false
}

// extent returns how a label at a share of the chart's width is aligned, so that
// it stays within the chart, and how far it reaches then.
func extent(at float64) (align text.XAlignment, from, to float64) {
	switch {
	case at < labelWidth/2:
		return text.XLeft, at, at + labelWidth
	case at > 1-labelWidth/2:
		return text.XRight, at - labelWidth, at
	}
	return text.XCenter, at - labelWidth/2, at + labelWidth/2
}
