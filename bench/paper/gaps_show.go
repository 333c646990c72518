package paper

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"
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

func atMS(lines []Line, ms int) []Line {
	return where(lines, func(l Line) bool { return gapMS(l) == ms })
}

// lengthsOf are the gaps' lengths in ms, rising.
func lengthsOf(lines []Line) []int {
	out := distinct(lines, gapMS)
	slices.Sort(out)
	return out
}

// isSlow: the method fills only the first gaps.
func isSlow(l Line) bool { return l.Method == "gp" || strings.HasPrefix(l.Start, paperStart) }

func gapsTables(w io.Writer, lines []Line) {
	scored := ok(lines)
	fast := where(scored, func(l Line) bool { return !isSlow(l) })
	fmt.Fprintf(w, "Gaps are at places drawn all over each recording, scaled to rms %g, but where the 0.1 s around are more than %d dB below it; %g s from each other at least. "+
		"vssgp from %q is what `vssgp impute` does. Means over recordings and seeds.\n\n", signalRMS, -placeLevel, placeApart, ownStart)
	for _, ms := range lengthsOf(fast) {
		fmt.Fprintf(w, "Gaps of %d ms, every gap.\n\n", ms)
		gapsTable(w, atMS(fast, ms))
	}
	fmt.Fprintf(w, "The slow methods had the first gaps of the first seed only. On the same gaps vssgp from %q and ar; ratios of RMSE are geometric means over gaps.\n\n", ownStart)
	pairTable(w, scored)
	contestTables(w, fast)
}

// gapsTable is a row for each method.
func gapsTable(w io.Writer, lines []Line) {
	rows := [][]string{{"method", "start", "SNR, dB", "test RMSE", "test STFT", "test STFT, silence = 1", "LSD, dB", "coverage", "NLPD", "seconds a gap", "gaps"}}
	for _, v := range variantsOf(lines) {
		here := v.of(lines)
		n := gapsIn(here)
		rows = append(rows, []string{v.method, v.start, mean(values(here, SNR)), mean(values(here, TestRMSE)), mean(values(here, TestSTFT)),
			mean(relative(here, TestSTFT, ZeroTest)), mean(values(here, LSD)), percent(values(here, Coverage)), mean(values(here, NLPD)), digits(total(seconds(here)) / float64(n)), fmt.Sprint(n)})
	}
	writeTable(w, rows)
}

func mean(v []float64) string {
	if len(v) == 0 {
		return "–"
	}
	return digits(stat.Mean(v, nil))
}

func total(v []float64) (sum float64) {
	for _, x := range v {
		sum += x
	}
	return sum
}

func gapsIn(lines []Line) (n int) {
	for _, l := range lines {
		n += len(l.PerGap)
	}
	return n
}

// site is one gap of one seed.
type site struct {
	name  string
	ms    int
	seed  uint64
	start int
}

// single is one gap's scores under two methods.
type single struct{ a, b GapScore }

// pairs are the gaps that both variants filled.
func pairs(lines []Line, a, b variant) []single {
	at := func(l Line, g GapScore) site { return site{name: l.Case, ms: gapMS(l), seed: l.Seed, start: g.Start} }
	under := map[site]GapScore{}
	for _, l := range b.of(lines) {
		for _, g := range l.PerGap {
			under[at(l, g)] = g
		}
	}
	var out []single
	for _, l := range a.of(lines) {
		for _, g := range l.PerGap {
			if other, have := under[at(l, g)]; have {
				out = append(out, single{g, other})
			}
		}
	}
	return out
}

// firsts and seconds of pairs.
func sides(p []single) (a, b []GapScore) {
	for _, s := range p {
		a, b = append(a, s.a), append(b, s.b)
	}
	return a, b
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

// ratio is the geometric mean over gaps of the first RMSE over the second, with
// the factor that a standard error of its logarithm makes.
func ratio(p []single) (mean, factor float64) {
	var logs []float64
	for _, s := range p {
		if s.a.RMSE > 0 && s.b.RMSE > 0 {
			logs = append(logs, math.Log(s.a.RMSE/s.b.RMSE))
		}
	}
	m, sd := stat.MeanStdDev(logs, nil)
	if len(logs) < 2 {
		sd = 0
	}
	return math.Exp(m), math.Exp(sd / math.Sqrt(float64(len(logs))))
}

// pairTable holds each slow method against vssgp and ar on the gaps that it
// filled.
func pairTable(w io.Writer, lines []Line) {
	own, ar := variant{method: "vssgp", start: ownStart}, variant{method: "ar"}
	rows := [][]string{{"gap, ms", "method", "start", "gaps", "SNR, dB", "vssgp's", "ar's", "RMSE", "vssgp's", "ar's", "RMSE by vssgp's", "by ar's", "coverage", "vssgp's", "NLPD", "vssgp's", "seconds a gap"}}
	for _, ms := range lengthsOf(lines) {
		here := atMS(lines, ms)
		for _, v := range variantsOf(where(here, isSlow)) {
			byOwn, byAR := pairs(here, v, own), pairs(here, v, ar)
			if len(byOwn) == 0 || len(byAR) != len(byOwn) {
				continue // a run that left one of them out
			}
			a, b := sides(byOwn)
			_, c := sides(byAR)
			rmseA, snrA, coverA, nlpdA := pooled(a)
			rmseB, snrB, coverB, nlpdB := pooled(b)
			rmseC, snrC, _, _ := pooled(c)
			toOwn, _ := ratio(byOwn)
			toAR, _ := ratio(byAR)
			rows = append(rows, []string{fmt.Sprint(ms), v.method, v.start, fmt.Sprint(len(a)), digits(snrA), digits(snrB), digits(snrC), digits(rmseA), digits(rmseB), digits(rmseC),
				digits(toOwn), digits(toAR), percent(coverA), percent(coverB), mean(nlpdA), mean(nlpdB), digits(total(seconds(v.of(here))) / float64(gapsIn(v.of(here))))})
		}
	}
	writeTable(w, rows)
}
