package report

import (
	"image/color"
	"io"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/vssgp/vssgp/internal/fileio"
)

// A Figure is a grid of panels with a legend. It can be written as PNG or SVG.
type Figure struct {
	Panels        []*plot.Plot
	Columns       int     // 0 for one column
	Legend        []Entry // common legend above the panels; nil for no legend
	Width, Height vg.Length
}

// An Entry is an entry of a figure's legend.
type Entry struct {
	Name string
	Mark plot.Thumbnailer
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

// Save writes PATH.png and PATH.svg. If writing a file fails, it does not create or change that file.
func (f Figure) Save(path string) error {
	if err := fileio.Write(path+".png", f.PNG); err != nil {
		return err
	}
	return fileio.Write(path+".svg", f.SVG)
}

// PNG writes the figure at 144 dots per inch.
func (f Figure) PNG(w io.Writer) error {
	const dotsPerInch = 144
	img := vgimg.NewWith(vgimg.UseWH(f.Width, f.Height), vgimg.UseDPI(dotsPerInch), vgimg.UseBackgroundColor(color.White))
	f.draw(draw.New(img))
	_, err := vgimg.PngCanvas{Canvas: img}.WriteTo(w)
	return err
}

// SVG writes the figure as SVG.
func (f Figure) SVG(w io.Writer) error {
	svg := vgsvg.New(f.Width, f.Height)
	f.draw(draw.New(svg))
	_, err := svg.WriteTo(w)
	return err
}

func (f Figure) draw(c draw.Canvas) {
	c = f.drawLegend(c)
	columns := max(1, f.Columns)
	rows := (len(f.Panels) + columns - 1) / columns
	all := append(slices.Clip(f.Panels), make([]*plot.Plot, rows*columns-len(f.Panels))...)
	tiles := draw.Tiles{
		Rows: rows, Cols: columns, PadX: 4 * vg.Millimeter, PadY: 4 * vg.Millimeter,
		PadTop: 2 * vg.Millimeter, PadBottom: 2 * vg.Millimeter, PadLeft: 2 * vg.Millimeter, PadRight: 4 * vg.Millimeter,
	}
	canvases := plot.Align(slices.Collect(slices.Chunk(all, columns)), tiles, c)
	for i, p := range f.Panels {
		p.Draw(canvases[i/columns][i%columns])
	}
}

// drawLegend draws the legend in rows along the top and returns the rest of the canvas.
func (f Figure) drawLegend(c draw.Canvas) draw.Canvas {
	const width, height = 4 * vg.Centimeter, 6 * vg.Millimeter // of an entry
	c = draw.Crop(c, 4*vg.Millimeter, -4*vg.Millimeter, 0, -vg.Millimeter)
	for row := range slices.Chunk(f.Legend, max(1, int(c.Size().X/width))) {
		for i, e := range row {
			l := plot.NewLegend()
			l.Top, l.Left, l.TextStyle = true, true, textStyle
			l.Add(e.Name, e.Mark)
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

// Panel returns an empty plot with a title and axis labels.
func Panel(title, x, y string) *plot.Plot {
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

// Points returns the points (x[i], y[i]).
func Points(x, y []float64) plotter.XYs {
	p := make(plotter.XYs, len(x))
	for i := range x {
		p[i].X, p[i].Y = x[i], y[i]
	}
	return p
}

// Stroke returns the style of a figure's lines.
func Stroke(c color.Color) draw.LineStyle {
	return draw.LineStyle{Color: c, Width: vg.Points(1)}
}
