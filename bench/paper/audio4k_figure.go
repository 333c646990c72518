package paper

import (
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/vssgp/vssgp/internal/chart"
)

// audio4kFigures draws the paper's three panels: errors and time against K,
// mean and standard deviation over the repeats. The time is that of one start's
// steps: a fit that collapsed has begun again, which says nothing of K.
func audio4kFigures(lines []Line) ([]figure, error) {
	lines = ok(lines)
	if len(lines) == 0 {
		return nil, nil
	}
	f := figure{name: audio4k, Figure: chart.Figure{Columns: 3, Width: 30 * vg.Centimeter, Height: 10 * vg.Centimeter}}
	colours := []color.Color{blue, red, green}
	for i, start := range startsOf(lines) {
		f.Key = append(f.Key, chart.Entry{Name: start, Mark: &plotter.Line{LineStyle: stroke(colours[i%len(colours)])}})
	}
	for _, of := range []struct {
		title     string
		values    func(lines []Line) []float64
		logarithm bool // of the values: time's slope is what matters
	}{
		{"train RMSE", func(l []Line) []float64 { return values(l, TrainRMSE) }, false},
		{"test RMSE", func(l []Line) []float64 { return values(l, TestRMSE) }, false},
		{"seconds of all steps", stepSeconds, true},
	} {
		p := panel(of.title, "K", "")
		if of.logarithm {
			p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
		}
		for i, start := range startsOf(lines) {
			here := where(lines, func(l Line) bool { return l.Start == start })
			if err := addRepeats(p, here, of.values, colours[i%len(colours)]); err != nil {
				return nil, err
			}
		}
		if !of.logarithm {
			p.Y.Min = 0
		}
		// Last: what is added to a plot widens its axes.
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, ticksAt(countsOf(lines))
		f.Panels = append(f.Panels, p)
	}
	return []figure{f}, nil
}

// stepSeconds is how long the steps of each line's fit took.
func stepSeconds(lines []Line) []float64 {
	var out []float64
	for _, l := range lines {
		if v, have := l.Scores[StepTime]; have {
			out = append(out, v*float64(l.Iterations))
		}
	}
	return out
}

// addRepeats draws the mean of some values of the lines of each K, joined by a
// line, with a standard deviation to either side.
func addRepeats(p *plot.Plot, lines []Line, of func(lines []Line) []float64, c color.Color) error {
	var x, y []float64
	var bars plotter.YErrors
	for _, k := range countsOf(lines) {
		v := of(where(lines, func(l Line) bool { return l.K == k }))
		if len(v) == 0 {
			continue
		}
		mean, sd := stat.MeanStdDev(v, nil)
		if math.IsNaN(sd) { // one repeat
			sd = 0
		}
		x, y = append(x, float64(k)), append(y, mean)
		const most = 0.9 // of the mean: what is positive stays so on a logarithmic axis
		bars = append(bars, struct{ Low, High float64 }{min(sd, most*mean), sd})
	}
	if len(x) == 0 {
		return nil
	}
	if err := addLine(p, "", x, y, c); err != nil {
		return err
	}
	b, err := plotter.NewYErrorBars(struct {
		plotter.XYer
		plotter.YErrorer
	}{points(x, y), bars})
	if err != nil {
		return err
	}
	b.Color = c
	p.Add(b)
	return nil
}

// ticksAt marks some numbers on an axis.
func ticksAt(numbers []int) plot.ConstantTicks {
	var out plot.ConstantTicks
	for _, n := range numbers {
		out = append(out, plot.Tick{Value: float64(n), Label: strconv.Itoa(n)})
	}
	return out
}
