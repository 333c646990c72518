package paper

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/bench/internal/jsonl"
)

// quoted is a number in the paper with its standard deviation, or 0 if the paper does not report it.
type quoted struct{ mean, sd float64 }

func (q quoted) String() string {
	switch {
	case q.mean == 0:
		return "–"
	case q.sd == 0:
		return digits(q.mean)
	}
	return digits(q.mean) + " ± " + digits(q.sd)
}

// quotes contains the paper's scores by method, including silence.
type quotes map[string]map[Score]quoted

// audio1kPaper contains the paper's scores on Audio 1K. The paper's text reports VSSGP's training STFT RMSE as 0.067 ±
// 0.0067.
var audio1kPaper = quotes{
	"ssgp":    {TrainRMSE: {0.0091, 0.0042}, TestRMSE: {0.088, 0.033}, TrainSTFT: {0.094, 0.05}, TestSTFT: {0.55, 0.41}},
	"vssgp":   {TrainRMSE: {0.0062, 0.00048}, TestRMSE: {0.034, 0.0043}, TrainSTFT: {0.063, 0.0068}, TestSTFT: {0.17, 0.022}},
	"fvssgp":  {TrainRMSE: {0.0054, 0.00083}, TestRMSE: {0.038, 0.0049}, TrainSTFT: {0.055, 0.0088}, TestSTFT: {0.22, 0.028}},
	"sfvssgp": {TrainRMSE: {0.005, 0.003}, TestRMSE: {0.04, 0.0066}, TrainSTFT: {0.052, 0.031}, TestSTFT: {0.24, 0.0089}},
	"silence": {TrainSTFT: {0.44, 0}, TestSTFT: {0.38, 0}},
}

// audio16kPaper contains the paper's scores on Audio 16K, where svgp is called sSPGP.
var audio16kPaper = quotes{
	"svgp":    {TrainRMSE: {0.043, 0}, TestRMSE: {0.034, 0}, TrainSTFT: {0.54, 0}, TestSTFT: {0.43, 0}},
	"sfvssgp": {TrainRMSE: {0.016, 0}, TestRMSE: {0.034, 0}, TrainSTFT: {0.18, 0}, TestSTFT: {0.30, 0}},
	"silence": {TrainSTFT: {0.52, 0}, TestSTFT: {0.62, 0}},
}

// audio16kMinutes contains the paper's training times.
var audio16kMinutes = map[string]float64{"svgp": 133, "sfvssgp": 48}

// toSilence returns the paper's mean of a score relative to its mean for predicting 0, or 0 if the paper does not
// report it.
func (q quotes) toSilence(method string, name Score) quoted {
	if b := q["silence"][name].mean; b > 0 {
		return quoted{mean: q[method][name].mean / b}
	}
	return quoted{}
}

// table prints a row for each variant with the paper's scores of the method next to ours.
func (q quotes) table(w io.Writer, lines []Line) {
	theirs := func(name Score) column {
		return column{"paper", func(l []Line) string { return q[l[0].Method][name].String() }}
	}
	toSilenceTheirs := func(name Score) column {
		return column{"paper", func(l []Line) string { return q.toSilence(l[0].Method, name).String() }}
	}
	writeColumns(w, jsonl.Groups(lines, variantOf), methodColumn, startColumn,
		scored("train RMSE", TrainRMSE), theirs(TrainRMSE), scored("test RMSE", TestRMSE), theirs(TestRMSE),
		scored("train STFT", TrainSTFT), theirs(TrainSTFT), scored("test STFT", TestSTFT), theirs(TestSTFT),
		toSilence("test RMSE, silence = 1", TestRMSE, ZeroRMSE),
		toSilence("train STFT, silence = 1", TrainSTFT, ZeroTrain), toSilenceTheirs(TrainSTFT),
		toSilence("test STFT, silence = 1", TestSTFT, ZeroTest), toSilenceTheirs(TestSTFT),
		coverage, scored("NLPD", NLPD), secondsTaken, fits("fits"))
}

// bySignal prints a quantity of every variant for each case.
func bySignal(w io.Writer, lines []Line, quantity column) {
	columns := []column{methodColumn, startColumn}
	for _, name := range jsonl.Distinct(lines, caseOf) {
		columns = append(columns, column{name, func(l []Line) string { return quantity.cell(jsonl.Where(l, caseOf, name)) }})
	}
	writeColumns(w, jsonl.Groups(lines, variantOf), columns...)
}

// collapses prints the number of fits that ended in an optimum known to be bad. The tables include them.
func collapses(w io.Writer, lines []Line) {
	for _, of := range jsonl.Groups(ok(lines), variantOf) {
		bad := jsonl.Where(of, func(l Line) bool { return strings.HasPrefix(l.Ended, "collapsed") }, true)
		if len(bad) > 0 {
			fmt.Fprintf(w, "%s, start %q: %d of %d fits ended with %q (mean test RMSE of these %s).\n\n",
				bad[0].Method, bad[0].Start, len(bad), len(of), bad[0].Ended, digits(stat.Mean(values(bad, scoreOf(TestRMSE)), nil)))
		}
	}
}

