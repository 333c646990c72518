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
	"github.com/vssgp/vssgp/internal/fileio/fault"
	"github.com/vssgp/vssgp/internal/optimize"
	"github.com/vssgp/vssgp/variational"
)

// An Optimizer selects a variant of L-BFGS for models with windows.
type Optimizer string

const (
	// OptimizerGlobal steps all parameters together.
	OptimizerGlobal Optimizer = "global"
	// OptimizerWindows first gives every window a separate curvature and step length,
	// with one evaluation of the bound for all windows. It continues as OptimizerGlobal
	// when the gain becomes small.
	OptimizerWindows Optimizer = "windows"
)

// An Init is a method of initialization.
type Init string

const (
	// InitPaper draws μ, z and the phases at random for given length-scales and periods,
	// as in the paper.
	InitPaper Init = "paper"
	// InitSearch searches for the components of the covariance (lines, bands and broad spectra)
	// by the evidence, and averages predictions over the hyper-parameters and similar structures.
	// It is the default for one input and for two, whose components are all broad. See DESIGN.md, "Initialization".
	InitSearch Init = "search"
	// InitSpectrum chooses the components from the spectrum of the data, evenly sampled or not. It
	// is the default for one input if options describe features, windows or their optimization.
	// See docs/algorithms.md, "The spectrum initialization".
	InitSpectrum Init = "spectrum"
)

// Options are the options of New and Fit. The zero value is a good choice for most
// data: exact inference, and a search for the components of one input or two or, for more
// inputs, features with drawn frequencies. An option that has no effect because of another option is an error.
type Options struct {
	Method    Method    // default VSSGP
	Inference Inference // default Exact
	// Components is L, of each window; 0: chosen by Init. For one input, a number selects InitSpectrum instead of the
	// default search, and thus another model: L components of Features features, in windows if there are many rows (see
	// Windows.Length). A search chooses the number of its components, which are of several kinds.
	Components int
	Features   int           // K per component; 0: chosen by Init or, for mini-batches, by the number of rows
	Windows    WindowOptions // default: chosen by Init
	Raw        bool          // use the data's units; otherwise x and y are shifted and scaled to order one

	// Init is by default InitSearch for one input, unless an option describes features, windows, priors or their
	// optimization (Method SSGP or RP, Inference, Components to Windows, Paper to UniformPhases, Priors, Iterations to
	// Tie); then it is InitSpectrum, or InitPaper with Paper. For two inputs it is InitSearch under the same conditions
	// if there are 20 rows and both inputs vary. For other inputs the frequencies are drawn and not optimized.
	Init           Init
	Paper          PaperOptions // initial values of InitPaper
	NoisePrecision float64      // initial τ in the data's 1/y²; 0: chosen by Init
	UniformPhases  bool         // a uniform posterior of the phases instead of fixed phases
	// From has the initial parameters, units and windows; the options that choose them must then be unset. A model that a search has found
	// is one more start of a search; with NoIterations the model is only conditioned on the data.
	From *Model

	Priors    Priors           // of σ, l and the noise; default weak priors chosen from the data, see NoPriors
	Posterior PosteriorOptions // of the hyper-parameters, after the fit

	Iterations int          // maximum number of L-BFGS or RMSProp iterations of each start; 0: chosen by Inference; or NoIterations
	Optimizer  Optimizer    // default OptimizerWindows if there are many windows, else OptimizerGlobal
	Batch      BatchOptions // mini-batches of Stochastic inference
	Restarts   int          // number of further starts; the fit returns the start with the best bound
	Fix        []string     // tensors of the model file that keep their initial values
	// Tie names tensors (kernel.variance, kernel.lengthscale, kernel.frequency) whose entries are all
	// multiplied by the same factor, or for frequencies shifted by the same difference.
	Tie  []string
	Seed uint64 // of all random numbers; the same seed, data and options give the same bits

	Checkpoint  CheckpointOptions // default: no checkpoint
	MemoryLimit float64           // in bytes; a fit that is estimated to need more returns ErrMemory; 0: no limit
	Backend     backend.Backend   // default: the CPU
	Progress    func(Progress)    // called during the fit from one goroutine
}

