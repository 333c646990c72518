package vssgp

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/internal/checkpoint"
	"github.com/vssgp/vssgp/internal/optimise"
	"github.com/vssgp/vssgp/variational"
)

// openCheckpoint takes the options' checkpoint, if there is one, and returns the
// place where the fit begins or goes on.
func (f *fit) openCheckpoint() (at place, err error) {
	o := &f.o
	switch {
	case o.CheckpointEvery < 0:
		return at, fmt.Errorf("vssgp: a checkpoint every %v, want a positive time: %w", o.CheckpointEvery, ErrOptions)
	case o.Checkpoint == "" && o.Resume:
		return at, fmt.Errorf("vssgp: resume from no checkpoint, want the name of its file: %w", ErrOptions)
	case o.Checkpoint == "":
		return at, nil
	}
	made, err := f.fingerprint()
	if err != nil {
		return at, fmt.Errorf("vssgp: checkpoint %w", err)
	}
	set := checkpoint.Setting{Path: o.Checkpoint, Every: o.CheckpointEvery, Resume: o.Resume, Warn: o.Warn, Made: made}
	writer, s, err := checkpoint.Open(set, func(s *checkpoint.Snapshot) error {
		at, err = f.read(s, made)
		return err
	})
	if err != nil {
		return at, err
	}
	f.writer = writer
	if s == nil {
		return at, nil
	}
	if err := f.goOn(s); err != nil {
		writer.Close()
		return at, fmt.Errorf("vssgp: checkpoint %q: %w", o.Checkpoint, err)
	}
	return at, nil
}

// fromTrait is the trait of Options.From, which matters until the last start
// has begun.
const fromTrait = "the model to start from"

// fingerprint is what the fit's bits depend on: the build, the device, the
// instruction set, which some algebra of every device uses, the data and every
// option that changes anything in what is computed.
func (f *fit) fingerprint() ([]checkpoint.Trait, error) {
	o, d := &f.o, f.data
	build, err := checkpoint.Build()
	if err != nil {
		return nil, err
	}
	device := "cpu"
	if o.Backend != nil {
		device = o.Backend.Name()
	}
	all := []checkpoint.Trait{
		build, {Name: "device", Value: device}, {Name: "instruction set (" + cpu.Variable + ")", Value: cpu.Instructions()},
		checkpoint.Data(d.N, d.Q, d.D, d.X, d.Y, d.XNames, d.YNames),
	}
	if o.From != nil {
		h := sha256.New()
		if err := o.From.bare(o.From.Params).Write(h); err != nil {
			return nil, err
		}
		all = append(all, checkpoint.Trait{Name: fromTrait, Value: fmt.Sprintf("sha256 %x", h.Sum(nil))})
	}
	return append(all, checkpoint.Options(*o, "From", "Backend", "Progress", "Checkpoint", "CheckpointEvery", "Resume", "Warn", "MemoryLimit")...), nil
}

// read is the place where a snapshot stands. It reports one of another fit, or
// one that no fit has written.
func (f *fit) read(s *checkpoint.Snapshot, made []checkpoint.Trait) (at place, err error) {
	var may []string
	if s.State != nil && s.Start == s.Starts-1 {
		may = []string{fromTrait}
	}
	if text := checkpoint.Differ(s.Made, made, may...); text != "" {
		return at, fmt.Errorf("it is of another fit (%s); want the same data, options and build as before, or another file: %w", text, ErrCheckpoint)
	}
	if least := 1 + f.o.Restarts; s.Starts < least || s.Starts > least+extraStarts+min(s.Rough, 1) {
		return at, fmt.Errorf("it stands in start %d of %d, want one of %d: %w", s.Start, s.Starts, least, ErrCheckpoint)
	}
	at = place{start: s.Start, state: s.State}
	if at.state == nil {
		return at, nil
	}
	begun, err := fromFile(s.Begun)
	if err == nil {
		at.model, err = fromFile(s.Current)
	}
	if err != nil {
		return at, fmt.Errorf("%w: %w", err, ErrCheckpoint)
	}
	at.model.Backend = f.o.Backend
	at.state.Params, at.state.Begun = at.model.Params, begun.Params
	return at, at.state.Check()
}

// failure is an error that was ErrBound's in its own words, read back.
type failure string

