package paper

import (
	"image/color"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/vssgp/vssgp/internal/chart"
)

// gapsColors tell the methods apart.
var gapsColors = []struct {
	variant
	label string
	color color.Color
}{
	{variant{method: "linear"}, "linear", grey},
	{variant{method: "ar"}, "AR", red},
	{variant{method: "ar, for speech"}, "AR, for speech", orange},
	{variant{method: "ar, for music"}, "AR, for music", pink},
	{variant{method: "vssgp", start: ownStart}, "VSSGP", blue},
	{variant{method: "vssgp", start: spectrumStart + withoutWindows}, "VSSGP, no windows", sky},
	{variant{method: "vssgp", start: paperStart + withWindows}, "paper's start, 3 gaps", green},
	{variant{method: "gp", start: gpStart}, "GP, 3 gaps", color.Black},
}

// gapsFigures draws SNR and coverage against the gaps' length, a panel for each
// recording.
func gapsFigures(lines []Line) ([]figure, error) {
	lines = ok(lines)
	if len(lines) == 0 {
		return nil, nil
	}
	var out []figure
	for _, of := range []struct {
		name, axis string
		score      Score
		scale      float64
	}{{"gaps-snr", "SNR, dB", SNR, 1}, {"gaps-coverage", "coverage, %", Coverage, 100}} {
		f := figure{name: of.name, Figure: chart.Figure{Columns: 2, Width: 24 * vg.Centimeter, Height: 18 * vg.Centimeter}}
		for _, m := range gapsColors {
			if len(values(m.of(lines), of.score)) > 0 {
				f.Key = append(f.Key, chart.Entry{Name: m.label, Mark: &plotter.Line{LineStyle: stroke(m.color)}})
			}
		}
		for _, name := range casesOf(lines) {
			p := panel(name, "gap, ms", of.axis)
			here := where(lines, func(l Line) bool { return l.Case == name })
			for _, m := range gapsColors {
				if err := addScores(p, m.of(here), of.score, of.scale, m.color); err != nil {
					return nil, err
				}
			}
			lengths := lengthsOf(here)
			if of.score == Coverage {
				x := []float64{float64(lengths[0]), float64(lengths[len(lengths)-1])}
				for _, limit := range []float64{100 * calibratedLo, 100 * calibratedHi} {
					if err := addLine(p, "", x, []float64{limit, limit}, grey); err != nil {
						return nil, err
					}
				}
				p.Y.Min, p.Y.Max = min(p.Y.Min, 70), 100
			}
			p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, ticksAt(lengths)
			f.Panels = append(f.Panels, p)
		}
		out = append(out, f)
	}
	return out, nil
}

// addScores draws the mean of a score against the gaps' length.
func addScores(p *plot.Plot, lines []Line, name Score, scale float64, c color.Color) error {
	var x, y []float64
	for _, ms := range lengthsOf(lines) {
		if s := values(atMS(lines, ms), name); len(s) > 0 {
			x, y = append(x, float64(ms)), append(y, scale*stat.Mean(s, nil))
		}
	}
	if len(x) == 0 {
		return nil
	}
	return addLine(p, "", x, y, c)
}
