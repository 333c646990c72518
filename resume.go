package vssgp

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/internal/fileio"
	"github.com/vssgp/vssgp/internal/fileio/safetensors"
	"github.com/vssgp/vssgp/internal/optimize"
	"github.com/vssgp/vssgp/internal/optimize/checkpoint"
)

// fit is a fit in progress: what it knows of its starts, and the best one's model.
type fit struct {
	*frame
	checkpoint.Standing
	ctx    context.Context
	began  time.Time
	best   *attempt
	failed error // of the last start without a bound
	res    *Result
	writer *checkpoint.Writer // nil: none
}

// attempt is a start that has ended with a bound.
type attempt struct {
	checkpoint.Best
	model  *Model
	points int     // point estimates
	prior  float64 // log density of the point estimates that have priors
	floor  float64 // the noise variance below which float64 lets it fall no further, if that holds it up
}

// extraStarts is how many further starts a fit may add when all collapsed.
const extraStarts = 2

// ended makes an attempt of a run at its end.
func (f *fit) ended(m *Model, run *optimize.Run, end checkpoint.Best) *attempt {
	return &attempt{Best: end, model: m, points: run.PointEstimates(), prior: run.LogPrior(), floor: run.NoiseFloor()}
}

// openCheckpoint locks the options' checkpoint file and, to resume from it, takes
// over the starts that have ended. If it was written within a start, m and state say
// where.
func (f *fit) openCheckpoint() (m *Model, state *optimize.State, err error) {
	o := &f.o
	switch {
	case o.Checkpoint.Every < 0:
		return nil, nil, badOption("a checkpoint every %v, want a positive time", o.Checkpoint.Every)
	case o.Checkpoint.Path == "" && o.Checkpoint.Resume:
		return nil, nil, badOption("resume from no checkpoint, want the name of its file")
	case o.Checkpoint.Path == "":
		return nil, nil, nil
	}
	made, err := f.fingerprint()
	if err != nil {
		return nil, nil, fmt.Errorf("vssgp: checkpoint %w", err)
	}
	set := checkpoint.Setting{Path: o.Checkpoint.Path, Every: o.Checkpoint.Every, Resume: o.Checkpoint.Resume, Warn: o.Checkpoint.Warn, Made: made}
	writer, s, err := checkpoint.Open(set, func(s *checkpoint.Snapshot) error {
		m, err = f.read(s, made)
		return err
	})
	for _, place := range []error{fs.ErrNotExist, fs.ErrPermission, fileio.ErrTarget, fileio.ErrNotRegular} {
		if errors.Is(err, place) && !errors.Is(err, ErrCheckpoint) {
			err = fmt.Errorf("%w: %w", err, ErrCheckpoint)
		}
	}
	if s == nil || err != nil {
		f.writer = writer
		return nil, nil, err
	}
	if err := f.goOn(s); err != nil {
		writer.Close()
		return nil, nil, fmt.Errorf("vssgp: checkpoint %q: %w", o.Checkpoint.Path, err)
	}
	f.writer = writer
	return m, s.State, nil
}

// fromTrait names the trait of Options.From, which matters until the last start has
// begun.
const fromTrait = "the model to start from"

// fingerprint lists what the fit's bits depend on: the build, the device, the
// instruction set (some algebra runs on the CPU whatever the device), the data and
// every option that changes what is computed.
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
	return append(all, checkpoint.Options(*o, "From", "Backend", "Progress", "Checkpoint", "MemoryLimit")...), nil
}

