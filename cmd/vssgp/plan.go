package main

import (
	"context"
	"fmt"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/impute"
	"github.com/vssgp/vssgp/internal/report"
)

const planUsage = "print what would be computed and held (rows, windows, features, operations, bytes) and end without doing it"

// planResult is what --plan --json prints.
type planResult struct {
	Rows        int             `json:"rows"`
	Outputs     int             `json:"outputs"`
	Excerpts    int             `json:"excerpts"`
	Windows     int             `json:"windows"`
	Components  int             `json:"components"`
	Features    int             `json:"features"`
	AtMost      bool            `json:"at_most"` // windows to features are the most that the data may make them
	Starts      int             `json:"starts"`
	Evaluations planEvaluations `json:"evaluations"`
	Flops       planFlops       `json:"flops"`
	Bytes       planBytes       `json:"bytes"`
	Device      string          `json:"device"`
}

// planEvaluations are expected in all, each of one excerpt.
type planEvaluations struct {
	Bounds      int `json:"bounds"`
	Gradients   int `json:"gradients"`
	MiniBatches int `json:"mini_batches"`
}

type planFlops struct {
	Bound    number `json:"bound"`    // an evaluation of every excerpt's bound
	Gradient number `json:"gradient"` // the same with the gradient
	Start    number `json:"start"`    // of the starting values: a fill, spectra
	All      number `json:"all"`      // of them and of all evaluations expected
}

type planBytes struct {
	Rows    int64 `json:"rows"`    // samples of the excerpts at work at once
	Matrix  int64 `json:"matrix"`  // their matrices, once
	History int64 `json:"history"` // the optimiser's
	Start   int64 `json:"start"`   // the starting values', before there is a model
	Filled  int64 `json:"filled"`  // the fill of all excerpts
	Peak    int64 `json:"peak"`    // about all that is held at once, by the program itself too
}

// programBytes is about what the process has in memory without any data: the
// code and tables that it has touched, Go's own structures, stacks.
const programBytes = 19 << 20

// planImpute prints what a fill of the gaps would take.
func (a *app) planImpute(ctx context.Context, rec *audio.File, gaps []impute.Gap, o impute.Options) error {
	p, err := impute.NewPlanFrom(ctx, rec, rec.Len(), rec.Rate(), gaps, o)
	if err != nil {
		return err
	}
	return a.printPlan(planResult{
		Rows: p.Rows, Outputs: rec.Channels(), Excerpts: p.Excerpts, Windows: p.Windows, Components: p.Components, Features: p.Features,
		AtMost: p.AtMost, Starts: 1 + o.Model.Restarts, Evaluations: planEvaluations{p.Bounds, p.Gradients, p.MiniBatches},
		Flops: planFlops{number(p.BoundFlops), number(p.GradientFlops), number(p.StartFlops), number(p.Flops)},
		Bytes: planBytes{int64(p.RowBytes), int64(p.MatrixBytes), int64(p.HistoryBytes), int64(p.StartBytes), int64(p.FillBytes), int64(p.PeakBytes)},
	}, o.Model)
}

// planFit prints what a fit to data would take.
func (a *app) planFit(ctx context.Context, data *vssgp.Data, o vssgp.Options) error {
	p, err := vssgp.NewPlanContext(ctx, data, o)
	if err != nil {
		return err
	}
	return a.printPlan(planResult{
		Rows: p.Rows, Outputs: p.Outputs, Excerpts: 1, Windows: p.Windows, Components: p.Components, Features: p.Features,
		AtMost: p.AtMost, Starts: p.Starts, Evaluations: planEvaluations{p.Bounds, p.Gradients, p.MiniBatches},
		Flops: planFlops{number(p.BoundFlops), number(p.GradientFlops), number(p.StartFlops), number(p.Flops())},
		Bytes: planBytes{int64(p.RowBytes), int64(p.MatrixBytes), int64(p.HistoryBytes), int64(p.StartBytes), 0, int64(p.PeakBytes)},
	}, o)
}

func (a *app) printPlan(p planResult, o vssgp.Options) error {
	p.Device = o.Backend.Name()
	p.Bytes.Peak += programBytes
	if a.json {
		return a.printJSON(p)
	}
	most := ""
	if p.AtMost {
		most = "at most "
	}
	a.say("%-12s %s of %s in %s, to be computed on %s", "data", report.Counted(p.Rows, "row"), report.Counted(p.Outputs, "output"), report.Counted(p.Excerpts, "excerpt"), p.Device)
	a.say("%-12s %s%s and %s in %s", "model", most, report.Counted(p.Components, "component"), report.Counted(p.Features, "feature"), report.Counted(p.Windows, "window"))
	a.say("%-12s %d of the bound alone, %d with its gradient, %d on mini-batches; %s", "evaluations",
		p.Evaluations.Bounds, p.Evaluations.Gradients, p.Evaluations.MiniBatches, report.Counted(p.Starts, "start"))
	a.say("%-12s %s%s for a bound, %s for one with its gradient, %s to start, %s in all", "operations", most,
		scaled(float64(p.Flops.Bound), 1000, "flop"), scaled(float64(p.Flops.Gradient), 1000, "flop"), scaled(float64(p.Flops.Start), 1000, "flop"), scaled(float64(p.Flops.All), 1000, "flop"))
	size := func(n int64) string { return scaled(float64(n), 1024, "B") }
	a.say("%-12s rows %s, matrix %s, optimiser %s, start %s, fill %s; about %s at the peak", "memory",
		size(p.Bytes.Rows), size(p.Bytes.Matrix), size(p.Bytes.History), size(p.Bytes.Start), size(p.Bytes.Filled), size(p.Bytes.Peak))
	return nil
}

// scaled is v with the prefix for the power of base that suits it: of 1000 k, M
// and so on, of 1024 Ki, Mi. Three digits never need an exponent.
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
