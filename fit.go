package vssgp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/vssgp/vssgp/internal/lbfgs"
)

// Fit makes starting values, optimises the bound from each and keeps the model
// with the best. Where ctx ends it early, the best model so far comes back
// together with an error that wraps ctx.Err().
func Fit(ctx context.Context, data *Data, o Options) (*Model, *Result, error) {
	if err := data.Check(); err != nil {
		return nil, nil, err
	}
	if err := o.check(data); err != nil {
		return nil, nil, err
	}
	began := time.Now()
	starts := 1 + o.Restarts
	res := &Result{Kept: -1}
	var best *fitting
	for s := 0; s < starts; s++ {
		one := o
		one.Seed = o.Seed + uint64(s)
		m, err := New(data, one)
		if err != nil {
			return nil, nil, err
		}
		f, err := newFitting(ctx, m, data, one)
		if err != nil {
			return nil, nil, err
		}
		f.began, f.start, f.starts = began, s+1, starts
		if best != nil {
			f.kept = best.model
		}
		ended, err := f.run()
		bad := f.collapsed()
		f.close()
		sr := StartResult{Seed: one.Seed, Ended: ended, Bound: f.bound}
		if bad != "" {
			sr.Ended = "collapsed: " + bad
		}
		res.Starts = append(res.Starts, sr)
		if f.final != nil && (best == nil || f.betterThan(best)) {
			f.bad = bad
			best, res.Kept = f, s
		}
		if err != nil {
			if best == nil {
				return nil, nil, err
			}
			res.fill(best, began)
			return best.model, res, err
		}
		// A bad optimum is not returned if starting again may find a better.
		if s == starts-1 && best.bad != "" && starts < 1+o.Restarts+extraStarts && o.From == nil {
			starts++
		}
	}
	res.fill(best, began)
	return best.model, res, nil
}

// extraStarts is how many further starts a fit may add when all collapsed.
const extraStarts = 2

func (r *Result) fill(f *fitting, began time.Time) {
	r.Bound, r.Terms, r.Jitter = f.final.Bound, f.final.Terms, f.final.Jitter
	r.Iterations, r.Device, r.Elapsed = f.iterations, f.model.backend().Name(), time.Since(began)
}

// fitting is one start's optimisation.
type fitting struct {
	ctx   context.Context
	o     Options
	model *Model
	held  *held
	data  *Data

	began         time.Time
	start, starts int
	kept          *Model // the best of earlier starts, for Options.Keep
	nextKeep      time.Time

	stage      stage
	iterations int
	total      int
	bound      float64
	final      *Evaluation // at the end, of the model's own inference
	bad        string
}

// stage is a stretch of the optimisation in which only some tensors move.
type stage struct {
	name       string
	free       []string
	iterations int
}

func newFitting(ctx context.Context, m *Model, data *Data, o Options) (*fitting, error) {
	h, err := m.hold(data)
	if err != nil {
		return nil, err
	}
	f := &fitting{ctx: ctx, o: o, model: m, held: h, data: data, bound: math.Inf(-1), nextKeep: time.Now().Add(o.keepEvery())}
	return f, nil
}

func (f *fitting) close() { f.held.rows.Close() }

func (o *Options) keepEvery() time.Duration {
	if o.KeepEvery > 0 {
		return o.KeepEvery
	}
	return 30 * time.Second
}

// run optimises and leaves the model with its posterior.
func (f *fitting) run() (ended string, err error) {
	inference := f.o.Inference
	if inference == "" {
		inference = Exact
	}
	stages := f.stages(inference)
	for _, s := range stages {
		f.total += s.iterations
	}
	if inference != Exact {
		if err := f.startCoefficients(); err != nil {
			return "", err
		}
		f.model.Inference = Factorised
	}
	for _, s := range stages {
		f.stage = s
		if inference == Stochastic {
			ended, err = f.stochastic(s)
		} else {
			ended, err = f.ascend(s, inference)
		}
		if err != nil {
			break
		}
	}
	f.model.Params.wrapPhases()
	return ended, errors.Join(err, f.finish(inference))
}

