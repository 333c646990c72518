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
	"github.com/vssgp/vssgp/internal/linalg/blocktri"
	"github.com/vssgp/vssgp/internal/optimize"
	"github.com/vssgp/vssgp/internal/optimize/checkpoint"
	"github.com/vssgp/vssgp/variational"
)

// Fit initializes one or more models, optimizes the bound from each and returns the
// model with the best bound. A nil ctx is the background context. If ctx ends the fit
// early, Fit returns the best model so far and its Result with an error that wraps
// ctx.Err(). After an interrupted search (InitSearch) the structure of that model may be
// incomplete and its error bars too narrow. Both are nil if ctx ended before a bound
// was evaluated, because there is no model with a posterior then: before or during the first
// initialization. Other errors
// wrap ErrData, ErrOptions, ErrMemory, ErrCheckpoint or ErrBound, or come from the
// backend or the file system. Fit does not change data.
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
	if err := f.balance(f.ctx); err != nil {
		return nil, nil, err
	}
	m, state, err := f.openCheckpoint()
	if err != nil {
		return nil, nil, err
	}
	defer f.writer.Close()
	if f.init == InitSearch {
		err = f.search(f.progress.Search)
		return f.finish(err)
	}
	for ; f.progress.Start < f.progress.Starts && err == nil; f.progress.Start++ {
		err = f.runStart(m, state)
		m, state = nil, nil
	}
	return f.finish(err)
}

