package report

import (
	"bytes"
	"image/color"
	"io"
	"iter"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// A figure is a column of rows of panels with a legend. It can be written as PNG or SVG.
type figure struct {
	rows          []row
	legend        []entry // common legend above the panels; nil for no legend
	width, height vg.Length
}

// A row contains the panels of a figure that are side by side.
type row struct {
	panels []*plot.Plot
	height vg.Length // relative to the other rows
	aspect float64   // height of the data area divided by its width; 0 to fill the row
}

// An entry is an entry of a figure's legend.
type entry struct {
	name string
	mark plot.Thumbnailer
}

// The colors of figures, which most color-blind readers can distinguish (Okabe & Ito).
var (
	Red    = color.RGBA{0xd5, 0x5e, 0x00, 0xff}
	Green  = color.RGBA{0x00, 0x9e, 0x73, 0xff}
	Blue   = color.RGBA{0x00, 0x72, 0xb2, 0xff}
	Pale   = color.RGBA{0xbf, 0xdc, 0xec, 0xff}
	Gray   = color.RGBA{0x80, 0x80, 0x80, 0xff}
	Orange = color.RGBA{0xe6, 0x9f, 0x00, 0xff}
	Pink   = color.RGBA{0xcc, 0x79, 0xa7, 0xff}
	Sky    = color.RGBA{0x56, 0xb4, 0xe9, 0xff}
)

// PNG writes the figure at 144 dots per inch.
func (f figure) PNG(w io.Writer) error {
	const dotsPerInch = 144
	img := vgimg.NewWith(vgimg.UseWH(f.width, f.height), vgimg.UseDPI(dotsPerInch), vgimg.UseBackgroundColor(color.White))
	f.draw(draw.New(img))
	_, err := vgimg.PngCanvas{Canvas: img}.WriteTo(w)
	return err
}

// SVG writes the figure as SVG. Images fill their area, and have the type that package vgsvg encodes them with.
func (f figure) SVG(w io.Writer) error {
	svg := vgsvg.New(f.width, f.height)
	f.draw(draw.New(svg))
	var b bytes.Buffer
	if _, err := svg.WriteTo(&b); err != nil {
		return err
	}
	const given, right = `xlink:href="data:image/jpg`, `preserveAspectRatio="none" xlink:href="data:image/png`
	_, err := w.Write(bytes.ReplaceAll(b.Bytes(), []byte(given), []byte(right)))
	return err
}

func (f figure) draw(c draw.Canvas) {
	c = f.drawLegend(c)
	total := vg.Length(0)
	for _, r := range f.rows {
		total += r.height
	}
	unit, part := c.Size().Y/total, c
	for group := range groups(f.rows) {
		height := vg.Length(0)
		for _, r := range group {
			height += unit * r.height
		}
		part.Min.Y = part.Max.Y - height
		drawRows(group, part)
		part.Max.Y = part.Min.Y
	}
}

// groups yields the rows that are aligned with each other: consecutive rows with the same aspect and number of panels.
func groups(rows []row) iter.Seq[[]row] {
	return func(yield func([]row) bool) {
		for lo, hi := 0, 0; lo < len(rows); lo = hi {
			for hi = lo + 1; hi < len(rows) && rows[hi].like(rows[lo]); {
				hi++
			}
			if !yield(rows[lo:hi]) {
				return
			}
		}
	}
}

// like reports whether two rows can be aligned.
func (r row) like(o row) bool { return r.aspect == o.aspect && len(r.panels) == len(o.panels) }

// drawRows draws rows with the same number of panels and aligns their data areas.
func drawRows(rows []row, c draw.Canvas) {
	tiles := draw.Tiles{
		Rows: len(rows), Cols: len(rows[0].panels), PadX: 4 * vg.Millimeter, PadY: 4 * vg.Millimeter,
		PadTop: 2 * vg.Millimeter, PadBottom: 2 * vg.Millimeter, PadLeft: 2 * vg.Millimeter, PadRight: 4 * vg.Millimeter,
	}
	var panels [][]*plot.Plot
	for _, r := range rows {
		panels = append(panels, r.panels)
	}
	canvases := plot.Align(panels, tiles, c)
	for i, r := range rows {
		for j, p := range r.panels {
			p.Draw(inAspect(p, canvases[i][j], r.aspect))
		}
	}
}

// inAspect returns the part of a canvas in the middle on which the data area of a panel has the aspect.
func inAspect(p *plot.Plot, c draw.Canvas, aspect float64) draw.Canvas {
	if aspect == 0 {
		return c
	}
	const rounds = 4 // because the space for the labels depends on the size
	for range rounds {
		size := p.DataCanvas(c).Size()
		across, up := size.X-size.Y/vg.Length(aspect), size.Y-size.X*vg.Length(aspect)
		across, up = max(0, across), max(0, up)
		c = draw.Crop(c, across/2, -across/2, up/2, -up/2)
	}
	return c
}

// drawLegend draws the legend in rows along the top and returns the rest of the canvas.
func (f figure) drawLegend(c draw.Canvas) draw.Canvas {
	const width, height = 4 * vg.Centimeter, 6 * vg.Millimeter // of an entry
	c = draw.Crop(c, 4*vg.Millimeter, -4*vg.Millimeter, 0, -vg.Millimeter)
	for row := range slices.Chunk(f.legend, max(1, int(c.Size().X/width))) {
		for i, e := range row {
			l := plot.NewLegend()
			l.Top, l.Left, l.TextStyle = true, true, textStyle
			l.Add(e.name, e.mark)
			l.Draw(draw.Crop(c, vg.Length(i)*width, 0, 0, 0))
		}
		c = draw.Crop(c, 0, 0, 0, -height)
	}
	return draw.Crop(c, -4*vg.Millimeter, 4*vg.Millimeter, 0, 0)
}

// textStyle is the style of all text in figures. Pages use a font with the same metrics.
var textStyle = func() text.Style {
	style := plot.NewLegend().TextStyle
	style.Font.Variant, style.Font.Size = "Sans", vg.Points(10)
	return style
}()

// newPanel returns an empty plot with a title and axis labels.
func newPanel(title, x, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Title.Padding = vg.Millimeter
	for _, style := range []*text.Style{
		&p.Title.TextStyle, &p.X.Label.TextStyle, &p.X.Tick.Label, &p.Y.Label.TextStyle, &p.Y.Tick.Label,
	} {
		style.Font = textStyle.Font
	}
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

// stroke returns the style of a figure's lines.
func stroke(c color.Color) draw.LineStyle {
	return draw.LineStyle{Color: c, Width: vg.Points(1)}
}
