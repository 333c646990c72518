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

// maxColumns is the maximum number of series with separate columns.
const maxColumns = 10

// Print prints the tables of every set in Markdown, with scores relative to method base, and a number of worst series
// for each method.
func Print(w io.Writer, lines []Line, base string, worst int) {
	for _, of := range jsonl.Groups(lines, func(l Line) string { return l.Set }) {
		fmt.Fprintf(w, "\n## %s\n", of[0].Set)
		names := jsonl.Distinct(of, func(l Line) string { return l.Series })
		if len(names) <= maxColumns {
			printSeries(w, of, names)
		}
		relativeTo := jsonl.Where(of, func(l Line) string { return l.Method }, base)
		printPooled(w, of, names, relativeTo, base)
		if worst > 0 {
			printWorst(w, of, relativeTo, base, worst)
		}
	}
}

// byMethod groups lines by method.
func byMethod(lines []Line) [][]Line {
	return jsonl.Groups(lines, func(l Line) string { return l.Method })
}

// find returns the successful line of a series, or nil.
func find(lines []Line, series string) *Line {
	for i := range lines {
		if lines[i].Series == series && lines[i].Status == machine.OK {
			return &lines[i]
		}
	}
	return nil
}

// printSeries prints RMSE, CRPS and coverage for each series.
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

// A pooled contains the scores of a method over all series of a set.
type pooled struct {
	series, rows, forecasts int
	covered, least          float64 // number of covered rows; smallest coverage of a series
	mase, msis, smape       float64 // sums over series
	baseMASE, baseMSIS      float64 // sums of the base over the same series
	logCRPS, logRMSE, nlpd  float64 // sums over series, relative to the base
	relative                int     // number of series in the sums relative to the base
	seconds                 float64
}

// gather pools the lines of a method.
func gather(lines []Line, base []Line) (p pooled) {
	p.least = math.Inf(1)
	for _, l := range lines {
		if l.Status != machine.OK {
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
			p.msis, p.baseMSIS = p.msis+l.MSIS, p.baseMSIS+b.MSIS
			if l.MSIS == 0 || b.MSIS == 0 { // a line from before 26 November 2026
				p.msis = math.NaN()
			}
			p.logCRPS += math.Log(l.CRPS / b.CRPS)
			p.logRMSE += math.Log(l.RMSE / b.RMSE)
			p.nlpd += l.NLPD - b.NLPD
		}
	}
	return p
}

// printPooled prints the scores over a whole set: the coverage of all rows, the geometric means of CRPS and RMSE
// relative to the base, MASE and MSIS averaged as in the M4 competition, and the mean difference in NLPD from the base
// in nats.
func printPooled(w io.Writer, lines []Line, names []string, relativeTo []Line, base string) {
	head(w, "over all series", "CRPS / "+base, "RMSE / "+base, "NLPD − "+base, "coverage", "least", "MASE", "MASE / "+base, "MSIS",
		"MSIS / "+base, "sMAPE", "seconds", "series")
	ratio := func(format string, v float64) string {
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return "–"
		}
		return fmt.Sprintf(format, v)
	}
	for _, of := range byMethod(lines) {
		p := gather(of, relativeTo)
		r := float64(p.relative)
		row(w, of[0].Method, ratio("%.3f", math.Exp(p.logCRPS/r)), ratio("%.3f", math.Exp(p.logRMSE/r)), ratio("%+.2f", p.nlpd/r),
			ratio("%.3f", p.covered/float64(p.rows)), ratio("%.2f", p.least), ratio("%.3f", p.mase/r), ratio("%.3f", p.mase/p.baseMASE),
			ratio("%.3f", p.msis/r), ratio("%.3f", p.msis/p.baseMSIS), ratio("%.2f", p.smape/float64(p.series)),
			ratio("%.3g", p.seconds/float64(p.forecasts)), fmt.Sprintf("%d of %d", p.series, len(names)))
	}
	for _, l := range lines {
		if l.Status != machine.OK {
			fmt.Fprintf(w, "\n%s, %s: %s\n", l.Method, l.Series, l.Status)
		}
	}
}

// printWorst prints for each method the n series with the largest CRPS relative to the base.
func printWorst(w io.Writer, lines, relativeTo []Line, base string, n int) {
	head(w, "worst series", "series: CRPS, MASE / "+base+", coverage")
	for _, of := range byMethod(lines) {
		of = slices.DeleteFunc(of, func(l Line) bool { return l.Status != machine.OK || find(relativeTo, l.Series) == nil })
		slices.SortStableFunc(of, func(a, b Line) int {
			return cmp.Compare(b.CRPS/find(relativeTo, b.Series).CRPS, a.CRPS/find(relativeTo, a.Series).CRPS)
		})
		cells := ""
		for _, l := range of[:min(n, len(of))] {
			b := find(relativeTo, l.Series)
			cells += fmt.Sprintf("%s: %.2f, %.2f, %.2f; ", l.Series, l.CRPS/b.CRPS, l.MASE/b.MASE, l.Coverage)
		}
		row(w, of[0].Method, strings.TrimSuffix(cells, "; "))
	}
}

// head prints the header of a table.
func head(w io.Writer, cells ...string) {
	fmt.Fprintln(w)
	row(w, cells...)
	row(w, slices.Repeat([]string{"---"}, len(cells))...)
}

// row prints a row of a table.
func row(w io.Writer, cells ...string) { fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | ")) }
