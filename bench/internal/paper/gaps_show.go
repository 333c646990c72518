package paper

import (
	"cmp"
	"fmt"
	"image/color"
	"io"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/vssgp/vssgp/bench/internal/jsonl"
)

const (
	calibratedLo = 0.90 // limits of the coverage of a calibrated 95 % interval over some thousand dependent samples
	calibratedHi = 0.98
)

func gapsTables(w io.Writer, lines []Line) {
	lines = ok(lines)
	fmt.Fprintf(w, "Each recording has up to %d gaps of each length and seed. The level of the 0.1 s around a gap is at most "+
		"%d dB below the recording's. Gaps are at least %g s from the ends and %g s from one start to the next. Each is "+
		"filled separately. Recordings are scaled to rms %g. %q is the default of `vssgp impute`. %q and %q are its "+
		"`--method`.\n\n",
		gapCount, -gapLevel, gapMargin, gapDistance, excerptLevel, mixtureMethod, arMethod, vssgpMethod)
	fmt.Fprintf(w, "A cell contains the RMSE relative to %q and the coverage of the 95 %% intervals. The first number is the "+
		"geometric mean over recordings of the ratios of the RMSE over all samples in gaps of one length. The number in "+
		"brackets is the geometric mean over gaps, in which quiet gaps count as much as loud ones. Seconds are CPU time.\n\n",
		arMethod)
	for _, half := range []struct {
		tuned bool
		title string
	}{
		{true, fmt.Sprintf("**Tuned on**: the mixture was tuned on the gaps of seed %d.", tunedSeed)},
		{false, fmt.Sprintf("**Not tuned on**: the same recordings with other gaps, seeds from %d on.", tunedSeed+1)},
	} {
		f := byMethod(jsonl.Where(lines, isTuned, half.tuned))
		if len(f.methods) == 0 {
			continue
		}
		fmt.Fprintf(w, "%s\n\n", half.title)
		f.classTable(w)
		f.verdict(w)
		f.recordingTable(w)
	}
}

func uncalibrated(coverage float64) bool { return coverage < calibratedLo || coverage > calibratedHi }

// compare formats the cell of errors relative to arMethod. If mark is true, ratios above 1 and wrong coverage are
// marked.
func compare(pairs []pair, mark bool) string {
	if len(pairs) == 0 {
		return "–"
	}
	flag := map[bool]string{true: " (!)"}
	r := pooled(pairs)
	s := fmt.Sprintf("%.2f (%.2f)%s", r, byGap(pairs), flag[mark && r > 1])
	if c, ok := coverageIn(firsts(pairs)); ok {
		s += fmt.Sprintf(", %.1f %%%s", 100*c, flag[mark && uncalibrated(c)])
	}
	return s
}

func firsts(pairs []pair) (out []filled) {
	for _, p := range pairs {
		out = append(out, p.a)
	}
	return out
}

// lengthRow returns the cells of errors relative to arMethod for each length and for all, and the seconds.
func lengthRow(pairs []pair, lengths []float64, mark bool) (row []string) {
	msOf := func(p pair) float64 { return p.a.ms }
	for _, ms := range lengths {
		row = append(row, compare(jsonl.Where(pairs, msOf, ms), mark))
	}
	return append(row, compare(pairs, mark), secondsPerGap(firsts(pairs)))
}

func secondsPerGap(gaps []filled) string {
	var all []float64
	for _, g := range gaps {
		all = append(all, g.seconds)
	}
	return mean(all)
}

func lengthHead(lengths []float64, before ...string) []string {
	for _, ms := range lengths {
		before = append(before, fmt.Sprintf("%g ms", ms))
	}
	return before
}

// classTable writes a table with a row for each class and method.
func (f fillsBy) classTable(w io.Writer) {
	rows := [][]string{append(lengthHead(f.lengths, "class", "method"), "all", "seconds per gap")}
	for _, class := range f.classes {
		for _, m := range f.methods {
			pairs := paired(jsonl.Where(f.gaps[m], classOf, class), f.reference)
			if len(pairs) > 0 {
				rows = append(rows, append([]string{class, m}, lengthRow(pairs, f.lengths, m == mixtureMethod)...))
			}
		}
	}
	writeTable(w, rows)
}

// recordingTable writes a table with a row for each recording, only for the mixture.
func (f fillsBy) recordingTable(w io.Writer) {
	rows := [][]string{append(lengthHead(f.lengths, mixtureMethod+", by recording", "gaps"), "all", "seconds per gap")}
	for _, here := range jsonl.Groups(f.gaps[mixtureMethod], nameOf) {
		cells := lengthRow(paired(here, f.reference), f.lengths, true)
		rows = append(rows, append([]string{here[0].name, strconv.Itoa(len(here))}, cells...))
	}
	writeTable(w, rows)
}

