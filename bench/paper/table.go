package paper

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"gonum.org/v1/gonum/stat"
)

// writeTable writes rows of cells as a Markdown table; the first row is the
// heading.
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

// values are one score of the lines that have it.
func values(lines []Line, name Score) []float64 {
	var v []float64
	for _, l := range lines {
		if x, have := l.Scores[name]; have && l.Status == statusOK {
			v = append(v, x)
		}
	}
	return v
}

// where are the lines that a condition holds of.
func where(lines []Line, condition func(l Line) bool) []Line {
	var out []Line
	for _, l := range lines {
		if condition(l) {
			out = append(out, l)
		}
	}
	return out
}

// spread writes mean ± standard deviation of some repeats, a dash for none.
func spread(v []float64) string {
	switch len(v) {
	case 0:
		return "–"
	case 1:
		return digits(v[0])
	}
	mean, sd := stat.MeanStdDev(v, nil)
	return digits(mean) + " ± " + digits(sd)
}

// percent writes the mean of some shares.
func percent(v []float64) string {
	if len(v) == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f %%", 100*stat.Mean(v, nil))
}

// digits writes a number with three digits, two below a hundredth, and thousands
// in full.
func digits(v float64) string {
	switch size := math.Abs(v); {
	case size < 0.01:
		return strconv.FormatFloat(v, 'g', 2, 64)
	case 1000 <= size && size < 1e6:
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// rounded keeps six digits: more would say nothing of a result.
func rounded(v float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 6, 64), 64)
	if err != nil || math.IsInf(v, 0) || math.IsNaN(v) {
		return v
	}
	return r
}
