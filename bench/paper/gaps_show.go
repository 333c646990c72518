package paper

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/vssgp/vssgp/bench/internal/gapfill"
	"github.com/vssgp/vssgp/bench/internal/jsonl"
	"github.com/vssgp/vssgp/internal/report"
)

const (
	levelWithin  = 0.05 // a ratio nearer to one than that is level
	calibratedLo = 0.90 // coverage of an honest 95 % interval, over some thousand dependent samples
	calibratedHi = 0.98
	aimedAt      = 20 // ms: up to which VSSGP is meant to keep up with AR
)

// gapMS is the length of a line's gaps to the millisecond.
func gapMS(l Line) int {
	if l.Rate == 0 {
		return 0
	}
	return int(math.Round(1000 * float64(l.Gap) / float64(l.Rate)))
}

// byLength sorts lines by the length of their gaps.
func byLength(lines []Line) []Line { return rising(lines, gapMS) }

// lengthsOf are the gaps' lengths in ms, rising.
func lengthsOf(lines []Line) []int { return jsonl.Distinct(byLength(lines), gapMS) }

// isSlow: the method fills only the first gaps.
func isSlow(l Line) bool { return l.Method == "gp" || strings.HasPrefix(l.Start, paperStart) }

func gapsTables(w io.Writer, lines []Line) {
	lines = ok(lines)
	fast := jsonl.Where(lines, isSlow, false)
	fmt.Fprintf(w, "Gaps are at places drawn all over each recording, scaled to rms %g, but where the 0.1 s around are more than %d dB "+
		"below it; %g s from each other at least. vssgp from %q is what `vssgp impute` does. Means over recordings and seeds.\n\n",
		gapfill.Level, -placeLevel, placeApart, ownStart)
	for _, here := range jsonl.Groups(byLength(fast), gapMS) {
		fmt.Fprintf(w, "Gaps of %d ms, every gap.\n\n", gapMS(here[0]))
		writeColumns(w, jsonl.Groups(here, variantOf), methodColumn, startColumn, summary("SNR, dB", mean, scoreOf(SNR)),
			summary("test RMSE", mean, scoreOf(TestRMSE)), summary("test STFT", mean, scoreOf(TestSTFT)),
			summary("test STFT, silence = 1", mean, scoreOf(TestSTFT).by(scoreOf(ZeroTest))), summary("LSD, dB", mean, scoreOf(LSD)),
			coverage, summary("NLPD", mean, scoreOf(NLPD)), column{"seconds a gap", secondsPerGap},
			column{"gaps", func(l []Line) string { return fmt.Sprint(gapsIn(l)) }})
	}
	fmt.Fprintf(w, "The slow methods had the first gaps of the first seed only. On the same gaps vssgp from %q and ar; ratios of RMSE are "+
		"geometric means over gaps.\n\n", ownStart)
	pairTable(w, lines)
	contestTables(w, fast)
}

func secondsPerGap(l []Line) string {
	return digits(floats.Sum(values(l, secondsOf)) / float64(gapsIn(l)))
}

func gapsIn(lines []Line) (n int) {
	for _, l := range lines {
		n += len(l.PerGap)
	}
	return n
}

// pairs returns the scores of the gaps that both variants filled.
func pairs(lines []Line, a, b variant) (ofA, ofB []GapScore) {
	for _, p := range pairedLines(lines, a, b) {
		for _, g := range p[0].PerGap {
			for _, other := range jsonl.Where(p[1].PerGap, func(o GapScore) int { return o.Start }, g.Start) {
				ofA, ofB = append(ofA, g), append(ofB, other)
			}
		}
	}
	return ofA, ofB
}

// pooled are RMSE, SNR in dB, coverage and NLPD over gaps of the same length.
func pooled(gaps []GapScore) (rmse, snr float64, coverage, nlpd []float64) {
	var squares, power float64
	for _, g := range gaps {
		squares += g.RMSE * g.RMSE
		power += g.RMS * g.RMS
		if g.Coverage != nil && g.NLPD != nil {
			coverage, nlpd = append(coverage, *g.Coverage), append(nlpd, *g.NLPD)
		}
	}
	return math.Sqrt(squares / float64(len(gaps))), 10 * math.Log10(power/squares), coverage, nlpd
}

