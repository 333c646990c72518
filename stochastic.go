package vssgp

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// RMSPROP's constants (Tieleman & Hinton 2012), with each coordinate's step
// rate adapted by the agreement of successive steps.
const (
	rmsDecay   = 0.9    // of the running mean of squared gradients
	rmsRate    = 0.01   // starting step in the chart's units
	rmsFloor   = 1e-6   // smallest rate
	rmsCeiling = 0.1    // largest rate
	rmsAgree   = 1.05   // rate's growth where two steps agree in sign
	rmsDiffer  = 0.9    // and its shrinking where they differ
	rmsTail    = 0.5    // share of the steps over which the rate falls linearly to 0
	rmsFlat    = 1e-12  // added to the mean square
	reportEach = 50     // steps between progress reports
	batchRows  = 512    // rows of a mini-batch where the options leave it open
	boundDecay = 0.98   // of the running mean of the bound's estimates
	batchSalt  = 0xba7c // tells this random stream from the others
)

// stochastic maximises the factorised bound over one stage's tensors by
// RMSPROP on mini-batches (eq. lower_bound_SVI). A contiguous mini-batch under
// windows costs what its windows hold: nothing of the others is computed,
// read or moved.
func (f *fitting) stochastic(s stage) (string, error) {
	p := f.model.Params
	c := f.chart(f.origin(), s.free, false)
	if c.n == 0 {
		return "nothing to optimise", f.ctx.Err()
	}
	batches := f.newBatches()
	v, rms, first, err := f.startDescent(c, s, batches)
	if err != nil {
		return "", err
	}
	g := make([]float64, c.n)
	shared, own := c.byWindow(p)
	for step := first; step < s.iterations; step++ {
		if err := f.ctx.Err(); err != nil {
			return "", errors.Join(interrupted(f.ctx, err), f.saveDescent(v, rms, step, batches))
		}
		cool := coolDown(step, s.iterations)
		m := batches.next()
		lo, hi := m.components(p)
		e, err := f.held.batch(p.components(lo, hi), m.rows, m.weight, true)
		if err != nil {
			return "", fmt.Errorf("vssgp: step %d: %w", step, err)
		}
		if step == 0 {
			f.bound = e.Bound
		}
		f.bound = boundDecay*f.bound + (1-boundDecay)*e.Bound
		spans := m.spans(c.spans, shared, own)
		c.pullSpans(spans, g, p, e.Gradient, lo)
		for _, s := range spans {
			lo, hi := c.coordinates(s)
			rms.step(v, g, lo, hi, cool)
			c.hold(v, s)
		}
		c.writeSpans(spans, p, v)
		f.iterations++
		if step%reportEach == 0 {
			f.report(1 / math.Sqrt(p.NoisePrecision[0]))
		}
		if f.o.Keep != nil && time.Now().After(f.nextKeep) {
			if err := f.keep(Factorised); err != nil {
				return "", err
			}
		}
		if f.checkpoint().due() {
			if err := f.saveDescent(v, rms, step+1, batches); err != nil {
				return "", err
			}
		}
	}
	return "iteration limit", nil
}

// coolDown is the factor on all rates at a step: 1, then falling linearly.
func coolDown(step, steps int) float64 {
	left := float64(steps-step) / (rmsTail * float64(steps))
	return min(1, left)
}

// rmsProp is RMSPROP's state.
type rmsProp struct{ square, rate, last []float64 }

func newRMSProp(n int) *rmsProp {
	r := &rmsProp{make([]float64, n), make([]float64, n), make([]float64, n)}
	for i := range r.rate {
		r.rate[i] = rmsRate
	}
	return r
}

// step moves the coordinates [lo, hi) of v up the gradient g. A gradient that
// is not a number moves nothing.
func (r *rmsProp) step(v, g []float64, lo, hi int, cool float64) {
	for i := lo; i < hi; i++ {
		x := g[i]
		if math.IsNaN(x) || math.IsInf(x, 0) {
			continue
		}
		if r.square[i] == 0 {
			r.square[i] = x * x
		}
		r.square[i] = rmsDecay*r.square[i] + (1-rmsDecay)*x*x
		to := x / math.Sqrt(r.square[i]+rmsFlat)
		if to*r.last[i] > 0 {
			r.rate[i] = min(rmsCeiling, r.rate[i]*rmsAgree)
		} else if to*r.last[i] < 0 {
			r.rate[i] = max(rmsFloor, r.rate[i]*rmsDiffer)
		}
		r.last[i] = to
		v[i] += cool * r.rate[i] * to
	}
}
