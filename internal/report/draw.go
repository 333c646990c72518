package report

import (
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

var inks = map[ink]color.RGBA{
	dataInk:      {0x40, 0x4a, 0x54, 0xff},
	meanInk:      {0x00, 0x5a, 0xb5, 0xff},
	referenceInk: {0xc4, 0x28, 0x1b, 0xff},
	drawInk:      {0x8a, 0x5a, 0x00, 0xff},
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
		p, key, err := c.panel()
		if err != nil {
			return out, fmt.Errorf("%s: %w", c.Title, err)
		}
		out.Panels = append(out.Panels, p)
		if len(c.layers) < 2 {
			continue // its title says what it shows
		}
		for _, e := range key {
			if !slices.ContainsFunc(out.Key, func(o Entry) bool { return o.Name == e.Name }) {
				out.Key = append(out.Key, e)
			}
		}
	}
	return out, nil
}

// panel is the chart as a plot, with its key.
func (c *chart) panel() (*plot.Plot, []Entry, error) {
	p := Panel(c.Title, c.XLabel, c.YLabel)
	if c.logY {
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	}
	base := c.base()
	var key []Entry
	for _, l := range c.layers {
		mark, err := l.add(p, base)
		if err != nil {
			return nil, nil, err
		}
		if mark != nil {
			key = append(key, Entry{l.name, mark})
		}
	}
	if c.logY && !(p.Y.Max > 1.1*p.Y.Min) { // plot would widen an empty range past 0
		p.Y.Min, p.Y.Max = p.Y.Min/2, 2*p.Y.Max
	}
	return p, key, c.addLabels(p)
}

// base is where stems begin: the least y of all.
func (c *chart) base() float64 {
	least := math.Inf(1)
	if !c.logY {
		least = 0
	}
	for _, l := range c.layers {
		for _, y := range l.y {
			least = min(least, y)
		}
	}
	return least
}

// add draws the layer and returns its mark for a key, nil where nothing is drawn.
func (l layer) add(p *plot.Plot, base float64) (plot.Thumbnailer, error) {
	switch l.kind {
	case asPoints:
		return l.addPoints(p)
	case asBand:
		return l.addBand(p)
	case asStems:
		for i, x := range l.x {
			if _, err := l.stroke(p, []float64{x, x}, []float64{base, l.y[i]}); err != nil {
				return nil, err
			}
			if _, err := l.stroke(p, []float64{l.lo[i], l.hi[i]}, []float64{l.y[i], l.y[i]}); err != nil {
				return nil, err
			}
		}
		return l.addPoints(p)
	}
	return l.addLine(p)
}

func (l layer) addPoints(p *plot.Plot) (plot.Thumbnailer, error) {
	s, err := plotter.NewScatter(Points(l.x, l.y))
	if err != nil {
		return nil, err
	}
	s.GlyphStyle = draw.GlyphStyle{Color: inks[l.ink], Radius: vg.Points(1.2), Shape: draw.CircleGlyph{}}
	p.Add(s)
	return s, nil
}

// addLine draws the line between its NaNs.
func (l layer) addLine(p *plot.Plot) (mark plot.Thumbnailer, err error) {
	for at := 0; at < len(l.x); {
		end := at
		for end < len(l.x) && !math.IsNaN(l.y[end]) {
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

// stroke draws a line in the layer's colour.
func (l layer) stroke(p *plot.Plot, x, y []float64) (plot.Thumbnailer, error) {
	s, err := plotter.NewLine(Points(x, y))
	if err != nil {
		return nil, err
	}
	s.LineStyle = Stroke(inks[l.ink])
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
	full := inks[l.ink]
	mix := func(v uint8) uint8 { return uint8(0xff - (0xff-int(v))/4) }
	area.Color, area.LineStyle.Width = color.RGBA{mix(full.R), mix(full.G), mix(full.B), 0xff}, 0
	p.Add(area)
	return area, nil
}

// addLabels writes those labels that do not overlap an earlier one and that no
// stem goes through.
func (c *chart) addLabels(p *plot.Plot) error {
	var kept plotter.XYLabels
	share := func(a plot.Axis, v float64) float64 { return a.Scale.Normalize(a.Min, a.Max, v) }
	if len(c.labels) > 0 { // make room for them above the highest point
		if c.logY {
			p.Y.Max *= math.Pow(p.Y.Max/p.Y.Min, 0.15)
		} else {
			p.Y.Max += 0.15 * (p.Y.Max - p.Y.Min)
		}
	}
next:
	for _, l := range c.labels {
		from, to := extent(share(p.X, l.X))
		if c.crosses(func(x, y float64) bool {
			at := share(p.X, x)
			return x != l.X && at > from && at < to && share(p.Y, y) > share(p.Y, l.Y)
		}) {
			continue
		}
		for _, k := range kept.XYs {
			if math.Abs(share(p.X, k.X)-share(p.X, l.X)) < labelWidth && math.Abs(share(p.Y, k.Y)-share(p.Y, l.Y)) < labelHeight {
				continue next
			}
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
	for i := range labels.TextStyle {
		labels.TextStyle[i].Font.Size = vg.Points(9)
		labels.TextStyle[i].XAlign = alignment(share(p.X, kept.XYs[i].X))
	}
	p.Add(labels)
	return nil
}

// crosses reports whether the top of a stem is where the function says.
func (c *chart) crosses(there func(x, y float64) bool) bool {
	for _, l := range c.layers {
		for i, x := range l.x {
			if l.kind == asStems && there(x, l.y[i]) {
				return true
			}
		}
	}
	return false
}

// extent is how far a label at a share of the chart's width reaches.
func extent(at float64) (from, to float64) {
	switch alignment(at) {
	case text.XLeft:
		return at, at + labelWidth
	case text.XRight:
		return at - labelWidth, at
	}
	return at - labelWidth/2, at + labelWidth/2
}

// alignment keeps a label near an edge within the chart.
func alignment(at float64) text.XAlignment {
	switch {
	case at < labelWidth/2:
		return text.XLeft
	case at > 1-labelWidth/2:
		return text.XRight
	}
	return text.XCenter
}
