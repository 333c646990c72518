package vssgp

import (
	"github.com/vssgp/vssgp/ranks"
	"github.com/vssgp/vssgp/spectral"
)

// exactSpread is exact, with a gradient, where G stays on several ranks: they
// factor it together.
func (h *held) exactSpread(r *ranks.Rows, p *Params, f *spectral.Features) (e *Evaluation, err error) {
	tau := p.NoisePrecision[0]
	e = &Evaluation{mean: make([]float64, f.M*h.d)}
	var c ranks.Conditioned
	e.Jitter, err = jittered(f.M, 1/tau, func(_ int, jitter float64) (float64, error) {
		c, err = r.Condition(e.mean, f, 1/tau+jitter)
		return c.Trace, err
	})
	if err != nil {
		return nil, err
	}
	residual := h.square - c.Fit
	if err := h.exactTerms(e, p, residual, c.LogDet); err != nil {
		return nil, err
	}
	if err := h.ctx.Err(); err != nil {
		return nil, err
	}
	barF := h.room.adjointOf(f)
	inverse, err := r.Adjoint(barF, f, tau)
	if err != nil {
		return nil, err
	}
	h.noiseGradient(e, p, residual, inverse)
	p.pullExact(e.Gradient, barF)
	return e, nil
}
