package paper

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/vssgp/vssgp/bench/internal/jsonl"
)

// A filled contains the scores of one gap filled by a method.
type filled struct {
	class, name string // class and name of the recording
	ms          float64
	seed        uint64
	seconds     float64 // CPU time, the mean over the gaps of its line
	GapScore
}

// gapMS returns the length of a line's gaps in milliseconds.
func gapMS(l Line) float64 { return math.Round(1e4*float64(l.Gap)/float64(l.Rate)) / 10 }

// gapsOfLines returns the gaps of all lines.
func gapsOfLines(lines []Line) (out []filled) {
	for _, l := range lines {
		seconds := l.Processor
		if seconds == 0 { // the system does not report it
			seconds = l.Seconds
		}
		for _, g := range l.PerGap {
			out = append(out, filled{l.Class, l.Case, gapMS(l), l.Seed, seconds / float64(len(l.PerGap)), g})
		}
	}
	return out
}

func classOf(f filled) string { return f.class }
func msOf(f filled) float64   { return f.ms }
func nameOf(f filled) string  { return f.name }

// A cell is a class or a recording, with a gap length.
type cell struct {
	of string
	ms float64
}

func classCell(f filled) cell     { return cell{f.class, f.ms} }
func recordingCell(f filled) cell { return cell{f.name, f.ms} }

// A pair is one gap filled by two methods.
type pair struct{ a, b filled }

// paired returns the gaps that both methods filled.
func paired(a, b []filled) (out []pair) {
	type key struct {
		cell
		seed  uint64
		start int
	}
	keyOf := func(f filled) key { return key{recordingCell(f), f.seed, f.Start} }
	of := map[key]filled{}
	for _, f := range b {
		of[keyOf(f)] = f
	}
	for _, f := range a {
		if other, ok := of[keyOf(f)]; ok {
			out = append(out, pair{f, other})
		}
	}
	return out
}

// pooled returns the geometric mean, over recordings and lengths, of the ratios of the RMSE over all samples, or NaN
// without pairs. Loud gaps dominate it.
func pooled(pairs []pair) float64 {
	var logs []float64
	for _, here := range jsonl.Groups(pairs, func(p pair) cell { return recordingCell(p.a) }) {
		var a, b float64
		for _, p := range here {
			a, b = a+p.a.RMSE*p.a.RMSE, b+p.b.RMSE*p.b.RMSE
		}
		if a > 0 && b > 0 {
			logs = append(logs, math.Log(a/b)/2)
		}
	}
	return math.Exp(stat.Mean(logs, nil))
}

// byGap returns the geometric mean of the error ratios of the gaps, in which quiet gaps count as much as loud ones.
func byGap(pairs []pair) float64 {
	var logs []float64
	for _, p := range pairs {
		if p.a.RMSE > 0 && p.b.RMSE > 0 {
			logs = append(logs, math.Log(p.a.RMSE/p.b.RMSE))
		}
	}
	return math.Exp(stat.Mean(logs, nil))
}

// coverageIn returns the mean coverage of the gaps that have intervals.
func coverageIn(gaps []filled) (mean float64, ok bool) {
	var all []float64
	for _, f := range gaps {
		if f.Coverage != nil {
			all = append(all, *f.Coverage)
		}
	}
	return stat.Mean(all, nil), len(all) > 0
}

// fillsBy contains the filled gaps by method, for tables.
type fillsBy struct {
	methods   []string
	gaps      map[string][]filled
	reference []filled  // gaps of arMethod
	classes   []string  // classes of reference
	lengths   []float64 // gap lengths of reference
}

// byMethod groups the lines by method. It ignores lines with a setting; an earlier version of the set wrote them.
func byMethod(lines []Line) fillsBy {
	out := fillsBy{gaps: map[string][]filled{}}
	lines = jsonl.Where(lines, startOf, "")
	out.methods = jsonl.Distinct(lines, methodOf)
	for _, m := range out.methods {
		out.gaps[m] = gapsOfLines(jsonl.Where(lines, methodOf, m))
	}
	out.reference = out.gaps[arMethod]
	out.classes, out.lengths = jsonl.Distinct(out.reference, classOf), lengthsOf(out.reference)
	return out
}

// isTuned reports whether settings of the mixture were tuned on a line's gaps.
func isTuned(l Line) bool { return l.Seed == tunedSeed }

// lengthsOf returns the distinct lengths of gaps in ascending order.
func lengthsOf(gaps []filled) []float64 {
	return slices.Sorted(slices.Values(jsonl.Distinct(gaps, msOf)))
}

func (c cell) String() string { return fmt.Sprintf("%s %g ms", c.of, c.ms) }
