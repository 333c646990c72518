package vssgp

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/vssgp/vssgp/internal/lbfgs"
)

// openCheckpoint takes the options' checkpoint and, to go on from it, sets the
// starts that it has seen the end of.
func (r *restarts) openCheckpoint() (*snapshot, error) {
	c, snap, err := openCheckpoint(r.data, &r.o)
	if err != nil {
		return nil, err
	}
	r.checkpoint = c
	if snap == nil {
		return nil, nil
	}
	if err := r.goOn(snap); err != nil {
		c.close()
		return nil, fmt.Errorf("vssgp: checkpoint %q: %w", c.path, err)
	}
	return snap, nil
}

// failure is an error that was ErrBound's in its own words, read back.
type failure string

func (f failure) Error() string { return string(f) }

func (f failure) Unwrap() error { return ErrBound }

func (r *restarts) goOn(s *snapshot) error {
	r.rough = s.Rough
	r.starts, r.began, r.res.Kept = s.Starts, time.Now().Add(-s.Elapsed), s.Kept
	for _, x := range s.Results {
		r.res.Starts = append(r.res.Starts, StartResult{Seed: x.Seed, Bound: float64(x.Bound), Ended: x.Ended})
	}
	if s.Failed != "" {
		r.failed = failure(s.Failed)
	}
	r.res.Resumed = s.Iterations
	if s.Best == nil {
		return nil
	}
	m := s.best
	m.Backend = r.o.Backend
	e := &Evaluation{Bound: float64(s.Best.Bound), Jitter: float64(s.Best.Jitter)}
	for _, t := range s.Best.Terms {
		e.Terms = append(e.Terms, Term{t.Name, float64(t.Value)})
	}
	f, err := newFitting(r.ctx, m, r.data, r.o) // sums in the fit's own order
	if err != nil {
		return err
	}
	defer f.close()
	if m.Inference == Exact {
		exact, err := f.held.exact(m.Params, false)
		if err != nil {
			return interrupted(r.ctx, err)
		}
		m.adopt(exact)
	}
	r.best = &fitting{o: r.o, data: r.data, model: m, held: f.held, bound: e.Bound, final: e, bad: s.Best.Bad, iterations: s.Best.Iterations}
	return nil
}

// check reports a checkpoint of another fit, or one that no fit has written.
func (s *snapshot) check(made []trait, o *Options) error {
	started := s.Stage != noStage && s.Start == s.Starts-1
	if text := foreign(s.Made, made, started); text != "" {
		return fmt.Errorf("it is of another fit (%s); want the same data, options and build as before, or another file: %w", text, ErrCheckpoint)
	}
	bad := func(format string, args ...any) error {
		return fmt.Errorf(format+": %w", append(args, ErrCheckpoint)...)
	}
	switch {
	case s.Rough != 0 && s.Rough != s.Starts-1:
		return bad("its rough start is %d of %d, want the last", s.Rough, s.Starts)
	case s.Starts < 1+o.Restarts || s.Starts > 1+o.Restarts+extraStarts+min(s.Rough, 1) || s.Start < 0 || s.Start >= s.Starts:
		return bad("it stands in start %d of %d, want one of %d", s.Start, s.Starts, 1+o.Restarts)
	case len(s.Results) != s.Start || s.Kept < -1 || s.Kept >= s.Start || (s.Best == nil) != (s.Kept == -1):
		return bad("it has %d results and keeps number %d before start %d", len(s.Results), s.Kept, s.Start)
	case s.Stage < noStage || s.Iterations < 0 || s.Elapsed < 0 || s.Best != nil && s.Best.Iterations < 0:
		return bad("stage %d, iteration %d after %v: none may be negative", s.Stage, s.Iterations, s.Elapsed)
	case s.begun != nil && !s.begun.alike(s.current.Params):
		return bad("its parameters do not have the sizes of those that the stage began with")
	}
	return nil
}

// alike reports whether two sets of parameters have the same sizes and windows.
func (p *Params) alike(q *Params) bool {
	return p.L == q.L && p.K == q.K && p.Q == q.Q && p.D == q.D && len(p.CoefMean) == len(q.CoefMean) && len(p.CoefVar) == len(q.CoefVar) &&
		p.Windows.Equal(&q.Windows) && slices.Equal(p.ComponentWindow, q.ComponentWindow)
}

