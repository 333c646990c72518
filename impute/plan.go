package impute

import (
	"context"
	"fmt"
	"slices"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/internal/cost"
)

// Plan says beforehand how much FillFrom is going to compute and hold: the sum of
// the excerpts' vssgp.Plans.
type Plan struct {
	// Plan adds up the excerpts' counts, and the operations of one evaluation of
	// every excerpt. Its RowBytes to StartBytes are what the excerpts at work at a
	// time hold at most, one matrix each, and PeakBytes about all that is held at
	// once.
	vssgp.Plan
	Excerpts  int     // parts of the recording modelled on their own
	AtOnce    int     // of them at work at a time
	Missing   int     // samples to fill
	Flops     float64 // operations of the whole fill, without the predictions
	FillBytes float64 // the excerpts as filled, which stay
}

// NewPlan is the plan of FillFrom for a recording with that many channels of
// n samples, whose values are not known: it counts the most components that may be taken.
func NewPlan(channels, n, rate int, gaps []Gap, o Options) (*Plan, error) {
	if channels < 1 {
		return nil, fmt.Errorf("impute: plan for %d channels, want at least one: %w", channels, vssgp.ErrData)
	}
	return newPlan(context.Background(), unread(channels), n, rate, gaps, o)
}

// unread is a source with that many channels, whose samples are not known.
type unread int

func (u unread) Read(lo, hi int) ([][]float64, error) { return make([][]float64, u), nil }

// NewPlanFrom is the plan of FillFrom, which reads the excerpts to see about how
// many components they will get. Errors wrap ctx.Err() once ctx has ended.
func NewPlanFrom(ctx context.Context, src Source, n, rate int, gaps []Gap, o Options) (*Plan, error) {
	rising := slices.SortedFunc(slices.Values(gaps), func(a, b Gap) int { return a.Start - b.Start })
	return newPlan(ctx, Around(src, rising), n, rate, gaps, o)
}

func newPlan(ctx context.Context, src Source, n, rate int, gaps []Gap, o Options) (*Plan, error) {
	all, err := Excerpts(n, rate, gaps, o)
	if err != nil {
		return nil, err
	}
	p := &Plan{Excerpts: len(all), AtOnce: o.workers(len(all))}
	model := o.model()
	parts := make([]*vssgp.Plan, len(all))
	drawn := 0.0
	for i := range all {
		e, err := all[i].open(src, rate)
		if err != nil {
			return nil, err
		}
		if parts[i], err = vssgp.NewPlanContext(ctx, e.data(), model); err != nil {
			return nil, e.failed(err)
		}
		channels, missing := len(e.samples), audio.Missing(e.Gaps)
		p.add(parts[i], missing)
		p.FillBytes += 8 * float64(channels) * float64(fillArrays+o.Draws) * float64(len(e.missing))
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
	p.Missing += missing
	p.Inputs, p.Outputs, p.Starts = e.Inputs, e.Outputs, e.Starts
	p.Rows += e.Rows
	p.Windows += e.Windows
	p.Components += e.Components
	p.Features += e.Features
	p.AtMost = p.AtMost || e.AtMost
	p.Bounds += e.Bounds
	p.Gradients += e.Gradients
	p.MiniBatches += e.MiniBatches
	p.BoundFlops += e.BoundFlops
	p.GradientFlops += e.GradientFlops
	p.MiniBatchFlops += e.MiniBatchFlops
	p.StartFlops += e.StartFlops
	p.Flops += e.Flops()
}