func (f failure) Error() string { return string(f) }

func (f failure) Unwrap() error { return ErrBound }

// goOn takes over the starts that a snapshot has seen the end of.
func (f *fit) goOn(s *checkpoint.Snapshot) error {
	f.starts, f.rough, f.began, f.res.Kept = s.Starts, s.Rough, time.Now().Add(-s.Elapsed), s.Kept
	for _, x := range s.Results {
		f.res.Starts = append(f.res.Starts, StartResult{Seed: x.Seed, Bound: float64(x.Bound), Ended: x.Ended})
	}
	if s.Failed != "" {
		f.failed = failure(s.Failed)
	}
	f.res.Resumed = 0
	if s.State != nil {
		f.res.Resumed = s.State.Iterations
	}
	if s.Best == nil {
		return nil
	}
	m, err := fromFile(s.BestModel)
	if err != nil {
		return fmt.Errorf("%w: %w", err, ErrCheckpoint)
	}
	m.Backend = f.o.Backend
	init := f.init
	if f.rough > 0 && s.Kept == f.rough {
		init = initRough
	}
	run, err := optimise.New(f.ctx, f.rows, m.Params, m.settingOf(&f.o), f.o.optimise(init, 0)) // sums in the fit's own order
	if err != nil {
		return dataError(err)
	}
	defer run.Close()
	if m.Inference == Exact {
		e, err := run.Rows.Exact(m.Params, false)
		if err != nil {
			return optimise.Interrupted(f.ctx, err)
		}
		m.adopt(e)
	}
	final := s.Best.At
	f.best = &attempt{
		model: m, final: &final, bad: s.Best.Bad, iterations: s.Best.Iterations, points: run.PointEstimates(),
		level: run.Rows.NoiseLevel(m.Params, run.Inference == Exact).At(m.Params),
	}
	return nil
}

// A keeper writes a start's States to the fit's checkpoint.
type keeper struct {
	f     *fit
	model *Model
	start int
}

// Due reports whether it is time to write.
func (k keeper) Due() bool { return k.f.writer.Due() }

// Keep writes a checkpoint that stands in the running start.
func (k keeper) Keep(s *optimise.State) error {
	snap := &checkpoint.Snapshot{State: s}
	begun, err := k.model.at(s.Begun).file()
	if err == nil {
		snap.Begun = begun
		snap.Current, err = k.model.at(s.Params).file()
	}
	if err != nil {
		return err
	}
	return k.f.save(snap, k.start)
}

// at is the model with the given parameters, and the inference that their
// coefficients say.
func (m *Model) at(p *Params) *Model {
	c := m.bare(p)
	if len(p.CoefVar) > 0 {
		c.Inference = Factorised
	}
	return c
}

// saveBetween writes a checkpoint that stands before a start where that is
// interrupted by err, which comes back. There is none before the first.
func (f *fit) saveBetween(start int, err error) error {
	if f.writer == nil || f.ctx.Err() == nil || f.best == nil {
		return err
	}
	current, e := f.best.model.bare(f.best.model.Params).file()
	if e == nil {
		e = f.save(&checkpoint.Snapshot{Current: current}, start)
	}
	return errors.Join(err, e)
}

// save writes a checkpoint in a start with what the starts before have left.
func (f *fit) save(s *checkpoint.Snapshot, start int) error {
	s.Start, s.Starts, s.Rough, s.Kept, s.Elapsed = start, f.starts, f.rough, f.res.Kept, time.Since(f.began)
	for _, x := range f.res.Starts {
		s.Results = append(s.Results, checkpoint.Result{Seed: x.Seed, Bound: checkpoint.Number(x.Bound), Ended: x.Ended})
	}
	if f.failed != nil {
		s.Failed = f.failed.Error()
	}
	if b := f.best; b != nil {
		model, err := b.model.bare(b.model.Params).file()
		if err != nil {
			return err
		}
		s.BestModel = model
		s.Best = &checkpoint.Best{Bad: b.bad, Iterations: b.iterations, At: variational.Evaluation{Bound: b.final.Bound, Terms: b.final.Terms, Jitter: b.final.Jitter}}
	}
	err := f.writer.Write(s)
	f.res.Unsaved = f.writer.Failed
	return err
}
