package paper

import (
	"fmt"
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/internal/chart"
)

// audio1kFigures draws the first signal of seed 0 about its first two gaps: a
// row of panels for each method, a column for each gap.
func audio1kFigures(lines []Line) ([]figure, error) {
	f := figure{name: audio1k, Figure: chart.Figure{Columns: 2, Width: 24 * vg.Centimeter, Height: 18 * vg.Centimeter}}
	for _, v := range []variant{{method: "ssgp", start: paperStart}, {method: "vssgp", start: paperStart}, {method: "vssgp", start: keptStart}} {
		here := where(v.of(ok(lines)), func(l Line) bool { return l.Curve != nil })
		if len(here) == 0 {
			continue
		}
		gaps := gapsOf(here[0].Curve.Missing.X)
		for _, g := range gaps[:min(f.Columns, len(gaps))] {
			p, err := gapPanel(fmt.Sprintf("%s, start %s", v.method, v.start), here[0].Curve, g)
			if err != nil {
				return nil, err
			}
			f.Panels = append(f.Panels, p)
		}
	}
	if len(f.Panels) == 0 {
		return nil, nil
	}
	return []figure{f}, nil
}

// gapsOf are the runs of missing samples.
func gapsOf(missing []float64) []audio.Gap {
	var out []audio.Gap
	for _, x := range missing {
		at := int(x)
		if n := len(out); n > 0 && out[n-1].End == at {
			out[n-1].End++
			continue
		}
		out = append(out, audio.Gap{Start: at, End: at + 1})
	}
	return out
}

// gapPanel is a fit around a gap, which is shaded: mean, two standard
// deviations to either side, and the signal.
func gapPanel(title string, c *Curve, g audio.Gap) (*plot.Plot, error) {
	p := panel(title, "sample", "")
	from, to := max(0, g.Start-g.Len()), min(len(c.X), g.End+g.Len())
	truth := make([]float64, len(c.X))
	for _, t := range []*Trace{c.Observed, c.Missing} {
		for i, x := range t.X {
			truth[int(x)] = t.Y[i]
		}
	}
	truth = truth[from:to]
	lo, hi := extremes(truth)
	margin := 0.5 * (hi - lo) // a band far wider than the signal would hide it
	lo, hi = lo-margin, hi+margin
	if err := addShade(p, g, lo, hi); err != nil {
		return nil, err
	}
	if err := addClipped(p, c, from, to, lo, hi); err != nil {
		return nil, err
	}
	if err := addLine(p, "", c.X[from:to], truth, red); err != nil {
		return nil, err
	}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = c.X[from], c.X[to-1], lo, hi
	return p, nil
}

// addClipped is addBand for a stretch of a curve, with what lies beyond
// [lo, hi] drawn at its edge: a plot would draw it beyond its axes.
func addClipped(p *plot.Plot, c *Curve, from, to int, lo, hi float64) error {
	inside := func(v float64) float64 { return min(hi, max(lo, v)) }
	n := to - from
	outline, mean := make(plotter.XYs, 2*n), make([]float64, n)
	for i := range n {
		x, m, sd := c.X[from+i], c.Mean[from+i], c.SD[from+i]
		outline[i] = plotter.XY{X: x, Y: inside(m + 2*sd)}
		outline[2*n-1-i] = plotter.XY{X: x, Y: inside(m - 2*sd)}
		mean[i] = inside(m)
	}
	band, err := plotter.NewPolygon(outline)
	if err != nil {
		return err
	}
	band.Color, band.LineStyle.Width = pale, 0
	p.Add(band)
	return addLine(p, "", c.X[from:to], mean, blue)
}

// addShade marks a gap by a background.
func addShade(p *plot.Plot, g audio.Gap, lo, hi float64) error {
	a, b := float64(g.Start)-0.5, float64(g.End)-0.5
	shade, err := plotter.NewPolygon(plotter.XYs{{X: a, Y: lo}, {X: b, Y: lo}, {X: b, Y: hi}, {X: a, Y: hi}})
	if err != nil {
		return err
	}
	shade.Color, shade.LineStyle.Width = color.Gray{0xec}, 0
	p.Add(shade)
	return nil
}
