package vssgp

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/optimize"
	"github.com/vssgp/vssgp/variational"
)

// An Optimizer is a form of L-BFGS for a model with windows.
type Optimizer string

const (
	// OptimizerGlobal steps all parameters together.
	OptimizerGlobal Optimizer = "global"
	// OptimizerWindows first steps every window by a curvature and a step
	// length separately, all in the same evaluation of the bound, and goes on
	// as OptimizerGlobal once that gains little.
	OptimizerWindows Optimizer = "windows"
)

// An Init is a method of initialization.
type Init string

const (
	// InitPaper draws μ, Σ, z and the phases at random around given
	// length-scales and periods, as the paper does.
	InitPaper Init = "paper"
	// InitSpectrum places components along the spectrum of the data. It is the default
	// for one input, evenly sampled or not. See DESIGN.md, "Starting values".
	InitSpectrum Init = "spectrum"
)

// Options are the options of New and Fit. The zero value is a good choice for most
// data: the paper's method with exact inference, starting values and windows chosen
// from the data. An option that would have no effect because of another one is refused.
type Options struct {
	Method     Method        // default VSSGP
	Inference  Inference     // default Exact
	Components int           // L, of each window; 0: chosen by Init
	Features   int           // K per component; 0: chosen by Init or, for mini-batches, by the number of rows
	Windows    WindowOptions // default: chosen by Init
	Raw        bool          // keep the data's units; otherwise x and y are shifted and scaled to the order of one

	Init           Init         // default InitSpectrum for one input, else InitPaper with the features chosen from the data
	Paper          PaperOptions // starting values of InitPaper
	NoisePrecision float64      // starting τ in the data's 1/y²; 0: chosen by Init
	UniformPhases  bool         // a uniform posterior of the phases instead of fixed phases
	From           *Model       // start from this model's parameters, units and windows; the options that choose them must then be unset

	Priors    Priors           // of σ, l and the noise; default weak ones chosen from the data, see NoPriors
	Posterior PosteriorOptions // of the hyper-parameters, after the fit

	Iterations int          // at most, of L-BFGS or RMSPROP, from each start; 0: chosen by Inference; or NoIterations
	Optimizer  Optimizer    // default OptimizerWindows if there are many windows, else OptimizerGlobal
	Batch      BatchOptions // mini-batches of Stochastic inference
	Restarts   int          // further starts, of which the best bound is kept
	Fix        []string     // tensors of the model file that keep their starting values
	// Tie names tensors (kernel.variance, kernel.lengthscale, kernel.frequency) that change by one factor
	// (frequencies by one difference) over all components.
	Tie  []string
	Seed uint64 // of everything random; the same seed, data and options give the same bits

	Checkpoint  CheckpointOptions // default: no checkpoint
	MemoryLimit float64           // in bytes; a fit whose estimated need is larger is refused (ErrMemory); 0: no limit
	Backend     backend.Backend   // default: the CPU
	Progress    func(Progress)    // called now and then, from one goroutine
}

// WindowOptions are the options of a model with windows.
type WindowOptions struct {
	// Length is the length of the windows in the data's units of x, or WindowNone.
	// If it is WindowAuto, InitSpectrum chooses the length by a selection criterion, on
	// a few excerpts if the data are long, and if the model will be optimized also
	// Components and Features that are 0; InitPaper then makes no windows.
	Length     float64
	Dim        int       // the input that the windows divide, from 0 to Q−1
	Candidates []float64 // lengths that WindowAuto chooses from; default 512 to 1024 steps of the data's grid
	// Shared gives all windows one set of components: σ², l and p of the j-th
	// component are tied over the windows. InitSpectrum then starts each window
	// from the mean spectrum.
	Shared bool
	// Segments is the number of parts into which exact inference divides the matrix
	// of all windows, to factor and invert them in parallel. With more than two
	// cores, use as many as there are cores. Below 3 there are two, which cause no
	// fill-in; with fewer than 2·Segments − 1 windows there are fewer. Every window
	// of an inner segment needs one extra block of workspace: at most 50 % on top of
	// the matrix. Segments decide the order of sums, and so the last bits of a fit;
	// the number of cores does not.
	Segments int
}