func audio1kTables(w io.Writer, lines []Line) {
	fmt.Fprintf(w, "SSGP and VSSGP. The paper's signal has an rms of about 0.04, and 0.07 in the gaps. Ours have 0.1, so compare the "+
		"values relative to silence.\n\n")
	audio1kPaper.table(w, methods(lines, "ssgp", "vssgp", "ar", "janssen", "linear", "silence"))
	ratios(w, lines)
	fmt.Fprintf(w, "The three bounds.\n\n")
	audio1kPaper.table(w, methods(lines, "vssgp", "fvssgp", "sfvssgp", "silence"))
	fmt.Fprintf(w, "Test RMSE by signal.\n\n")
	bySignal(w, lines, scored("", TestRMSE))
	withinSpread(w, lines)
	collapses(w, lines)
}

// ratios prints the ratio of the errors of SSGP and VSSGP for each initialization.
func ratios(w io.Writer, lines []Line) {
	for _, start := range jsonl.Distinct(methods(lines, "ssgp"), startOf) {
		r := pairRatios(lines, variant{"ssgp", start}, variant{"vssgp", start}, TestRMSE)
		if len(r) == 0 {
			continue
		}
		theirs := audio1kPaper["ssgp"][TestRMSE].mean / audio1kPaper["vssgp"][TestRMSE].mean
		fmt.Fprintf(w, "Start %q: SSGP's test RMSE is %s times VSSGP's (geometric mean of %d pairs of the same signal and seed, %s to %s; "+
			"the paper's means: %s).\n\n", start, digits(stat.GeometricMean(r, nil)), len(r), digits(floats.Min(r)), digits(floats.Max(r)),
			digits(theirs))
	}
}

// pairRatios returns the ratios of the scores of variants a and b, for lines with the same case, gap, K and seed.
func pairRatios(lines []Line, a, b variant, name Score) (out []float64) {
	for _, p := range pairedLines(lines, a, b) {
		if r := scoreOf(name)(p[0]) / scoreOf(name)(p[1]); !math.IsNaN(r) {
			out = append(out, r)
		}
	}
	return out
}

// withinSpread prints for each signal whether the test errors of the three bounds are equal within their variation over
// the seeds.
func withinSpread(w io.Writer, lines []Line) {
	bounds := []string{"vssgp", "fvssgp", "sfvssgp"}
	for _, start := range jsonl.Distinct(methods(lines, "fvssgp"), startOf) {
		fmt.Fprintf(w, "Start %q: are the three bounds' test errors within each other's spread (means closer than the sum of their "+
			"standard deviations)?", start)
		for _, here := range jsonl.Groups(methods(lines, bounds...), caseOf) {
			var errors [][]float64
			for _, method := range bounds {
				errors = append(errors, values(jsonl.Where(here, variantOf, variant{method, start}), scoreOf(TestRMSE)))
			}
			fmt.Fprintf(w, " %s: %s.", here[0].Case, same(errors...))
		}
		fmt.Fprint(w, " The paper's: yes.\n\n")
	}
}

// same reports whether the means of every two groups are closer than the sum of their standard deviations.
func same(groups ...[]float64) string {
	answer := "yes"
	for i, a := range groups {
		if len(a) < 2 {
			return "too few repetitions"
		}
		for _, b := range groups[:i] {
			meanA, sdA := stat.MeanStdDev(a, nil)
			meanB, sdB := stat.MeanStdDev(b, nil)
			if math.Abs(meanA-meanB) > sdA+sdB {
				answer = "no"
			}
		}
	}
	return answer
}

func audio4kTables(w io.Writer, lines []Line) {
	var rows [][]Line
	starts := jsonl.Groups(ok(lines), startOf)
	for _, of := range starts {
		rows = append(rows, jsonl.Groups(of, countOf)...)
	}
	writeColumns(w, rows, startColumn, shared("K", countOf), sizeColumn("features"), scored("train RMSE", TrainRMSE),
		scored("test RMSE", TestRMSE), toSilence("test RMSE, silence = 1", TestRMSE, ZeroRMSE), coverage, secondsTaken,
		scored("seconds per step", StepTime), fits("fits"))
	for _, of := range starts {
		fmt.Fprintf(w, "Start %q: the time grows as K to the power %s, the time of a step as K to the power %s (the paper: 2).\n\n",
			of[0].Start, digits(slope(of, secondsOf)), digits(slope(of, scoreOf(StepTime))))
	}
	collapses(w, lines)
}

// slope returns the slope of the least-squares line of log time against log K, over the lines with a time. It is NaN
// for fewer than two K.
func slope(lines []Line, time quantity) float64 {
	lines = jsonl.Where(lines, func(l Line) bool { return time(l) > 0 }, true)
	if len(jsonl.Distinct(lines, countOf)) < 2 {
		return math.NaN()
	}
	var x, y []float64
	for _, l := range lines {
		x, y = append(x, math.Log(float64(l.K))), append(y, math.Log(time(l)))
	}
	_, b := stat.LinearRegression(x, y, nil, false)
	return b
}

