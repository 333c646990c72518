package baseline

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/vssgp/vssgp/internal/lbfgs"
	"github.com/vssgp/vssgp/variational"
)

// usualIterations of L-BFGS.
const usualIterations = 300

// ascend maximises f, which adds its gradient by h and z to grad and zbar, from
// c's start by L-BFGS. If ctx ends it, the best point so far comes back with an
// error that wraps ctx.Err(); any other error, for which f has no value at the
// start, wraps ErrBound and comes without a point.
func (p *problem) ascend(ctx context.Context, c *coordinates,
	f func(h hyper, z []float64, grad *hyper, zbar []float64) (float64, error)) (*end, error) {
	ctx = cmp.Or(ctx, context.Background())
	to := func(v []float64, iterations int, why string) *end {
		h, z := c.at(v)
		return &end{h, z, iterations, why}
	}
	of := p.iterations(usualIterations)
	if of == 0 {
		return to(c.first(), 0, "starting values kept"), ended(ctx)
	}
	eval := func(v, g []float64) (float64, error) {
		if err := ctx.Err(); err != nil {
			return 0, fmt.Errorf("%w: %w", lbfgs.ErrStop, err)
		}
		h, z := c.at(v)
		grad, zbar := c.zero()
		value, err := f(h, z, &grad, zbar)
		c.pull(g, h, grad, zbar)
		return value, err
	}
	state, err := lbfgs.Start(eval, c.first())
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return to(state.X, 0, "starting values kept"), ended(ctx)
	case !errors.Is(err, ErrBound):
		return nil, fmt.Errorf("baseline: at the starting values: %w: %w", err, ErrBound)
	default:
		return nil, fmt.Errorf("baseline: at the starting values: %w", err)
	}
	why, err := lbfgs.Maximise(eval, state, lbfgs.Settings{
		Iterations: of, Gain: variational.BoundTolerance * float64(p.n*p.d),
		Each: func(s *lbfgs.State) error {
			p.report("all", s.Iterations, of, s.F, c.noise(s.X))
			return ctx.Err()
		},
	})
	if err != nil {
		err = ended(ctx)
	}
	return to(state.X, state.Iterations, string(why)), err
}