// PaperOptions are the starting values of InitPaper, in the data's units of x.
type PaperOptions struct {
	// Lengthscales and Periods have one entry for each component, the same for every
	// input. A period of 0 or +Inf means none. The default length-scale is a tenth of
	// each input's range, times √Q.
	Lengthscales, Periods []float64
	// FrequencyVariance is Σ in units of 1/l², which the paper does not give: a
	// feature reaches over l/√Σ. Default 0.001; SSGP and RP have Σ = 0 whatever it is.
	FrequencyVariance float64
}

// PosteriorOptions are the options of the hyper-parameters' posterior.
type PosteriorOptions struct {
	// Draws is the number of draws that the model keeps, for PosteriorPredictor; a fit
	// then iterates up to 1500 times unless Iterations is given, to reach a mode.
	// With 0 the model keeps the standard deviations alone, if their cost is small
	// compared with the fit's; with NoPosterior it keeps nothing.
	Draws int
	// HMC draws by Hamiltonian Monte Carlo rather than from the Gaussian about the
	// fit. It checks the Gaussian and takes some hundred times as long.
	HMC bool
}

// BatchOptions are the options of mini-batches, which Stochastic inference takes, and other inference in
// its first iterations from InitPaper with a hundred features or more.
type BatchOptions struct {
	Rows       int  // of a mini-batch; default min(N, 512)
	Contiguous bool // neighboring rows instead of random ones
}

// CheckpointOptions are the options of a fit's checkpoint: a file with parameters,
// optimizer, random streams and stage.
type CheckpointOptions struct {
	// Path is the file; "" is none. A new checkpoint replaces the last one, whole or
	// not at all, at least Every after it, and so seldom that writing takes at most a
	// twentieth of the time. A last one is written when ctx ends the fit, and the file
	// stays after the fit. An existing file that is no checkpoint, or that another
	// process uses, is refused with an error that wraps ErrCheckpoint.
	Path  string
	Every time.Duration // default 30 s
	// Resume continues from Path and ends with the same bits as a fit without
	// interruption. Build, device, data and options must be the same; otherwise the
	// error wraps ErrCheckpoint and names the difference. Without such a file the fit
	// starts from the beginning.
	Resume bool
	// Warn receives the error of a checkpoint that could not be written; the fit
	// continues and tries again later. If it is nil, such an error ends the fit.
	Warn func(error)
}

// NoIterations keeps the starting values and computes only the posterior of the
// coefficients. InitSpectrum then makes many components, which cannot over-fit.
const NoIterations = -1

// NoPosterior asks for no posterior of the hyper-parameters.
const NoPosterior = -1

const (
	// WindowAuto asks for a window length chosen from the data.
	WindowAuto = 0
	// WindowNone asks for a model without windows.
	WindowNone = -1
)

