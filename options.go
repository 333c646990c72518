package vssgp

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/vssgp/vssgp/spectral"
	"github.com/vssgp/vssgp/variational"
)

// Optimiser is how L-BFGS treats a model with windows.
type Optimiser string

const (
	// OptimiserGlobal steps all parameters together.
	OptimiserGlobal Optimiser = "global"
	// OptimiserWindows first steps every window by a curvature and a step
	// length of its own, all in the same evaluation of the bound, and goes on
	// as OptimiserGlobal once that gains little.
	OptimiserWindows Optimiser = "windows"
)

// Init is a way to choose starting values.
type Init string

const (
	// InitPaper draws μ, Σ, z and the phases at random around given
	// length-scales and periods, as the paper does.
	InitPaper Init = "paper"
	// InitSpectrum lays components along the data's own spectrum: the default
	// for one input, evenly sampled or not. See DESIGN.md, "Starting values".
	InitSpectrum Init = "spectrum"
)

// Options of New and Fit. The zero value is a sensible whole: the method of
// the paper with exact inference, a start and windows chosen for the data. It
// is what the command fit takes where no flag says otherwise.
type Options struct {
	Method    Method    // default VSSGP
	Inference Inference // default Exact
	Init      Init      // default InitSpectrum for one input, else InitPaper
	From      *Model    // start from this model's parameters instead

	Components int // L, per window where there are windows; 0: chosen by Init
	Features   int // K per component; 0: chosen by Init

	// Window is the windows' length in the data's units of x, or WindowNone.
	// WindowAuto, which is 0, has the spectrum start choose the length by
	// evidence, and where it will be optimised Components and Features too, as
	// far as they are left open, on a few excerpts of long data; by the paper's
	// start it is none. WindowDim is the input they run along.
	Window    float64
	WindowDim int // from 0 to Q−1
	// WindowCandidates are the lengths that WindowAuto chooses from, in the
	// data's units of x; default 512 to 1024 steps of the data's grid.
	WindowCandidates []float64

	// Lengthscales and Periods are starting values for InitPaper in the data's
	// units of x, one a component and the same for every input; a period of 0
	// or +Inf means none. Default: a tenth of each input's range, times √Q.
	Lengthscales, Periods []float64
	// NoisePrecision is the starting τ in the data's 1/y²; 0: chosen by Init.
	NoisePrecision float64
	// FrequencyVariance is the starting Σ of InitPaper, which the paper leaves
	// open, in units of 1/l²: a feature reaches over l/√Σ. 0: 0.001.
	FrequencyVariance float64
	// UniformPhases gives phases a uniform posterior instead of fixing them.
	UniformPhases bool
	// Raw keeps the model in the data's own units; default: x and y are
	// shifted and scaled to the order of one.
	Raw bool

	// Iterations is how many L-BFGS iterations, or RMSPROP steps, each start
	// takes at most; 0: chosen by the inference. NoIterations keeps the
	// starting values and takes only the posterior of the coefficients.
	Iterations int
	// Optimiser is how L-BFGS treats windows; default OptimiserWindows where
	// there are many of them, else OptimiserGlobal.
	Optimiser Optimiser
	// Segments is into how many runs of windows exact inference cuts its matrix,
	// to factor and invert them side by side: for more than two cores, as many
	// as there are. Below 3 it is two, which fill nothing in; where there are
	// fewer than 2·Segments − 1 windows it is fewer. Each window in none of the
	// outer two takes the room of one more block, at most half as much again as
	// the matrix has. Segments decide the order of sums and so the last bits of a
	// fit, the number of cores does not.
	Segments   int
	Batch      int      // rows of a mini-batch; 0: min(N, 512)
	Contiguous bool     // mini-batches of neighbouring rows rather than random ones
	Restarts   int      // further starts, the best bound is kept; 0: one start
	Fix        []string // tensors of the model file that stay as they start
	Seed       uint64   // of everything random; the same seed, data and options give the same bits
	// Shared makes the windows' components one set: σ², l and p of the j-th
	// component move with those of the j-th of every other window. The spectrum
	// start then lays the windows' mean spectrum in each.
	Shared bool
	// Tie names tensors (kernel.variance, kernel.lengthscale, kernel.frequency)
	// that move as one over all components: their ratios, or for frequencies
	// their differences, stay as they start.
	Tie []string

	// MemoryLimit is how many bytes a fit may take by its Plan; a model that
	// needs more is refused (ErrMemory) before it is computed. 0: any number.
	MemoryLimit float64

	Backend  spectral.Backend // nil: the CPU
	Progress func(Progress)   // called now and then, from one goroutine

	// Checkpoint is a file that holds where the fit stands: parameters,
	// optimiser, random streams and the schedule's place. It is written beside
	// its place and renamed, at least CheckpointEvery (0: 30 s) after the one
	// before and so seldom that writing takes a twentieth of the time at most,
	// and once more where ctx ends the fit. It stays after the fit. A file that is there
	// and is no checkpoint is refused, and so is one that another process has
	// in use; both errors wrap ErrCheckpoint.
	Checkpoint      string
	CheckpointEvery time.Duration // at least, between two of them
	// Resume goes on from Checkpoint to the same bits as the fit would have
	// come to without a break: with the same build, device, data and options, or
	// else it is an error that wraps ErrCheckpoint and says what differs. Without
	// such a file the fit starts anew.
	Resume bool
	// Warn is told of checkpoints that could not be written: the fit goes on
	// and tries again later. nil: that ends the fit.
	Warn func(error)
}

