package forecasts

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/vssgp/vssgp/bench/internal/jsonl"
	"github.com/vssgp/vssgp/bench/internal/machine"
)

// mostColumns is the most series that have a column of their own.
const mostColumns = 10

// Print prints the tables of every set, relative to a method, in Markdown, and for each method its worst series.
func Print(w io.Writer, lines []Line, base string, worst int) {
	for _, of := range jsonl.Groups(lines, func(l Line) string { return l.Set }) {
		fmt.Fprintf(w, "\n## %s\n", of[0].Set)
		names := jsonl.Distinct(of, func(l Line) string { return l.Series })
		if len(names) <= mostColumns {
			printSeries(w, of, names)
		}
		printPooled(w, of, names, base)
		printWorst(w, of, base, worst)
	}
}

// byMethod groups lines.
func byMethod(lines []Line) [][]Line {
	return jsonl.Groups(lines, func(l Line) string { return l.Method })
}

// find returns the line of a series that has scores, or nil.
func find(lines []Line, series string) *Line {
	for i := range lines {
		if lines[i].Series == series && lines[i].Status == machine.OK {
			return &lines[i]
		}
	}
	return nil
}

// printSeries prints the error, the score and the coverage on each series.
func printSeries(w io.Writer, lines []Line, names []string) {
	head(w, append([]string{"RMSE, CRPS, coverage"}, names...)...)
	for _, of := range byMethod(lines) {
		cells := []string{of[0].Method}
		for _, name := range names {
			cell := "–"
			if l := find(of, name); l != nil {
				cell = fmt.Sprintf("%.3g, %.3g, %.2f", l.RMSE, l.CRPS, l.Coverage)
			}
			cells = append(cells, cell)
		}
		row(w, cells...)
	}
}

// A pooled holds the scores of a method over all the series of a set.
type pooled struct {
	series, rows, forecasts int
	covered, least          float64 // coverage of all rows, and of the series with the least
	mase, msis, smape       float64 // sums over series; msis is NaN if a series has none
	baseMASE, baseMSIS      float64 // of the base, on the same series
	logCRPS, logRMSE, nlpd  float64 // sums over series, of what is relative to the base
	relative                int     // series of these
	seconds                 float64
	failed                  []string
}

// gather pools a method's lines.
func gather(lines []Line, base []Line) (p pooled) {
	p.least = math.Inf(1)
	for _, l := range lines {
		if l.Status != machine.OK {
			p.failed = append(p.failed, fmt.Sprintf("%s: %s", l.Series, l.Status))
			continue
		}
		p.series, p.rows, p.forecasts = p.series+1, p.rows+l.Rows, p.forecasts+l.Forecasts
		p.covered += l.Coverage * float64(l.Rows)
		p.least = min(p.least, l.Coverage)
		p.seconds += l.Seconds * float64(l.Forecasts)
		p.smape += l.SMAPE
		if b := find(base, l.Series); b != nil && l.CRPS > 0 && b.CRPS > 0 && l.RMSE > 0 && b.RMSE > 0 {
			p.relative++
			p.mase, p.baseMASE = p.mase+l.MASE, p.baseMASE+b.MASE
			p.msis, p.baseMSIS = p.msis+orNaN(l.MSIS), p.baseMSIS+orNaN(b.MSIS)
			p.logCRPS += math.Log(l.CRPS / b.CRPS)
			p.logRMSE += math.Log(l.RMSE / b.RMSE)
			p.nlpd += l.NLPD - b.NLPD
		}
	}
	return p
}

// orNaN returns v, or NaN if it is 0.
func orNaN(v float64) float64 {
	if v == 0 {
		return math.NaN()
	}
	return v
}

// printPooled prints what a set says as a whole: coverage of all rows, CRPS and RMSE relative to a method as geometric means over series,
// MASE and MSIS as the competition averages them, and by how many nats a row the density is better.
func printPooled(w io.Writer, lines []Line, names []string, base string) {
	head(w, "over all series", "CRPS / "+base, "RMSE / "+base, "NLPD − "+base, "coverage", "least", "MASE", "MASE / "+base, "MSIS",
		"MSIS / "+base, "sMAPE", "seconds", "series")
	relativeTo := jsonl.Where(lines, func(l Line) string { return l.Method }, base)
	var notes []string
	for _, of := range byMethod(lines) {
		p := gather(of, relativeTo)
		for _, f := range p.failed {
			notes = append(notes, of[0].Method+", "+f)
		}
		n, r := float64(p.series), float64(p.relative)
		ratio := func(format string, v float64, of float64) string {
			if of == 0 || math.IsInf(v, 0) || math.IsNaN(v) {
				return "–"
			}
			return fmt.Sprintf(format, v)
		}
		row(w, of[0].Method, ratio("%.3f", math.Exp(p.logCRPS/r), r), ratio("%.3f", math.Exp(p.logRMSE/r), r), ratio("%+.2f", p.nlpd/r, r),
			ratio("%.3f", p.covered/float64(p.rows), n), ratio("%.2f", p.least, n), ratio("%.3f", p.mase/r, r),
			ratio("%.3f", p.mase/p.baseMASE, r), ratio("%.3f", p.msis/r, r), ratio("%.3f", p.msis/p.baseMSIS, r),
			ratio("%.2f", p.smape/n, n), ratio("%.3g", p.seconds/float64(p.forecasts), n), fmt.Sprintf("%d of %d", p.series, len(names)))
	}
	for _, n := range notes {
		fmt.Fprintln(w, "\n"+n)
	}
}

// printWorst prints for each method the n series with the largest CRPS relative to the base.
func printWorst(w io.Writer, lines []Line, base string, n int) {
	if n == 0 {
		return
	}
	relativeTo := jsonl.Where(lines, func(l Line) string { return l.Method }, base)
	head(w, "worst series", "series: CRPS, MASE / "+base+", coverage")
	for _, of := range byMethod(lines) {
		type relative struct {
			Line
			crps, mase float64
		}
		var all []relative
		for _, l := range of {
			if b := find(relativeTo, l.Series); b != nil && l.Status == machine.OK && l.Method != base {
				all = append(all, relative{l, l.CRPS / b.CRPS, l.MASE / b.MASE})
			}
		}
		slices.SortStableFunc(all, func(a, b relative) int { return cmp.Compare(b.crps, a.crps) })
		var cells []string
		for _, l := range all[:min(n, len(all))] {
			cells = append(cells, fmt.Sprintf("%s: %.2f, %.2f, %.2f", l.Series, l.crps, l.mase, l.Coverage))
		}
		if len(cells) > 0 {
			row(w, of[0].Method, strings.Join(cells, "; "))
		}
	}
}

// head prints the head of a table.
func head(w io.Writer, cells ...string) {
	fmt.Fprintln(w)
	row(w, cells...)
	row(w, strings.Split(strings.Repeat("---,", len(cells)-1)+"---", ",")...)
}

// row prints a line of a table.
func row(w io.Writer, cells ...string) { fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | ")) }
