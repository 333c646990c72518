package optimize

import (
	"bytes"
	"errors"
	"fmt"
	"math"

	"github.com/vssgp/vssgp/internal/optimize/lbfgs"
)

const (
	reportEvery = 50   // steps between progress reports
	boundDecay  = 0.98 // of the running mean of the bound's estimates
)

// descend maximizes the factorized bound plus the log prior over the stage's tensors by RMSProp
// on mini-batches (eq. lower_bound_SVI). With windows, a contiguous mini-batch computes, reads
// and updates only the parameters of the windows that it overlaps.
func (r *Run) descend(c *Coordinates, from *State) (string, error) {
	p, batches := r.Params, r.newBatches()
	d, err := r.startDescent(c, batches, from)
	if err != nil {
		return "", err
	}
	keep := func() error {
		d.Bound, d.Stream = 0, batches.stream()
		if d.Steps > 0 {
			d.Bound = r.Bound
		}
		return r.keep(&State{Descent: d})
	}
	g := make([]float64, c.n)
	shared, own := c.byWindow(p)
	for d.Steps < r.stage.iterations {
		step := d.Steps
		if err := r.ctx.Err(); err != nil {
			return string(lbfgs.Stopped), errors.Join(Interrupted(r.ctx, err), keep())
		}
		cool := CoolDown(step, r.stage.iterations)
		m := batches.next()
		lo, hi := m.components(p)
		e, err := r.Rows.Factorized(p.Components(lo, hi), m.rows, m.weight, true)
		if err != nil {
			return "", fmt.Errorf("step %d: %w", step, err)
		}
		if step == 0 {
			r.Bound = e.Bound
		}
		r.Bound = boundDecay*r.Bound + (1-boundDecay)*e.Bound
		spans := m.spans(c.spans, shared, own)
		c.pullSpans(spans, g, p, e.Gradient, lo)
		m.pullPrior(c, d.X, g, shared, own)
		for _, s := range spans {
			lo, hi := c.coordinates(s)
			d.step(d.X, g, lo, hi, cool)
			c.clamp(d.X, s)
		}
		c.writeSpans(spans, p, d.X)
		d.Steps++
		r.Taken++
		if step%reportEvery == 0 {
			r.report(1 / p.NoisePrecision[0])
		}
		if r.due() {
			if err := keep(); err != nil {
				return "", err
			}
		}
	}
	return "iteration limit", nil
}

// startDescent begins a stage of mini-batches, or resumes one. To restore the random stream it
// draws the previous mini-batches again.
func (r *Run) startDescent(c *Coordinates, b *batches, from *State) (*Descent, error) {
	if from.Ascent == nil && from.Descent == nil {
		d := &Descent{RMSProp: newRMSProp(c.n), X: make([]float64, c.n)}
		c.read(d.X, r.Params)
		return d, nil
	}
	d := from.Descent
	bad := d == nil || d.Steps < 0 || d.Steps > r.stage.iterations
	if !bad {
		for range d.Steps {
			b.next()
		}
		bad = !bytes.Equal(b.stream(), d.Stream) || math.IsNaN(d.Bound)
		for _, a := range [][]float64{d.X, d.Square, d.Rate, d.Last} {
			bad = bad || len(a) != c.n
		}
		for _, rate := range d.Rate {
			bad = bad || !(rate >= rmsLeast && rate <= rmsMost)
		}
	}
	if bad {
		return nil, fmt.Errorf("the checkpoint's optimizer or random stream does not fit the stage's %d coordinates and %d steps: %w", c.n, r.stage.iterations, ErrState)
	}
	if d.Steps > 0 {
		r.Bound = d.Bound
	}
	return d, r.checkPoint(c, d.X)
}
