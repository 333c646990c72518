package main

import (
	"flag"
	"fmt"
	"image/color"
	"math"
	"os"
	"path/filepath"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/palette/moreland"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/vssgp/vssgp/internal/report"
	"github.com/vssgp/vssgp/spectral"
)

// The figure of `bench windows`: what windows do to a tone's covariance (DESIGN.md, section 8).
const (
	figurePeriod = 8    // periods of the tone in a window
	figureLength = 4.0  // its length-scale, in windows
	figureSpan   = 2.0  // of x and y, in windows
	figureCells  = 240  // of the picture, each way
	figureRate   = 16e3 // of the spectra, in Hz
	figureReach  = 300  // of the spectra, in Hz on either side
	figureDepth  = -60  // of the spectra, in dB
)

// windowsTask is `bench windows`.
type windowsTask struct {
	out, choose string
	table       bool
}

func (o *windowsTask) flags(set *flag.FlagSet) {
	set.StringVar(&o.out, "out", "bench/results", "folder for windows.png and windows.svg")
	set.BoolVar(&o.table, "table", false, "print what windows lose on steady tones instead, filling gaps (some minutes)")
	set.StringVar(&o.choose, "choose", "", "print what --window auto chooses from, on excerpts of this WAV or SPHERE `file`, instead")
}

func (o *windowsTask) check(files []string) error { return want(files, 0, "") }

// run draws what windows do to the covariance, or prints a table.
func (o *windowsTask) run() error {
	switch {
	case o.table:
		return loseTable(os.Stdout)
	case o.choose != "":
		return chooseTable(os.Stdout, o.choose)
	}
	if err := os.MkdirAll(o.out, 0o777); err != nil {
		return err
	}
	lines, key := lineSpectra()
	f := report.Figure{
		Panels: []*plot.Plot{covariancePicture(), lines}, Columns: 2, Key: key, Width: 24 * vg.Centimeter, Height: 11 * vg.Centimeter,
	}
	return f.Save(filepath.Join(o.out, "windows"))
}

// windowedTone is k(x, y) = Σ_v g_v(x) g_v(y) exp(−½r²/l²) cos 2πpr, r = x − y, for windows of length 1.
func windowedTone(w *spectral.Windows, x, y float64) float64 {
	gates := 0.0
	for v := range w.Center {
		gates += w.Gate(v, x) * w.Gate(v, y)
	}
	r := x - y
	return gates * math.Exp(-0.5*r*r/(figureLength*figureLength)) * math.Cos(2*math.Pi*figurePeriod*r)
}

// picture is windowedTone over a square, in units of the window.
type picture struct{ w *spectral.Windows }

func (picture) Dims() (c, r int)  { return figureCells, figureCells }
func (picture) X(c int) float64   { return figureSpan * (float64(c) + 0.5) / figureCells }
func (p picture) Y(r int) float64 { return p.X(r) }
func (p picture) Z(c, r int) float64 {
	const inside = 2 // windows from the first, which has no neighbour
	return windowedTone(p.w, inside+p.X(c), inside+p.Y(r))
}

func covariancePicture() *plot.Plot {
	w := &spectral.Windows{Length: 1}
	for v := range 13 {
		w.Center = append(w.Center, float64(v)/2)
	}
	colours := moreland.SmoothBlueRed()
	colours.SetMin(-1)
	colours.SetMax(1)
	h := plotter.NewHeatMap(picture{w}, colours.Palette(255))
	h.Min, h.Max, h.Rasterized = -1.001, 1.001, true // rounding is no overflow
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = "k(x, y) of a tone, eight periods a window", "x / W", "y / W"
	p.Add(h)
	return p
}

// lobe is the spectrum of a pure tone in windows of length w, a distance f away from it, by its height there: [cos(πwf)/(1 − 4w²f²)]².
func lobe(w, f float64) float64 {
	u := w * f
	if d := math.Abs(u) - 0.5; math.Abs(d) < 1e-6 { // 0/0, whose limit is π/4
		return math.Pi * math.Pi / 16
	}
	g := math.Cos(math.Pi*u) / (1 - 4*u*u)
	return g * g
}

// lineSpectra draws the spectrum of a tone for three lengths of windows, in decibels.
func lineSpectra() (*plot.Plot, []report.Entry) {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = "the spectrum of a pure tone, 16 kHz", "Hz from the tone", "dB"
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = -figureReach, figureReach, figureDepth, 0
	var key []report.Entry
	for i, samples := range []float64{256, 512, 1024} {
		line := &plotter.Line{LineStyle: report.Stroke([]color.Color{report.Red, report.Blue, report.Green}[i])}
		for f := -float64(figureReach); f <= figureReach; f += 0.5 {
			line.XYs = append(line.XYs, plotter.XY{X: f, Y: math.Max(figureDepth, 10*math.Log10(lobe(samples/figureRate, f)))})
		}
		p.Add(line)
		key = append(key, report.Entry{Name: fmt.Sprintf("W = %g samples (%g ms)", samples, 1e3*samples/figureRate), Mark: line})
	}
	return p, key
}