// WindowOptions are the options of a model with windows.
type WindowOptions struct {
	// Length is the length of the windows in the data's units of x, or WindowNone. If it is
	// WindowAuto, InitSpectrum chooses the length by a selection criterion, on a few excerpts if
	// the data are long. If the model will be optimized, it also chooses Components and Features
	// that are 0. With InitPaper, WindowAuto means no windows.
	Length     float64
	Dim        int       // the input that the windows divide, from 0 to Q−1
	Candidates []float64 // lengths that WindowAuto chooses from; default 512 to 1024 steps of the data's grid
	// Shared makes all windows share one set of components: σ², l and p of the j-th component are
	// tied across the windows. InitSpectrum then initializes each window from the mean spectrum.
	Shared bool
	// Segments is the number of segments into which exact inference divides the matrix of all
	// windows, to factor and invert them in parallel. With more than two cores, set it to the
	// number of cores. Values below 3 mean two segments, which cause no fill-in. There are fewer
	// segments if there are fewer than 2·Segments − 1 windows. Every window of an inner segment
	// needs one extra block of workspace, at most 50 % of the matrix. Segments change the order of
	// sums and thus the last bits of a fit. The number of cores does not.
	Segments int
}

// PaperOptions are the initial values of InitPaper, in the data's units of x.
type PaperOptions struct {
	// Lengthscales and Periods have one entry per component, which applies to every input.
	// A period of 0 or +Inf means that the component is not periodic. The default
	// length-scale is a tenth of each input's range, times √Q.
	Lengthscales, Periods []float64
	// FrequencyVariance is Σ in units of 1/l². A feature decays over the distance l/√Σ around z.
	// The default is 0.001; the paper states no value. SSGP and RP always have Σ = 0.
	FrequencyVariance float64
}

// PosteriorOptions are the options of the hyper-parameters' posterior.
type PosteriorOptions struct {
	// Draws is the number of draws for PosteriorPredictor. With draws, the default of
	// Iterations is 1500, so that the fit reaches a mode. If Draws is 0, InitSearch computes up
	// to 20 draws, and no posterior of models of two inputs with more than 1118 features. Other
	// models then have only the standard deviations, and only if their cost is small compared
	// with the fit. If it is NoPosterior, the posterior is not computed.
	Draws int
}

// BatchOptions are the options of mini-batches. Stochastic inference uses them. Other inference uses
// them in the first iterations from InitPaper if there are a hundred features or more.
type BatchOptions struct {
	Rows       int  // of a mini-batch; default min(N, 512)
	Contiguous bool // neighboring rows instead of random ones
}

// CheckpointOptions are the options of a fit's checkpoint, a file with the parameters and
// the state of the optimizer, the random streams and the stage.
type CheckpointOptions struct {
	// Path is the file, or "" for no checkpoint. Each checkpoint replaces the previous one
	// atomically. The interval is at least Every, and so long that writing takes at most a
	// twentieth of the time. If ctx ends the fit, it writes a final checkpoint. The fit does
	// not remove the file. If an existing file is not a checkpoint, or if another process
	// uses it, Fit returns an error that wraps ErrCheckpoint.
	Path  string
	Every time.Duration // default 30 s
	// Resume continues from Path, with the same result to the last bit as a fit without
	// interruption. Build, device, data and options must be the same; otherwise the error
	// wraps ErrCheckpoint and names the difference. If the file does not exist, the fit
	// starts from the beginning.
	Resume bool
	// Warn is called with the error if a checkpoint could not be written. The fit then
	// continues and tries again later. If Warn is nil, such an error ends the fit.
	Warn func(error)
}