// verdict lists the classes and lengths in which the mixture's error exceeds the error of arMethod, and those with
// wrong coverage.
func (f fillsBy) verdict(w io.Writer) {
	var worse, miscalibrated []string
	cells := jsonl.Groups(paired(f.gaps[mixtureMethod], f.reference), func(p pair) cell { return classCell(p.a) })
	for _, here := range cells {
		at := classCell(here[0].a)
		if r := pooled(here); r > 1 {
			worse = append(worse, fmt.Sprintf("%s (%.2f)", at, r))
		}
		if c, ok := coverageIn(firsts(here)); ok && uncalibrated(c) {
			miscalibrated = append(miscalibrated, fmt.Sprintf("%s (%.1f %%)", at, 100*c))
		}
	}
	listed := func(cells []string) string { return cmp.Or(strings.Join(cells, ", "), "none") }
	fmt.Fprintf(w, "Of %d cells by class and length, these have a ratio above 1 for %s: %s. Coverage outside %.0f to %.0f %%: %s.\n\n",
		len(cells), mixtureMethod, listed(worse), 100*calibratedLo, 100*calibratedHi, listed(miscalibrated))
}

// gapsMethods lists the methods in the figures.
var gapsMethods = []struct {
	method, label string
	color         color.Color
}{
	{mixtureMethod, "mixture", blue},
	{vssgpMethod, "VSSGP from the spectrum", green},
}

// gapsFigures draws error ratio and coverage against gap length, with a panel for each class, on gaps without tuning if
// there are any.
func gapsFigures(lines []Line) (out []figure) {
	lines = ok(lines)
	if fresh := jsonl.Where(lines, isTuned, false); len(fresh) > 0 {
		lines = fresh
	}
	f := byMethod(lines)
	for _, of := range []struct {
		name, axis string
		limits     []float64
		value      func(pairs []pair) (v float64, ok bool)
	}{
		{"gaps-ratio", "RMSE relative to ar", []float64{1}, func(pairs []pair) (float64, bool) { return pooled(pairs), true }},
		{"gaps-coverage", "coverage, %", []float64{100 * calibratedLo, 100 * calibratedHi}, func(pairs []pair) (float64, bool) {
			c, ok := coverageIn(firsts(pairs))
			return 100 * c, ok
		}},
	} {
		n := len(f.classes)
		g := figure{name: of.name, columns: n, width: vg.Length(max(2, n)) * 12 * vg.Centimeter, height: 10 * vg.Centimeter}
		for _, class := range f.classes {
			here := jsonl.Where(f.reference, classOf, class)
			p := panel(class, "gap, ms", of.axis)
			lengths := lengthsOf(here)
			for _, limit := range of.limits {
				p.Add(stroke(gray, plotter.XYs{{X: lengths[0], Y: limit}, {X: lengths[len(lengths)-1], Y: limit}}))
			}
			for _, m := range gapsMethods {
				xy := curveOf(paired(jsonl.Where(f.gaps[m.method], classOf, class), here), lengths, of.value)
				if len(xy) == 0 {
					continue
				}
				p.Add(stroke(m.color, xy))
				if len(g.panels) == 0 {
					p.Legend.Add(m.label, stroke(m.color, nil))
				}
			}
			p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, lengthTicks(lengths)
			g.panels = append(g.panels, p)
		}
		evenY(g.panels)
		out = append(out, g)
	}
	return out
}

// evenY sets the same y axis for all panels.
func evenY(panels []*plot.Plot) {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, p := range panels {
		lo, hi = min(lo, p.Y.Min), max(hi, p.Y.Max)
	}
	for _, p := range panels {
		p.Y.Min, p.Y.Max = lo, hi
	}
}

// curveOf returns a value over the gaps of each length, for the lengths that have it.
func curveOf(pairs []pair, lengths []float64, value func(pairs []pair) (float64, bool)) (xy plotter.XYs) {
	for _, ms := range lengths {
		here := jsonl.Where(pairs, func(p pair) float64 { return p.a.ms }, ms)
		if v, ok := value(here); ok && len(here) > 0 {
			xy = append(xy, plotter.XY{X: ms, Y: v})
		}
	}
	return xy
}

func lengthTicks(lengths []float64) (ticks plot.ConstantTicks) {
	for _, ms := range lengths {
		ticks = append(ticks, plot.Tick{Value: ms, Label: fmt.Sprintf("%g", ms)})
	}
	return ticks
}