const (
	// maxCount bounds components and features per component: far more than
	// any data need, far fewer than fit in memory.
	maxCount = 1_000_000
	// maxDraws bounds the draws of the hyper-parameters: a model keeps them all.
	maxDraws = 1000
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
	for _, check := range []func(data *Data) error{
		o.checkWords, o.checkNumbers, o.checkPairs, o.checkFrom, o.checkSize, o.checkScales, o.checkNames,
	} {
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
		{"inference", string(o.Inference), []string{string(Exact), string(Factorized), string(Stochastic)}},
		{"optimiser", string(o.Optimizer), []string{string(OptimizerGlobal), string(OptimizerWindows)}},
		{"init", string(o.Init), []string{string(InitPaper), string(InitSpectrum)}},
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
	for _, v := range []struct {
		name      string
		is, least int
	}{
		{"components", o.Components, 0}, {"features", o.Features, 0}, {"iterations", o.Iterations, NoIterations},
		{"segments", o.Windows.Segments, 0},
		{"rows of a mini-batch", o.Batch.Rows, 0}, {"restarts", o.Restarts, 0},
		{"draws of the hyper-parameters", o.Posterior.Draws, NoPosterior},
	} {
		if v.is < v.least {
			return badOption("%d %s, must be %d or more", v.is, v.name, v.least)
		}
	}
	switch w := o.Windows.Length; {
	case o.Posterior.Draws > maxDraws:
		return badOption("%d draws of the hyper-parameters, want at most %d", o.Posterior.Draws, maxDraws)
	case !(o.MemoryLimit >= 0):
		return badOption("memory limit %v, must be 0 (none) or more", o.MemoryLimit)
	case o.Method == SSGP && o.Features%2 == 1:
		return badOption("ssgp with %d features a component, want an even number: each frequency is a cosine and a sine", o.Features)
	case w != WindowNone && !(w >= 0 && !math.IsInf(w, 0)): // WindowAuto is 0
		return badOption("window length %v, want a positive number, WindowAuto or WindowNone", w)
	}
	return nil
}

// checkPairs reports options of which one would have no effect because of the other.
func (o *Options) checkPairs(*Data) error {
	var (
		w, paper  = o.Windows, o.Paper
		inference = "inference " + string(cmp.Or(o.Inference, Exact))
		both      = slices.IndexFunc(o.Tie, func(name string) bool { return slices.Contains(o.Fix, name) })
		fixed     = slices.IndexFunc(o.Fix, func(name string) bool { return strings.HasPrefix(name, "coefficient.") })
		none      = w.Length == WindowNone
		from      = o.From != nil
		points    = o.Method == SSGP || o.Method == RP
	)
	for _, c := range []struct {
		both        bool
		first, with string
	}{
		{o.Optimizer != "" && o.Inference == Stochastic, "optimiser", inference},
		{w.Segments > 0 && o.Inference != Exact && o.Inference != "", "segments", inference},
		{fixed >= 0 && (o.Inference == Exact || o.Inference == ""), "fix coefficient.mean or coefficient.variance", inference},
		{o.Optimizer == OptimizerWindows && none, "optimiser windows", "window none"},
		{w.Segments > 0 && none, "segments", "window none"},
		{w.Shared && none, "shared", "window none"},
		{w.Dim != 0 && none, "window input", "window none"},
		{w.Candidates != nil && w.Length != WindowAuto, "window candidates", "a window length"},
		{w.Candidates != nil && o.Init == InitPaper, "window candidates", "init paper"},
		{o.Posterior.HMC && o.Posterior.Draws <= 0, "HMC", "no posterior draws"},
		{o.UniformPhases && points, "uniform phases", "method " + string(o.Method)},
		{both >= 0, "fix", "tie of the same tensor"},
		{from && o.Batch != BatchOptions{} && o.Inference != Stochastic, "batch", "a model to start from"},
		{from && o.Init != "", "init " + string(o.Init), "a model to start from"},
		{from && o.Components > 0, "components", "a model to start from"},
		{from && o.Features > 0, "features", "a model to start from"},
		{from && (w.Length > 0 || none || w.Candidates != nil), "window", "a model to start from"},
		{from && (paper.Lengthscales != nil || paper.FrequencyVariance > 0), "length-scales or frequency variance", "a model to start from"},
		{from && o.NoisePrecision > 0, "noise precision", "a model to start from"},
		{from && o.UniformPhases, "uniform phases", "a model to start from"},
		{from && o.Raw, "raw", "a model to start from"},
	} {
		if c.both {
			return badOption("%s cannot be combined with %s", c.first, c.with)
		}
	}
	return nil
}

// checkSize refuses models that do not fit in memory before they are made.
func (o *Options) checkSize(data *Data) error {
	if o.Components > maxCount {
		return badOption("components %d, want at most %d", o.Components, maxCount)
	}
	if o.Features > maxCount {
		return badOption("features %d per component, want at most %d", o.Features, maxCount)
	}
	window := max(1, o.Components, len(o.Paper.Lengthscales)) * max(1, o.Features)
	if window > MaxExact && (o.Inference == Exact || o.Inference == "") {
		return badOption("%d features in a window: exact inference needs %.0f GiB for each matrix of them; want at most %d, or factorized inference", window, 8*float64(window)*float64(window)/(1<<30), MaxExact)
	}
	if data != nil && data.Q > MaxInputs {
		return fmt.Errorf("vssgp: %d inputs in %d rows: want at most %d (is the table on its side, a column for each row?): %w", data.Q,
			data.N, MaxInputs, ErrData)
	}
	if data != nil {
		if err := onSide(data.N, data.Q, data.D); err != nil {
			return err
		}
	}
	if data == nil || o.Windows.Dim < 0 || o.Windows.Dim >= data.Q {
		return nil
	}
	lo, hi := (&backend.Data{Q: data.Q, X: data.X}).Extent(o.Windows.Dim)
	for _, w := range append([]float64{o.Windows.Length}, o.Windows.Candidates...) {
		if w > 0 && 2*(hi-lo)/w > float64(data.N) {
			return badOption("window length %.6g: %d rows over a range of %.6g would be cut into more windows than rows; want %.3g at least, or none", w, data.N, hi-lo, 2*(hi-lo)/float64(data.N))
		}
	}
	return nil
}

// checkFrom reports a model to start from that is invalid or has other columns.
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
	for _, w := range o.Windows.Candidates {
		if !(w > 0) || math.IsInf(w, 0) {
			return badOption("window length %v, want a positive number", w)
		}
	}
	if o.Windows.Dim < 0 || (data != nil && o.Windows.Dim >= data.Q) {
		return badOption("windows along input %d of %d", o.Windows.Dim, data.Q)
	}
	if t := o.NoisePrecision; !(t >= 0) || t > 1/leastPrecision || (t > 0 && t < leastPrecision) {
		return badOption("noise precision %v, want a number from %g to %g", t, leastPrecision, 1/leastPrecision)
	}
	if v := o.Paper.FrequencyVariance; !(v >= 0) || math.IsInf(v, 0) {
		return badOption("frequency variance %v, want a positive number", v)
	}
	for _, l := range o.Paper.Lengthscales {
		if !(l > 0) || math.IsInf(l, 0) {
			return badOption("length-scale %v, want a positive number", l)
		}
	}
	for _, p := range o.Paper.Periods {
		if !(p >= 0) {
			return badOption("period %v, want a positive number, or 0 for none", p)
		}
	}
	switch n := len(o.Paper.Lengthscales); {
	case n > 0 && o.Components > 0 && o.Components != n:
		return badOption("%d components with %d length-scales, want one length-scale for each component, or no number of components",
			o.Components, n)
	case o.Paper.Lengthscales != nil && n == 0:
		return badOption("length-scales of no component, want one at least, or nil")
	}
	if n := len(o.Paper.Lengthscales); o.Paper.Periods != nil && len(o.Paper.Periods) != n {
		return badOption("%d periods for %d length-scales, want one each", len(o.Paper.Periods), n)
	}
	if o.Init == InitSpectrum && o.From == nil && (o.Paper.Lengthscales != nil || o.Paper.Periods != nil || o.Paper.FrequencyVariance > 0) {
		return badOption("length-scales, periods and frequency variance cannot be combined with init %s, only with init %s", InitSpectrum, InitPaper)
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

// A Prior is the log-normal prior of a hyper-parameter θ: log θ ~ N(log Median, SD²).
// The zero value is a weak prior chosen from the data; an SD of +Inf is a flat prior.
type Prior struct {
	Median float64 // of θ, in the data's units
	SD     float64 // of log θ
}

// Priors are the priors of a model's hyper-parameters, in the data's units. Each applies
// to every component and input, in the units of the first output.
type Priors struct {
	Amplitude   Prior // of σ, the root of kernel.variance; default √(var(y)/components)
	Lengthscale Prior // of l; default: ten times each input's range, or the windows' length
	Noise       Prior // of the noise's standard deviation τ^−½; default sd(y)/10
}

// NoPriors returns flat priors of all hyper-parameters: a fit then maximizes the bound
// alone.
func NoPriors() Priors {
	none := Prior{SD: math.Inf(1)}
	return Priors{none, none, none}
}

const (
	// weakSD is the standard deviation of the logarithms under the weak priors.
	weakSD = 3
	// weakLength is the median length-scale in ranges of the input, and weakNoise the
	// noise's median in standard deviations of the output.
	weakLength, weakNoise = 10, 0.1
)

// priorLeast bounds medians in the model's units from below, and its inverse from
// above, so that their squares are numbers of float64.
const priorLeast = 1e-60

// check reports priors that are none in the units x and y.
func (s *Priors) check(x, y Affine) error {
	for _, p := range []struct {
		name string
		Prior
		unit []float64
	}{{"amplitudes", s.Amplitude, y.Scale[:1]}, {"length-scales", s.Lengthscale, x.Scale}, {"noise", s.Noise, y.Scale[:1]}} {
		if p.Prior == (Prior{}) || math.IsInf(p.SD, 1) {
			continue
		}
		if err := bayes.Prior(p.Prior).Check(); err != nil {
			return fmt.Errorf("the prior of the %s: %w", p.name, err)
		}
		for _, unit := range p.unit {
			if m := p.Median / unit; m < priorLeast || m > 1/priorLeast {
				return fmt.Errorf("the prior of the %s has the median %v, which is %v in the model's units; want one from %g to %g", p.name,
					p.Median, m, priorLeast, 1/priorLeast)
			}
		}
	}
	return nil
}

// of are the priors in the units x and y, in which rows are, for a model of p's
// shape. A prior of σ or of the noise's standard deviation is one of its square,
// whose logarithm varies twice as much.
func (s *Priors) of(x, y Affine, rows *backend.Data, p *Params) (out optimize.Priors) {
	square := func(p bayes.Prior) bayes.Prior { return bayes.Prior{Median: p.Median * p.Median, SD: 2 * p.SD} }
	variance := 0.0
	for d := range rows.D {
		_, sd := bayes.MeanSD(rows.Y, d, rows.D)
		variance += sd * sd / float64(rows.D)
	}
	sd := cmp.Or(math.Sqrt(variance), 1) // constant outputs: any will do
	perWindow := float64(p.L) / float64(p.Windows.Count())
	out.Variance = square(inUnits(s.Amplitude, y.Scale[0], sd/math.Sqrt(perWindow)))
	out.Noise = square(inUnits(s.Noise, y.Scale[0], weakNoise*sd))
	for q, unit := range x.Scale {
		lo, hi := rows.Extent(q)
		length := weakLength * (hi - lo)
		if len(p.Windows.Center) > 1 && q == p.Windows.Dim {
			length = p.Windows.Length
		}
		one := inUnits(s.Lengthscale, unit, length)
		if length == 0 && s.Lengthscale == (Prior{}) {
			one = bayes.Prior{} // a constant input says nothing of its length-scale
		}
		out.Lengthscale = append(out.Lengthscale, one)
	}
	return out
}

// inUnits is a prior in units of the data's, or the weak one about a median that is
// in these units already. What says nothing becomes Prior{}.
func inUnits(p Prior, unit, median float64) bayes.Prior {
	switch {
	case p == (Prior{}):
		return bayes.Prior{Median: median, SD: weakSD}
	case math.IsInf(p.SD, 1):
		return bayes.Prior{}
	}
	return bayes.Prior{Median: p.Median / unit, SD: p.SD}
}