// NoIterations as Options.Iterations disables optimization: the fit computes only the
// posterior of the coefficients at the initial values. InitSpectrum then creates many
// components, which cannot over-fit.
const NoIterations = -1

// NoPosterior as PosteriorOptions.Draws disables the posterior of the hyper-parameters.
const NoPosterior = -1

const (
	// WindowAuto selects a window length chosen from the data.
	WindowAuto = 0
	// WindowNone selects a model without windows.
	WindowNone = -1
)

const (
	// maxCount is the maximum number of components, of features per component and of
	// restarts, far above any practical model.
	maxCount = 1_000_000
	// maxDraws is the maximum number of draws of the hyper-parameters, all of which are
	// stored in the model.
	maxDraws = 1000
	// maxInputs is the maximum number of inputs. Every feature has three parameters per
	// input.
	maxInputs = 100_000
)

// badOption returns an error that wraps ErrOptions.
func badOption(format string, args ...any) error {
	return fault.Errorf(ErrOptions, format, args...)
}

// check returns an error if the options are not valid for data. data may be nil.
func (o *Options) check(data *Data) error {
	for _, check := range []func(data *Data) error{
		o.checkWords, o.checkNumbers, o.checkPairs, o.checkFrom, o.checkSize, o.checkScales, o.checkNames, o.checkSearch,
	} {
		if err := check(data); err != nil {
			return err
		}
	}
	return nil
}

// checkWords returns an error if an option is not one of its allowed words.
func (o *Options) checkWords(*Data) error {
	for _, w := range []struct {
		what, is string
		want     []string
	}{
		{"method", string(o.Method), []string{string(VSSGP), string(SSGP), string(RP)}},
		{"inference", string(o.Inference), []string{string(Exact), string(Factorized), string(Stochastic)}},
		{"optimizer", string(o.Optimizer), []string{string(OptimizerGlobal), string(OptimizerWindows)}},
		{"init", string(o.Init), []string{string(InitPaper), string(InitSearch), string(InitSpectrum)}},
	} {
		if last := len(w.want) - 1; w.is != "" && !slices.Contains(w.want, w.is) {
			return badOption("%s %q, must be %s or %s", w.what, w.is, strings.Join(w.want[:last], ", "), w.want[last])
		}
	}
	return nil
}

// minPrecision is the minimum initial noise precision, and its inverse the maximum.
// Outside of this range τy² can overflow or underflow.
const minPrecision = 1e-60

// checkNumbers returns an error if an option is out of range.
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
	case o.Restarts > maxCount:
		return badOption("%d restarts, the maximum is %d", o.Restarts, maxCount)
	case o.Posterior.Draws > maxDraws:
		return badOption("%d draws of the hyper-parameters, the maximum is %d", o.Posterior.Draws, maxDraws)
	case !(o.MemoryLimit >= 0):
		return badOption("memory limit %v, must be 0 (none) or more", o.MemoryLimit)
	case o.Method == SSGP && o.Features%2 == 1:
		return badOption("method ssgp needs an even number of features per component, got %d: each frequency is a cosine and a sine", o.Features)
	case w != WindowNone && !(w >= 0 && !math.IsInf(w, 0)): // WindowAuto is 0
		return badOption("window length %v, must be positive, WindowAuto or WindowNone", w)
	}
	return nil
}

// checkPairs returns an error if an option has no effect because of another option.
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
		{o.Optimizer != "" && o.Inference == Stochastic, "optimizer", inference},
		{w.Segments > 0 && o.Inference != Exact && o.Inference != "", "segments", inference},
		{fixed >= 0 && (o.Inference == Exact || o.Inference == ""), "fix coefficient.mean or coefficient.variance", inference},
		{o.Optimizer == OptimizerWindows && none, "optimizer windows", "window none"},
		{w.Segments > 0 && none, "segments", "window none"},
		{w.Shared && none, "shared", "window none"},
		{w.Dim != 0 && none, "window input", "window none"},
		{w.Candidates != nil && w.Length != WindowAuto, "window candidates", "a window length"},
		{w.Candidates != nil && o.Init == InitPaper, "window candidates", "init paper"},
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

