package gift

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/vssgp/vssgp/bench/internal/jsonl"
	"github.com/vssgp/vssgp/bench/internal/machine"
)

// Print prints a table for each task, half and number of forecasts in Markdown. It is sorted by CRPS, or by MASE if the
// published methods have no CRPS.
func Print(w io.Writer, lines []Line) {
	group := func(l Line) Key { return Key{Task: l.Task, Half: l.Half, Forecasts: l.Forecasts} }
	for _, of := range jsonl.Groups(lines, group) {
		t := TaskOf(of[0].Task)
		by := func(l Line) float64 { return l.MASE }
		if t.leaderboard != "" {
			by = func(l Line) float64 { return l.CRPS }
		}
		slices.SortStableFunc(of, func(a, b Line) int {
			failed := func(l Line) bool { return l.Status != machine.OK }
			switch {
			case failed(a) != failed(b) && failed(b):
				return -1
			case failed(a) != failed(b):
				return 1
			}
			return cmp.Compare(by(a), by(b))
		})
		printTask(w, t, of)
	}
}

// printTask prints the table of one task.
func printTask(w io.Writer, t *Task, lines []Line) {
	fmt.Fprintf(w, "\n%s, %s, %d forecasts", t.Name, halfText(lines[0].Half), lines[0].Forecasts)
	if t.leaderboard != "" && lines[0].Forecasts != t.forecasts {
		fmt.Fprintf(w, "; the published scores are of all %d", t.forecasts)
	}
	fmt.Fprint(w, "\n\n")
	row(w, "method", "MASE", "CRPS", "MSIS", "coverage", "sMAPE", "seconds")
	row(w, slices.Repeat([]string{"---"}, 7)...)
	for _, l := range lines {
		name := l.Method
		switch {
		case l.Published:
			name += " (published)"
		case l.Rank > 0:
			name += fmt.Sprintf(", rank %d of %d", l.Rank, l.Entries)
		}
		ok, measured := l.Status == machine.OK, l.Status == machine.OK && !l.Published
		row(w, name, cell("%.4f", l.MASE, ok), cell("%.5f", l.CRPS, ok && (measured || l.CRPS > 0)),
			cell("%.3f", l.MSIS, ok && (measured || l.MSIS > 0)), cell("%.3f", l.Coverage, measured),
			cell("%.2f", l.SMAPE, ok && (measured || l.SMAPE > 0)), cell("%.3g", l.Seconds, l.Seconds > 0))
	}
	for _, l := range lines {
		if l.Status != machine.OK {
			fmt.Fprintf(w, "\n%s: %s\n", l.Method, l.Status)
		}
		if r := l.Ratios; r != nil {
			fmt.Fprintf(w, "\n%s relative to %s, mean log ratio: MASE %+.4f ± %.4f, CRPS %+.4f ± %.4f\n",
				l.Method, l.Base, r.MASE, r.MASESE, r.CRPS, r.CRPSSE)
		}
	}
}

// halfText describes a half in the heading of a table.
func halfText(half string) string {
	if half == Both {
		return "both halves"
	}
	return half + " half"
}

// cell formats a score that is known.
func cell(format string, v float64, known bool) string {
	if !known {
		return "–"
	}
	return fmt.Sprintf(format, v)
}

// row prints a row of a table.
func row(w io.Writer, cells ...string) { fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | ")) }
