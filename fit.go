package vssgp

import (
	"cmp"
	"context"
	"errors"
	"math"
	"time"

	"github.com/vssgp/vssgp/internal/optimise"
)

// Fit makes starting values, optimises the bound from each and keeps the model
// with the best. Where ctx (nil: the background) ends it early, the best model so
// far comes back with an error that wraps ctx.Err(). Other errors wrap ErrData,
// ErrOptions, ErrMemory, ErrCheckpoint or ErrBound. data stay as they are.
func Fit(ctx context.Context, data *Data, o Options) (*Model, *Result, error) {
	frame, err := o.frame(data)
	if err != nil {
		return nil, nil, err
	}
	f := &fit{frame: frame, ctx: cmp.Or(ctx, context.Background()), began: time.Now(), starts: 1 + o.Restarts, res: &Result{Kept: -1, Resumed: -1}}
	at, err := f.openCheckpoint()
	if err != nil {
		return nil, nil, err
	}
	defer f.writer.Close()
	for at.start < f.starts && err == nil {
		if err = f.one(at); err == nil {
			err = f.more(at.start)
		}
		at = place{start: at.start + 1}
	}
	if f.best == nil {
		return nil, nil, cmp.Or(err, f.failed)
	}
	f.res.fill(f.best)
	f.res.Elapsed = time.Since(f.began)
	return f.best.model, f.res, err
}

// one runs the start at a place and keeps it if it is the best.
func (f *fit) one(at place) error {
	if err := f.ctx.Err(); err != nil && f.best != nil {
		return f.saveBetween(at.start, optimise.Interrupted(f.ctx, err))
	}
	init, seed := f.init, f.o.Seed+uint64(at.start)
	rough := f.rough > 0 && at.start == f.rough
	if rough {
		init = initRough
	}
	m, begun, err := at.model, (*Evaluation)(nil), error(nil)
	if at.state == nil {
		m, begun, err = f.start(f.ctx, init, seed)
	}
	if rough && errors.Is(err, ErrMemory) {
		return nil
	}
	if err != nil {
		return f.saveBetween(at.start, optimise.Interrupted(f.ctx, err))
	}
	run, err := optimise.New(f.ctx, f.rows, m.Params, m.settingOf(&f.o), f.o.optimise(init, seed))
	if err != nil {
		return f.saveBetween(at.start, optimise.Interrupted(f.ctx, dataError(err)))
	}
	defer run.Close()
	run.Report = f.report(at.start, run)
	if f.writer != nil {
		run.Keeper = keeper{f, m, at.start}
	}
	a, ended, err := f.attempt(m, run, at.state, begun)
	if err != nil && f.ctx.Err() != nil && !run.Kept() {
		err = f.saveBetween(at.start, err)
	}
	if errors.Is(err, ErrBound) && f.ctx.Err() == nil { // a start like any bad one: another may do
		f.failed, err = err, nil
	}
	if a.bad != "" {
		ended = "collapsed: " + a.bad
	}
	f.res.Starts = append(f.res.Starts, StartResult{Seed: seed, Ended: ended, Bound: run.Bound})
	better := a.final != nil && (f.best == nil || a.betterThan(f.best))
	if rough && err == nil && a.final != nil {
		better, err = f.keepRough(a)
	}
	if better {
		f.best, f.res.Kept = a, at.start
	}
	return err
}

// more adds starts after the last: where each ended in a bad optimum, which is
// not returned if starting again may find a better, and where the best is worse
// than straight lines.
func (f *fit) more(last int) error {
	if last < f.starts-1 {
		return nil
	}
	if (f.best == nil || f.best.bad != "") && f.starts < 1+f.o.Restarts+extraStarts && f.o.From == nil {
		f.starts++
		return nil
	}
	second, err := f.second()
	if second {
		f.rough = f.starts
		f.starts++
	}
	return err
}

// levelReached is how many times the noise level a noise may be and still count
// as at it.
const levelReached = 2

func (r *Result) fill(a *attempt) {
	r.Bound, r.Terms, r.Jitter = a.final.Bound, a.final.Terms, a.final.Jitter
	if a.iterations > 0 && 1/a.model.Params.NoisePrecision[0] <= levelReached*a.level {
		r.NoiseFloor = math.Sqrt(a.level) * a.model.Y.Scale[0]
	}
	r.Iterations, r.Device = a.iterations, a.model.backend().Name()
}

// report tells Options.Progress of a start's iterations.
func (f *fit) report(start int, run *optimise.Run) func(optimise.Progress) {
	return func(at optimise.Progress) {
		if f.o.Progress == nil {
			return
		}
		p := Progress{
			Start: start + 1, Starts: f.starts, Stage: at.Stage, Iteration: at.Iteration, Iterations: at.Iterations,
			Bound: at.Bound, NoiseSD: math.Sqrt(at.Noise) * f.y.Scale[0], Elapsed: time.Since(f.began),
		}
		if done := float64(start) + float64(at.Iteration)/float64(max(1, at.Iterations)); done > 0 {
			p.Left = time.Duration(float64(p.Elapsed) * (float64(f.starts) - done) / done)
		}
		f.o.Progress(p)
	}
}