// checkSize returns an error if the model is too large, before its arrays are allocated.
func (o *Options) checkSize(data *Data) error {
	if o.Components > maxCount {
		return badOption("components %d exceeds the maximum of %d", o.Components, maxCount)
	}
	if o.Features > maxCount {
		return badOption("features %d per component exceeds the maximum of %d", o.Features, maxCount)
	}
	window := max(1, o.Components, len(o.Paper.Lengthscales)) * max(1, o.Features)
	if window > variational.MaxExact && (o.Inference == Exact || o.Inference == "") {
		return badOption("%d features in a window: exact inference needs matrices of %.0f GiB each; use at most %d features, or factorized "+
			"inference", window, 8*float64(window)*float64(window)/(1<<30), variational.MaxExact)
	}
	if numbers := 7 * float64(window); numbers > variational.MaxNumbers {
		return badOption("%d features in a window: the model would have at least %.3g parameters, the maximum is %d",
			window, numbers, variational.MaxNumbers)
	}
	if data != nil && data.Q > maxInputs {
		return fault.Errorf(ErrData, "%d inputs in %d rows, the maximum is %d inputs (is the table transposed?)", data.Q,
			data.N, maxInputs)
	}
	if data != nil {
		if err := checkTransposed(data.N, data.Q, data.D); err != nil {
			return err
		}
	}
	if data == nil || o.Windows.Dim < 0 || o.Windows.Dim >= data.Q {
		return nil
	}
	lo, hi := (&backend.Data{Q: data.Q, X: data.X}).Extent(o.Windows.Dim)
	for _, w := range append([]float64{o.Windows.Length}, o.Windows.Candidates...) {
		if w > 0 && 2*(hi-lo)/w > float64(data.N) {
			return badOption("window length %.6g: %d rows over a range of %.6g would give more windows than rows; use at least %.3g, or no "+
				"windows", w, data.N, hi-lo, 2*(hi-lo)/float64(data.N))
		}
	}
	return nil
}

// checkFrom returns an error if Options.From is invalid or does not match the columns of
// data.
func (o *Options) checkFrom(data *Data) error {
	if o.From == nil {
		return nil
	}
	if err := o.From.check(); err != nil {
		return fault.Errorf(ErrOptions, "the model to start from: %w", err)
	}
	if data == nil {
		return nil
	}
	return o.From.fits(data)
}

// checkScales returns an error if a length, a scale or a precision is out of range.
func (o *Options) checkScales(data *Data) error {
	for _, w := range o.Windows.Candidates {
		if !(w > 0) || math.IsInf(w, 0) {
			return badOption("window length %v, must be positive", w)
		}
	}
	if o.Windows.Dim < 0 || (data != nil && o.Windows.Dim >= data.Q) {
		return badOption("window input %d, must be the number of one of %d inputs, from 0", o.Windows.Dim, data.Q)
	}
	if t := o.NoisePrecision; !(t >= 0) || t > 1/minPrecision || (t > 0 && t < minPrecision) {
		return badOption("noise precision %v, must be from %g to %g", t, minPrecision, 1/minPrecision)
	}
	if v := o.Paper.FrequencyVariance; !(v >= 0) || math.IsInf(v, 0) {
		return badOption("frequency variance %v, must be positive", v)
	}
	for _, l := range o.Paper.Lengthscales {
		if !(l > 0) || math.IsInf(l, 0) {
			return badOption("length-scale %v, must be positive", l)
		}
	}
	for _, p := range o.Paper.Periods {
		if !(p >= 0) {
			return badOption("period %v, must be positive, or 0 for none", p)
		}
	}
	switch n := len(o.Paper.Lengthscales); {
	case n > 0 && o.Components > 0 && o.Components != n:
		return badOption("%d components with %d length-scales: give one length-scale per component, or omit the number of components",
			o.Components, n)
	case o.Paper.Lengthscales != nil && n == 0:
		return badOption("the list of length-scales is empty, must be nil or have at least one")
	}
	if n := len(o.Paper.Lengthscales); o.Paper.Periods != nil && len(o.Paper.Periods) != n {
		return badOption("%d periods for %d length-scales, must be one period per length-scale", len(o.Paper.Periods), n)
	}
	if o.Init == InitSpectrum && o.From == nil && (o.Paper.Lengthscales != nil || o.Paper.Periods != nil || o.Paper.FrequencyVariance > 0) {
		return badOption("length-scales, periods and frequency variance cannot be combined with init %s, only with init %s", InitSpectrum,
			InitPaper)
	}
	return nil
}

