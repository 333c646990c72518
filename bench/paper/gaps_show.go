package paper

import (
	"cmp"
	"fmt"
	"image/color"
	"io"
	"math"
	"slices"
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
	ownStart     = spectrumStart + withWindows // of package impute as it comes
	levelWithin  = 0.05                        // a ratio nearer to one than that is level
	calibratedLo = 0.90                        // coverage of an honest 95 % interval, over some thousand dependent samples
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

// byLength are the lines by rising length of their gaps.
func byLength(lines []Line) []Line {
	return slices.SortedStableFunc(slices.Values(lines), func(a, b Line) int { return cmp.Compare(gapMS(a), gapMS(b)) })
}

// lengthsOf are the gaps' lengths in ms, rising.
func lengthsOf(lines []Line) []int { return jsonl.Distinct(byLength(lines), gapMS) }

// isSlow: the method fills only the first gaps.
func isSlow(l Line) bool { return l.Method == "gp" || strings.HasPrefix(l.Start, paperStart) }

func gapsTables(w io.Writer, lines []Line) {
	scored := ok(lines)
	fast := jsonl.Where(scored, isSlow, false)
	fmt.Fprintf(w, "Gaps are at places drawn all over each recording, scaled to rms %g, but where the 0.1 s around are more than %d dB "+
		"below it; %g s from each other at least. vssgp from %q is what `vssgp impute` does. Means over recordings and seeds.\n\n",
		gapfill.Level, -placeLevel, placeApart, ownStart)
	for _, ms := range lengthsOf(fast) {
		fmt.Fprintf(w, "Gaps of %d ms, every gap.\n\n", ms)
		gapsTable(w, jsonl.Where(fast, gapMS, ms))
	}
	fmt.Fprintf(w, "The slow methods had the first gaps of the first seed only. On the same gaps vssgp from %q and ar; ratios of RMSE are "+
		"geometric means over gaps.\n\n", ownStart)
	pairTable(w, scored)
	contestTables(w, fast)
}

// gapsTable is a row for each method.
func gapsTable(w io.Writer, lines []Line) {
	meanOf := func(head string, name Score) column {
		return column{head, func(l []Line) string { return mean(values(l, name)) }}
	}
	writeColumns(w, jsonl.Groups(lines, variantOf), methodColumn, startColumn, meanOf("SNR, dB", SNR), meanOf("test RMSE", TestRMSE),
		meanOf("test STFT", TestSTFT),
		column{"test STFT, silence = 1", func(l []Line) string { return mean(relative(l, TestSTFT, ZeroTest)) }},
		meanOf("LSD, dB", LSD), coverage, meanOf("NLPD", NLPD), column{"seconds a gap", secondsPerGap},
		column{"gaps", func(l []Line) string { return fmt.Sprint(gapsIn(l)) }})
}

func secondsPerGap(l []Line) string { return digits(floats.Sum(seconds(l)) / float64(gapsIn(l))) }

func gapsIn(lines []Line) (n int) {
	for _, l := range lines {
		n += len(l.PerGap)
	}
	return n
}

// pairs are the scores of the gaps that both variants filled.
func pairs(lines []Line, a, b variant) (ofA, ofB []GapScore) {
	for _, p := range pairedLines(lines, a, b) {
		for _, g := range p[0].PerGap {
			at := func(other GapScore) bool { return other.Start == g.Start }
			if i := slices.IndexFunc(p[1].PerGap, at); i >= 0 {
				ofA, ofB = append(ofA, g), append(ofB, p[1].PerGap[i])
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
				continue // a run that left one of them out
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

// A contest is VSSGP, as package impute comes, against the best autoregressive fill on the gaps of one length in one recording.
type contest struct {
	name          string
	ms            int
	best          string  // of the autoregressive fills, the one with the least geometric mean over these gaps, known afterwards
	ratio, factor float64 // of RMSE over gaps: geometric mean, and its standard error as a factor
	pooled        float64 // RMSE over all samples by RMSE over all samples
	coverage      float64
}

// contests finds the best autoregressive fill for each recording and length.
func contests(lines []Line) (out []contest) {
	for _, of := range jsonl.Groups(lines, caseOf) {
		for _, here := range jsonl.Groups(byLength(of), gapMS) {
			c := contest{name: here[0].Case, ms: gapMS(here[0]), ratio: math.Inf(-1)}
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

func (c contest) calibrated() bool { return calibratedLo <= c.coverage && c.coverage <= calibratedHi }

// contestTables are the ratios by recording and length, each with its verdict, and the coverage, and what they add up to.
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
	columns := []column{{"recording", func(l []Line) string { return l[0].Case }}}
	for _, ms := range lengthsOf(lines) {
		columns = append(columns, column{fmt.Sprintf("%d ms", ms), func(l []Line) string {
			i := slices.IndexFunc(all, func(c contest) bool { return c.name == l[0].Case && c.ms == ms })
			if i < 0 {
				return "–"
			}
			return cell(all[i])
		}})
	}
	writeColumns(w, jsonl.Groups(lines, caseOf), columns...)
}

// sumUp counts the contests that VSSGP does not lose, up to the length aimed at, and the calibrated ones.
func sumUp(w io.Writer, all []contest) {
	var short, byGap, bySample, in int
	count := func(n *int, counts bool) {
		if counts {
			*n++
		}
	}
	for _, c := range all {
		aimed := c.ms <= aimedAt
		count(&in, c.calibrated())
		count(&short, aimed)
		count(&byGap, aimed && verdict(c.ratio) != "worse")
		count(&bySample, aimed && verdict(c.pooled) != "worse")
	}
	fmt.Fprintf(w, "To %d ms vssgp is ahead of or level with the best autoregressive fill in %d of %d recordings × lengths by gaps, in %d by "+
		"samples. Calibrated in %d of %d.\n\n", aimedAt, byGap, short, bySample, in, len(all))
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
func gapsFigures(lines []Line) (out []figure, err error) {
	lines = ok(lines)
	if len(lines) == 0 {
		return nil, nil
	}
	snr := func(l []Line) []float64 { return values(l, SNR) }
	inside := func(l []Line) []float64 {
		return each(l, func(l Line) (float64, bool) { v, have := l.Scores[Coverage]; return 100 * v, have })
	}
	for _, of := range []struct {
		name, axis string
		values     func(lines []Line) []float64
		limits     []float64
	}{{"gaps-snr", "SNR, dB", snr, nil}, {"gaps-coverage", "coverage, %", inside, []float64{100 * calibratedLo, 100 * calibratedHi}}} {
		f := figure{name: of.name, Figure: report.Figure{Columns: 2, Width: 24 * vg.Centimeter, Height: 18 * vg.Centimeter}}
		for _, m := range gapsMethods {
			if len(of.values(jsonl.Where(lines, variantOf, m.variant))) > 0 {
				f.Key = append(f.Key, report.Entry{Name: m.label, Mark: lineMark(m.color)})
			}
		}
		for _, here := range jsonl.Groups(lines, caseOf) {
			p := report.Panel(here[0].Case, "gap, ms", of.axis)
			for _, m := range gapsMethods {
				if err := addMeans(p, byLength(jsonl.Where(here, variantOf, m.variant)), gapMS, of.values, false, m.color); err != nil {
					return nil, err
				}
			}
			lengths := lengthsOf(here)
			for _, limit := range of.limits {
				from, to := float64(lengths[0]), float64(lengths[len(lengths)-1])
				if err := addLine(p, plotter.XYs{{X: from, Y: limit}, {X: to, Y: limit}}, report.Grey); err != nil {
					return nil, err
				}
				p.Y.Min, p.Y.Max = min(p.Y.Min, 70), 100
			}
			logTicks(&p.X, lengths)
			f.Panels = append(f.Panels, p)
		}
		out = append(out, f)
	}
	return out, nil
}