// ratio is the geometric mean over gaps of the first RMSE over the second, with the factor that a standard error of its logarithm makes.
func ratio(a, b []GapScore) (mean, factor float64) {
	var logs []float64
	for i := range a {
		if a[i].RMSE > 0 && b[i].RMSE > 0 {
			logs = append(logs, math.Log(a[i].RMSE/b[i].RMSE))
		}
	}
	m, sd := stat.MeanStdDev(logs, nil)
	if len(logs) < 2 {
		sd = 0
	}
	return math.Exp(m), math.Exp(sd / math.Sqrt(float64(len(logs))))
}

// pairTable holds each slow method against vssgp and ar on the gaps that it filled.
func pairTable(w io.Writer, lines []Line) {
	rows := [][]string{{"gap, ms", "method", "start", "gaps", "SNR, dB", "vssgp's", "ar's", "RMSE", "vssgp's", "ar's", "RMSE by vssgp's",
		"by ar's", "coverage", "vssgp's", "NLPD", "vssgp's", "seconds a gap"}}
	for _, here := range jsonl.Groups(byLength(lines), gapMS) {
		for _, of := range jsonl.Groups(jsonl.Where(here, isSlow, true), variantOf) {
			v := variantOf(of[0])
			a, b := pairs(here, v, variant{"vssgp", ownStart})
			sameAsA, c := pairs(here, v, variant{method: "ar"})
			if len(a) == 0 || len(c) != len(a) {
				continue // a run left one of them out
			}
			rmseA, snrA, coverA, nlpdA := pooled(a)
			rmseB, snrB, coverB, nlpdB := pooled(b)
			rmseC, snrC, _, _ := pooled(c)
			toOwn, _ := ratio(a, b)
			toAR, _ := ratio(sameAsA, c)
			row := []string{fmt.Sprint(gapMS(of[0])), v.method, v.start, fmt.Sprint(len(a))}
			for _, v := range []float64{snrA, snrB, snrC, rmseA, rmseB, rmseC, toOwn, toAR} {
				row = append(row, digits(v))
			}
			rows = append(rows, append(row, percent(coverA), percent(coverB), mean(nlpdA), mean(nlpdB), secondsPerGap(of)))
		}
	}
	writeTable(w, rows)
}

// A place is gaps of one length, in ms, in one recording.
type place struct {
	name string
	ms   int
}

func placeOf(l Line) place { return place{l.Case, gapMS(l)} }

// A contest is VSSGP, as package impute comes, against the best autoregressive fill of a place.
type contest struct {
	place
	best          string  // of the autoregressive fills, by the geometric mean over these gaps, which is known afterwards
	ratio, factor float64 // of RMSE over gaps: geometric mean, and its standard error as a factor
	pooled        float64 // RMSE over all samples by RMSE over all samples
	coverage      float64
}

// contests finds the best autoregressive fill for each place.
func contests(lines []Line) (out []contest) {
	for _, here := range jsonl.Groups(lines, placeOf) {
		c := contest{place: placeOf(here[0]), ratio: math.Inf(-1)}
		for _, method := range jsonl.Distinct(here, methodOf) {
			if !strings.HasPrefix(method, "ar") {
				continue
			}
			a, b := pairs(here, variant{"vssgp", ownStart}, variant{method: method})
			r, factor := ratio(a, b)
			if len(a) == 0 || r <= c.ratio { // less for us: the other is better
				continue
			}
			rmseA, _, coverage, _ := pooled(a)
			rmseB, _, _, _ := pooled(b)
			c.best, c.ratio, c.factor, c.pooled, c.coverage = method, r, factor, rmseA/rmseB, stat.Mean(coverage, nil)
		}
		if c.best != "" {
			out = append(out, c)
		}
	}
	return out
}

// verdict is about a ratio of errors.
func verdict(ratio float64) string {
	switch {
	case ratio < 1/(1+levelWithin):
		return "better"
	case ratio <= 1+levelWithin:
		return "level"
	}
	return "worse"
}

// calibrated says whether the coverage is honest.
func (c contest) calibrated() bool { return calibratedLo <= c.coverage && c.coverage <= calibratedHi }

// contestTables writes the ratios by recording and length, each with its verdict, the coverage, and how many are won.
func contestTables(w io.Writer, lines []Line) {
	all := contests(lines)
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(w, "RMSE of vssgp (%s) by that of the best autoregressive fill, which is chosen for each recording and length afterwards. "+
		"Geometric mean over gaps, times or by its standard error: quiet gaps count as much as loud ones. Level is within %.0f %%.\n\n",
		ownStart, 100*levelWithin)
	contestTable(w, lines, all, func(c contest) string {
		return fmt.Sprintf("%.2f ×÷ %.2f %s", c.ratio, c.factor, verdict(c.ratio))
	})
	fmt.Fprintf(w, "The same of the RMSE over all samples of the gaps: loud gaps count.\n\n")
	contestTable(w, lines, all, func(c contest) string { return fmt.Sprintf("%.2f %s", c.pooled, verdict(c.pooled)) })
	fmt.Fprintf(w, "Coverage of its 95 %% intervals: in from %.0f to %.0f %%.\n\n", 100*calibratedLo, 100*calibratedHi)
	contestTable(w, lines, all, func(c contest) string {
		in := "out"
		if c.calibrated() {
			in = "in"
		}
		return fmt.Sprintf("%.1f %% %s", 100*c.coverage, in)
	})
	sumUp(w, all)
}

