package series

import (
	"math"
	"reflect"
	"slices"

	"github.com/vssgp/vssgp/internal/fileio/fault"
)

// Options configures Fit. The zero value is a good default.
type Options struct {
	// Parts contains the parts of the model. If it is nil, the model has Constant, Slope, DampedTrend, RandomWalk and ShortMemory, and
	// the seasons supported by the data. Noise is always added.
	Parts []Part
	// Try contains candidates for further parts. Fit tests them in this order and adds a candidate if the gain in log posterior exceeds a
	// threshold.
	Try [][]Part
	// Average averages predictions over all subsets of Slope, SmoothTrend, DampedTrend and RandomWalk. It is implied if Parts is nil.
	Average bool
	// Known disables the search for seasons that are not in Parts or Try.
	Known bool

	// Log controls whether Fit models the logarithm of the values, for series whose seasons and noise are proportional to the level. With
	// logarithms, seasons are multiplicative, intervals are positive, and priors are in units of the logarithm. LogByEvidence also models
	// small counts by a negative binomial distribution, with the logarithm of its mean, if its evidence is higher.
	Log Log

	// Robust controls whether single values may be outliers. An outlier has 10 to 1000 times the noise sd, with a small learned
	// probability. See Outliers.
	Robust Robust
	// Positive predicts max(0, y), so that predictions and quantiles are never negative. Negative values are an error. A model of
	// logarithms or of counts is positive without it.
	Positive bool
	// Draws is the number of hyper-parameter draws over which predictions are averaged. 0 means 40, or fewer for large series. With
	// AtMode, predictions use the mode only.
	Draws int
	Seed  uint64 // seed of the draws

	// MemoryLimit is the number of bytes that a fit may use; 0: no limit. If the estimate exceeds it, Fit returns an
	// error that wraps ErrData.
	MemoryLimit float64

	// Progress, if not nil, is called repeatedly with the estimated fraction of the work that is done, from 0 to 1.
	Progress func(done float64)
	trials   int     // completed trials
	done     float64 // last reported fraction
}

// furtherTrials is the approximate number of fits in addition to the first one and one for each candidate.
const furtherTrials = 6

// trialDone reports the progress after a fit.
func (o *Options) trialDone(seasons int) {
	o.trials++
	o.done = max(o.done, float64(o.trials)/float64(max(o.trials+1, 1+seasons+furtherTrials)))
	if o.Progress != nil {
		o.Progress(o.done)
	}
}

// Log controls when Fit models the logarithm of the values.
type Log int

const (
	// LogByEvidence models the values and, if all are positive and no prior is given, also their logarithms. Predictions are averages over
	// both scales, or of one if its evidence is clearly higher.
	// It models non-negative integers with a median of at most 20 as counts if the evidence is higher, no prior and no error is given, and
	// there are at most 5000 rows.
	LogByEvidence Log = iota
	LogNever          // model the values
	LogAlways         // model the logarithms; values that are not positive are an error
)

// Robust controls when single values may be outliers.
type Robust int

const (
	// RobustByEvidence detects outliers if the evidence with outliers is clearly higher.
	RobustByEvidence Robust = iota
	RobustNever             // treat no value as an outlier
	RobustAlways            // always detect outliers
)

// AtMode is the value of Options.Draws that selects predictions at the mode of the hyper-parameters.
const AtMode = -1

// defaultParts contains the default parts, without seasons.
var defaultParts = []Part{Constant{}, Slope{}, DampedTrend{}, RandomWalk{}, ShortMemory{}}

// ErrOptions is wrapped by every error about options or arguments.
var ErrOptions = fault.New("unusable options")

// apart is the minimum relative difference of the periods of two seasons.
const apart = 1e-5

// check returns an error if an option is invalid.
func (o *Options) check() error {
	for _, p := range o.all() { // first, because the other checks call methods of the parts
		if p == nil {
			return fault.Errorf(ErrOptions, "a part is nil")
		}
		if kind := reflect.TypeOf(p); kind.Kind() == reflect.Pointer {
			return fault.Errorf(ErrOptions, "a part is a pointer (%v), must be a %s value", kind, kind.Elem().Name())
		}
	}
	if o.Parts != nil && !slices.ContainsFunc(o.Parts, func(p Part) bool { _, noise := p.(Noise); return !noise }) {
		return fault.Errorf(ErrOptions, "Parts contains only Noise, must contain at least one other part, such as Constant")
	}
	if o.Draws < AtMode || o.Draws > maxDraws {
		return fault.Errorf(ErrOptions, "number of draws is %d, must be 0 to %d, or AtMode", o.Draws, maxDraws)
	}
	if o.Log < LogByEvidence || o.Log > LogAlways {
		return fault.Errorf(ErrOptions, "Log is %d, must be LogByEvidence, LogNever or LogAlways", o.Log)
	}
	if o.Robust < RobustByEvidence || o.Robust > RobustAlways {
		return fault.Errorf(ErrOptions, "Robust is %d, must be RobustByEvidence, RobustNever or RobustAlways", o.Robust)
	}
	seen, periods := map[string]bool{}, []float64(nil)
	for _, p := range o.all() {
		if s, ok := p.(Season); ok {
			for _, q := range periods {
				if q != s.Period && math.Abs(q-s.Period) <= apart*q {
					return fault.Errorf(ErrOptions, "the periods %v and %v of two seasons are too similar; remove one of them", q,
						s.Period)
				}
			}
			periods = append(periods, s.Period)
		}
		if seen[p.name()] {
			return fault.Errorf(ErrOptions, "part %q is given twice", p.name())
		}
		seen[p.name()] = true
		for _, prior := range p.given() {
			if prior == (Prior{}) {
				continue
			}
			if err := prior.Check(); err != nil {
				return fault.Errorf(ErrOptions, "%s: %w", p.name(), err)
			}
		}
		if s, ok := p.(LevelShift); ok && (math.IsNaN(s.At) || math.IsInf(s.At, 0)) {
			return fault.Errorf(ErrOptions, "the time of a level shift is %v, must be finite", s.At)
		}
		if err := seasonsOf(p); err != nil {
			return err
		}
	}
	return nil
}

// certain reports whether the parts are fixed by the caller.
func (o *Options) certain() bool { return o.Parts != nil && !o.Average }

// all returns the parts in Parts and Try.
func (o *Options) all() []Part { return slices.Concat(append([][]Part{o.Parts}, o.Try...)...) }

// informed reports whether the caller sets the prior of any part.
func (o *Options) informed() bool {
	return slices.ContainsFunc(o.all(), func(p Part) bool {
		return slices.ContainsFunc(p.given(), func(q Prior) bool { return q != (Prior{}) })
	})
}

// seasonsOf returns an error if a part is a season, or a product of seasons, that is invalid.
func seasonsOf(p Part) error {
	var seasons []Season
	switch p := p.(type) {
	case Season:
		seasons = []Season{p}
	case Product:
		seasons = []Season{p.Long, p.Short}
	}
	for _, s := range seasons {
		if !(s.Period > 0 && !math.IsInf(s.Period, 0) && s.Harmonics >= 0 && s.Harmonics <= maxHarmonics) {
			return fault.Errorf(ErrOptions, "season of period %v with %d harmonics; the period must be positive and the harmonics 0 to %d", s.Period, s.Harmonics, maxHarmonics)
		}
	}
	return nil
}

const (
	maxHarmonics = 100    // of a season
	maxDraws     = 10_000 // of the hyper-parameters; 40 are sufficient
)
