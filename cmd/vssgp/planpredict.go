package main

import (
	"github.com/vssgp/vssgp"
)

// predictionPlan is what predict --plan --json prints.
type predictionPlan struct {
	Rows       int           `json:"rows"`
	Inputs     int           `json:"inputs"`
	Outputs    int           `json:"outputs"`
	Windows    int           `json:"windows"`
	Components int           `json:"components"`
	Features   int           `json:"features"`
	Flops      float64       `json:"flops"`   // draws apart
	Columns    []string      `json:"columns"` // null: a recording
	Files      []plannedFile `json:"files"`
	Bytes      struct {
		Rows   byteCount `json:"rows"`   // the rows at work at a time, with their predictions
		Matrix byteCount `json:"matrix"` // the posterior's covariance, once
		Peak   byteCount `json:"peak"`   // about all that is held at once, by the program itself too
	} `json:"bytes"`
	Device string `json:"device"`
}

// plannedFile is a file that would be written, a plot apart.
type plannedFile struct {
	Path  string    `json:"path"`
	Bytes byteCount `json:"bytes"` // about, without a header
}

// csvNumber is about how many bytes a number takes in a CSV file.
const csvNumber = 19

// planPrediction prints what predicting at these places would take.
func (a *app) planPrediction(m *vssgp.Model, at *places, o *predictFlags) error {
	p, err := m.PredictionPlan(at.rows)
	if err != nil {
		return err
	}
	files, columns, err := (&prediction{at: at, o: o, outputs: outputNames(m)}).files()
	if err != nil {
		return err
	}
	out := predictionPlan{
		Rows: p.Rows, Inputs: p.Inputs, Outputs: p.Outputs, Windows: p.Windows, Components: p.Components, Features: p.Features,
		Flops: p.Flops, Columns: columns, Device: m.Backend.Name(),
	}
	for _, f := range files {
		each := map[string]int{"csv": csvNumber, "npy": 8, "wav": 4}[formatOf(f.path)]
		out.Files = append(out.Files, plannedFile{f.path, byteCount(p.Rows) * byteCount(f.columns*each)})
	}
	beside := p.Outputs // numbers of a row that are held besides: the standard deviations, and the row of the table
	if columns != nil {
		beside += len(columns) + p.Outputs*o.columnDraws()
	}
	held := 8 * float64(min(p.Part*beside, mostNumbers))
	b := &out.Bytes
	b.Rows, b.Matrix, b.Peak = byteCount(p.RowBytes), byteCount(p.MatrixBytes), byteCount(p.PeakBytes+held)+programBytes
	if a.json {
		return a.printJSON(out)
	}
	a.sayShape(p.Rows, p.Outputs, "", out.Device, "", p.Components, p.Features, p.Windows)
	a.say("%-12s %s", "operations", flops(p.Flops))
	a.say("%-12s rows %v, matrix %v; about %v at the peak", "memory", b.Rows, b.Matrix, b.Peak)
	for _, f := range out.Files {
		a.say("%-12s about %v to %s", "output", f.Bytes, f.Path)
	}
	return nil
}