// contestTable is a row for each recording, a column for each length.
func contestTable(w io.Writer, lines []Line, all []contest, cell func(contest) string) {
	columns := []column{shared("recording", caseOf)}
	for _, ms := range lengthsOf(lines) {
		columns = append(columns, column{fmt.Sprintf("%d ms", ms), func(l []Line) string {
			for _, c := range all {
				if c.place == (place{l[0].Case, ms}) {
					return cell(c)
				}
			}
			return "–"
		}})
	}
	writeColumns(w, jsonl.Groups(lines, caseOf), columns...)
}

// sumUp counts the contests that VSSGP does not lose, up to the length aimed at, and the calibrated ones.
func sumUp(w io.Writer, all []contest) {
	count := func(all []contest, is func(contest) bool) int { return len(jsonl.Where(all, is, true)) }
	short := jsonl.Where(all, func(c contest) bool { return c.ms <= aimedAt }, true)
	byGap := count(short, func(c contest) bool { return verdict(c.ratio) != "worse" })
	bySample := count(short, func(c contest) bool { return verdict(c.pooled) != "worse" })
	fmt.Fprintf(w, "To %d ms vssgp is ahead of or level with the best autoregressive fill in %d of %d recordings × lengths by gaps, in %d by "+
		"samples. Calibrated in %d of %d.\n\n", aimedAt, byGap, len(short), bySample, count(all, contest.calibrated), len(all))
}

// gapsMethods tell the methods of gaps apart.
var gapsMethods = []struct {
	variant
	label string
	color color.Color
}{
	{variant{method: "linear"}, "linear", report.Grey},
	{variant{method: "ar"}, "AR", report.Red},
	{variant{method: "ar, for speech"}, "AR, for speech", report.Orange},
	{variant{method: "ar, for music"}, "AR, for music", report.Pink},
	{variant{"vssgp", ownStart}, "VSSGP", report.Blue},
	{variant{"vssgp", spectrumStart + withoutWindows}, "VSSGP, no windows", report.Sky},
	{variant{"vssgp", paperStart + withWindows}, "paper's start, 3 gaps", report.Green},
	{variant{"gp", gpStart}, "GP, 3 gaps", color.Black},
}

// gapsFigures draws SNR and coverage against the gaps' length, a panel for each recording.
func gapsFigures(lines []Line) (out []figure) {
	lines = ok(lines)
	groupsOf := func(lines []Line) (groups []group) {
		for _, m := range gapsMethods {
			groups = append(groups, group{m.label, m.color, jsonl.Where(lines, variantOf, m.variant)})
		}
		return groups
	}
	for _, of := range []struct {
		name, axis string
		quantity   quantity
		limits     []float64
	}{
		{"gaps-snr", "SNR, dB", scoreOf(SNR), nil},
		{"gaps-coverage", "coverage, %", func(l Line) float64 { return 100 * scoreOf(Coverage)(l) }, []float64{100 * calibratedLo, 100 * calibratedHi}},
	} {
		f := figure{name: of.name, Figure: report.Figure{Columns: 2, Width: 24 * vg.Centimeter, Height: 18 * vg.Centimeter}}
		f.Key = legend(groupsOf(lines), of.quantity)
		for _, here := range jsonl.Groups(lines, caseOf) {
			p := report.Panel(here[0].Case, "gap, ms", of.axis)
			addMeans(p, groupsOf(here), gapMS, of.quantity, false)
			lengths := lengthsOf(here)
			from, to := float64(lengths[0]), float64(lengths[len(lengths)-1])
			for _, limit := range of.limits {
				p.Add(stroke(report.Grey, plotter.XYs{{X: from, Y: limit}, {X: to, Y: limit}}))
				p.Y.Min, p.Y.Max = min(p.Y.Min, 70), 100
			}
			f.Panels = append(f.Panels, p)
		}
		out = append(out, f)
	}
	return out
}
