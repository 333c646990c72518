package main

import (
	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/internal/report"
)

// predictionPlan is what predict --plan --json prints.
type predictionPlan struct {
	Rows       int             `json:"rows"`
	Inputs     int             `json:"inputs"`
	Outputs    int             `json:"outputs"`
	Windows    int             `json:"windows"`
	Components int             `json:"components"`
	Features   int             `json:"features"`
	Flops      number          `json:"flops"`   // draws apart
	Columns    []string        `json:"columns"` // null: a recording
	Files      []plannedFile   `json:"files"`
	Bytes      predictionBytes `json:"bytes"`
	Device     string          `json:"device"`
}

// plannedFile is a file that would be written, a plot apart.
type plannedFile struct {
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"` // about, without a header
}

type predictionBytes struct {
	Rows   int64 `json:"rows"`   // the rows at work at a time, with their predictions
	Matrix int64 `json:"matrix"` // the posterior's covariance, once
	Peak   int64 `json:"peak"`   // about all that is held at once, by the program itself too
}

// csvNumber is about how many bytes a number takes in a CSV file.
const csvNumber = 19

// planPrediction prints what predicting at these places would take.
func (a *app) planPrediction(m *vssgp.Model, at *places, o *predictFlags) error {
	p, err := m.PredictionPlan(at.rows)
	if err != nil {
		return err
	}
	out := predictionPlan{
		Rows: p.Rows, Inputs: p.Inputs, Outputs: p.Outputs, Windows: p.Windows, Components: p.Components, Features: p.Features,
		Flops: number(p.Flops), Device: m.Backend.Name(),
	}
	add := func(path string, columns int) {
		each := map[format]int{csvFile: csvNumber, npyFile: 8, wavFile: 4}[formatOf(path)]
		out.Files = append(out.Files, plannedFile{path, int64(p.Rows) * int64(columns*each)})
	}
	own, beside := *o, p.Outputs // numbers of a row that are held besides: the standard deviations, and what is put together
	if path := o.drawsPath(); path != "" {
		own.draws = 0
		switch formatOf(path) {
		case wavFile:
			for _, name := range drawnFiles(path, o.draws) {
				add(name, p.Outputs)
			}
		case npyFile:
			add(path, p.Outputs*o.draws)
		default:
			add(path, p.Inputs+p.Outputs*o.draws)
		}
	}
	if formatOf(o.output) == wavFile {
		add(o.output, p.Outputs)
	} else {
		if out.Columns, err = tableNames(at.names, outputNames(m), &own); err != nil {
			return err
		}
		add(o.output, len(out.Columns))
		beside += len(out.Columns) + p.Outputs*own.draws
	}
	held := 8 * float64(min(p.Part*beside, mostNumbers))
	out.Bytes = predictionBytes{int64(p.RowBytes), int64(p.MatrixBytes), int64(p.PeakBytes+held) + programBytes}
	if a.json {
		return a.printJSON(out)
	}
	size := func(n int64) string { return scaled(float64(n), 1024, "B") }
	a.say("%-12s %s of %s, to be computed on %s", "data", report.Counted(out.Rows, "row"), report.Counted(out.Outputs, "output"), out.Device)
	a.say("%-12s %s and %s in %s", "model", report.Counted(out.Components, "component"), report.Counted(out.Features, "feature"), report.Counted(out.Windows, "window"))
	a.say("%-12s %s", "operations", scaled(float64(out.Flops), 1000, "flop"))
	a.say("%-12s rows %s, matrix %s; about %s at the peak", "memory", size(out.Bytes.Rows), size(out.Bytes.Matrix), size(out.Bytes.Peak))
	for _, f := range out.Files {
		a.say("%-12s about %s to %s", "output", size(f.Bytes), f.Path)
	}
	return nil
}
