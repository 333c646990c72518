package baselines

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/internal/optimize/lbfgs"
	"github.com/vssgp/vssgp/variational"
)

// usualIterations of L-BFGS.
const usualIterations = 300

// An objective is a bound with its gradient.
type objective interface {
	// value moves to h; its error wraps vssgp.ErrBound. The other methods follow it, once.
	value(h hyper) (float64, error)
	// gradient adds the gradient there to grad.
	gradient(grad *hyper)
	// model returns the model there.
	model() Model
}

// ascend maximizes f from c's start by L-BFGS. If ctx ends it, the best fit so far
// comes back with an error that wraps ctx.Err(); any other error, for which f has
// no value at the start, wraps vssgp.ErrBound and comes without a fit.
func (p *problem) ascend(ctx context.Context, c *coordinates, f objective) (*Fit, error) {
	ctx = cmp.Or(ctx, context.Background())
	eval := func(v, g []float64) (float64, error) {
		if err := ctx.Err(); err != nil {
			return 0, fmt.Errorf("%w: %w", lbfgs.ErrStop, err)
		}
		h, grad := c.at(v), c.zero()
		value, err := f.value(h)
		if err == nil {
			f.gradient(grad)
			c.pull(g, &h, grad)
		}
		return value, err
	}
	of, why := p.iterations(usualIterations), lbfgs.Why("starting values kept")
	state, err := &lbfgs.State{X: c.first()}, ctx.Err()
	if of > 0 {
		state, err = lbfgs.Start(eval, state.X)
		if err != nil && ctx.Err() == nil {
			if !errors.Is(err, vssgp.ErrBound) {
				err = fmt.Errorf("%w: %w", err, vssgp.ErrBound)
			}
			return nil, fmt.Errorf("baselines: at the starting values: %w", err)
		}
		if err == nil {
			why, err = lbfgs.Maximize(eval, state, lbfgs.Settings{
				Iterations: of, Gain: variational.BoundTolerance * float64(p.n*p.d),
				Each: func(s *lbfgs.State) error {
					p.report(s.Iterations, of, s.F, c.at(s.X))
					return ctx.Err()
				},
			})
		}
	}
	if err != nil { // ctx has ended the ascent
		err = ended(ctx)
	}
	h := c.at(state.X)
	value, failed := f.value(h)
	if failed != nil {
		return nil, failed
	}
	return p.fit(f.model(), h, value, state.Iterations, string(why)), err
}
