package series

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
)

// Options of Fit. The zero value is a good choice.
type Options struct {
	// Parts are the parts of the model. If they are nil, the model has Constant, Slope, SmoothTrend, RandomWalk and ShortMemory, and the
	// seasons supported by the data. Noise is always added.
	Parts []Part
	// Try are candidates for further parts, in this order. A candidate is added if it raises the log marginal likelihood enough.
	Try [][]Part
	// Average averages predictions over models without some of Slope, SmoothTrend and RandomWalk, as is done without Parts.
	Average bool
	// Known keeps Fit from searching for seasons other than those of Parts and Try.
	Known bool

	// Log chooses whether the logarithm of the values is modeled, for series whose swings and noise are proportional to their level.
	// Seasons are then factors, intervals are positive, and priors are in units of the logarithm.
	Log Log

	// Robust chooses whether single values may be outliers: with a small probability, which is learned, their noise is 10 to 1000 times
	// larger. See Outliers.
	Robust Robust
	// Positive predicts max(0, y): neither predictions nor quantiles are below 0. A value below 0 is an error.
	Positive bool
	// Draws is the number of draws of the hyper-parameters, over which predictions are averaged. 0 is 40, or fewer for so many data that
	// the draws are alike. With AtMode predictions are those at the mode.
	Draws int
	// HMC draws them by Hamiltonian Monte Carlo instead of from the Gaussian at the mode. It is exact and takes ten times as long.
	HMC  bool
	Seed uint64 // of the draws

	// Progress, if it is not nil, is called now and then with the share of the work that is done, from 0 to 1: an estimate, because the
	// data decide how many models are compared.
	Progress func(done float64)
	trials   int     // that are done
	done     float64 // as it was reported
}

// furtherTrials is about how many models are fitted besides the first one and those with another season.
const furtherTrials = 6

// trialDone reports the progress after a model was fitted.
func (o *Options) trialDone(seasons int) {
	o.trials++
	o.done = max(o.done, float64(o.trials)/float64(max(o.trials+1, 1+seasons+furtherTrials)))
	if o.Progress != nil {
		o.Progress(o.done)
	}
}

// Log chooses when the logarithm of the values is modeled.
type Log int

const (
	// LogByEvidence models the logarithm if all values are positive, the evidence is clearly higher, and no part has a prior.
	LogByEvidence Log = iota
	LogNever          // the model is of the values themselves
	LogAlways         // an error if a value is not positive
)

// Robust chooses when single values may be outliers.
type Robust int

const (
	// RobustByEvidence allows outliers if some values are far from their predictions and the evidence is clearly higher.
	RobustByEvidence Robust = iota
	RobustNever             // no value is an outlier
	RobustAlways            // outliers are looked for in any case
)

// AtMode asks for predictions at the mode of the hyper-parameters.
const AtMode = -1

// usualParts are the parts of a series that nothing is known of, but for its seasons.
var usualParts = []Part{Constant{}, Slope{}, SmoothTrend{}, RandomWalk{}, ShortMemory{}}

// ErrOptions is wrapped by every error about options or arguments.
var ErrOptions = errors.New("series: bad options")

// apart is by how much of its length the period of a season has to differ from another one.
const apart = 1e-5

// check reports options that cannot be used.
func (o *Options) check() error {
	for _, p := range o.all() { // first, as everything else calls methods of the parts
		if p == nil {
			return fmt.Errorf("%w: a part is nil", ErrOptions)
		}
		if kind := reflect.TypeOf(p); kind.Kind() == reflect.Pointer {
			return fmt.Errorf("%w: a part is a pointer (%v); must be the %s itself", ErrOptions, kind, kind.Elem().Name())
		}
	}
	if o.Parts != nil && !slices.ContainsFunc(o.Parts, func(p Part) bool { _, noise := p.(Noise); return !noise }) {
		return fmt.Errorf("%w: there are no parts but noise; want one more at least, such as Constant", ErrOptions)
	}
	if o.Draws < AtMode {
		return fmt.Errorf("%w: %d draws, must be 0 or more, or AtMode", ErrOptions, o.Draws)
	}
	seen, periods := map[string]bool{}, []float64(nil)
	for _, p := range o.all() {
		if s, ok := p.(Season); ok {
			for _, q := range periods {
				if q != s.Period && math.Abs(q-s.Period) <= apart*q {
					return fmt.Errorf("%w: seasons of period %v and %v are too close to tell apart; want one of them", ErrOptions, q,
						s.Period)
				}
			}
			periods = append(periods, s.Period)
		}
		if seen[p.name()] {
			return fmt.Errorf("%w: there are two parts %q", ErrOptions, p.name())
		}
		seen[p.name()] = true
		for _, prior := range p.given() {
			if prior == (Prior{}) {
				continue
			}
			if err := prior.Check(); err != nil {
				return fmt.Errorf("%w: %s: %w", ErrOptions, p.name(), err)
			}
		}
		if s, ok := p.(LevelShift); ok && (math.IsNaN(s.At) || math.IsInf(s.At, 0)) {
			return fmt.Errorf("%w: a level shift at %v", ErrOptions, s.At)
		}
		if s, ok := p.(Season); ok && !(s.Period > 0 && !math.IsInf(s.Period, 0) && s.Harmonics >= 0 && s.Harmonics <= mostHarmonics) {
			return fmt.Errorf("%w: a season of period %v with %d harmonics; want a positive period, and 0 to %d harmonics", ErrOptions,
				s.Period, s.Harmonics, mostHarmonics)
		}
	}
	return nil
}

// certain says whether the parts are given, and none is left to what the data say.
func (o *Options) certain() bool { return o.Parts != nil && !o.Average }

// all are Parts and Try.
func (o *Options) all() []Part { return slices.Concat(append([][]Part{o.Parts}, o.Try...)...) }

// informed says whether a part has a prior of its own.
func (o *Options) informed() bool {
	return slices.ContainsFunc(o.all(), func(p Part) bool {
		return slices.ContainsFunc(p.given(), func(q Prior) bool { return q != (Prior{}) })
	})
}

// mostHarmonics bounds the features of a season.
const mostHarmonics = 100