// NoIterations asks for a model with the starting values. InitSpectrum then
// lays many components: it need not fear for them in an optimisation.
const NoIterations = -1

const (
	// WindowAuto asks for a window length chosen from the data.
	WindowAuto = 0
	// WindowNone asks for a model without windows.
	WindowNone = -1
)

const (
	// maxCount bounds components and features per component: far more than
	// any data need, far fewer than memory holds.
	maxCount = 1_000_000
	// MaxInputs bounds the inputs of data that are fitted: every feature has
	// three numbers for each.
	MaxInputs = 100_000
)

// badOption is an error about options.
func badOption(format string, args ...any) error {
	return fmt.Errorf("vssgp: "+format+": %w", append(args, ErrOptions)...)
}

// check reports options that no fit of data can meet.
func (o *Options) check(data *Data) error {
	for _, check := range []func(data *Data) error{o.checkWords, o.checkNumbers, o.checkFrom, o.checkSize, o.checkScales, o.checkNames} {
		if err := check(data); err != nil {
			return err
		}
	}
	return nil
}

// checkWords reports words that are none of those to choose from.
func (o *Options) checkWords(*Data) error {
	for _, w := range []struct {
		what, is string
		want     []string
	}{
		{"method", string(o.Method), []string{string(VSSGP), string(SSGP), string(RP)}},
		{"inference", string(o.Inference), []string{string(Exact), string(Factorised), string(Stochastic)}},
		{"optimiser", string(o.Optimiser), []string{string(OptimiserGlobal), string(OptimiserWindows)}},
		{"start", string(o.Init), []string{string(InitPaper), string(InitSpectrum)}},
	} {
		if last := len(w.want) - 1; w.is != "" && !slices.Contains(w.want, w.is) {
			return badOption("%s %q, want %s or %s", w.what, w.is, strings.Join(w.want[:last], ", "), w.want[last])
		}
	}
	return nil
}

// leastPrecision bounds a starting noise precision; beyond it and its inverse
// τ times a square of the data leaves float64's range.
const leastPrecision = 1e-60

// checkNumbers reports numbers outside their domain.
func (o *Options) checkNumbers(*Data) error {
	switch w := o.Window; {
	case o.Components < 0 || o.Features < 0 || o.Iterations < NoIterations || o.Segments < 0 || o.Batch < 0 || o.Restarts < 0:
		return badOption("components %d, features %d, iterations %d, segments %d, batch %d, restarts %d: none may be negative", o.Components, o.Features, o.Iterations, o.Segments, o.Batch, o.Restarts)
	case o.Method == SSGP && o.Features%2 == 1:
		return badOption("ssgp with %d features a component, want an even number: each frequency is a cosine and a sine", o.Features)
	case w != WindowNone && !(w >= 0 && !math.IsInf(w, 0)): // WindowAuto is 0
		return badOption("window length %v, want a positive number, WindowAuto or WindowNone", w)
	}
	return nil
}

