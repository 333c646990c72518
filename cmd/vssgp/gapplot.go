package main

import (
	"bytes"
	"fmt"
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/vssgp/vssgp/impute"
)

// Colours that differ for colour-blind readers and in grey; the report's key
// names them.
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

// gapCurves are what a plot of a gap shows of one channel. Samples, and the
// gap, are counted from the first one held.
type gapCurves struct {
	observed, mean, sd []float64 // [sample]
	reference          []float64 // nil: none is known
	gap                impute.Gap
	rate               int
	first              int // the recording's number of the first sample held
}

// newGapCurves reads what is to be shown about a gap of excerpt e.
func newGapCurves(e *impute.Excerpt, gap impute.Gap, channel int, out imputeResult, observed, reference impute.Source) (*gapCurves, error) {
	side := plotSide(gap)
	lo, hi := max(0, gap.Start-side), min(out.Samples, gap.End+side)
	g := &gapCurves{gap: impute.Gap{Start: gap.Start - lo, End: gap.End - lo}, rate: out.Rate, first: lo}
	around, err := observed.Read(lo, hi)
	if err != nil {
		return nil, err
	}
	g.observed = around[channel]
	if reference != nil {
		truth, err := reference.Read(lo, hi)
		if err != nil {
			return nil, err
		}
		g.reference = truth[channel]
	}
	g.mean, g.sd = make([]float64, hi-lo), make([]float64, hi-lo)
	copy(g.mean[g.gap.Start:g.gap.End], e.Fit[channel][gap.Start-e.Start:])
	copy(g.sd[g.gap.Start:g.gap.End], e.SD[channel][gap.Start-e.Start:])
	return g, nil
}

// plotSide is how many samples are drawn on each side of a gap.
func plotSide(gap impute.Gap) int { return int(plotSides * float64(gap.End-gap.Start)) }

// svg draws the gap as an SVG element: the samples around it, the mean inside
// with a band of two standard deviations, and the reference where there is one.
func (g *gapCurves) svg() (string, error) {
	p := plot.New()
	p.X.Label.Text, p.Y.Label.Text = "ms", "full scale"
	side := plotSide(g.gap)
	lo, hi := max(0, g.gap.Start-side), min(len(g.observed), g.gap.End+side)
	step := max(1, (hi-lo)/plotPoints)
	err := g.addBand(p, step)
	for _, c := range []struct {
		values   []float64
		from, to int
		ink      color.Color
	}{
		{g.observed, lo, g.gap.Start, inkObserved},
		{g.observed, g.gap.End, hi, inkObserved},
		{g.reference, g.gap.Start, g.gap.End, inkReference},
		{g.mean, g.gap.Start, g.gap.End, inkMean},
	} {
		if err == nil && c.values != nil && c.from < c.to {
			err = g.addLine(p, c.values, c.from, c.to, step, c.ink)
		}
	}
	if err != nil {
		return "", fmt.Errorf("plot of gap %d:%d: %w", g.gap.Start, g.gap.End, err)
	}
	return svg(p)
}

// at is the time of a sample in ms.
func (g *gapCurves) at(i int) float64 { return 1000 * float64(g.first+i) / float64(g.rate) }

func (g *gapCurves) addLine(p *plot.Plot, values []float64, from, to, step int, ink color.Color) error {
	var xy plotter.XYs
	for i := from; i < to; i += step {
		xy = append(xy, plotter.XY{X: g.at(i), Y: values[i]})
	}
	l, err := plotter.NewLine(xy)
	if err != nil {
		return err
	}
	l.Color, l.Width = ink, vg.Points(1)
	p.Add(l)
	return nil
}

func (g *gapCurves) addBand(p *plot.Plot, step int) error {
	var upper, lower plotter.XYs
	for i := g.gap.Start; i < g.gap.End; i += step {
		upper = append(upper, plotter.XY{X: g.at(i), Y: g.mean[i] + 2*g.sd[i]})
		lower = append(lower, plotter.XY{X: g.at(i), Y: g.mean[i] - 2*g.sd[i]})
	}
	slices.Reverse(lower)
	band, err := plotter.NewPolygon(append(upper, lower...))
	if err != nil {
		return err
	}
	band.Color, band.LineStyle.Width = inkBand, 0
	p.Add(band)
	return nil
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