// checkNames returns an error if Fix or Tie contain a name that is not allowed.
func (o *Options) checkNames(*Data) error {
	tieable := variational.Names(func(t Tensor) bool { return t.Tieable })
	for _, name := range o.Tie {
		if !slices.Contains(tieable, name) {
			return badOption("cannot tie %q, must be one of %s", name, strings.Join(tieable, ", "))
		}
	}
	names := variational.Names(nil)
	for _, name := range o.Fix {
		if !slices.Contains(names, name) {
			return badOption("cannot fix %q: no such tensor in the model file; must be one of %s", name, strings.Join(names, ", "))
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

// NoPriors returns flat priors of all hyper-parameters, with which a fit maximizes the
// bound without a prior term.
func NoPriors() Priors {
	none := Prior{SD: math.Inf(1)}
	return Priors{none, none, none}
}

const (
	// weakSD is the standard deviation of the logarithms under the weak priors.
	weakSD = 3
	// weakLength is the median length-scale relative to the input's range. weakNoise is
	// the median noise relative to the output's standard deviation.
	weakLength, weakNoise = 10, 0.1
)

// minMedian is the minimum median of a prior in the model's units, and its inverse the
// maximum. Within this range the square of the median does not overflow or underflow.
const minMedian = 1e-60

// check returns an error if a prior is invalid or its median is out of range in the
// model's units, which x and y define.
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
			if m := p.Median / unit; m < minMedian || m > 1/minMedian {
				return fmt.Errorf("the prior of the %s has median %v, which is %v in the model's units; must be from %g to %g there", p.name,
					p.Median, m, minMedian, 1/minMedian)
			}
		}
	}
	return nil
}

// of returns the priors for a model of p's shape in the model's units, which x and y
// define. rows are in these units. A prior of σ or of the noise standard deviation becomes
// a prior of its square: the median is squared and the SD doubled.
func (s *Priors) of(x, y Affine, rows *backend.Data, p *Params) (out optimize.Priors) {
	square := func(p bayes.Prior) bayes.Prior { return bayes.Prior{Median: p.Median * p.Median, SD: 2 * p.SD} }
	variance := 0.0
	for d := range rows.D {
		_, sd := bayes.MeanSD(rows.Y, d, rows.D)
		variance += sd * sd / float64(rows.D)
	}
	sd := cmp.Or(math.Sqrt(variance), 1) // any value is valid for constant outputs
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
			one = bayes.Prior{} // a constant input has no scale
		}
		out.Lengthscale = append(out.Lengthscale, one)
	}
	return out
}

// inUnits returns p in the model's units, of which one is unit in the data's units. If p is
// the zero value, it returns the weak prior with the given median, which is in the model's
// units. A flat prior becomes the zero value of bayes.Prior.
func inUnits(p Prior, unit, median float64) bayes.Prior {
	switch {
	case p == (Prior{}):
		return bayes.Prior{Median: median, SD: weakSD}
	case math.IsInf(p.SD, 1):
		return bayes.Prior{}
	}
	return bayes.Prior{Median: p.Median / unit, SD: p.SD}
}
