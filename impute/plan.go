package impute

import (
	"context"
	"fmt"
	"slices"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/internal/beside"
	"github.com/vssgp/vssgp/internal/clip"
	"github.com/vssgp/vssgp/internal/cost"
)

// Plan says beforehand how much FillFrom is going to compute and hold: the sum of the excerpts' vssgp.Plans.
type Plan struct {
	// Plan adds up the excerpts' counts, and the operations of one evaluation of every excerpt. RowBytes to StartBytes are
	// the most that the excerpts at work at the same time hold, one matrix each. PeakBytes is about all that is held at once.
	vssgp.Plan
	Excerpts  int     // parts of the recording modelled on their own
	AtOnce    int     // of them at work at a time
	Missing   int     // samples to fill
	Flops     float64 // operations of the whole fill, without the predictions
	FillBytes float64 // what stays of the fills: excerpts, or gaps one by one
}

// NewPlan returns the plan of FillFrom for a recording of n samples in so many channels, without their values: it counts the
// most components that the start may take.
func NewPlan(channels, n, rate int, gaps []Gap, o Options) (*Plan, error) {
	if channels < 1 {
		return nil, fmt.Errorf("impute: plan for %d channels, want at least one: %w", channels, vssgp.ErrData)
	}
	return newPlan(context.Background(), unread(channels), n, rate, gaps, o)
}

// unread is a source with so many channels and no samples.
type unread int

func (u unread) Read(lo, hi int) ([][]float64, error) { return make([][]float64, u), nil }

// NewPlanFrom returns the plan of FillFrom. It reads the excerpts to see about how many components they will get. Errors wrap
// ctx.Err() once ctx has ended.
func NewPlanFrom(ctx context.Context, src Source, n, rate int, gaps []Gap, o Options) (*Plan, error) {
	rising := slices.SortedFunc(slices.Values(gaps), func(a, b Gap) int { return a.Start - b.Start })
	return newPlan(ctx, Around(src, rising), n, rate, gaps, o)
}

func newPlan(ctx context.Context, src Source, n, rate int, gaps []Gap, o Options) (*Plan, error) {
	channels, err := channelsOf(src)
	if err != nil {
		return nil, err
	}
	all, err := Excerpts(channels, n, rate, gaps, o)
	if err != nil {
		return nil, err
	}
	if err := o.checkMethod(); err != nil {
		return nil, err
	}
	if m := o.Resolved(); m != VSSGP {
		return planGaps(ctx, float64(channels), all, rate, m, &o)
	}
	p := &Plan{Excerpts: len(all), AtOnce: o.workers(len(all))}
	model := o.model()
	parts := make([]*vssgp.Plan, len(all))
	drawn := 0.0
	for i := range all {
		e := &all[i]
		if err := e.open(src); err != nil {
			return nil, err
		}
		if parts[i], err = vssgp.NewPlanContext(ctx, e.data(rate), model); err != nil {
			return nil, e.failed(err)
		}
		channels, missing := len(e.Filled), audio.Missing(e.Gaps)
		e.Filled = nil
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
		p.TableBytes += e.TableBytes
		p.MatrixBytes += e.MatrixBytes
		p.HistoryBytes += e.HistoryBytes
		p.StartBytes += e.StartBytes
		p.PeakBytes += e.PeakBytes
	}
	return p, nil
}

// planGaps is the plan of a method that fills gaps one by one.
func planGaps(ctx context.Context, channels float64, all []Excerpt, rate int, m Method, o *Options) (*Plan, error) {
	p := &Plan{Excerpts: len(all)}
	largest, guessed, held := 0.0, 0.0, 0.0
	gaps, clipped, span := 0, 0, 0
	for _, e := range all {
		p.Missing += audio.Missing(e.Gaps)
		span += e.End - e.Start
		for _, g := range e.Gaps {
			of := channels // that miss it
			if g.Channel > 0 {
				of = 1
			}
			n, reach := float64(g.Len()), float64(reachOf(g, rate))
			if g.Clipped {
				clipped += g.Len()
				p.FillBytes += of * (8*float64(2+o.Draws)*n + gapBytes)
				gaps++
				continue
			}
			joint := m == Mixture && g.Channel > 0 && channels > 1
			flops, bytes := m.menu().Work(known(g, rate), float64(rate), o.Draws, joint) // of a long gap both sides' fills, with half of the trials each
			if joint {
				f, b := beside.Work(int(channels)-1, g.Len()+2*reachOf(g, rate), float64(rate))
				flops, bytes = flops+f, bytes+b
			}
			p.Flops += of * flops
			record := 8 * float64(2+o.Draws) * n
			largest = max(largest, bytes+8*(channels*(n+2*reach)+float64(singleArrays+o.Draws)*n)+record)
			p.FillBytes += of * (record + gapBytes)
			if gaps%batch == 0 {
				held = 0
			}
			if gaps++; g.Len() <= longest(rate) {
				held += 8 * channels * n
			}
			guessed = max(guessed, held)
		}
	}
	if clipped > 0 {
		flops, bytes := clip.Work(span, clipped, float64(rate))
		p.Flops, largest = p.Flops+flops, max(largest, bytes)
	}
	p.AtOnce = o.workers(gaps)
	p.PeakBytes = cost.Collected * (p.FillBytes + guessBatches*guessed + largest*float64(p.AtOnce))
	return p, ctx.Err()
}

const (
	// fillArrays counts an excerpt's arrays besides draws: Filled, Fit, SD.
	fillArrays = 3
	// singleArrays counts a gap's while it is filled: mean, sd and, of a long one, precisions. Its weighted means are zeros but at
	// the ends, which take no memory. gapBytes is what is known of each filled gap besides its samples. guessBatches are those whose guesses are held.
	singleArrays, gapBytes, guessBatches = 3, 260, 3
	// drawCopies counts the copies of the missing samples and their places in a draw: as asked for, in the model's units, and
	// the draw itself. drawNumbers are the further numbers that it holds for each feature.
	drawCopies, drawNumbers = 3, 8
)

// add adds the plan of an excerpt.
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