// checkpoint is the fit's, nil for none.
func (f *fitting) checkpoint() *checkpointer {
	if f.restarts == nil {
		return nil
	}
	return f.restarts.checkpoint
}

// firstStage is the place in the schedule to begin at.
func (f *fitting) firstStage(stages []stage) (int, error) {
	if f.snap == nil || f.snap.Stage == noStage {
		f.snap = nil
		return 0, nil
	}
	if f.snap.Stage >= len(stages) || f.snap.Iterations > f.total {
		return 0, fmt.Errorf("vssgp: the checkpoint stands at stage %d, iteration %d, of %d and %d: %w", f.snap.Stage, f.snap.Iterations, len(stages), f.total, ErrCheckpoint)
	}
	f.iterations, f.bound = f.snap.Iterations, float64(f.snap.Bound)
	return f.snap.Stage, nil
}

// origin is the parameters at the stage's beginning, the chart's origin.
func (f *fitting) origin() *Params {
	switch {
	case f.snap != nil:
		f.begun = f.snap.begun
	case f.checkpoint() != nil:
		f.begun = f.model.Params.Clone()
	default:
		return f.model.Params // nobody will ask later
	}
	return f.begun
}

// startAscent begins a stage by L-BFGS, or goes on with it.
func (f *fitting) startAscent(eval lbfgs.Func, c *chart, s stage, blocks []lbfgs.Block) (*lbfgs.State, error) {
	if snap := f.snap; snap != nil {
		f.snap = nil
		if snap.descent != nil {
			return nil, fmt.Errorf("vssgp: the checkpoint stands in a stage of mini-batches, the schedule in one of L-BFGS: %w", ErrCheckpoint)
		}
		if state := snap.ascent; state != nil {
			return state, c.checkAscent(f.model.Params, state, s, blocks)
		}
	}
	v := make([]float64, c.n)
	c.read(v, f.model.Params)
	state, err := lbfgs.Start(eval, v)
	if err != nil {
		if f.ctx.Err() != nil || errors.Is(err, lbfgs.ErrStop) {
			return nil, errors.Join(interrupted(f.ctx, err), f.save(&snapshot{}))
		}
		if !errors.Is(err, ErrBound) {
			err = fmt.Errorf("%w: %w", err, ErrBound)
		}
	}
	return state, err
}

// checkPoint reports coordinates, from a file, that lead to no parameters.
func (c *chart) checkPoint(p *Params, v []float64) error {
	at := p.Clone()
	c.write(at, v)
	if err := at.Check(); err != nil {
		return fmt.Errorf("vssgp: where the checkpoint's optimiser stands: %w: %w", err, ErrCheckpoint)
	}
	return nil
}

// checkAscent reports a state that does not fit the chart.
func (c *chart) checkAscent(p *Params, state *lbfgs.State, s stage, blocks []lbfgs.Block) error {
	lengths := [][]float64{state.X, state.G}
	for i := range state.S {
		lengths = append(lengths, state.S[i], state.Y[i])
	}
	bad := state.Turns > s.iterations
	if a := state.Apart; a != nil && !a.Over {
		lengths = append(lengths, a.X, a.G)
		bad = bad || len(blocks) < 2 || len(a.Radius) != len(blocks)
	}
	for _, a := range lengths {
		bad = bad || len(a) != c.n
	}
	if bad {
		return fmt.Errorf("vssgp: the checkpoint's optimiser does not fit the stage's %d coordinates, %d blocks and %d iterations: %w", c.n, len(blocks), s.iterations, ErrCheckpoint)
	}
	if a := state.Apart; a != nil && !a.Over {
		if err := c.checkPoint(p, a.X); err != nil {
			return err
		}
	}
	return c.checkPoint(p, state.X)
}

