package main

import (
	"bytes"
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/vssgp/vssgp/impute"
)

// Colours that differ for colour-blind readers and in grey.
var (
	inkObserved  = color.RGBA{0x40, 0x40, 0x40, 0xff}
	inkMean      = color.RGBA{0x00, 0x5a, 0xb5, 0xff}
	inkBand      = color.RGBA{0xbf, 0xd7, 0xee, 0xff}
	inkReference = color.RGBA{0xdc, 0x32, 0x20, 0xff}
)

const (
	plotWidth, plotHeight = 18 * vg.Centimeter, 5 * vg.Centimeter
	// plotSides is how much is drawn on each side of a gap, in gap lengths.
	plotSides = 1.5
	// plotPoints bounds the points of a line, so that a long gap does not
	// make a page of megabytes.
	plotPoints = 2000
)

// gapPlot draws one gap of one channel as an SVG element: the samples around
// it, the mean inside with a band of two standard deviations, and the
// reference where there is one.
func gapPlot(observed, mean, sd, reference []float64, gap impute.Gap, rate int) (string, error) {
	side := int(plotSides * float64(gap.End-gap.Start))
	lo, hi := max(0, gap.Start-side), min(len(observed), gap.End+side)
	step := max(1, (hi-lo)/plotPoints)
	at := func(i int) float64 { return 1000 * float64(i) / float64(rate) }
	line := func(a []float64, from, to int) plotter.XYs {
		var xy plotter.XYs
		for i := from; i < to; i += step {
			if !math.IsNaN(a[i]) {
				xy = append(xy, plotter.XY{X: at(i), Y: a[i]})
			}
		}
		return xy
	}
	p := plot.New()
	p.X.Label.Text, p.Y.Label.Text = "ms", "full scale"
	var upper, lower plotter.XYs
	for i := gap.Start; i < gap.End; i += step {
		upper = append(upper, plotter.XY{X: at(i), Y: mean[i] + 2*sd[i]})
		lower = append(lower, plotter.XY{X: at(i), Y: mean[i] - 2*sd[i]})
	}
	for i := len(lower) - 1; i >= 0; i-- {
		upper = append(upper, lower[i])
	}
	band, err := plotter.NewPolygon(upper)
	if err != nil {
		return "", fmt.Errorf("plot of gap %d:%d: %w", gap.Start, gap.End, err)
	}
	band.Color, band.LineStyle.Width = inkBand, 0
	p.Add(band)
	p.Legend.Add("mean ± 2 sd", band)
	curves := []struct {
		xy   plotter.XYs
		ink  color.Color
		name string
	}{{line(observed, lo, gap.Start), inkObserved, "recording"}, {line(observed, gap.End, hi), inkObserved, ""}}
	if reference != nil {
		curves = append(curves, struct {
			xy   plotter.XYs
			ink  color.Color
			name string
		}{line(reference, gap.Start, gap.End), inkReference, "reference"})
	}
	curves = append(curves, struct {
		xy   plotter.XYs
		ink  color.Color
		name string
	}{line(mean, gap.Start, gap.End), inkMean, "mean"})
	for _, c := range curves {
		if len(c.xy) == 0 {
			continue
		}
		l, err := plotter.NewLine(c.xy)
		if err != nil {
			return "", fmt.Errorf("plot of gap %d:%d: %w", gap.Start, gap.End, err)
		}
		l.Color, l.Width = c.ink, vg.Points(1)
		p.Add(l)
		if c.name != "" {
			p.Legend.Add(c.name, l)
		}
	}
	p.Legend.Top = true
	return svg(p)
}

// svg is a plot as an SVG element to put into a page.
func svg(p *plot.Plot) (string, error) {
	canvas := vgsvg.New(plotWidth, plotHeight)
	p.Draw(draw.New(canvas))
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return "", fmt.Errorf("draw a plot: %w", err)
	}
	text := b.Bytes()
	if i := bytes.Index(text, []byte("<svg")); i > 0 {
		text = text[i:] // without the XML declaration and its comment
	}
	return string(text), nil
}