// finish evaluates the bound where the optimisation ended and takes the exact
// posterior.
func (f *fitting) finish(inference Inference) error {
	if inference == Stochastic {
		inference = Factorised
	}
	e, err := f.held.evaluate(f.model.Params, inference, nil, false)
	if err != nil {
		return err
	}
	f.final, f.bound = e, e.Bound
	if inference == Exact {
		f.model.adopt(e)
	}
	return nil
}

// ascend maximises the bound over one stage's tensors by L-BFGS.
func (f *fitting) ascend(s stage, inference Inference) (string, error) {
	p := f.model.Params
	c := newChart(p, s.free, f.o.Method == SSGP, f.reach())
	if c.n == 0 || s.iterations == 0 {
		return "nothing to optimise", f.ctx.Err()
	}
	trial := p.Clone()
	eval := func(v, g []float64) (float64, error) {
		if err := f.ctx.Err(); err != nil {
			return 0, fmt.Errorf("%w: %w", lbfgs.ErrStop, err)
		}
		c.write(trial, v)
		if err := trial.Check(); err != nil {
			return 0, err // a step too long: exp overflowed
		}
		e, err := f.held.evaluate(trial, inference, nil, true)
		if err != nil {
			return 0, err
		}
		c.pull(g, trial, e.Gradient)
		return e.Bound, nil
	}
	v := make([]float64, c.n)
	c.read(v, p)
	state, err := lbfgs.Start(eval, v)
	if err != nil {
		return "", interrupted(f.ctx, err)
	}
	f.bound = state.F
	why, err := lbfgs.Maximise(eval, state, lbfgs.Settings{
		Iterations: s.iterations, Gain: gainPerRow * float64(f.held.n*f.held.d), Patience: 5,
		Each: func(st *lbfgs.State) error {
			f.iterations++
			f.bound = st.F
			f.report(1 / math.Sqrt(trial.NoisePrecision[0]))
			if f.o.Keep != nil && time.Now().After(f.nextKeep) {
				c.write(p, st.X)
				return f.keep(inference)
			}
			return f.ctx.Err()
		},
	})
	c.write(p, state.X)
	return string(why), interrupted(f.ctx, err)
}

// gainPerRow ends a stage once the bound rises by less than this for each
// number observed, five iterations running: a nat in 10⁶ rows' evidence.
const gainPerRow = 1e-6

// interrupted turns an error that came from ctx into one that says so.
func interrupted(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("vssgp: fit interrupted: %w", ctx.Err())
	}
	return err
}

// keep hands the best model so far to the caller.
func (f *fitting) keep(inference Inference) error {
	f.nextKeep = time.Now().Add(f.o.keepEvery())
	m := f.model.clone()
	if inference == Exact {
		e, err := f.held.exact(m.Params, false)
		if err != nil {
			return err
		}
		m.adopt(e)
	}
	return f.o.Keep(m)
}

func (f *fitting) report(noise float64) {
	if f.o.Progress == nil {
		return
	}
	elapsed := time.Since(f.began)
	done := float64(f.start-1) + float64(f.iterations)/float64(max(1, f.total))
	p := Progress{
		Start: f.start, Starts: f.starts, Stage: f.stage.name, Iteration: f.iterations, Iterations: f.total,
		Bound: f.bound, NoiseSD: noise * f.model.Y.Scale[0], Elapsed: elapsed,
	}
	if done > 0 {
		p.Left = time.Duration(float64(elapsed) * (float64(f.starts) - done) / done)
	}
	f.o.Progress(p)
}

// reach is how far along the windows' input (or the first) a feature can be
// seen at most, in the model's units: a window's length, or the data's range.
func (f *fitting) reach() float64 {
	p := f.model.Params
	if len(p.Windows.Center) > 1 {
		return p.Windows.Length / 2
	}
	lo, hi := extent(f.model.X.toModel(f.data.X), p.Q, 0)
	if hi > lo {
		return (hi - lo) / 2
	}
	return 1
}

// betterThan prefers a start that did not collapse, then the higher bound.
func (f *fitting) betterThan(o *fitting) bool {
	if (f.bad == "") != (o.bad == "") {
		return f.bad == ""
	}
	return f.bound > o.bound
}
