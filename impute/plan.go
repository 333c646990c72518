package impute

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/internal/cost"
)

// Plan is what FillFrom is going to compute and hold, told beforehand from the
// lengths alone: see vssgp.Plan, of which this adds the excerpts up.
type Plan struct {
	Excerpts int // stretches modelled on their own
	AtOnce   int // of them at work at a time
	Rows     int // observed samples of the excerpts
	Missing  int // samples to fill

	Windows, Components, Features  int  // of all excerpts
	AtMost                         bool // as in vssgp.Plan
	Bounds, Gradients, MiniBatches int  // evaluations, each of one excerpt
	// BoundFlops and GradientFlops are operations of one evaluation of every
	// excerpt, StartFlops of all starting values; Flops of the whole fill, without
	// the predictions.
	BoundFlops, GradientFlops, StartFlops, Flops float64

	// FillBytes are the excerpts as filled, which stay; RowBytes, MatrixBytes
	// and HistoryBytes what those at work at a time hold at most, one matrix
	// each; PeakBytes about all that is held at once.
	FillBytes, RowBytes, MatrixBytes, HistoryBytes, PeakBytes float64
	StartBytes                                                float64 // as in vssgp.Plan, of those at work at a time
}

// NewPlan is the plan of FillFrom for a recording of so many channels of n
// samples, which are not known: it counts the most components that may be taken.
func NewPlan(channels, n, rate int, gaps []Gap, o Options) (*Plan, error) {
	if channels < 1 {
		return nil, fmt.Errorf("impute: plan for %d channels, want at least one: %w", channels, vssgp.ErrData)
	}
	return newPlan(context.Background(), n, rate, gaps, o, func(*Excerpt) ([][]float64, error) { return make([][]float64, channels), nil })
}

// NewPlanFrom is the plan of FillFrom, which reads the excerpts to see about how
// many components they will get. Errors wrap ctx.Err() once ctx has ended.
func NewPlanFrom(ctx context.Context, src Source, n, rate int, gaps []Gap, o Options) (*Plan, error) {
	src = Around(src, slices.SortedFunc(slices.Values(gaps), func(a, b Gap) int { return a.Start - b.Start }))
	return newPlan(ctx, n, rate, gaps, o, func(e *Excerpt) ([][]float64, error) { return src.Read(e.Start, e.End) })
}

// newPlan is the plan for excerpts of which read gives the channels, nil where
// their samples are not known.
func newPlan(ctx context.Context, n, rate int, gaps []Gap, o Options, read func(e *Excerpt) ([][]float64, error)) (*Plan, error) {
	all, err := Excerpts(n, rate, gaps, o)
	if err != nil {
		return nil, err
	}
	p := &Plan{Excerpts: len(all), AtOnce: min(o.workers(), len(all))}
	model := o.model()
	parts := make([]*vssgp.Plan, len(all))
	drawn := 0.0
	for i := range all {
		e := &all[i]
		samples, err := read(e)
		if err == nil {
			parts[i], err = vssgp.NewPlanContext(ctx, e.data(samples, rate, e.inGap()), model)
		}
		if err != nil {
			return nil, fmt.Errorf("impute: samples %d:%d: %w", e.Start, e.End, err)
		}
		channels := len(samples)
		missing := audio.Missing(e.Gaps)
		p.add(parts[i], missing)
		p.FillBytes += 8 * float64(channels) * float64(fillArrays+o.Draws) * float64(e.End-e.Start)
		if !o.Forget {
			p.PeakBytes += cost.Collected * parts[i].MatrixBytes
		}
		if o.Draws > 0 {
			drawn = max(drawn, 8*(drawCopies*float64(missing)*float64(1+channels)+drawNumbers*float64(parts[i].Features)*float64(channels)))
		}
	}
	p.PeakBytes += cost.Collected * (p.FillBytes + drawn*float64(p.AtOnce))
	slices.SortFunc(parts, func(a, b *vssgp.Plan) int { return int(b.PeakBytes - a.PeakBytes) })
	for _, e := range parts[:p.AtOnce] {
		p.RowBytes += e.RowBytes
		p.MatrixBytes += e.MatrixBytes
		p.HistoryBytes += e.HistoryBytes
		p.StartBytes += e.StartBytes
		p.PeakBytes += e.PeakBytes
	}
	return p, nil
}

const (
	// fillArrays are an excerpt's arrays besides draws: Filled, Fit, SD.
	fillArrays = 3
	// drawCopies is how often a draw has the missing samples and their places:
	// those asked for, in the model's units, and the draw itself; drawNumbers what
	// it has of each feature besides.
	drawCopies, drawNumbers = 3, 8
)

func (p *Plan) add(e *vssgp.Plan, missing int) {
	p.Rows += e.Rows
	p.Missing += missing
	p.Windows += e.Windows
	p.Components += e.Components
	p.Features += e.Features
	p.AtMost = p.AtMost || e.AtMost
	p.Bounds += e.Bounds
	p.Gradients += e.Gradients
	p.MiniBatches += e.MiniBatches
	p.BoundFlops += e.BoundFlops
	p.GradientFlops += e.GradientFlops
	p.StartFlops += e.StartFlops
	p.Flops += e.Flops()
}

// workers is how many excerpts are at work at a time, if there are as many.
func (o *Options) workers() int {
	if o.Workers > 0 {
		return o.Workers
	}
	return runtime.GOMAXPROCS(0)
}
