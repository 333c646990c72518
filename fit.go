package vssgp

import (
	"cmp"
	"context"
	"errors"
	"math"
	"time"

	"github.com/vssgp/vssgp/internal/initialize"
	"github.com/vssgp/vssgp/internal/optimize"
	"github.com/vssgp/vssgp/internal/optimize/checkpoint"
)

// Fit makes starting values, optimizes the bound from each and keeps the model
// with the best. Where ctx (nil: the background) ends it early, the best model so
// far comes back with an error that wraps ctx.Err(). Other errors wrap ErrData,
// ErrOptions, ErrMemory, ErrCheckpoint or ErrBound, or are the backend's or the
// system's. data stay as they are.
func Fit(ctx context.Context, data *Data, o Options) (*Model, *Result, error) {
	if err := data.Check(); err != nil {
		return nil, nil, err
	}
	frame, err := o.frame(data)
	if err != nil {
		return nil, nil, err
	}
	f := &fit{
		frame: frame, Standing: checkpoint.Standing{Starts: 1 + o.Restarts, Kept: -1},
		ctx: cmp.Or(ctx, context.Background()), began: time.Now(), res: &Result{Resumed: -1},
	}
	m, state, err := f.openCheckpoint()
	if err != nil {
		return nil, nil, err
	}
	defer f.writer.Close()
	for ; f.Start < f.Starts && err == nil; f.Start++ {
		if err = f.one(m, state); err == nil {
			err = f.more()
		}
		m, state = nil, nil
	}
	if f.best == nil {
		return nil, nil, cmp.Or(err, f.failed)
	}
	f.best.model.Range = data.extents()
	if err == nil {
		f.res.NoPosterior, err = f.posterior()
		err = optimize.Interrupted(f.ctx, err)
		if f.o.Posterior.Draws > 0 {
			f.best.model.noDraws = f.res.NoPosterior
		}
	}
	return f.best.model, f.result(), err
}

// one runs a start and keeps it if it is the best. If there is a state, the start
// goes on from there with its model.
func (f *fit) one(m *Model, state *optimize.State) error {
	var (
		init  = f.init
		seed  = f.o.Seed + uint64(f.Start)
		rough = f.Rough > 0 && f.Start == f.Rough
		begun *Evaluation
		run   *optimize.Run
		err   error
	)
	if rough {
		init = initRough
	}
	if state == nil {
		m, begun, err = f.start(f.ctx, init, seed)
	}
	if rough && errors.Is(err, ErrMemory) {
		return nil
	}
	if err == nil {
		if !rough {
			init = f.form(m.Params)
		}
		run, err = f.run(f.ctx, f.rows, m, f.o.optimize(init, seed))
	}
	if err != nil {
		return f.saveBetween(optimize.Interrupted(f.ctx, err))
	}
	defer run.Close()
	run.Report = f.report
	if f.writer != nil {
		run.Keeper = keeper{f.writer, f, m}
	}
	a, ended, err := f.attempt(m, run, state, begun)
	if err != nil && f.ctx.Err() != nil && !run.Kept {
		err = f.saveBetween(err)
	}
	if errors.Is(err, ErrBound) && f.ctx.Err() == nil { // another start may have a bound
		f.failed, err = err, nil
	}
	f.Results = append(f.Results, checkpoint.Result{Seed: seed, Bound: checkpoint.Number(run.Bound), Ended: ended})
	better := a != nil && a.betterThan(f.best)
	if rough && a != nil && err == nil {
		better, err = f.keepRough(a)
	}
	if better {
		f.best, f.Best, f.Kept = a, &a.Best, f.Start
	}
	return err
}

// attempt optimizes a start's model, gives it its posterior and says why the
// optimization ended. It returns no attempt if there is no bound. begun is the bound
// at the model's parameters, if it is known.
func (f *fit) attempt(m *Model, run *optimize.Run, from *optimize.State, begun *Evaluation) (a *attempt, ended string, err error) {
	const noBound = "collapsed: the bound could not be evaluated"
	if err := run.Begin(from); err != nil {
		return nil, noBound, err
	}
	if ended, err = run.Optimize(); run.Total > 0 || run.Inference != Exact || begun == nil {
		final, e := run.Evaluate()
		begun, err = final, cmp.Or(err, e)
	}
	if begun == nil {
		return nil, noBound, err
	}
	run.Bound = begun.Bound
	m.Inference = Factorized
	if run.Inference == Exact {
		m.adopt(begun)
	}
	a = f.ended(m, run, checkpoint.Best{Bad: run.Collapsed(f.grid.Even()), Iterations: run.Taken, At: *begun})
	if a.Bad != "" {
		ended = "collapsed: " + a.Bad
	}
	if run.Total == 0 && err == nil {
		run.Report(optimize.Progress{Bound: run.Bound, Noise: 1 / m.Params.NoisePrecision[0]})
	}
	return a, ended, err
}

