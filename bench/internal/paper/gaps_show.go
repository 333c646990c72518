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
	"github.com/vssgp/vssgp/internal/report"
)

const (
	calibratedLo = 0.90 // limits of the coverage of a calibrated 95 % interval over some thousand dependent samples
	calibratedHi = 0.98
)

func gapsTables(w io.Writer, lines []Line) {
	lines = ok(lines)
	fmt.Fprintf(w, "Each recording has up to %d gaps of each length and seed. The level of the 0.1 s around a gap is at most %d dB below the "+
		"recording's. Gaps are at least %g s from the ends and %g s from one start to the next. Each is filled separately. Recordings are "+
		"scaled to rms %g. %q is the default of `vssgp impute`. %q is its `--method ar`. %q selects from a grid the setting with the "+
		"smallest RMSE over all recordings, for each class and length and on the same gaps. %q uses features initialized from the "+
		"spectrum.\n\n", gapCount, -gapLevel, gapMargin, gapDistance, excerptLevel, mixtureMethod, arMethod, bestMethod, formerMethod)
	fmt.Fprintf(w, "A cell contains the RMSE relative to %q and the coverage of the 95 %% intervals. The first number is the geometric mean "+
		"over recordings of the ratios of the RMSE over all samples in gaps of one length. The number in brackets is the geometric mean over "+
		"gaps, in which quiet gaps count as much as loud ones. Seconds are CPU time.\n\n", bestMethod)
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
		f.choiceTable(w)
	}
	ablationTable(w, lines)
}

func uncalibrated(coverage float64) bool { return coverage < calibratedLo || coverage > calibratedHi }

// compare formats the cell of errors relative to bestMethod. If mark is true, ratios above 1 and wrong coverage are marked.
func compare(pairs []pair, mark bool) string {
	if len(pairs) == 0 {
		return "–"
	}
	flag := map[bool]string{true: " (!)"}
	r := pooled(pairs).mean
	s := fmt.Sprintf("%.2f (%.2f)%s", r, byGap(pairs).mean, flag[mark && r > 1])
	if c, ok := meanScore(firsts(pairs), coverageOf); ok {
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

// lengthRow returns the cells of errors relative to bestMethod for each length and for all, and the seconds.
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
			pairs := paired(jsonl.Where(f.gaps[m], classOf, class), f.best)
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
		rows = append(rows, append([]string{here[0].name, strconv.Itoa(len(here))}, lengthRow(paired(here, f.best), f.lengths, true)...))
	}
	writeTable(w, rows)
}

// verdict lists the classes and lengths in which the mixture's error exceeds the error of bestMethod, and those with wrong coverage.
func (f fillsBy) verdict(w io.Writer) {
	var worse, miscalibrated []string
	cells := jsonl.Groups(paired(f.gaps[mixtureMethod], f.best), func(p pair) cell { return classCell(p.a) })
	for _, here := range cells {
		at := classCell(here[0].a)
		if r := pooled(here).mean; r > 1 {
			worse = append(worse, fmt.Sprintf("%s (%.2f)", at, r))
		}
		if c, ok := meanScore(firsts(here), coverageOf); ok && uncalibrated(c) {
			miscalibrated = append(miscalibrated, fmt.Sprintf("%s (%.1f %%)", at, 100*c))
		}
	}
	listed := func(cells []string) string { return cmp.Or(strings.Join(cells, ", "), "none") }
	fmt.Fprintf(w, "Of %d cells by class and length, these have a ratio above 1 for %s: %s. Coverage outside %.0f to %.0f %%: %s.\n\n",
		len(cells), mixtureMethod, listed(worse), 100*calibratedLo, 100*calibratedHi, listed(miscalibrated))
}

// choiceTable writes the settings of bestMethod.
func (f fillsBy) choiceTable(w io.Writer) {
	rows := [][]string{lengthHead(f.lengths, bestMethod+": context and order")}
	for _, class := range f.classes {
		row := []string{class}
		for _, ms := range f.lengths {
			row = append(row, f.chosen[cell{class, ms}])
		}
		rows = append(rows, row)
	}
	writeTable(w, rows)
}

