package paper

import (
	"fmt"
	"io"
	"math"
	"strings"

	"gonum.org/v1/gonum/stat"
)

// A contest is VSSGP, as package impute comes, against the best autoregressive
// fill on the gaps of one length in one recording.
type contest struct {
	name          string
	ms            int
	best          string  // of the autoregressive fills, the one with the least geometric mean over these gaps, known afterwards
	ratio, factor float64 // of RMSE over gaps: geometric mean, and its standard error as a factor
	pooled        float64 // RMSE over all samples by RMSE over all samples
	coverage      float64
}

// contests are those of some lines, by recording, then length.
func contests(lines []Line) []contest {
	own := variant{method: "vssgp", start: ownStart}
	var out []contest
	for _, name := range casesOf(lines) {
		for _, ms := range lengthsOf(lines) {
			here := where(atMS(lines, ms), func(l Line) bool { return l.Case == name })
			c := contest{name: name, ms: ms, ratio: math.Inf(-1)}
			for _, v := range variantsOf(where(here, func(l Line) bool { return strings.HasPrefix(l.Method, "ar") })) {
				p := pairs(here, own, v)
				if len(p) == 0 {
					continue
				}
				r, factor := ratio(p)
				if r <= c.ratio { // less for us: the other is better
					continue
				}
				a, b := sides(p)
				rmseA, _, coverage, _ := pooled(a)
				rmseB, _, _, _ := pooled(b)
				c.best, c.ratio, c.factor, c.pooled, c.coverage = v.method, r, factor, rmseA/rmseB, stat.Mean(coverage, nil)
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

// contestTables are the ratios by recording and length, each with its verdict,
// and the coverage, and what they add up to.
func contestTables(w io.Writer, lines []Line) {
	all := contests(lines)
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(w, "RMSE of vssgp (%s) by that of the best autoregressive fill, which is chosen for each recording and length afterwards. Geometric mean over gaps, times or by its standard error: quiet gaps count as much as loud ones. Level is within %.0f %%.\n\n", ownStart, 100*levelWithin)
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
	lengths := lengthsOf(lines)
	head := []string{"recording"}
	for _, ms := range lengths {
		head = append(head, fmt.Sprintf("%d ms", ms))
	}
	rows := [][]string{head}
	for _, name := range casesOf(lines) {
		row := []string{name}
		for _, ms := range lengths {
			text := "–"
			for _, c := range all {
				if c.name == name && c.ms == ms {
					text = cell(c)
				}
			}
			row = append(row, text)
		}
		rows = append(rows, row)
	}
	writeTable(w, rows)
}

// sumUp counts what keeps up to the length aimed at, and what is calibrated.
func sumUp(w io.Writer, all []contest) {
	var short, byGap, bySample, in int
	for _, c := range all {
		if c.calibrated() {
			in++
		}
		if c.ms > aimedAt {
			continue
		}
		short++
		if verdict(c.ratio) != "worse" {
			byGap++
		}
		if verdict(c.pooled) != "worse" {
			bySample++
		}
	}
	fmt.Fprintf(w, "To %d ms vssgp is ahead of or level with the best autoregressive fill in %d of %d recordings × lengths by gaps, in %d by samples. Calibrated in %d of %d.\n\n", aimedAt, byGap, short, bySample, in, len(all))
}