func audio16kTables(w io.Writer, lines []Line) {
	audio16kPaper.table(w, lines)
	minutes := func(l Line) float64 { return l.Seconds / 60 }
	theirs := func(head string, of func(theirs, ours float64) float64) column {
		return column{head, func(l []Line) string {
			if m, have := audio16kMinutes[l[0].Method]; have {
				return digits(of(m, stat.Mean(values(l, minutes), nil)))
			}
			return "–"
		}}
	}
	writeColumns(w, jsonl.Groups(ok(methods(lines, "sfvssgp", "svgp", "vssgp", "impute")), variantOf), methodColumn, startColumn,
		sizeColumn("features or inducing inputs"), shared("iterations", func(l Line) int { return l.Iterations }),
		scored("seconds per step", StepTime), summary("minutes", spread, minutes),
		theirs("paper", func(theirs, _ float64) float64 { return theirs }),
		theirs("paper's time / ours", func(theirs, ours float64) float64 { return theirs / ours }))
	fmt.Fprintf(w, "The paper's relative STFT RMSE on the gaps is %s for sfVSSGP, %s for sSPGP.\n\n",
		audio16kPaper.toSilence("sfvssgp", TestSTFT), audio16kPaper.toSilence("svgp", TestSTFT))
	fmt.Fprintf(w, "STFT RMSE on the gaps by signal, silence = 1.\n\n")
	bySignal(w, lines, toSilence("", TestSTFT, ZeroTest))
	collapses(w, lines)
}

// audio1kFigures draws the first signal with seed 0 around its first two gaps, with a row for each method and a column
// for each gap.
func audio1kFigures(lines []Line) []figure {
	f := figure{name: "audio1k", columns: 2, width: 24 * vg.Centimeter, height: 18 * vg.Centimeter}
	for _, v := range []variant{{"ssgp", paperStart}, {"vssgp", paperStart}, {"vssgp", keptStart}} {
		l := firstCurve(ok(lines), v)
		if l == nil {
			continue
		}
		gaps := gapsOf(l.Curve.Missing.X)
		for _, g := range gaps[:min(f.columns, len(gaps))] {
			p := panel(fmt.Sprintf("%s, start %s", v.method, v.start), "sample", "")
			addGap(p, l.Curve, g)
			f.panels = append(f.panels, p)
		}
	}
	return []figure{f}
}

// gapsOf returns the gaps that consist of the missing samples.
func gapsOf(missing []float64) (out []audio.Gap) {
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

// addGap draws the mean, a band of ±2 standard deviations and the signal around a gap, which is shaded.
func addGap(p *plot.Plot, c *Curve, g audio.Gap) {
	from, to := max(0, g.Start-g.Len()), min(len(c.X), g.End+g.Len())
	truth := make([]float64, len(c.X))
	for _, t := range []*Trace{c.Observed, c.Missing} {
		for i, x := range t.X {
			truth[int(x)] = t.Y[i]
		}
	}
	near, truth := &Curve{X: c.X[from:to], Mean: c.Mean[from:to], SD: c.SD[from:to]}, truth[from:to]
	lo, hi := slices.Min(truth), slices.Max(truth)
	margin := 0.5 * (hi - lo) // wider bands are clipped because they would hide the signal
	lo, hi = lo-margin, hi+margin
	a, b := float64(g.Start)-0.5, float64(g.End)-0.5
	p.Add(area(color.Gray{0xec}, plotter.XYs{{X: a, Y: lo}, {X: b, Y: lo}, {X: b, Y: hi}, {X: a, Y: hi}}))
	addBand(p, near, lo, hi)
	p.Add(stroke(red, points(near.X, truth)))
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = c.X[from], c.X[to-1], lo, hi
}

// audio4kFigures draws the paper's three panels: training error, test error and time against K, with mean and standard
// deviation over the repeats. The time includes the steps of only one initialization, because a collapsed fit is
// repeated, which does not depend on K.
func audio4kFigures(lines []Line) []figure {
	lines = ok(lines)
	if len(lines) == 0 {
		return nil
	}
	var starts []group
	for i, of := range jsonl.Groups(lines, startOf) {
		starts = append(starts, group{of[0].Start, []color.Color{blue, red, green}[i%3], of})
	}
	f := figure{name: "audio4k", columns: 3, width: 30 * vg.Centimeter, height: 10 * vg.Centimeter}
	for _, of := range []struct {
		title     string
		quantity  quantity
		logarithm bool // the slope of time matters
	}{
		{"train RMSE", scoreOf(TrainRMSE), false},
		{"test RMSE", scoreOf(TestRMSE), false},
		{"seconds of all steps", func(l Line) float64 { return scoreOf(StepTime)(l) * float64(l.Iterations) }, true},
	} {
		p := panel(of.title, "K", "")
		if of.logarithm {
			p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
		}
		addMeans(p, starts, countOf, of.quantity)
		if len(f.panels) == 0 {
			p.Legend.Top = false
			for _, g := range starts {
				p.Legend.Add(g.label, stroke(g.color, nil))
			}
		}
		if !of.logarithm {
			p.Y.Min = 0
		}
		f.panels = append(f.panels, p)
	}
	return []figure{f}
}
