package vssgp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/vssgp/vssgp/internal/lbfgs"
	"github.com/vssgp/vssgp/spectral"
)

// Fit makes starting values, optimises the bound from each and keeps the model
// with the best. Where ctx (nil: the background) ends it early, the best model so
// far comes back with an error that wraps ctx.Err(). Other errors wrap ErrData,
// ErrOptions, ErrMemory, ErrCheckpoint or ErrBound. data stay as they are.
func Fit(ctx context.Context, data *Data, o Options) (*Model, *Result, error) {
	if err := data.Check(); err != nil {
		return nil, nil, err
	}
	if err := o.check(data); err != nil {
		return nil, nil, err
	}
	r := &restarts{ctx: cmp.Or(ctx, context.Background()), data: data, o: o, began: time.Now(), starts: 1 + o.Restarts, res: &Result{Kept: -1, Resumed: -1}}
	snap, err := r.openCheckpoint()
	if err != nil {
		return nil, nil, err
	}
	defer r.checkpoint.close()
	err = r.all(snap)
	if r.best == nil {
		return nil, nil, cmp.Or(err, r.failed)
	}
	r.res.fill(r.best, r.began)
	return r.best.model, r.res, err
}

// restarts are a fit's starts and the best of them so far.
type restarts struct {
	ctx    context.Context
	data   *Data
	o      Options
	began  time.Time
	starts int
	best   *fitting
	failed error // of the last start without a bound
	rough  int   // which start is the rough one, 0: none
	res    *Result

	checkpoint *checkpointer // nil: none
}

// all runs the starts, from where a checkpoint stands if there is one, and some
// more where each ended in a bad optimum: such a one is not returned if starting
// again may find a better.
func (r *restarts) all(snap *snapshot) error {
	first := 0
	if snap != nil {
		first = snap.Start
	}
	for s := first; s < r.starts; s++ {
		if err := r.one(s, snap); err != nil {
			return err
		}
		snap = nil
		if s == r.starts-1 && (r.best == nil || r.best.bad != "") && r.starts < 1+r.o.Restarts+extraStarts && r.o.From == nil {
			r.starts++
			continue
		}
		if s < r.starts-1 {
			continue
		}
		more, err := r.second()
		if err != nil {
			return err
		}
		if more {
			r.rough = r.starts
			r.starts++
		}
	}
	return nil
}

// one runs start s, or goes on with it, and keeps it if it is the best.
func (r *restarts) one(s int, snap *snapshot) error {
	if err := r.ctx.Err(); err != nil && r.best != nil {
		return r.saveBetween(s, interrupted(r.ctx, err))
	}
	o := r.o
	o.Seed += uint64(s)
	rough := r.rough > 0 && s == r.rough
	if rough {
		o = o.roughly()
	}
	m, err := r.model(o, snap)
	if rough && errors.Is(err, ErrMemory) {
		return nil
	}
	if err != nil {
		return r.saveBetween(s, interrupted(r.ctx, err))
	}
	f, err := newFitting(r.ctx, m, r.data, o)
	if err != nil {
		return r.saveBetween(s, interrupted(r.ctx, err))
	}
	defer f.close()
	f.began, f.start, f.starts, f.earlier = r.began, s+1, r.starts, r.best
	f.restarts, f.snap = r, snap
	ended, err := f.run()
	if err != nil && r.ctx.Err() != nil && !f.saved {
		err = r.saveBetween(s, err)
	}
	if errors.Is(err, ErrBound) && r.ctx.Err() == nil { // a start like any bad one: another may do
		r.failed, err = err, nil
	}
	f.bad = f.collapsed()
	if f.bad != "" {
		ended = "collapsed: " + f.bad
	}
	r.res.Starts = append(r.res.Starts, StartResult{Seed: o.Seed, Ended: ended, Bound: f.bound})
	better := f.final != nil && (r.best == nil || f.betterThan(r.best))
	if rough && err == nil && f.final != nil {
		better, err = r.keepRough(f)
	}
	if better {
		r.best, r.res.Kept = f, s
	}
	return err
}

// model is a start's: new, or where the checkpoint has it.
func (r *restarts) model(o Options, snap *snapshot) (*Model, error) {
	if snap == nil || snap.Stage == noStage {
		return newModel(r.ctx, r.data, o)
	}
	snap.current.Backend = o.Backend
	return snap.current, nil
}

// extraStarts is how many further starts a fit may add when all collapsed.
const extraStarts = 2

func (r *Result) fill(f *fitting, began time.Time) {
	r.Bound, r.Terms, r.Jitter = f.final.Bound, f.final.Terms, f.final.Jitter
	p := f.model.Params
	if floor := f.noiseFloor(f.model.Inference == Exact).at(p); f.iterations > 0 && 1/p.NoisePrecision[0] <= floorReached*floor {
		r.NoiseFloor = math.Sqrt(floor) * f.model.Y.Scale[0]
	}
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
	earlier       *fitting // the best of the starts before, nil at first
	nextKeep      time.Time

	stage      stage
	iterations int
	total      int
	bound      float64
	final      *Evaluation // at the end, of the model's own inference
	bad        string
	evaluated  func(bound float64) // told of every evaluation, where not nil

	restarts *restarts // whose start this is, for its checkpoints
	at       int       // the stage's place in the schedule
	begun    *Params   // at the stage's beginning
	snap     *snapshot // to go on from, nil once that is done
	saved    bool      // an interruption's checkpoint is written, or has failed
}

