package main

import (
	"fmt"
	"io"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/vssgp/vssgp/bench/internal/jsonl"
)

// slopeFrom is the minimum number of rows of the lines used for slopes. Shorter ones are dominated by caches and
// constant costs.
const slopeFrom = 1e5

// A slope is the exponent p of a power law y ∝ N^p.
type slope struct {
	p, se  float64 // se: standard error; NaN for two points
	points int
}

// fitSlope fits a least-squares line to log y against log N. ok is false unless there are two different N.
func fitSlope(n, y []float64) (s slope, ok bool) {
	var x, z []float64
	for i := range n {
		x, z = append(x, math.Log(n[i])), append(z, math.Log(y[i]))
	}
	xx, zz := stat.PopVariance(x, nil), stat.PopVariance(z, nil)
	if !(xx > 0) {
		return slope{}, false
	}
	s = slope{se: math.NaN(), points: len(n)}
	_, s.p = stat.LinearRegression(x, z, nil, false)
	if len(n) > 2 {
		s.se = math.Sqrt(max(0, zz/xx-s.p*s.p) / float64(len(n)-2))
	}
	return s, true
}

func (s slope) String() string {
	if math.IsNaN(s.se) {
		return fmt.Sprintf("%.3f (two points)", s.p)
	}
	return fmt.Sprintf("%.3f ± %.3f", s.p, s.se)
}

// A quantity is a number of a line, with its name.
type quantity struct {
	name string
	of   func(l *longLine) float64 // 0: not measured
}

var (
	evaluationTime = quantity{"seconds of an evaluation", func(l *longLine) float64 { return l.Evaluation }}
	peakMemory     = quantity{"GiB, the process's peak", func(l *longLine) float64 { return float64(l.HostBytes) / (1 << 30) }}
	iterationTime  = quantity{"seconds of a fit's iteration", func(l *longLine) float64 {
		if l.Fit == nil || l.Fit.Iterations == 0 {
			return 0
		}
		return l.Fit.Seconds / float64(l.Fit.Iterations)
	}}
)

// values returns N and the quantity, for the lines that have the quantity and at least the given number of rows.
func (q quantity) values(lines []longLine, least float64) (n, y []float64) {
	for i := range lines {
		if v := q.of(&lines[i]); v > 0 && float64(lines[i].N) >= least {
			n, y = append(n, float64(lines[i].N)), append(y, v)
		}
	}
	return n, y
}

// seriesOf groups the lines by series, in order of appearance, and sorts each group by N.
func seriesOf(lines []longLine) [][]longLine {
	all := jsonl.Groups(lines, longLine.series)
	for _, s := range all {
		slices.SortFunc(s, func(a, b longLine) int { return a.N - b.N })
	}
	return all
}

// printLong prints the table, the slopes, and the commits and machines that measured them.
func printLong(w io.Writer, lines []longLine) {
	fmt.Fprintf(w, "%-30s %9s %9s %12s %9s %9s %16s  %s\n", "method", "N", "M", "s/evaluation", "µs/row", "MiB", "fit: s (steps)", "status")
	all := seriesOf(lines)
	for _, s := range all {
		for _, l := range s {
			fit := "-"
			if l.Fit != nil {
				fit = fmt.Sprintf("%.4g (%d)", l.Fit.Seconds, l.Fit.Iterations)
			}
			fmt.Fprintf(w, "%-30s %9d %9s %12s %9s %9s %16s  %s\n", l.label(), l.N, positive(float64(l.M), "%.0f"),
				positive(l.Evaluation, "%.4g"),
				positive(1e6*l.Evaluation/float64(l.N), "%.3g"), mebibytes(l.HostBytes), fit, firstLine(l.Status))
		}
	}
	fmt.Fprintf(w, "\nslope of the logarithm on log N, for N ≥ %g (if there are at least two lengths):\n", float64(slopeFrom))
	for _, s := range all {
		for _, q := range []quantity{evaluationTime, peakMemory, iterationTime} {
			if p, ok := fitSlope(q.values(s, slopeFrom)); ok {
				fmt.Fprintf(w, "  %-30s %-29s %v, %d lengths\n", s[0].label(), q.name, p, p.points)
			}
		}
	}
	for _, of := range jsonl.Distinct(lines, func(l longLine) string {
		return fmt.Sprintf("commit %s on %d cores of %s", l.Sources(), l.Cores, l.CPU)
	}) {
		fmt.Fprintln(w, of)
	}
}
