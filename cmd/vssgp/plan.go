package main

import (
	"fmt"
	"strings"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/impute"
	"github.com/vssgp/vssgp/internal/report"
)

const planUsage = "print the work and memory it would take (rows, windows, features, operations, bytes), and do nothing else"

// byteCount is a number of bytes, which people read with a prefix.
type byteCount int64

// String is such as 1.5 GiB.
func (b byteCount) String() string { return scaled(float64(b), 1024, "B") }

// flops writes a number of operations for people.
func flops(n float64) string { return scaled(n, 1000, "flop") }

// programBytes is about what the process has in memory without any data: the
// code and tables that it has touched, Go's own structures, stacks. A build without a
// C compiler takes one or two MiB less than one with it.
const programBytes = 16 << 20

// planObject is what --plan --json prints.
func planObject(p *impute.Plan, device string) object {
	rows, matrix, history := byteCount(p.RowBytes), byteCount(p.MatrixBytes), byteCount(p.HistoryBytes)
	start, filled, peak := byteCount(p.StartBytes), byteCount(p.FillBytes), byteCount(p.PeakBytes)+programBytes
	return object{
		{"rows", p.Rows}, {"outputs", p.Outputs}, {"excerpts", p.Excerpts}, {"windows", p.Windows}, {"components", p.Components},
		{"features", p.Features}, {"at_most", p.AtMost}, // of windows, components and features
		{"starts", p.Starts}, {"tried_features", p.Tried}, {"tried_rows", p.TriedRows}, // of a table whose features per component are open
		{"evaluations", object{{"bounds", p.Bounds}, {"gradients", p.Gradients}, {"mini_batches", p.MiniBatches}}}, // each of one excerpt
		// bound and gradient: one evaluation for every excerpt; all: the starts and all evaluations
		{"flops", object{{"bound", p.BoundFlops}, {"gradient", p.GradientFlops}, {"start", p.StartFlops}, {"all", p.Flops}}},
		// rows, tables (0: sums over rows take passes) and matrix: of the excerpts that are fitted at a time; history: the optimiser's
		{"bytes", object{{"rows", rows}, {"tables", byteCount(p.TableBytes)}, {"matrix", matrix}, {"history", history}, {"start", start}, {"filled", filled}, {"peak", peak}}},
		{"device", device},
	}
}

// printPlan prints the plan of a fit as a fill of one excerpt, or of a fill whose excerpts are fitted.
func (a *app) printPlan(p *impute.Plan, device string) error {
	if a.json {
		return a.printJSON(planObject(p, device))
	}
	rows, matrix, history := byteCount(p.RowBytes), byteCount(p.MatrixBytes), byteCount(p.HistoryBytes)
	start, filled, peak := byteCount(p.StartBytes), byteCount(p.FillBytes), byteCount(p.PeakBytes)+programBytes
	most := ""
	if p.AtMost {
		most = "at most "
	}
	a.say("%-12s %s of %s in %s, computed on %s", "data",
		counted(p.Rows, "row"), counted(p.Outputs, "output"), counted(p.Excerpts, "excerpt"), device)
	a.say("%-12s %s%s and %s in %s", "model", most,
		counted(p.Components, "component"), counted(p.Features, "feature"), counted(p.Windows, "window"))
	if p.Tried != nil {
		a.say("%-12s %s features per component at most, on %s", "tried", strings.Trim(fmt.Sprint(p.Tried), "[]"), counted(p.TriedRows, "row"))
	}
	a.say("%-12s %d of the bound only, %d with its gradient, %d on mini-batches; %s", "evaluations",
		p.Bounds, p.Gradients, p.MiniBatches, counted(p.Starts, "start"))
	by, tables := "", ""
	if p.TableBytes > 0 {
		by, tables = " by tables of the rows", fmt.Sprintf("tables %v, ", byteCount(p.TableBytes))
	}
	a.say("%-12s %s%s for a bound%s, %s with its gradient, %s for the start, %s in total", "operations",
		most, flops(p.BoundFlops), by, flops(p.GradientFlops), flops(p.StartFlops), flops(p.Flops))
	a.say("%-12s rows %v, %smatrix %v, optimiser %v, start %v, fill %v; about %v at the peak", "memory",
		rows, tables, matrix, history, start, filled, peak)
	return nil
}