// betterThan prefers a start that did not collapse, then the higher bound.
func (a *attempt) betterThan(b *attempt) bool {
	if b != nil && (a.Bad == "") == (b.Bad == "") {
		return a.At.Bound > b.At.Bound
	}
	return b == nil || a.Bad == ""
}

// more adds starts after the last one: some if all have ended in a bad optimum,
// since starting again may find a better one, and the rough one if the best fit is
// worse than straight lines.
func (f *fit) more() error {
	if f.Start < f.Starts-1 {
		return nil
	}
	if (f.best == nil || f.best.Bad != "") && f.Starts < 1+f.o.Restarts+extraStarts && f.o.From == nil {
		f.Starts++
		return nil
	}
	second, err := f.second()
	if second {
		f.Rough = f.Starts
		f.Starts++
	}
	return err
}

// heldPoints is the most point estimates a number observed that optimism counts.
const heldPoints = 0.8

// heldOut compares a fitted model with straight lines between neighbors.
func (f *fit) heldOut(a *attempt) (h HeldOut, err error) {
	known, asked, line := initialize.HeldOut(f.rows, f.grid)
	mean, _, err := a.model.clone().predictFrom(f.ctx, known, asked.X)
	if err != nil {
		return h, optimize.Interrupted(f.ctx, err)
	}
	h.Rows = asked.N
	for i, y := range asked.Y {
		row := i % asked.D
		h.RMSE += math.Pow((mean[i]-f.y.Offset[row])/f.y.Scale[row]-y, 2)
		h.Line += math.Pow(line[i]-y, 2)
	}
	n := float64(len(asked.Y))
	h.RMSE, h.Line = f.optimism(a)*math.Sqrt(h.RMSE/n), math.Sqrt(h.Line/n)
	return h, nil
}

// optimism is the factor by which errors are larger on rows that the covariance was
// not fitted to: √((N+p)/(N−p)) with p point estimates (Akaike 1970).
func (f *fit) optimism(a *attempt) float64 {
	n := float64(f.data.N * f.data.D)
	p := min(float64(a.points), heldPoints*n)
	return math.Sqrt((n + p) / (n - p))
}

// second reports whether the rough start is to follow the last one: the best fit is
// worse than straight lines, and the options allow it.
func (f *fit) second() (bool, error) {
	if f.best == nil || f.Rough > 0 || f.o.Iterations == NoIterations {
		return false, nil
	}
	if m := f.best.model; !f.holdsOut(m.Inference, m.Params.M(), len(m.Params.Windows.Center) > 0) {
		return false, nil
	}
	h, err := f.heldOut(f.best)
	if errors.Is(err, ErrBound) {
		return false, nil // fewer rows may not determine A: that says nothing against the fit
	}
	if err != nil {
		return false, err
	}
	f.res.HeldOut = h
	return h.above(heldTry) && f.leavesRough(), nil
}

// keepRough reports whether the rough start's fit predicts held-out rows better
// than the best before it.
func (f *fit) keepRough(a *attempt) (bool, error) {
	h, err := f.heldOut(a)
	if err != nil {
		return false, err
	}
	was, err := f.heldOut(f.best)
	if err != nil {
		return false, err
	}
	f.res.HeldOut = was
	if h.RMSE < was.RMSE {
		f.res.HeldOut = h
	}
	return h.RMSE < was.RMSE, nil
}

// result says how the fit went.
func (f *fit) result() *Result {
	r, a := f.res, f.best
	r.Bound, r.Terms, r.Jitter, r.Sums = a.At.Bound, a.At.Terms, a.At.Jitter, a.At.Sums
	r.Iterations, r.LogPrior = a.Iterations, a.prior
	if a.Iterations > 0 {
		r.NoiseFloor = math.Sqrt(a.floor) * a.model.Y.Scale[0]
	}
	for _, s := range f.Results {
		r.Starts = append(r.Starts, StartResult{Seed: s.Seed, Bound: float64(s.Bound), Ended: s.Ended})
	}
	r.Kept, r.Device, r.Elapsed = f.Kept, a.model.backend().Name(), time.Since(f.began)
	return r
}

// report tells Options.Progress of the running start's iterations.
func (f *fit) report(at optimize.Progress) {
	if f.o.Progress == nil {
		return
	}
	p := Progress{
		Start: f.Start + 1, Starts: f.Starts, Stage: at.Stage, Iteration: at.Iteration, Iterations: at.Iterations,
		Bound: at.Bound, NoiseSD: math.Sqrt(at.Noise) * f.y.Scale[0], Elapsed: time.Since(f.began),
	}
	if done := float64(f.Start) + float64(at.Iteration)/float64(max(1, at.Iterations)); done > 0 {
		p.Left = time.Duration(float64(p.Elapsed) * (float64(f.Starts) - done) / done)
	}
	f.o.Progress(p)
}