// startDescent begins a stage of mini-batches, or goes on with it after first
// steps: then the mini-batches are drawn once more up to there.
func (f *fitting) startDescent(c *chart, s stage, b *batches) (v []float64, rms *rmsProp, first int, err error) {
	snap := f.snap
	f.snap = nil
	if snap == nil || snap.ascent == nil && snap.descent == nil {
		v = make([]float64, c.n)
		c.read(v, f.model.Params)
		return v, newRMSProp(c.n), 0, nil
	}
	bad := snap.descent == nil || snap.Descent.Steps < 0 || snap.Descent.Steps > s.iterations
	if !bad {
		v, rms, first = snap.v, snap.descent, snap.Descent.Steps
		for range first {
			b.next()
		}
		stream, err := b.source.MarshalBinary()
		bad = err != nil || !bytes.Equal(stream, snap.Descent.Stream)
		for _, a := range [][]float64{v, rms.square, rms.rate, rms.last} {
			bad = bad || len(a) != c.n
		}
		for _, r := range rms.rate {
			bad = bad || !(r >= rmsFloor && r <= rmsCeiling)
		}
	}
	if bad {
		err = fmt.Errorf("vssgp: the checkpoint's optimiser or random stream does not fit the stage's %d coordinates and %d steps: %w", c.n, s.iterations, ErrCheckpoint)
	} else {
		err = c.checkPoint(f.model.Params, v)
	}
	return v, rms, first, err
}

// saveAscent writes a checkpoint in a stage by L-BFGS; the model has the
// parameters of the state's best point.
func (f *fitting) saveAscent(st *lbfgs.State) error {
	return f.save(&snapshot{place: place{Ascent: ascentOf(st)}, ascent: st})
}

// ascentOf is the state's part that is no array.
func ascentOf(st *lbfgs.State) *ascentRecord {
	r := &ascentRecord{F: float(st.F), Pairs: len(st.S), Iterations: st.Iterations, Turns: st.Turns, Slow: st.Slow}
	if a := st.Apart; a != nil {
		r.Apart = &apartRecord{a.Failed, a.Over}
	}
	return r
}

// saveDescent writes a checkpoint after so many steps of a stage of
// mini-batches.
func (f *fitting) saveDescent(v []float64, rms *rmsProp, steps int, b *batches) error {
	if f.checkpoint() == nil {
		return nil
	}
	stream, err := b.source.MarshalBinary()
	if err != nil {
		return err
	}
	return f.save(&snapshot{place: place{Descent: &descentRecord{steps, stream}}, descent: rms, v: v})
}

// save writes a checkpoint that stands in the running stage.
func (f *fitting) save(s *snapshot) error {
	if f.checkpoint() == nil {
		return nil
	}
	f.saved = f.ctx.Err() != nil
	s.Stage, s.Iterations, s.Bound = f.at, f.iterations, float(f.bound)
	s.current, s.begun = f.model.bare(f.model.Params), f.begun
	return f.restarts.save(s, f.start-1)
}

// saveBetween writes a checkpoint that stands before start s where that is
// interrupted by err, which comes back. There is none before the first.
func (r *restarts) saveBetween(s int, err error) error {
	if r.checkpoint == nil || r.ctx.Err() == nil || r.best == nil {
		return err
	}
	snap := &snapshot{place: place{Stage: noStage}, current: r.best.model.bare(r.best.model.Params)}
	return errors.Join(err, r.save(snap, s))
}

// save writes a checkpoint in start s with what the starts before have left.
func (r *restarts) save(s *snapshot, start int) error {
	s.Start, s.Starts, s.Rough, s.Kept, s.Elapsed = start, r.starts, r.rough, r.res.Kept, time.Since(r.began)
	for _, x := range r.res.Starts {
		s.Results = append(s.Results, startRecord{x.Seed, float(x.Bound), x.Ended})
	}
	if r.failed != nil {
		s.Failed = r.failed.Error()
	}
	if b := r.best; b != nil {
		s.best = b.model.bare(b.model.Params)
		s.Best = &bestRecord{Bad: b.bad, Iterations: b.iterations, Jitter: float(b.final.Jitter), Bound: float(b.final.Bound)}
		for _, t := range b.final.Terms {
			s.Best.Terms = append(s.Best.Terms, termRecord{t.Name, float(t.Value)})
		}
	}
	err := r.checkpoint.write(s)
	r.res.Unsaved = r.checkpoint.failed
	return err
}