// read returns the model of the start within which a snapshot was written, or nil if
// it was written between two. It reports a snapshot of another fit, or one that no
// fit has written.
func (f *fit) read(s *checkpoint.Snapshot, made []checkpoint.Trait) (*Model, error) {
	var may []string
	if s.State != nil && s.Start == s.Starts-1 {
		may = []string{fromTrait}
	}
	if text := checkpoint.Differ(s.Made, made, may...); text != "" {
		return nil, fmt.Errorf("it is of another fit (%s); want the same data, options and build as before, or another file: %w", text, ErrCheckpoint)
	}
	if least := 1 + f.o.Restarts; s.Starts < least || s.Starts > least+extraStarts+min(s.Rough, 1) {
		return nil, fmt.Errorf("it stands in start %d of %d, want one of %d: %w", s.Start, s.Starts, least, ErrCheckpoint)
	}
	if s.State == nil {
		return nil, nil
	}
	begun, err := f.fromFile(s.Begun)
	if err != nil {
		return nil, err
	}
	m, err := f.fromFile(s.Current)
	if err != nil {
		return nil, err
	}
	s.State.Params, s.State.Begun = m.Params, begun.Params
	return m, s.State.Check()
}

// fromFile is a model of a snapshot on the fit's backend.
func (f *fit) fromFile(file *safetensors.File) (*Model, error) {
	m, err := fromFile(file)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrCheckpoint)
	}
	m.Backend = f.o.Backend
	return m, nil
}

// failure is the text of an error that wrapped ErrBound, read back.
type failure string

func (f failure) Error() string { return string(f) }

func (f failure) Unwrap() error { return ErrBound }

// goOn takes over the starts that have ended in a snapshot.
func (f *fit) goOn(s *checkpoint.Snapshot) error {
	f.Standing, f.began, f.res.Resumed = s.Standing, time.Now().Add(-s.Elapsed), 0
	if s.Failed != "" {
		f.failed = failure(s.Failed)
	}
	if s.State != nil {
		f.res.Resumed = s.State.Iterations
	}
	if s.Best == nil {
		return nil
	}
	m, err := f.fromFile(s.BestModel)
	if err != nil {
		return err
	}
	init := f.form(m.Params)
	if f.Rough > 0 && f.Kept == f.Rough {
		init = initRough
	}
	run, err := f.run(f.ctx, f.rows, m, f.o.optimize(init, 0)) // sums in the fit's own order
	if err != nil {
		return err
	}
	defer run.Close()
	if m.Inference == Exact {
		e, err := run.Rows.Exact(m.Params, false)
		if err != nil {
			return optimize.Interrupted(f.ctx, err)
		}
		m.adopt(e)
	}
	f.best = f.ended(m, run, *s.Best)
	return nil
}

// A keeper writes a start's States to the fit's checkpoint.
type keeper struct {
	*checkpoint.Writer
	f     *fit
	model *Model
}

// Keep writes a checkpoint within the running start.
func (k keeper) Keep(s *optimize.State) error { return k.f.save(k.model.at(s.Params), s) }

// at is the model with other parameters and the inference that their coefficients
// imply, without a posterior.
func (m *Model) at(p *Params) *Model {
	c := m.bare(p)
	if len(p.CoefVar) > 0 {
		c.Inference = Factorized
	}
	return c
}

// saveBetween writes a checkpoint before the running start, which err has
// interrupted, and returns err. Before the first start there is nothing to save.
func (f *fit) saveBetween(err error) error {
	if f.writer == nil || f.ctx.Err() == nil || f.best == nil {
		return err
	}
	return errors.Join(err, f.save(f.best.model.at(f.best.model.Params), nil))
}

// save writes a checkpoint of the starts that have ended and of current: the running
// start's model at the state or, between two starts, the best one.
func (f *fit) save(current *Model, state *optimize.State) error {
	f.Elapsed = time.Since(f.began)
	if f.failed != nil {
		f.Failed = f.failed.Error()
	}
	s := &checkpoint.Snapshot{Standing: f.Standing, State: state}
	var errs [3]error
	s.Current, errs[0] = current.file()
	if state != nil {
		s.Begun, errs[1] = current.at(state.Begun).file()
	}
	if f.best != nil {
		s.BestModel, errs[2] = f.best.model.at(f.best.model.Params).file()
	}
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	err := f.writer.Write(s)
	f.res.Unsaved = f.writer.Failed
	return err
}
