package figure

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

	"github.com/vssgp/vssgp/internal/chart"
)

var inks = map[Ink]color.RGBA{
	Data:      {0x40, 0x4a, 0x54, 0xff},
	Mean:      {0x00, 0x5a, 0xb5, 0xff},
	Reference: {0xc4, 0x28, 0x1b, 0xff},
	Draw:      {0x8a, 0x5a, 0x00, 0xff},
}

const (
	pictureWidth, panelHeight = 22 * vg.Centimeter, 8 * vg.Centimeter
	// labelWidth and labelHeight are a label's size as shares of the chart's:
	// labels that would overlap are left out.
	labelWidth, labelHeight = 0.16, 0.07
)

// Picture puts figures below each other, to be written as PNG or SVG.
func Picture(figures []*Figure) (chart.Figure, error) {
	out := chart.Figure{Width: pictureWidth, Height: panelHeight * vg.Length(len(figures))}
	for _, f := range figures {
		p, key, err := f.panel()
		if err != nil {
			return out, fmt.Errorf("%s: %w", f.Title, err)
		}
		out.Panels = append(out.Panels, p)
		if len(f.Layers) < 2 {
			continue // its title says what it shows
		}
		for _, e := range key {
			if !slices.ContainsFunc(out.Key, func(o chart.Entry) bool { return o.Name == e.Name }) {
				out.Key = append(out.Key, e)
			}
		}
	}
	return out, nil
}

// panel is the figure as a plot, with its key.
func (f *Figure) panel() (*plot.Plot, []chart.Entry, error) {
	p := chart.Panel(f.Title, f.XLabel, f.YLabel)
	if f.LogY {
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	}
	floor := f.floor()
	var key []chart.Entry
	for _, l := range f.Layers {
		mark, err := l.add(p, floor)
		if err != nil {
			return nil, nil, err
		}
		if mark != nil {
			key = append(key, chart.Entry{Name: l.Name, Mark: mark})
		}
	}
	if f.LogY && !(p.Y.Max > 1.1*p.Y.Min) { // a range of nothing would be widened past 0
		p.Y.Min, p.Y.Max = p.Y.Min/2, 2*p.Y.Max
	}
	return p, key, f.addLabels(p)
}

// floor is what stems stand on: the least y of all.
func (f *Figure) floor() float64 {
	least := math.Inf(1)
	for _, l := range f.Layers {
		for _, y := range l.Y {
			least = math.Min(least, y)
		}
	}
	if !f.LogY {
		least = math.Min(least, 0)
	}
	return least
}

// add draws the layer and returns its mark for a key, nil where nothing is drawn.
func (l Layer) add(p *plot.Plot, floor float64) (plot.Thumbnailer, error) {
	switch l.Kind {
	case Points:
		s, err := plotter.NewScatter(chart.Points(l.X, l.Y))
		if err != nil {
			return nil, err
		}
		s.GlyphStyle = draw.GlyphStyle{Color: inks[l.Ink], Radius: vg.Points(1.2), Shape: draw.CircleGlyph{}}
		p.Add(s)
		return s, nil
	case Band:
		return l.addBand(p)
	case Stems:
		return l.addStems(p, floor)
	default:
		return l.addLine(p)
	}
}

// addLine draws the line's runs of numbers.
func (l Layer) addLine(p *plot.Plot) (mark plot.Thumbnailer, err error) {
	for at := 0; at < len(l.X); {
		end := at
		for end < len(l.X) && !math.IsNaN(l.Y[end]) {
			end++
		}
		if end > at {
			line, err := stroke(l.Ink, l.X[at:end], l.Y[at:end])
			if err != nil {
				return nil, err
			}
			p.Add(line)
			mark = line
		}
		at = end + 1
	}
	return mark, nil
}

func stroke(ink Ink, x, y []float64) (*plotter.Line, error) {
	line, err := plotter.NewLine(chart.Points(x, y))
	if err != nil {
		return nil, err
	}
	line.LineStyle = chart.Stroke(inks[ink])
	return line, nil
}

func (l Layer) addBand(p *plot.Plot) (plot.Thumbnailer, error) {
	outline := chart.Points(l.X, l.Hi)
	lower := chart.Points(l.X, l.Lo)
	slices.Reverse(lower)
	band, err := plotter.NewPolygon(append(outline, lower...))
	if err != nil {
		return nil, err
	}
	pale := inks[l.Ink]
	mix := func(v uint8) uint8 { return uint8(0xff - (0xff-int(v))/4) }
	band.Color, band.LineStyle.Width = color.RGBA{mix(pale.R), mix(pale.G), mix(pale.B), 0xff}, 0
	p.Add(band)
	return band, nil
}

func (l Layer) addStems(p *plot.Plot, floor float64) (plot.Thumbnailer, error) {
	for i := range l.X {
		for _, xy := range [][2][]float64{
			{{l.X[i], l.X[i]}, {floor, l.Y[i]}},
			{{l.Lo[i], l.Hi[i]}, {l.Y[i], l.Y[i]}},
		} {
			line, err := stroke(l.Ink, xy[0], xy[1])
			if err != nil {
				return nil, err
			}
			p.Add(line)
		}
	}
	l.Kind = Points
	return l.add(p, floor)
}

// addLabels writes those labels that overlap none before them and that no stem
// goes through.
func (f *Figure) addLabels(p *plot.Plot) error {
	var kept plotter.XYLabels
	share := func(a plot.Axis, v float64) float64 { return a.Scale.Normalize(a.Min, a.Max, v) }
	if len(f.Labels) > 0 { // room for them above the highest point
		if f.LogY {
			p.Y.Max *= math.Pow(p.Y.Max/p.Y.Min, 0.15)
		} else {
			p.Y.Max += 0.15 * (p.Y.Max - p.Y.Min)
		}
	}
next:
	for _, l := range f.Labels {
		from, to := extent(share(p.X, l.X))
		if f.crosses(func(x, y float64) bool {
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

// crosses reports whether a stem's top is where the function says.
func (f *Figure) crosses(there func(x, y float64) bool) bool {
	for _, l := range f.Layers {
		for i, x := range l.X {
			if l.Kind == Stems && there(x, l.Y[i]) {
				return true
			}
		}
	}
	return false
}

// extent is from where to where a label at a share of the chart's width goes.
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