// stage is a stretch of the optimisation in which only some tensors move.
type stage struct {
	name       string
	free       []string
	iterations int
	stochastic bool // by RMSPROP on mini-batches of the factorised bound
}

func newFitting(ctx context.Context, m *Model, data *Data, o Options) (*fitting, error) {
	h, err := m.holdFor(ctx, data)
	if err != nil {
		return nil, err
	}
	h.segments = o.Segments
	f := &fitting{ctx: ctx, o: o, model: m, held: h, data: data, bound: math.Inf(-1), nextKeep: time.Now().Add(o.keepEvery())}
	return f, nil
}

func (f *fitting) close() { f.held.close() }

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
	if inference != Exact || slices.ContainsFunc(stages, func(s stage) bool { return s.stochastic }) {
		if err := f.startCoefficients(); err != nil {
			return "", err
		}
		f.model.Inference = Factorised
	}
	first, err := f.firstStage(stages)
	if err != nil {
		return "", err
	}
	for i := first; i < len(stages); i++ {
		s := stages[i]
		f.stage, f.at = s, i
		if s.stochastic {
			ended, err = f.stochastic(s)
		} else {
			ended, err = f.ascend(s, inference)
		}
		if err != nil {
			break
		}
	}
	if stages == nil {
		ended = "starting values kept"
	}
	f.model.Params.wrapPhases()
	if e := f.finish(inference); err == nil {
		err = e
	}
	if stages == nil && err == nil {
		f.report(1 / math.Sqrt(f.model.Params.NoisePrecision[0]))
	}
	return ended, err
}

// finish evaluates the bound where the optimisation ended and takes the exact
// posterior.
func (f *fitting) finish(inference Inference) error {
	if inference == Stochastic {
		inference = Factorised
	}
	f.held.ctx = context.WithoutCancel(f.ctx) // an interrupted fit still comes back whole
	e, err := f.evaluateEnd(inference)
	if err != nil {
		return err
	}
	f.final, f.bound = e, e.Bound
	if inference == Exact {
		f.model.adopt(e)
	}
	return nil
}

// evaluateEnd is the bound where the optimisation ended, which is where it
// began if nothing was to be optimised.
func (f *fitting) evaluateEnd(inference Inference) (*Evaluation, error) {
	if f.total == 0 && inference == Exact && f.model.begun != nil {
		return f.model.begun, nil
	}
	return f.held.evaluate(f.model.Params, inference, nil, false)
}

// ascend maximises the bound over one stage's tensors by L-BFGS.
func (f *fitting) ascend(s stage, inference Inference) (string, error) {
	p := f.model.Params
	c := f.chart(f.origin(), s.free, inference == Exact)
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
		if err != nil && (f.ctx.Err() != nil || !atFault(err)) {
			return 0, fmt.Errorf("%w: %w", lbfgs.ErrStop, err)
		}
		if err != nil {
			return 0, err
		}
		c.pull(g, trial, e.Gradient)
		if f.evaluated != nil {
			f.evaluated(e.Bound)
		}
		return e.Bound, nil
	}
	blocks := f.apart(c)
	state, err := f.startAscent(eval, c, s, blocks)
	if err != nil {
		return "", err
	}
	f.bound = state.F
	numbers := float64(f.held.n * f.held.d)
	why, err := lbfgs.Maximise(eval, state, lbfgs.Settings{
		Iterations: s.iterations, Gain: gainPerRow * numbers, Patience: 5,
		Blocks: blocks, ApartGain: apartGain * numbers,
		Each: func(st *lbfgs.State) error {
			f.iterations++
			f.bound = st.F
			f.report(1 / math.Sqrt(trial.NoisePrecision[0]))
			if f.o.Keep != nil && time.Now().After(f.nextKeep) {
				c.write(p, st.X)
				if err := f.keep(inference); err != nil {
					return err
				}
			}
			if f.ctx.Err() == nil && f.checkpoint().due() {
				c.write(p, st.X)
				return f.saveAscent(st)
			}
			return f.ctx.Err()
		},
	})
	c.write(p, state.X)
	if stopped := interrupted(f.ctx, err); f.ctx.Err() != nil || errors.Is(err, lbfgs.ErrStop) {
		return string(why), errors.Join(stopped, f.saveAscent(state))
	}
	return string(why), err
}

// atFault reports whether an evaluation failed because of the parameters, which
// a shorter step may mend, rather than a device that is lost or full.
func atFault(err error) bool {
	for _, e := range []error{ErrBound, ErrParams, spectral.ErrValue} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
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
	if f.earlier != nil && f.earlier.bound >= f.bound {
		return f.o.Keep(f.earlier.model)
	}
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
