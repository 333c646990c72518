package main

import (
	"context"
	"fmt"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/impute"
)

const planUsage = "print the work and memory it would take (rows, windows, features, operations, bytes), and do nothing else"

// planResult is what --plan --json prints.
type planResult struct {
	Rows        int  `json:"rows"`
	Outputs     int  `json:"outputs"`
	Excerpts    int  `json:"excerpts"`
	Windows     int  `json:"windows"`
	Components  int  `json:"components"`
	Features    int  `json:"features"`
	AtMost      bool `json:"at_most"` // windows to features are the most that the data may make them
	Starts      int  `json:"starts"`
	Evaluations struct {
		Bounds      int `json:"bounds"`
		Gradients   int `json:"gradients"`
		MiniBatches int `json:"mini_batches"`
	} `json:"evaluations"` // expected in all, each of one excerpt
	Flops struct {
		Bound    float64 `json:"bound"`    // an evaluation of every excerpt's bound
		Gradient float64 `json:"gradient"` // the same with the gradient
		Start    float64 `json:"start"`    // of the starting values: a fill, spectra
		All      float64 `json:"all"`      // of them and of all evaluations expected
	} `json:"flops"`
	Bytes struct {
		Rows    byteCount `json:"rows"`    // samples of the excerpts at work at once
		Matrix  byteCount `json:"matrix"`  // their matrices, once
		History byteCount `json:"history"` // the optimiser's
		Start   byteCount `json:"start"`   // the starting values', before there is a model
		Filled  byteCount `json:"filled"`  // the fill of all excerpts
		Peak    byteCount `json:"peak"`    // about all that is held at once, by the program itself too
	} `json:"bytes"`
	Device string `json:"device"`
}

// byteCount is a number of bytes, which people read with a prefix.
type byteCount int64

// String is such as 1.5 GiB.
func (b byteCount) String() string { return scaled(float64(b), 1024, "B") }

// flops is a number of operations, for people.
func flops(n float64) string { return scaled(n, 1000, "flop") }

// programBytes is about what the process has in memory without any data: the
// code and tables that it has touched, Go's own structures, stacks.
const programBytes = 19 << 20

// planImpute prints what a fill of the gaps would take.
func (a *app) planImpute(ctx context.Context, rec *audio.File, gaps []impute.Gap, o impute.Options) error {
	p, err := impute.NewPlanFrom(ctx, rec, rec.Len(), rec.Rate(), gaps, o)
	if err != nil {
		return err
	}
	return a.printPlan(p, o.Model.Backend.Name())
}

// planFit prints what a fit to data would take.
func (a *app) planFit(ctx context.Context, data *vssgp.Data, o vssgp.Options) error {
	p, err := vssgp.NewPlanContext(ctx, data, o)
	if err != nil {
		return err
	}
	return a.printPlan(&impute.Plan{Plan: *p, Excerpts: 1, Flops: p.Flops()}, o.Backend.Name())
}

// printPlan prints the plan of a fill, or of a fit as a fill of one excerpt.
func (a *app) printPlan(p *impute.Plan, device string) error {
	out := planResult{
		Rows: p.Rows, Outputs: p.Outputs, Excerpts: p.Excerpts, Windows: p.Windows, Components: p.Components, Features: p.Features,
		AtMost: p.AtMost, Starts: p.Starts, Device: device,
	}
	e, f, b := &out.Evaluations, &out.Flops, &out.Bytes
	e.Bounds, e.Gradients, e.MiniBatches = p.Bounds, p.Gradients, p.MiniBatches
	f.Bound, f.Gradient, f.Start, f.All = p.BoundFlops, p.GradientFlops, p.StartFlops, p.Flops
	b.Rows, b.Matrix, b.History, b.Start = byteCount(p.RowBytes), byteCount(p.MatrixBytes), byteCount(p.HistoryBytes), byteCount(p.StartBytes)
	b.Filled, b.Peak = byteCount(p.FillBytes), byteCount(p.PeakBytes)+programBytes
	if a.json {
		return a.printJSON(out)
	}
	most := ""
	if p.AtMost {
		most = "at most "
	}
	a.sayShape(p.Rows, p.Outputs, " in "+counted(p.Excerpts, "excerpt"), device, most, p.Components, p.Features, p.Windows)
	a.say("%-12s %d of the bound only, %d with its gradient, %d on mini-batches; %s", "evaluations",
		e.Bounds, e.Gradients, e.MiniBatches, counted(p.Starts, "start"))
	a.say("%-12s %s%s for a bound, %s with its gradient, %s for the start, %s in total", "operations",
		most, flops(f.Bound), flops(f.Gradient), flops(f.Start), flops(f.All))
	a.say("%-12s rows %v, matrix %v, optimiser %v, start %v, fill %v; about %v at the peak", "memory",
		b.Rows, b.Matrix, b.History, b.Start, b.Filled, b.Peak)
	return nil
}

// sayShape prints the first two lines of a plan: the data and the model.
func (a *app) sayShape(rows, outputs int, excerpts, device, most string, components, features, windows int) {
	a.say("%-12s %s of %s%s, computed on %s", "data", counted(rows, "row"), counted(outputs, "output"), excerpts, device)
	a.say("%-12s %s%s and %s in %s", "model", most, counted(components, "component"), counted(features, "feature"), counted(windows, "window"))
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
