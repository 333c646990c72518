package paper

import (
	"cmp"
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

// A column of a table has a heading and a function that returns the cell for lines.
type column struct {
	head string
	cell func(lines []Line) string
}

// writeColumns writes a table with a row for each group of lines.
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

// writeTable writes rows of cells as a Markdown table. The first row is the heading.
func writeTable(w io.Writer, rows [][]string) {
	wide, rule := make([]int, len(rows[0])), make([]string, len(rows[0]))
	for _, r := range rows {
		for i, c := range r {
			wide[i] = max(wide[i], utf8.RuneCountInString(c))
			rule[i] = strings.Repeat("-", wide[i]+2)
		}
	}
	for n, r := range rows {
		for i, c := range r {
			fmt.Fprintf(w, "| %-*s ", wide[i], c)
		}
		fmt.Fprintln(w, "|")
		if n == 0 {
			fmt.Fprintf(w, "|%s|\n", strings.Join(rule, "|"))
		}
	}
	fmt.Fprintln(w)
}

// A quantity returns a number of a line, or NaN if the line does not have it.
type quantity func(l Line) float64

// scoreOf returns the quantity of a score.
func scoreOf(name Score) quantity {
	return func(l Line) float64 {
		if v, have := l.Scores[name]; have {
			return v
		}
		return math.NaN()
	}
}

// by returns the ratio of two quantities. It is NaN if the divisor is not positive.
func (q quantity) by(below quantity) quantity {
	return func(l Line) float64 {
		if b := below(l); b > 0 {
			return q(l) / b
		}
		return math.NaN()
	}
}

func secondsOf(l Line) float64 { return l.Seconds }

// values returns the values of a quantity for the successful lines that have it.
func values(lines []Line, of quantity) (out []float64) {
	for _, l := range ok(lines) {
		if v := of(l); !math.IsNaN(v) {
			out = append(out, v)
		}
	}
	return out
}

// summary returns a column that summarizes the values of a quantity.
func summary(head string, write func(values []float64) string, of quantity) column {
	return column{head, func(l []Line) string { return write(values(l, of)) }}
}

// scored returns a column with the mean ± standard deviation of a score.
func scored(head string, name Score) column { return summary(head, spread, scoreOf(name)) }

// toSilence returns a column with the mean ± standard deviation of a score relative to the score of predicting 0.
func toSilence(head string, name, silence Score) column {
	return summary(head, spread, scoreOf(name).by(scoreOf(silence)))
}

// shared returns a column with a value that all lines of a row share.
func shared[T any](head string, of func(l Line) T) column {
	return column{head, func(l []Line) string { return fmt.Sprint(of(l[0])) }}
}

// fits returns a column with the number of successful lines.
func fits(head string) column {
	return column{head, func(l []Line) string { return fmt.Sprint(len(ok(l))) }}
}

// Columns of several tables.
var (
	methodColumn = shared("method", methodOf)
	startColumn  = shared("start", startOf)
	sizeColumn   = func(head string) column { return shared(head, func(l Line) int { return l.M }) }
	coverage     = summary("coverage", percent, scoreOf(Coverage))
	secondsTaken = summary("seconds", spread, secondsOf)
)

// ok returns the successful lines.
func ok(lines []Line) []Line {
	return jsonl.Where(lines, func(l Line) bool { return l.Status == machine.OK }, true)
}

// The fields that identify a line.
func caseOf(l Line) string     { return l.Case }
func startOf(l Line) string    { return l.Start }
func methodOf(l Line) string   { return l.Method }
func countOf(l Line) int       { return l.K }
func variantOf(l Line) variant { return variant{l.Method, l.Start} }

// A variant is a method with its initialization or setting.
type variant struct{ method, start string }

// methods returns the lines of the named methods.
func methods(lines []Line, names ...string) []Line {
	return jsonl.Where(lines, func(l Line) bool { return slices.Contains(names, l.Method) }, true)
}

// rising returns the lines in ascending order of a number, sorted stably.
func rising(lines []Line, of func(l Line) int) []Line {
	return slices.SortedStableFunc(slices.Values(lines), func(a, b Line) int { return cmp.Compare(of(a), of(b)) })
}

// pairedLines returns the pairs of successful lines of two variants that do not differ otherwise.
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

// spread formats the mean ± standard deviation of v, or a dash if it is empty.
func spread(v []float64) string {
	if len(v) < 2 {
		return mean(v)
	}
	mean, sd := stat.MeanStdDev(v, nil)
	return digits(mean) + " ± " + digits(sd)
}

// mean formats the mean of v, or a dash if it is empty.
func mean(v []float64) string {
	if len(v) == 0 {
		return "–"
	}
	return digits(stat.Mean(v, nil))
}

// percent formats the mean of v in percent, or a dash if it is empty.
func percent(v []float64) string {
	if len(v) == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f %%", 100*stat.Mean(v, nil))
}

// digits formats a number with three significant digits, or two if it is below 0.01. Numbers from 1000 to 10⁶ are
// rounded to integers.
func digits(v float64) string {
	switch size := math.Abs(v); {
	case size < 0.01:
		return strconv.FormatFloat(v, 'g', 2, 64)
	case 1000 <= size && size < 1e6:
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}
