package paper

import (
	"bytes"
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// A figure is a column of panels, or a grid of some columns.
type figure struct {
	name          string // of its files, without ending
	panels        []*plot.Plot
	columns       int // 0: one
	width, height vg.Length
}

// The colours of the figures: the paper's red, green and blue, and more, all
// told apart by most colour-blind readers (Okabe & Ito).
var (
	red    = color.RGBA{0xd5, 0x5e, 0x00, 0xff}
	green  = color.RGBA{0x00, 0x9e, 0x73, 0xff}
	blue   = color.RGBA{0x00, 0x72, 0xb2, 0xff}
	pale   = color.RGBA{0xbf, 0xdc, 0xec, 0xff}
	grey   = color.RGBA{0x80, 0x80, 0x80, 0xff}
	orange = color.RGBA{0xe6, 0x9f, 0x00, 0xff}
	pink   = color.RGBA{0xcc, 0x79, 0xa7, 0xff}
	sky    = color.RGBA{0x56, 0xb4, 0xe9, 0xff}
)

// save writes PATH.png and PATH.svg.
func (f figure) save(path string) error {
	const dotsPerInch = 144
	img := vgimg.NewWith(vgimg.UseWH(f.width, f.height), vgimg.UseDPI(dotsPerInch), vgimg.UseBackgroundColor(color.White))
	f.draw(draw.New(img))
	var out bytes.Buffer
	if _, err := (vgimg.PngCanvas{Canvas: img}).WriteTo(&out); err != nil {
		return err
	}
	if err := writeFile(path+".png", out.Bytes()); err != nil {
		return err
	}
	svg := vgsvg.New(f.width, f.height)
	f.draw(draw.New(svg))
	out.Reset()
	if _, err := svg.WriteTo(&out); err != nil {
		return err
	}
	return writeFile(path+".svg", out.Bytes())
}

func (f figure) draw(c draw.Canvas) {
	columns := max(1, f.columns)
	rows := (len(f.panels) + columns - 1) / columns
	grid := make([][]*plot.Plot, rows)
	for i := range grid {
		grid[i] = make([]*plot.Plot, columns)
	}
	for i, p := range f.panels {
		grid[i/columns][i%columns] = p
	}
	tiles := draw.Tiles{Rows: rows, Cols: columns, PadX: 4 * vg.Millimeter, PadY: 4 * vg.Millimeter, PadTop: 2 * vg.Millimeter, PadBottom: 2 * vg.Millimeter, PadLeft: 2 * vg.Millimeter, PadRight: 4 * vg.Millimeter}
	canvases := plot.Align(grid, tiles, c)
	for i, row := range grid {
		for j, p := range row {
			if p != nil {
				p.Draw(canvases[i][j])
			}
		}
	}
}

// panel is an empty plot.
func panel(title, x, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Title.Padding = vg.Millimeter
	p.Legend.Top = true
	return p
}

// points pairs up coordinates.
func points(x, y []float64) plotter.XYs {
	p := make(plotter.XYs, len(x))
	for i := range x {
		p[i].X, p[i].Y = x[i], y[i]
	}
	return p
}

// addLine draws a line; name, if any, goes into the legend.
func addLine(p *plot.Plot, name string, x, y []float64, c color.Color) error {
	l, err := plotter.NewLine(points(x, y))
	if err != nil {
		return err
	}
	l.Color, l.Width = c, vg.Points(1)
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