// checkSize refuses models that no memory holds before they are made.
func (o *Options) checkSize(data *Data) error {
	if o.Components > maxCount {
		return badOption("components %d, want at most %d", o.Components, maxCount)
	}
	if o.Features > maxCount {
		return badOption("features %d per component, want at most %d", o.Features, maxCount)
	}
	window := max(1, o.Components, len(o.Lengthscales)) * max(1, o.Features)
	if window > MaxExact && (o.Inference == Exact || o.Inference == "") {
		return badOption("%d features in a window: exact inference needs %.0f GiB for each matrix of them; want at most %d, or factorised inference", window, 8*float64(window)*float64(window)/(1<<30), MaxExact)
	}
	if data != nil && data.Q > MaxInputs {
		return fmt.Errorf("vssgp: %d inputs in %d rows: want at most %d (is the table on its side, a column for each row?): %w", data.Q, data.N, MaxInputs, ErrData)
	}
	if data == nil || o.WindowDim < 0 || o.WindowDim >= data.Q {
		return nil
	}
	lo, hi := (&spectral.Data{Q: data.Q, X: data.X}).Extent(o.WindowDim)
	for _, w := range append([]float64{o.Window}, o.WindowCandidates...) {
		if w > 0 && 2*(hi-lo)/w > float64(data.N) {
			return badOption("window length %.6g: %d rows over a range of %.6g would be cut into more windows than rows; want %.3g at least, or none", w, data.N, hi-lo, 2*(hi-lo)/float64(data.N))
		}
	}
	return nil
}

// checkFrom reports a model to start from that is none, or one of other data.
func (o *Options) checkFrom(data *Data) error {
	if o.From == nil {
		return nil
	}
	if err := o.From.check(); err != nil {
		return fmt.Errorf("vssgp: the model to start from: %w: %w", err, ErrOptions)
	}
	if data == nil {
		return nil
	}
	return o.From.fits(data)
}

// checkScales reports lengths and scales outside their domain.
func (o *Options) checkScales(data *Data) error {
	for _, w := range o.WindowCandidates {
		if !(w > 0) || math.IsInf(w, 0) {
			return badOption("window length %v, want a positive number", w)
		}
	}
	if o.WindowDim < 0 || (data != nil && o.WindowDim >= data.Q) {
		return badOption("windows along input %d of %d", o.WindowDim, data.Q)
	}
	if t := o.NoisePrecision; !(t >= 0) || t > 1/leastPrecision || (t > 0 && t < leastPrecision) {
		return badOption("noise precision %v, want a number from %g to %g", t, leastPrecision, 1/leastPrecision)
	}
	if v := o.FrequencyVariance; !(v >= 0) || math.IsInf(v, 0) {
		return badOption("frequency variance %v, want a positive number", v)
	}
	for _, l := range o.Lengthscales {
		if !(l > 0) || math.IsInf(l, 0) {
			return badOption("length-scale %v, want a positive number", l)
		}
	}
	for _, p := range o.Periods {
		if !(p >= 0) {
			return badOption("period %v, want a positive number, or 0 for none", p)
		}
	}
	if n := len(o.Lengthscales); o.Periods != nil && len(o.Periods) != n {
		return badOption("%d periods for %d length-scales, want one each", len(o.Periods), n)
	}
	if o.Init == InitSpectrum && o.From == nil && (o.Lengthscales != nil || o.Periods != nil || o.FrequencyVariance > 0) {
		return badOption("start %q reads length-scales, periods and the frequencies' variance from the data: give none of them, or start %q", InitSpectrum, InitPaper)
	}
	return nil
}

// checkNames reports names that no tensor has.
func (o *Options) checkNames(*Data) error {
	tieable := variational.Names(func(t Tensor) bool { return t.Tieable })
	for _, name := range o.Tie {
		if !slices.Contains(tieable, name) {
			return badOption("cannot tie %q, want some of %s", name, strings.Join(tieable, ", "))
		}
	}
	names := variational.Names(nil)
	for _, name := range o.Fix {
		if !slices.Contains(names, name) {
			return badOption("cannot fix %q: no tensor of the model file has that name; want some of %s", name, strings.Join(names, ", "))
		}
	}
	return nil
}