// finish returns the results of Fit, after the last start has ended with err.
func (f *fit) finish(err error) (*Model, *Result, error) {
	if f.best == nil {
		return nil, nil, cmp.Or(err, f.failed)
	}
	f.best.model.Range = f.data.extents()
	if err == nil && f.init != InitSearch {
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
	Start, Starts         int           // number of this start, from 1, and number of starts
	Stage                 string        // the free parameters: "frequencies", "all", …
	Iteration, Iterations int           // of this start, over all stages
	Bound                 float64       // current bound of this start, in nats
	NoiseSD               float64       // τ^−½ in units of the first output
	Elapsed, Left         time.Duration // since the fit began, and the estimate until it ends
}

// A Result describes a finished fit.
type Result struct {
	Bound float64 // of the best start, in nats, for y in the model's units
	Terms []Term  // the terms of Bound
	// LogPrior is the log density of the optimized hyper-parameters' logarithms under
	// Options.Priors, or 0 without priors. A fit maximizes Bound + LogPrior.
	LogPrior float64
	// Init is the initialization that the options request, or the default for the data. The default for three inputs or
	// more is "table", which Options.Init cannot request: an exact Gaussian process of up to 1000 rows gives the
	// initial length-scales, and the features' frequencies are drawn at random and not optimized. Init is "" for a fit
	// from Options.From, unless that continues a search.
	Init       Init
	Iterations int           // of the best start; after a search, the number of structures that improved the score
	Starts     []StartResult // in the order they ran
	Kept       int           // index of the best start in Starts
	Jitter     float64       // added to the diagonal of A in the last bound, normally 0
	// Sums is "tables" if the last bound took its sums over rows from Fourier tables, whose cost does
	// not grow with the number of rows, and "rows" otherwise. Tables need one input, no windows and exact
	// inference, and are used if they cost less than a pass over the rows. A search with rough components
	// has "rows".
	Sums string
	// NoiseFloor is the smallest noise that float64 can resolve, as a standard deviation in units
	// of the first output. It is 0 unless the fit ended within twice that variance and less noise
	// would increase the bound: the model then explains the data to rounding error.
	NoiseFloor float64
	Device     string        // name of the backend
	Elapsed    time.Duration // includes the earlier runs of a resumed fit
	// NoPosterior is the reason why the model has no Posterior, or "" if it has one.
	NoPosterior string
	// Resumed is the number of iterations of the current start in the checkpoint from
	// which the fit was resumed, or −1 if it was not resumed.
	Resumed int
	// Unsaved is the error of the last checkpoint write, or nil.
	Unsaved error
}

// A StartResult describes the result of one initialization.
type StartResult struct {
	Seed  uint64  `json:"seed"`  // of the start's random numbers
	Bound float64 `json:"bound"` // final bound, in nats
	// Ended is the reason why the optimization ended, "stopped" if ctx ended it, or "collapsed: …"
	// if it ended in a known bad optimum.
	Ended string `json:"ended"`
}

// A fit is a fit in progress.
type fit struct {
	*problem
	progress checkpoint.Progress
	ctx      context.Context
	began    time.Time
	best     *attempt
	failed   error // error of the last start without a bound
	res      *Result
	writer   *checkpoint.Writer // nil without a checkpoint
}

// An attempt is a start that has ended with a bound.
type attempt struct {
	end   checkpoint.Best
	model *Model
	prior float64 // log density of the point estimates that have priors
	floor float64 // smallest noise variance that float64 can resolve, if the optimization ended there
}

// runStart runs a start and keeps its result if it is the best so far. If state is not
// nil, the start continues from it with its model m.
func (f *fit) runStart(m *Model, state *optimize.State) error {
	var (
		seed  = f.o.Seed + uint64(f.progress.Start)
		begun *Evaluation
		run   *optimize.Run
		err   error
	)
	if state == nil {
		m, begun, err = f.initialize(f.ctx, f.init, seed)
	}
	if err == nil {
		run, err = f.run(f.ctx, f.rows, m, f.settingsOf(seed))
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
	if a != nil && a.betterThan(f.best) {
		f.best, f.progress.Best, f.progress.Kept = a, &a.end, f.progress.Start
	}
	return err
}

// settingsOf returns the optimization settings of a start.
func (f *fit) settingsOf(seed uint64) optimize.Settings { return f.o.optimize(f.init, seed) }

// optimizeStart optimizes the model of a start, computes its posterior and returns the
// reason why the optimization ended. The attempt is nil if the bound cannot be evaluated.
// begun is the bound at the model's parameters, or nil if it is not known.
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

// betterThan reports whether a is better than b. An attempt that did not collapse is
// better than one that did; otherwise the higher bound is better.
func (a *attempt) betterThan(b *attempt) bool {
	if b != nil && (a.end.Bad == "") == (b.end.Bad == "") {
		return a.end.At.Bound > b.end.At.Bound
	}
	return b == nil || a.end.Bad == ""
}

// result fills in and returns the Result.
func (f *fit) result() *Result {
	r, a := f.res, f.best
	r.Bound, r.Terms, r.Jitter, r.Sums = a.end.At.Bound, a.end.At.Terms, a.end.At.Jitter, a.end.At.Sums
	r.Iterations, r.LogPrior, r.Init = a.end.Iterations, a.prior, f.init
	if f.o.From != nil && f.init != InitSearch {
		r.Init = ""
	}
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
	if done := float64(f.progress.Start) + float64(at.Iteration)/float64(max(1, at.Iterations)); done > 0 && at.Iterations > 0 {
		p.Left = time.Duration(float64(p.Elapsed) * (float64(f.progress.Starts) - done) / done)
	}
	f.o.Progress(p)
}

// newAttempt returns the attempt of a finished run.
func newAttempt(m *Model, run *optimize.Run, end checkpoint.Best) *attempt {
	return &attempt{end: end, model: m, prior: run.LogPrior(), floor: run.NoiseFloor()}
}

// openCheckpoint locks the checkpoint file of the options. If the fit resumes, it restores
// the finished starts. If the checkpoint was written within a start, it returns the model
// and the state of that start.
func (f *fit) openCheckpoint() (m *Model, state *optimize.State, err error) {
	o := &f.o
	switch {
	case o.Checkpoint.Every < 0:
		return nil, nil, badOption("checkpoint interval %v, must be positive", o.Checkpoint.Every)
	case o.Checkpoint.Path == "" && o.Checkpoint.Resume:
		return nil, nil, badOption("resume needs the name of a checkpoint file")
	case o.Checkpoint.Path == "":
		return nil, nil, nil
	}
	made, err := f.fingerprint()
	if err != nil {
		return nil, nil, fmt.Errorf("checkpoint %w", err)
	}
	set := checkpoint.Setting{Path: o.Checkpoint.Path, Every: o.Checkpoint.Every, Resume: o.Checkpoint.Resume, Warn: o.Checkpoint.Warn,
		Made: made}
	writer, s, err := checkpoint.Open(set, func(s *checkpoint.Snapshot) error {
		m, err = f.read(s, made)
		return err
	})
	for _, target := range []error{fs.ErrNotExist, fs.ErrPermission, fileio.ErrTarget, fileio.ErrNotRegular} {
		if errors.Is(err, target) && !errors.Is(err, ErrCheckpoint) {
			err = fmt.Errorf("%w: %w", err, ErrCheckpoint)
		}
	}
	if s == nil || err != nil {
		f.writer = writer
		return nil, nil, err
	}
	if err := f.resume(s); err != nil {
		writer.Close()
		return nil, nil, fmt.Errorf("checkpoint %q: %w", o.Checkpoint.Path, err)
	}
	f.writer = writer
	return m, s.State, nil
}

// fromTrait is the name of the trait of Options.From. The trait is not compared once the
// last start has begun, or a search has optimized the model.
const fromTrait = "the model to start from"

// fingerprint returns the traits that determine the bits of the fit: the build, the
// device, the instruction set (part of the algebra always runs on the CPU), the data and
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

// read returns the model of the start within which a snapshot was written, or nil if it was written
// between two starts. It returns an error if the snapshot belongs to another fit.
func (f *fit) read(s *checkpoint.Snapshot, made []checkpoint.Trait) (*Model, error) {
	var may []string
	if s.State != nil && s.Start == s.Starts-1 || len(s.Search) > 0 {
		may = []string{fromTrait}
	}
	if text := checkpoint.Differ(s.Made, made, may...); text != "" {
		return nil, fmt.Errorf("it belongs to another fit (%s); use the same data, options and build as before, or another file: %w", text,
			ErrCheckpoint)
	}
	if least := 1 + f.o.Restarts; s.Starts != least {
		return nil, fmt.Errorf("it was written in initialization %d of %d, expected %d initializations: %w", s.Start, s.Starts, least, ErrCheckpoint)
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

// fromFile returns a snapshot's model with the fit's backend.
func (f *fit) fromFile(file *safetensors.File) (*Model, error) {
	m, err := fromFile(file)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrCheckpoint)
	}
	m.Backend = f.o.Backend
	return m, nil
}

// A failure is an error restored from a checkpoint. It wraps ErrBound.
type failure string

func (f failure) Error() string { return string(f) }

func (f failure) Unwrap() error { return ErrBound }

// resume restores the finished starts of a snapshot.
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
	run, err := f.run(f.ctx, f.rows, m, f.settingsOf(0)) // the same order of sums as in the fit
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

// at returns a model with parameters p and the inference that their coefficients imply,
// without a posterior.
func (m *Model) at(p *Params) *Model {
	c := m.bare(p)
	if len(p.CoefVar) > 0 {
		c.Inference = Factorized
	}
	return c
}

// saveBetween writes a checkpoint without the current start, which err has interrupted,
// and returns err. It writes nothing if no start has finished.
func (f *fit) saveBetween(err error) error {
	if f.writer == nil || f.ctx.Err() == nil || f.best == nil {
		return err
	}
	return errors.Join(err, f.save(f.best.model.at(f.best.model.Params), nil))
}

// save writes a checkpoint of the finished starts and of current. Within a start, current
// is its model at the state; between two starts, current is the best model.
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
	// maxShortfall is the maximum distance of a fit below the mode of the local quadratic
	// model, in nats per coordinate. It corresponds to half a standard deviation.
	maxShortfall = 0.1
	// posteriorSalt separates this random stream from other streams.
	posteriorSalt = 0x90e7
	// posteriorFlops is the maximum cost of the standard deviations if no draws are
	// requested: well under a second on one core. An eigendecomposition of size n costs
	// eigenFlops·n³, in which one operation takes the time of passFlops in a pass over rows.
	posteriorFlops, eigenFlops, passFlops = 6e8, 25, 8
	// maxPosteriorSize is the maximum number of coordinates.
	maxPosteriorSize = 3000
)

// posterior computes the posterior of the best model's hyper-parameters, or returns the reason why
// it is not computed. Without draws it takes so little time that it ignores cancellation.
func (f *fit) posterior() (none string, err error) {
	m, o, ctx := f.best.model, f.o, f.ctx
	p := m.Params
	set := f.settingsOf(0)
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
		return "the bound cannot be evaluated near the fit", nil
	case err != nil:
		return "", err
	case about.Short > maxShortfall*float64(n):
		return fmt.Sprintf("the fit ended about %.3g nats below the mode of the bound and the priors; use more iterations", about.Short),
			nil
	}
	hyper := spreads(about, p)
	if slices.Contains(set.Fix, "kernel.frequency") && (slices.Contains(set.Fix, "frequency.mean") || o.Method == RP) {
		hyper.Features = nil // the fit did not change the frequencies
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

// posteriorSize returns the number of coordinates of the posterior, or the reason why it
// is not computed. The posterior needs two gradients per coordinate.
func (f *fit) posteriorSize(p *Params, set optimize.Settings) (n int, none string) {
	o, shape := &f.o, variational.ShapeOf(p)
	n = optimize.PosteriorSize(shape, set)
	flops := 2*float64(n)*f.gradientFlops(&shape)/passFlops + eigenFlops*math.Pow(float64(n), 3)
	switch {
	case o.Posterior.Draws == NoPosterior:
		return 0, "not requested"
	case o.Iterations == NoIterations || n == 0:
		return 0, "the starting values are kept"
	case o.Inference == Stochastic:
		return 0, "mini-batches do not end at a mode of the bound"
	case n > maxPosteriorSize:
		return 0, fmt.Sprintf("%d coordinates, the maximum is %d", n, maxPosteriorSize)
	case o.Posterior.Draws == 0 && flops > posteriorFlops:
		return 0, "it would take long compared with the fit; request draws to compute it"
	}
	return n, ""
}

// gradientFlops returns the number of operations of the exact bound and its gradient: the
// matrix algebra, and either 3·n·m² + 2·n·m·D for n rows with m features or the operations
// of the Fourier tables.
func (f *fit) gradientFlops(s *variational.Shape) float64 {
	offset := s.Offsets()
	flops := blocktri.Flops(offset)
	if cheaper, sums, _ := f.tables(s); cheaper {
		return flops + sums
	}
	for _, r := range s.Windows.NewLayout(f.rows.X, f.data.N, s.Q).Runs {
		n, m := float64(r.Hi-r.Lo), float64(offset[r.End]-offset[r.First])
		flops += 3*n*m*m + 2*n*m*float64(s.D)
	}
	return flops
}

// draws returns models with hyper-parameters drawn from the posterior. It returns fewer
// than Posterior.Draws if the bound cannot be evaluated at a draw.
func (f *fit) draws(run *optimize.Run, about *optimize.Posterior) (all []*Model, err error) {
	random := rand.New(rand.NewPCG(f.o.Seed, posteriorSalt))
	for range f.o.Posterior.Draws {
		d := f.best.model.bare(nil)
		if d.Params, err = about.Draw(random); err != nil {
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

// spreads returns the standard deviations of the Gaussian approximation at p.
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