// ablationTable compares the ablations with the whole mixture, on the gaps that both filled.
func ablationTable(w io.Writer, lines []Line) {
	lines = jsonl.Where(lines, methodOf, mixtureMethod)
	whole := gapsOfLines(jsonl.Where(lines, startOf, ""))
	classes := jsonl.Distinct(whole, classOf)
	head := []string{mixtureMethod}
	for _, c := range classes {
		head = append(head, c+": gaps", "RMSE", "by gaps", "coverage", "NLPD")
	}
	rows := [][]string{append(head, "seconds per gap")}
	var part []filled // gaps filled by the whole mixture
	for _, here := range jsonl.Groups(lines, startOf) {
		if here[0].Start == "" {
			continue
		}
		gaps := gapsOfLines(here)
		if part == nil {
			part = firsts(paired(whole, gaps))
			rows = append(rows, withoutRow("whole", paired(part, part), classes))
		}
		rows = append(rows, withoutRow(here[0].Start, paired(gaps, part), classes))
	}
	if len(rows) == 1 {
		return
	}
	fmt.Fprintf(w, "Without single parts, on the gaps of seed %d: RMSE relative to the whole mixture, as above, ×÷ one standard error over "+
		"recordings × lengths and over gaps.\n\n", partSeed)
	writeTable(w, rows)
}

func withoutRow(name string, pairs []pair, classes []string) []string {
	row := []string{name}
	for _, class := range classes {
		here := jsonl.Where(pairs, func(p pair) string { return p.a.class }, class)
		row = append(row, strconv.Itoa(len(here)))
		for _, r := range []ratio{pooled(here), byGap(here)} {
			row = append(row, fmt.Sprintf("%.3f ×÷ %.3f", r.mean, r.factor))
		}
		coverage, _ := meanScore(firsts(here), coverageOf)
		nlpd, _ := meanScore(firsts(here), nlpdOf)
		row = append(row, fmt.Sprintf("%.1f %%", 100*coverage), fmt.Sprintf("%.3f", nlpd))
	}
	return append(row, secondsPerGap(firsts(pairs)))
}

// gapsMethods lists the methods in the figures.
var gapsMethods = []struct {
	method, label string
	color         color.Color
}{
	{mixtureMethod, "mixture", report.Blue},
	{arMethod, "AR chosen by trials", report.Orange},
	{"janssen", "Janssen", report.Pink},
	{formerMethod, "VSSGP from the spectrum", report.Green},
}

// gapsFigures draws error ratio and coverage against gap length, with a panel for each class, on gaps without tuning if there are any.
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
		{"gaps-ratio", "RMSE by the best AR's", []float64{1}, func(pairs []pair) (float64, bool) { return pooled(pairs).mean, true }},
		{"gaps-coverage", "coverage, %", []float64{100 * calibratedLo, 100 * calibratedHi}, func(pairs []pair) (float64, bool) {
			c, ok := meanScore(firsts(pairs), coverageOf)
			return 100 * c, ok
		}},
	} {
		g := figure{name: of.name, Figure: report.Figure{
			Columns: len(f.classes), Width: vg.Length(max(2, len(f.classes))) * 12 * vg.Centimeter, Height: 10 * vg.Centimeter,
		}}
		for _, class := range f.classes {
			here := jsonl.Where(f.best, classOf, class)
			p := report.Panel(class, "gap, ms", of.axis)
			lengths := lengthsOf(here)
			for _, limit := range of.limits {
				p.Add(stroke(report.Gray, plotter.XYs{{X: lengths[0], Y: limit}, {X: lengths[len(lengths)-1], Y: limit}}))
			}
			for _, m := range gapsMethods {
				xy := curveOf(paired(jsonl.Where(f.gaps[m.method], classOf, class), here), lengths, of.value)
				if len(xy) == 0 {
					continue
				}
				p.Add(stroke(m.color, xy))
				if len(g.Panels) == 0 {
					g.Legend = append(g.Legend, report.Entry{Name: m.label, Mark: stroke(m.color, nil)})
				}
			}
			p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, lengthTicks(lengths)
			g.Panels = append(g.Panels, p)
		}
		evenY(g.Panels)
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
