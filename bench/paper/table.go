package paper

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"gonum.org/v1/gonum/stat"

	"github.com/vssgp/vssgp/bench/internal/jsonl"
	"github.com/vssgp/vssgp/bench/internal/machine"
)

// A column of a table is its heading and its cell for some lines.
type column struct {
	head string
	cell func(lines []Line) string
}

// writeColumns writes a row for each group of lines.
func writeColumns(w io.Writer, groups [][]Line, columns ...column) {
	rows := make([][]string, 1+len(groups))
	for _, c := range columns {
		rows[0] = append(rows[0], c.head)
		for i, g := range groups {
			rows[i+1] = append(rows[i+1], c.cell(g))
		}
	}
	writeTable(w, rows)
}

// writeTable writes rows of cells as a Markdown table; the first row is the heading.
func writeTable(w io.Writer, rows [][]string) {
	wide := make([]int, len(rows[0]))
	for _, r := range rows {
		for i, c := range r {
			wide[i] = max(wide[i], utf8.RuneCountInString(c))
		}
	}
	for n, r := range rows {
		for i, c := range r {
			fmt.Fprintf(w, "| %s%s ", c, strings.Repeat(" ", wide[i]-utf8.RuneCountInString(c)))
		}
		fmt.Fprintln(w, "|")
		if n == 0 {
			for _, k := range wide {
				fmt.Fprintf(w, "|%s", strings.Repeat("-", k+2))
			}
			fmt.Fprintln(w, "|")
		}
	}
	fmt.Fprintln(w)
}

// The columns that tables share.
var (
	methodColumn = column{"method", func(l []Line) string { return l[0].Method }}
	startColumn  = column{"start", func(l []Line) string { return l[0].Start }}
	coverage     = column{"coverage", func(l []Line) string { return percent(values(l, Coverage)) }}
	secondsTaken = column{"seconds", func(l []Line) string { return spread(seconds(l)) }}
)

// scored is a score's mean ± standard deviation.
func scored(head string, name Score) column {
	return column{head, func(l []Line) string { return spread(values(l, name)) }}
}

// toSilence divides a score by the score of predicting 0, line by line.
func toSilence(head string, name, silence Score) column {
	return column{head, func(l []Line) string { return spread(relative(l, name, silence)) }}
}

// fits counts the lines that have scores.
func fits(head string) column {
	return column{head, func(l []Line) string { return fmt.Sprint(len(ok(l))) }}
}

// ok are the lines that have scores.
func ok(lines []Line) []Line {
	return jsonl.Where(lines, func(l Line) bool { return l.Status == machine.OK }, true)
}

// What lines are told apart by.
func caseOf(l Line) string     { return l.Case }
func startOf(l Line) string    { return l.Start }
func methodOf(l Line) string   { return l.Method }
func countOf(l Line) int       { return l.K }
func variantOf(l Line) variant { return variant{l.Method, l.Start} }

func seconds(lines []Line) []float64 {
	return each(lines, func(l Line) (float64, bool) { return l.Seconds, true })
}

// A variant is a model and its start: what one line is made by, but for data and seed.
type variant struct{ method, start string }

// pairedLines are the lines of two variants, with scores, that differ in nothing else.
func pairedLines(lines []Line, a, b variant) (out [][2]Line) {
	for _, l := range jsonl.Where(ok(lines), variantOf, a) {
		k := l.Key
		k.Method, k.Start = b.method, b.start
		for _, other := range jsonl.Where(ok(lines), keyOf, k) {
			out = append(out, [2]Line{l, other})
		}
	}
	return out
}

// methods are the lines of some methods.
func methods(lines []Line, names ...string) []Line {
	return jsonl.Where(lines, func(l Line) bool { return slices.Contains(names, l.Method) }, true)
}

// each are the numbers of the lines that have scores and the number.
func each(lines []Line, of func(l Line) (float64, bool)) (out []float64) {
	for _, l := range ok(lines) {
		if v, have := of(l); have {
			out = append(out, v)
		}
	}
	return out
}

// values are one score of the lines that have it.
func values(lines []Line, name Score) []float64 {
	return each(lines, func(l Line) (float64, bool) { v, have := l.Scores[name]; return v, have })
}

// relative are the quotients of two scores of the same line.
func relative(lines []Line, above, below Score) []float64 {
	return each(lines, func(l Line) (float64, bool) {
		a, have := l.Scores[above]
		b := l.Scores[below]
		return a / b, have && b > 0
	})
}

// spread writes mean ± standard deviation of some repeats, a dash for none.
func spread(v []float64) string {
	if len(v) < 2 {
		return mean(v)
	}
	mean, sd := stat.MeanStdDev(v, nil)
	return digits(mean) + " ± " + digits(sd)
}

// mean writes the mean of some numbers, a dash for none.
func mean(v []float64) string {
	if len(v) == 0 {
		return "–"
	}
	return digits(stat.Mean(v, nil))
}

// percent writes the mean of some shares.
func percent(v []float64) string {
	if len(v) == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f %%", 100*stat.Mean(v, nil))
}

// digits writes a number with three digits, two below a hundredth, and thousands in full.
func digits(v float64) string {
	switch size := math.Abs(v); {
	case size < 0.01:
		return strconv.FormatFloat(v, 'g', 2, 64)
	case 1000 <= size && size < 1e6:
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}
