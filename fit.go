package vssgp

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/internal/fileio"
	"github.com/vssgp/vssgp/internal/fileio/safetensors"
	"github.com/vssgp/vssgp/internal/initialize"
	"github.com/vssgp/vssgp/internal/linalg/blocktri"
	"github.com/vssgp/vssgp/internal/optimize"
	"github.com/vssgp/vssgp/internal/optimize/checkpoint"
	"github.com/vssgp/vssgp/variational"
)

// Fit initializes one or more models, optimizes the bound from each and returns the
// model with the best bound. If ctx (nil: the background) ends the fit early, Fit
// returns the best model so far with an error that wraps ctx.Err(). Other errors wrap
// ErrData, ErrOptions, ErrMemory, ErrCheckpoint or ErrBound, or are the backend's or
// the system's. Fit does not change data.
func Fit(ctx context.Context, data *Data, o Options) (*Model, *Result, error) {
	if err := data.Check(); err != nil {
		return nil, nil, err
	}
	problem, err := o.problem(data)
	if err != nil {
		return nil, nil, err
	}
	f := &fit{
		problem: problem, progress: checkpoint.Progress{Starts: 1 + o.Restarts, Kept: -1},
		ctx: cmp.Or(ctx, context.Background()), began: time.Now(), res: &Result{Resumed: -1},
	}
	m, state, err := f.openCheckpoint()
	if err != nil {
		return nil, nil, err
	}
	defer f.writer.Close()
	for ; f.progress.Start < f.progress.Starts && err == nil; f.progress.Start++ {
		if err = f.runStart(m, state); err == nil {
			err = f.addStarts()
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

// Progress describes a fit in progress.
type Progress struct {
	Start, Starts         int           // which of how many starts, from 1
	Stage                 string        // the free parameters: "frequencies", "all", …
	Iteration, Iterations int           // of this start, over all stages
	Bound                 float64       // so far, of this start, in nats
	NoiseSD               float64       // τ^−½ in units of y (of the first output)
	Elapsed, Left         time.Duration // since the fit began; expected until it ends
}

// A Result describes a finished fit.
type Result struct {
	Bound float64 // of the start that was kept, in nats, of y in the model's units
	Terms []Term  // they add up to Bound
	// LogPrior is the log density of the optimized hyper-parameters' logarithms
	// under Options.Priors. A fit maximizes Bound + LogPrior; 0 without priors.
	LogPrior   float64
	Iterations int           // of the start that was kept
	Starts     []StartResult // in the order they were made
	Kept       int           // index in Starts
	Jitter     float64       // in A at the end, 0 as a rule
	// Sums is how the last bound summed over rows: "tables" of the rows' Fourier sums, whose cost does not grow with the
	// number of rows (one input, no windows, exact inference on the CPU), or "rows".
	Sums string
	// NoiseFloor is the least noise that float64 can tell from none, as a standard
	// deviation in units of y (of the first output), if the fit ended within twice
	// that variance and its bound would rise with less noise: the model then explains
	// the data to their last digits. Otherwise it is 0.
	NoiseFloor float64
	Device     string        // what computed: the backend's name
	Elapsed    time.Duration // of all runs of a fit that was resumed
	// NoPosterior is why the model has no Posterior; "" if it has one.
	NoPosterior string
	// HeldOut compares a fit of one input with straight lines between neighbors,
	// if the posterior is small enough to be computed once more. Otherwise it has no
	// rows.
	HeldOut HeldOut
	// Resumed is the number of iterations that the running start had taken in the
	// checkpoint from which the fit was resumed; −1 if it was not resumed.
	Resumed int
	// Unsaved is why the last checkpoint could not be written; nil if it was.
	Unsaved error
}

// A StartResult describes a finished start.
type StartResult struct {
	Seed  uint64  `json:"seed"`  // that the start's random numbers came from
	Bound float64 `json:"bound"` // at its end, in nats
	// Ended is why the optimization ended, or "collapsed: …" if the result was
	// recognized as one of the bad optima.
	Ended string `json:"ended"`
}

// A HeldOut compares the predictions of held-out rows by a fit of one input with
// straight lines. A tenth of the rows is held out, in intervals as long as the data's own
// gaps. The fitted covariance and noise, which have seen all rows, are conditioned
// on the rest and predict them. See DESIGN.md, "Is the fit better than a line?".
type HeldOut struct {
	Rows int // held out
	// RMSE is the error there, raised because the point estimates had seen these rows
	// (Akaike's final prediction error, 1970). Line is the error of straight lines
	// between the neighbors that are left. Both are in the model's units of y:
	// standard deviations, unless the fit was Raw.
	RMSE, Line float64
}

const (
	// heldTry times the line's error is enough for another start, and heldWorse
	// for Worse; so is neither up to heldSmall standard deviations: where data
	// have next to no noise a line's error is next to nothing, and so is ours.
	heldTry, heldWorse = 1.0, 1.1
	heldSmall          = 1e-3
)

// Worse reports whether the fit is clearly worse than straight lines between
// neighbors: by a tenth, and more than a thousandth of a standard deviation.
func (h HeldOut) Worse() bool { return h.above(heldWorse) }

func (h HeldOut) above(margin float64) bool {
	return h.RMSE > margin*h.Line && h.RMSE > heldSmall
}

// A fit is a fit in progress.
type fit struct {
	*problem
	progress checkpoint.Progress
	ctx      context.Context
	began    time.Time
	best     *attempt
	failed   error // of the last start without a bound
	res      *Result
	writer   *checkpoint.Writer // nil: none
}

// An attempt is a start that has ended with a bound.
type attempt struct {
	end    checkpoint.Best
	model  *Model
	points int     // number of point estimates
	prior  float64 // log density of the point estimates that have priors
	floor  float64 // the least noise variance that float64 allows, if the optimization ended there
}

// extraStarts is how many further starts a fit may add when all collapsed.
const extraStarts = 2

// runStart runs a start and keeps it if it is the best. If there is a state, the start
// continues from it with its model m.
func (f *fit) runStart(m *Model, state *optimize.State) error {
	var (
		seed  = f.o.Seed + uint64(f.progress.Start)
		rough = f.rough(f.progress.Start)
		begun *Evaluation
		run   *optimize.Run
		err   error
	)
	if state == nil {
		init := f.init
		if rough {
			init = initRough
		}
		m, begun, err = f.initialize(f.ctx, init, seed)
	}
	if rough && errors.Is(err, ErrMemory) {
		return nil
	}
	if err == nil {
		run, err = f.run(f.ctx, f.rows, m, f.settingsOf(f.progress.Start, m.Params, seed))
	}
	if err != nil {
		return f.saveBetween(optimize.Interrupted(f.ctx, err))
	}
	defer run.Close()
	run.Report = f.report
	if f.writer != nil {
		run.Keeper = keeper{f.writer, f, m}
	}
	a, ended, err := f.optimizeStart(m, run, state, begun)
	if err != nil && f.ctx.Err() != nil && !run.Kept {
		err = f.saveBetween(err)
	}
	if errors.Is(err, ErrBound) && f.ctx.Err() == nil { // another start may have a bound
		f.failed, err = err, nil
	}
	f.progress.Results = append(f.progress.Results, checkpoint.Result{Seed: seed, Bound: checkpoint.Number(run.Bound), Ended: ended})
	better := a != nil && a.betterThan(f.best)
	if rough && a != nil && err == nil {
		better, err = f.keepRough(a)
	}
	if better {
		f.best, f.progress.Best, f.progress.Kept = a, &a.end, f.progress.Start
	}
	return err
}

// rough reports whether a start is the one from the rough initialization.
func (f *fit) rough(start int) bool { return f.progress.Rough > 0 && start == f.progress.Rough }

// settingsOf returns the settings of the optimization of a start with parameters p.
func (f *fit) settingsOf(start int, p *Params, seed uint64) optimize.Settings {
	if f.rough(start) {
		return f.o.optimize(initRough, seed)
	}
	return f.o.optimize(f.form(p), seed)
}

// optimizeStart optimizes the model of a start, computes its posterior and returns the
// reason why the optimization ended. It returns no attempt if there is no bound.
// begun is the bound at the model's parameters, if it is known.
func (f *fit) optimizeStart(m *Model, run *optimize.Run, from *optimize.State, begun *Evaluation) (a *attempt, ended string, err error) {
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
	a = newAttempt(m, run, checkpoint.Best{Bad: run.Collapsed(f.grid.Even()), Iterations: run.Taken, At: *begun})
	if a.end.Bad != "" {
		ended = "collapsed: " + a.end.Bad
	}
	if run.Total == 0 && err == nil {
		run.Report(optimize.Progress{Bound: run.Bound, Noise: 1 / m.Params.NoisePrecision[0]})
	}
	return a, ended, err
}

// betterThan prefers a start that did not collapse, then the higher bound.
func (a *attempt) betterThan(b *attempt) bool {
	if b != nil && (a.end.Bad == "") == (b.end.Bad == "") {
		return a.end.At.Bound > b.end.At.Bound
	}
	return b == nil || a.end.Bad == ""
}

// addStarts adds starts after the last one: up to extraStarts if all have ended in a
// bad optimum, and the rough start if the best fit is worse than straight lines.
func (f *fit) addStarts() error {
	if f.progress.Start < f.progress.Starts-1 {
		return nil
	}
	if (f.best == nil || f.best.end.Bad != "") && f.progress.Starts < 1+f.o.Restarts+extraStarts && f.o.From == nil {
		f.progress.Starts++
		return nil
	}
	rough, err := f.wantsRough()
	if rough {
		f.progress.Rough = f.progress.Starts
		f.progress.Starts++
	}
	return err
}

// heldPoints bounds the number of point estimates per observation in optimism.
const heldPoints = 0.8

// heldOut compares a fitted model with straight lines between neighbors on held-out rows.
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

// optimism returns the factor by which errors are larger on rows that the covariance
// was not fitted to: √((N+p)/(N−p)) with p point estimates (Akaike 1970).
func (f *fit) optimism(a *attempt) float64 {
	n := float64(f.data.N * f.data.D)
	p := min(float64(a.points), heldPoints*n)
	return math.Sqrt((n + p) / (n - p))
}

// wantsRough reports whether the rough start follows the last one: the best fit is
// worse than straight lines, and the options allow it.
func (f *fit) wantsRough() (bool, error) {
	if f.best == nil || f.progress.Rough > 0 || f.o.Iterations == NoIterations {
		return false, nil
	}
	if m := f.best.model; !f.holdsOut(m.Inference, m.Params.M(), len(m.Params.Windows.Center) > 0) {
		return false, nil
	}
	h, err := f.heldOut(f.best)
	if errors.Is(err, ErrBound) {
		return false, nil // fewer rows may not determine A, which is no evidence against the fit
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

// result completes the Result.
func (f *fit) result() *Result {
	r, a := f.res, f.best
	r.Bound, r.Terms, r.Jitter, r.Sums = a.end.At.Bound, a.end.At.Terms, a.end.At.Jitter, a.end.At.Sums
	r.Iterations, r.LogPrior = a.end.Iterations, a.prior
	if a.end.Iterations > 0 {
		r.NoiseFloor = math.Sqrt(a.floor) * a.model.Y.Scale[0]
	}
	for _, s := range f.progress.Results {
		r.Starts = append(r.Starts, StartResult{Seed: s.Seed, Bound: float64(s.Bound), Ended: s.Ended})
	}
	r.Kept, r.Device, r.Elapsed = f.progress.Kept, a.model.backend().Name(), time.Since(f.began)
	return r
}

// report calls Options.Progress.
func (f *fit) report(at optimize.Progress) {
	if f.o.Progress == nil {
		return
	}
	p := Progress{
		Start: f.progress.Start + 1, Starts: f.progress.Starts, Stage: at.Stage, Iteration: at.Iteration, Iterations: at.Iterations,
		Bound: at.Bound, NoiseSD: math.Sqrt(at.Noise) * f.y.Scale[0], Elapsed: time.Since(f.began),
	}
	if done := float64(f.progress.Start) + float64(at.Iteration)/float64(max(1, at.Iterations)); done > 0 {
		p.Left = time.Duration(float64(p.Elapsed) * (float64(f.progress.Starts) - done) / done)
	}
	f.o.Progress(p)
}

// newAttempt returns the attempt of a run that has ended.
func newAttempt(m *Model, run *optimize.Run, end checkpoint.Best) *attempt {
	return &attempt{end: end, model: m, points: run.PointEstimates(), prior: run.LogPrior(), floor: run.NoiseFloor()}
}

// openCheckpoint locks the options' checkpoint file and, to resume from it, takes
// over the starts that have ended. If it was written within a start, m and state are
// the start's model and state.
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
	set := checkpoint.Setting{Path: o.Checkpoint.Path, Every: o.Checkpoint.Every, Resume: o.Checkpoint.Resume, Warn: o.Checkpoint.Warn,
		Made: made}
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
	if err := f.resume(s); err != nil {
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
// every option that changes the computation.
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
// it was written between two starts. It refuses a snapshot of another fit.
func (f *fit) read(s *checkpoint.Snapshot, made []checkpoint.Trait) (*Model, error) {
	var may []string
	if s.State != nil && s.Start == s.Starts-1 {
		may = []string{fromTrait}
	}
	if text := checkpoint.Differ(s.Made, made, may...); text != "" {
		return nil, fmt.Errorf("it is of another fit (%s); want the same data, options and build as before, or another file: %w", text,
			ErrCheckpoint)
	}
	if least := 1 + f.o.Restarts; s.Starts < least || s.Starts > least+extraStarts+min(s.Rough, 1) {
		return nil, fmt.Errorf("it is in start %d of %d, want one of %d: %w", s.Start, s.Starts, least, ErrCheckpoint)
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

// fromFile returns a model of a snapshot on the fit's backend.
func (f *fit) fromFile(file *safetensors.File) (*Model, error) {
	m, err := fromFile(file)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrCheckpoint)
	}
	m.Backend = f.o.Backend
	return m, nil
}

// A failure is an error that wraps ErrBound, with its text from a checkpoint.
type failure string

func (f failure) Error() string { return string(f) }

func (f failure) Unwrap() error { return ErrBound }

// resume takes over the starts that have ended in a snapshot.
func (f *fit) resume(s *checkpoint.Snapshot) error {
	f.progress, f.began, f.res.Resumed = s.Progress, time.Now().Add(-s.Elapsed), 0
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
	run, err := f.run(f.ctx, f.rows, m, f.settingsOf(f.progress.Kept, m.Params, 0)) // sums in the fit's own order
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
	f.best = newAttempt(m, run, *s.Best)
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

// at returns the model with other parameters and the inference that their
// coefficients imply, without a posterior.
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
	f.progress.Elapsed = time.Since(f.began)
	if f.failed != nil {
		f.progress.Failed = f.failed.Error()
	}
	s := &checkpoint.Snapshot{Progress: f.progress, State: state}
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

const (
	// posteriorShort is by how many nats a coordinate a fit may lie below the mode that
	// its curvature points to: it is then half a standard deviation away in each.
	posteriorShort = 0.1
	// posteriorSalt tells this random stream from the others.
	posteriorSalt = 0x90e7
	// posteriorFlops is what standard deviations of the hyper-parameters may cost if
	// no draws are asked for: well under a second on a core. Taking a matrix of n rows
	// apart costs eigenFlops·n³, each as much as passFlops in a pass over the rows.
	posteriorFlops, eigenFlops, passFlops = 6e8, 25, 8
	// posteriorMost is the most coordinates.
	posteriorMost = 3000
)

// posterior computes the posterior of the best model's hyper-parameters, or returns
// the reason why there is none. Without draws it takes so little time that it ignores
// the end of the fit's context.
func (f *fit) posterior() (none string, err error) {
	m, o, ctx := f.best.model, f.o, f.ctx
	p := m.Params
	set := f.settingsOf(f.progress.Kept, p, 0)
	n, none := f.posteriorSize(p, set)
	if none != "" {
		return none, nil
	}
	if o.Posterior.Draws == 0 {
		ctx = context.WithoutCancel(ctx)
	}
	run, err := f.run(ctx, f.rows, m, set)
	if err != nil {
		return "", err
	}
	defer run.Close()
	about, err := run.Posterior()
	switch {
	case errors.Is(err, ErrBound) && ctx.Err() == nil:
		return "the bound cannot be evaluated about the fit", nil
	case err != nil:
		return "", err
	case about.Short > posteriorShort*float64(n):
		return fmt.Sprintf("the fit ended about %.3g nats below the mode of the bound and the priors; want more iterations", about.Short),
			nil
	}
	hyper := spreads(about, p)
	if slices.Contains(set.Fix, "kernel.frequency") && (slices.Contains(set.Fix, "frequency.mean") || o.Method == RP) {
		hyper.Features = nil // they stayed as they were
	}
	if hyper.Draws, err = f.draws(run, about); err != nil {
		return "", err
	}
	if len(hyper.Draws) < o.Posterior.Draws {
		return "the bound cannot be evaluated at draws from it", nil
	}
	m.hyper = hyper
	return "", nil
}

// posteriorSize returns the number of coordinates of the posterior, which needs two
// gradients for each, or the reason why there is no posterior.
func (f *fit) posteriorSize(p *Params, set optimize.Settings) (n int, none string) {
	o, shape := &f.o, variational.ShapeOf(p)
	n = optimize.PosteriorSize(shape, set)
	flops := 2*float64(n)*f.gradientFlops(&shape)/passFlops + eigenFlops*math.Pow(float64(n), 3)
	switch {
	case o.Posterior.Draws == NoPosterior:
		return 0, "not asked for"
	case o.Iterations == NoIterations || n == 0:
		return 0, "the starting values are kept"
	case o.Inference == Stochastic:
		return 0, "mini-batches do not end at a mode of the bound"
	case n > posteriorMost:
		return 0, fmt.Sprintf("%d coordinates, want at most %d", n, posteriorMost)
	case o.Posterior.Draws == 0 && flops > posteriorFlops:
		return 0, "it would take long beside the fit; ask for draws"
	}
	return n, ""
}

// gradientFlops returns the number of operations of the exact bound and its gradient:
// the algebra of the matrix, and 3·n·m² + 2·n·m·D for n rows under m features or the
// operations of the tables.
func (f *fit) gradientFlops(s *variational.Shape) float64 {
	offset := s.Offsets()
	flops := blocktri.Flops(offset)
	if pay, sums, _ := f.tables(s); pay {
		return flops + sums
	}
	for _, r := range s.Windows.NewLayout(f.rows.X, f.data.N, s.Q).Runs {
		n, m := float64(r.Hi-r.Lo), float64(offset[r.End]-offset[r.First])
		flops += 3*n*m*m + 2*n*m*float64(s.D)
	}
	return flops
}

// draws returns models at draws of the hyper-parameters, fewer than Posterior.Draws if
// the bound cannot be evaluated at some.
func (f *fit) draws(run *optimize.Run, about *optimize.Posterior) (all []*Model, err error) {
	random := rand.New(rand.NewPCG(f.o.Seed, posteriorSalt))
	draw := func(int) (*Params, error) { return about.Draw(random) }
	if f.o.Posterior.HMC && f.o.Posterior.Draws > 0 {
		places, _, err := about.HMC(f.ctx, f.o.Posterior.Draws, random)
		if err != nil {
			return nil, err
		}
		draw = func(i int) (*Params, error) { return about.Best(places[i]) }
	}
	for i := range f.o.Posterior.Draws {
		d := f.best.model.bare(nil)
		if d.Params, err = draw(i); err != nil {
			return nil, optimize.Interrupted(f.ctx, err)
		}
		if d.Inference == Exact {
			e, err := run.Rows.Exact(d.Params, false)
			if errors.Is(err, ErrBound) {
				return all, nil
			}
			if err != nil {
				return nil, err
			}
			d.adopt(e)
		}
		all = append(all, d)
	}
	return all, nil
}

// spreads returns the standard deviations of a Gaussian about p.
func spreads(about *optimize.Posterior, p *Params) *Posterior {
	all := about.SD(func(p *Params) []float64 {
		v := slices.Concat(p.Variance, p.Lengthscale, p.NoisePrecision)
		for i := range v {
			v[i] = math.Log(v[i])
		}
		return append(v, p.Frequency...)
	})
	take := func(n int) (out []float64) {
		out, all = all[:n:n], all[n:]
		return out
	}
	return &Posterior{
		Variance: take(p.L), Lengthscale: take(p.L * p.Q), Noise: take(1), Frequency: take(p.L * p.Q),
		Features: about.FrequencySD(),
	}
}