// printFillPlan prints the plan of a fill.
func (a *app) printFillPlan(p *impute.Plan, f *report.Fill, device string) error {
	switch {
	case a.json:
		return a.printJSON(append(planObject(p, device), field{"method", f.Method}, field{"missing", p.Missing}))
	case p.Rows > 0: // it has models
		return a.printPlan(p, device)
	}
	a.say("%-12s %s with %s, %s, filled by %s", "gaps", counted(len(f.Gaps), "gap"), counted(p.Missing, "sample"), counted(f.Channels, "channel"), f.Method)
	a.say("%-12s %s", "operations", flops(p.Flops))
	a.say("%-12s fill %v; about %v at the peak", "memory", byteCount(p.FillBytes), byteCount(p.PeakBytes)+programBytes)
	return nil
}

// planPrediction prints what predicting at these places would take.
func (a *app) planPrediction(m *vssgp.Model, at *places, o *predictFlags) error {
	p, err := m.PredictionPlan(at.rows)
	if err != nil {
		return err
	}
	outputs, columns, err := (&prediction{at: at, o: o, outputs: outputNames(m)}).files()
	if err != nil {
		return err
	}
	beside := p.Outputs // further numbers in memory for a row: the standard deviations, and the row of the table
	if columns != nil {
		beside += len(columns) + p.Outputs*o.columnDraws()
	}
	held := 8 * float64(min(p.Part*beside, mostNumbers))
	rows, matrix, peak := byteCount(p.RowBytes), byteCount(p.MatrixBytes), byteCount(p.PeakBytes+held)+programBytes
	var files []object
	for _, f := range outputs {
		each := map[string]int{"csv": 19, "tsv": 19, "npy": 8, "wav": 4}[formatOf(f.path)]                        // bytes of a number, for CSV about
		files = append(files, object{{"path", f.path}, {"bytes", byteCount(p.Rows) * byteCount(f.columns*each)}}) // without a header
	}
	if o.joint != "" {
		joint, err := jointBytes(o.joint, at.rows, p.Outputs)
		if err != nil {
			return err
		}
		files, peak = append(files, object{{"path", o.joint}, {"bytes", byteCount(joint)}}), peak+byteCount(joint)
	}
	if a.json {
		return a.printJSON(object{
			{"rows", p.Rows}, {"inputs", p.Inputs}, {"outputs", p.Outputs}, {"windows", p.Windows}, {"components", p.Components},
			{"features", p.Features}, {"flops", p.Flops}, // without draws and --joint
			{"columns", columns}, {"files", files}, // null for a recording; without a plot
			// rows: those that are predicted at a time, with their predictions; matrix: the posterior's covariance
			{"bytes", object{{"rows", rows}, {"matrix", matrix}, {"peak", peak}}},
			{"device", m.Backend.Name()},
		})
	}
	a.say("%-12s %s of %s, computed on %s", "data", counted(p.Rows, "row"), counted(p.Outputs, "output"), m.Backend.Name())
	a.say("%-12s %s and %s in %s", "model", counted(p.Components, "component"), counted(p.Features, "feature"), counted(p.Windows, "window"))
	a.say("%-12s %s", "operations", flops(p.Flops))
	a.say("%-12s rows %v, matrix %v; about %v at the peak", "memory", rows, matrix, peak)
	for _, f := range files {
		a.say("%-12s about %v to %s", "output", f[1].value, f[0].value)
	}
	return nil
}

// scaled writes v with the prefix for the power of base that suits it: k, M and so
// on for 1000, Ki, Mi for 1024. Three digits never need an exponent.
func scaled(v, base float64, unit string) string {
	prefixes := []string{"", "k", "M", "G", "T", "P", "E"}
	if base == 1024 {
		prefixes = []string{"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"}
	}
	i := 0
	for ; v >= 999.5 && i < len(prefixes)-1; i++ {
		v /= base
	}
	return fmt.Sprintf("%.3g %s%s", v, prefixes[i], unit)
}
