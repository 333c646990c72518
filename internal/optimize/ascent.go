package optimize

import (
	"errors"
	"fmt"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/optimize/lbfgs"
	"github.com/vssgp/vssgp/variational"
)

// perWindowGain is the gain of the bound per observed number and evaluation below which windows
// no longer step separately.
const perWindowGain = 1000 * variational.BoundTolerance

// ascend maximizes the bound plus the log prior over the stage's tensors by L-BFGS. It ends once
// the gain is below variational.BoundTolerance per observed number.
func (r *Run) ascend(c *Coordinates, from *State) (string, error) {
	trial := r.Params.Clone()
	eval := r.objective(c, trial)
	blocks := c.blocks(r.Params, r.PerWindow)
	state, err := r.startAscent(eval, c, blocks, from)
	if err != nil {
		return "", err
	}
	r.Bound = state.F - c.logPrior(c.spans, state.X, nil, 1)
	numbers := float64(r.Rows.N * r.Rows.D)
	why, err := lbfgs.Maximize(eval, state, lbfgs.Settings{
		Iterations: r.stage.iterations, Gain: variational.BoundTolerance * numbers,
		Blocks: blocks, PerBlockGain: perWindowGain * numbers,
		Each: func(st *lbfgs.State) error {
			r.Taken++
			r.Bound = st.F - c.logPrior(c.spans, st.X, nil, 1)
			r.report(1 / trial.NoisePrecision[0])
			if r.ctx.Err() == nil && r.due() {
				c.write(r.Params, st.X)
				return r.keep(&State{Ascent: st})
			}
			return r.ctx.Err()
		},
	})
	c.write(r.Params, state.X)
	if stopped := Interrupted(r.ctx, err); r.ctx.Err() != nil || errors.Is(err, lbfgs.ErrStop) {
		return string(why), errors.Join(stopped, r.keep(&State{Ascent: state}))
	}
	return string(why), err
}

// objective returns the bound plus the log prior as a function of the coordinates. It overwrites
// trial.
func (r *Run) objective(c *Coordinates, trial *variational.Params) lbfgs.Func {
	return func(v, g []float64) (float64, error) {
		if err := r.ctx.Err(); err != nil {
			return 0, fmt.Errorf("%w: %w", lbfgs.ErrStop, err)
		}
		c.write(trial, v)
		if err := trial.Check(); err != nil {
			return 0, err // the step is too long: exp overflowed
		}
		e, err := r.Rows.Evaluate(trial, r.Inference, nil, true)
		if err != nil && (r.ctx.Err() != nil || !atFault(err)) {
			return 0, fmt.Errorf("%w: %w", lbfgs.ErrStop, err)
		}
		if err != nil {
			return 0, err
		}
		c.pull(g, trial, e.Gradient)
		if r.Evaluated != nil {
			r.Evaluated(e.Bound)
		}
		return e.Bound + c.logPrior(c.spans, v, g, 1), nil
	}
}

// atFault reports whether an evaluation failed because of the parameters, in which case a
// shorter step may succeed, and not because a device is lost or out of memory.
func atFault(err error) bool {
	for _, e := range []error{variational.ErrBound, variational.ErrParams, backend.ErrValue} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// startAscent begins a stage by L-BFGS, or resumes it.
func (r *Run) startAscent(eval lbfgs.Func, c *Coordinates, blocks []lbfgs.Block, from *State) (*lbfgs.State, error) {
	switch {
	case from.Descent != nil:
		return nil, fmt.Errorf("the checkpoint is in a stage of mini-batches, but the fit is in a stage of L-BFGS: %w", ErrState)
	case from.Ascent != nil:
		return from.Ascent, r.checkAscent(c, from.Ascent, len(blocks))
	}
	v := make([]float64, c.n)
	c.read(v, r.Params)
	state, err := lbfgs.Start(eval, v)
	if err != nil {
		if r.ctx.Err() != nil || errors.Is(err, lbfgs.ErrStop) {
			return nil, errors.Join(Interrupted(r.ctx, err), r.keep(&State{}))
		}
		if !errors.Is(err, variational.ErrBound) {
			err = fmt.Errorf("%w: %w", err, variational.ErrBound)
		}
	}
	return state, err
}

// checkAscent reports a state that does not fit the coordinates.
func (r *Run) checkAscent(c *Coordinates, state *lbfgs.State, blocks int) error {
	lengths := [][]float64{state.X, state.G}
	points := [][]float64{state.X}
	for i := range state.S {
		lengths = append(lengths, state.S[i], state.Y[i])
	}
	bad := state.Iterations > r.stage.iterations
	if a := state.PerBlock; a != nil && !a.Over {
		lengths, points = append(lengths, a.X, a.G), append(points, a.X)
		bad = bad || blocks < 2 || len(a.Radius) != blocks
	}
	for _, a := range lengths {
		bad = bad || len(a) != c.n
	}
	if bad {
		return fmt.Errorf("the checkpoint's optimizer does not fit the stage's %d coordinates, %d blocks and %d iterations: %w", c.n,
			blocks, r.stage.iterations, ErrState)
	}
	for _, v := range points {
		if err := r.checkPoint(c, v); err != nil {
			return err
		}
	}
	return nil
}
