package series

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/fileio/fault"
)

// ErrFile is wrapped by every error about the content of a model file.
var ErrFile = fault.New("not a valid model file of a series")

// A Model is a fitted model of a series: the result of Fit, Load or Read. The caller sets its names and notes. Methods of the zero value
// return an error, or panic if they cannot. Output numbers d are 0 to Outputs() − 1; other numbers panic.
type Model struct {
	XName  string            // name of the input
	YNames []string          // names of the outputs
	Notes  map[string]string // arbitrary entries saved in the model file, such as the time format

	frame      *frame
	layout     *layout
	tracks     []*track // observations of each group
	at         *bayes.Gaussian
	mode       []*posterior // [groups]
	draws      [][]float64
	posteriors [][]*posterior // [draws][groups]
	bound      float64
	loaded     bool   // from a file
	medians    []bool // [D] whether a model of logarithms predicts medians; nil: never
	other      *Model // less probable model on the other scale, values or logarithms; nil: none

	conditioning sync.Mutex // guards the posteriors, which a loaded model computes at the first use
}

// errEmpty is returned by methods of the zero value.
var errEmpty = fault.Errorf(ErrOptions, "the model is empty; it must be the result of Fit, Load or Read")

// failed wraps a numerical error. For a model loaded from a file, it returns an error that wraps ErrFile, because the file causes it.
func (m *Model) failed(err error) error {
	if m.loaded && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("its parameters are inconsistent: %w", ErrFile)
	}
	return fmt.Errorf("%w", err)
}

// A Value is the posterior of the hyper-parameter Name: its Mode, and Lower and Upper, the ends of its central 95 % credible interval,
// from a Gaussian approximation in the logarithm. Lengths are in units of the input, standard deviations in units of the output. Factors
// and qualities are dimensionless.
type Value struct {
	Name  string  `json:"name"`
	Mode  float64 `json:"mode"`
	Lower float64 `json:"lower"`
	Upper float64 `json:"upper"`
}

// Hyper returns the hyper-parameters of the most probable variant of the model.
func (m *Model) Hyper() (all []Value) {
	for i, name := range m.layout.names {
		unit := m.frame.Scale[0]
		switch {
		case strings.HasSuffix(name, ".length"):
			unit = m.frame.Step
		case strings.HasSuffix(name, ".factor"), strings.HasSuffix(name, ".quality"):
			unit = 1
		}
		if at, sd := m.at.Mode[i], m.at.SD(i); at != absent && (m.frame.Counts == nil || i != m.layout.noise) {
			all = append(all, Value{name, unit * math.Exp(at), unit * math.Exp(at-bayes.SD95*sd), unit * math.Exp(at+bayes.SD95*sd)})
		}
	}
	return all
}

// Parts returns the parts of the model, including the parts added by Fit.
func (m *Model) Parts() []Part { return slices.Clone(m.layout.parts) }

// PartNames returns the names of the parts, such as "smooth trend", "season 12" or "level shift 301", and "volatility" if the scale of
// the noise and the innovations changes. For counts, their distribution is named instead of the noise.
func (m *Model) PartNames() (names []string) {
	for _, p := range m.layout.parts {
		names = append(names, p.name())
	}
	if m.frame.Counts != nil {
		var counts []string
		for _, of := range m.frame.Counts {
			counts = append(counts, countName(of))
		}
		names[len(names)-1] = strings.Join(counts, ", ") // instead of the noise
	}
	if slices.ContainsFunc(m.tracks, func(t *track) bool { return t.volatility != nil }) {
		names = append(names, "volatility")
	}
	return names
}

// Counts reports whether the values are modeled as counts. Such a model has no noise: the distribution of a count given
// its mean, which PartNames describes, takes its place.
func (m *Model) Counts() bool { return m.frame.Counts != nil }

// Log reports whether the logarithms of the values, or of the means of counts, are the more probable scale. If so, hyper-parameters,
// noise and components are in units of the logarithm: 0.05 is about five percent.
func (m *Model) Log() bool { return m.frame.Log }

// LogProbability returns the probability of the logarithms: the share of the draws of which predictions are averages. It is 0 or 1 if
// the evidence for one scale is clear.
func (m *Model) LogProbability() float64 {
	logs, all := 0, 0
	for _, one := range []*Model{m, m.other} {
		if one == nil {
			continue
		}
		all += len(one.draws)
		if one.frame.Log {
			logs += len(one.draws)
		}
	}
	return float64(logs) / float64(all)
}

// Periods returns the periods of the seasons in units of the input, in the order in which they were added.
func (m *Model) Periods() (all []float64) {
	for _, s := range ofKind[Season](m.layout.parts) {
		all = append(all, s.Period)
	}
	return all
}

// NoiseSD returns the noise standard deviation of output d at the mode. If errors are known, it is for a value with the median error; if
// there is a volatility, it is for average volatility. For counts, it is the median error of their working values (docs/series.md).
func (m *Model) NoiseSD(d int) float64 {
	lambda, _ := m.layout.variance(m.at.Mode)
	return m.frame.Scale[d] * math.Sqrt(lambda*m.frame.defaultError(d))
}

// Bound returns the log marginal likelihood of the standardized outputs at the mode, in nats, on the more probable scale.
func (m *Model) Bound() float64 { return m.bound }

// Features returns the number of features.
func (m *Model) Features() int { return m.layout.size() }

// Regressors returns the names of the regressors, in the order in which Predict expects their values.
func (m *Model) Regressors() (names []string) {
	for _, r := range m.frame.Regressors {
		names = append(names, r.Name)
	}
	return names
}

// Rows returns the number of rows of the training data.
func (m *Model) Rows() int { return m.frame.Rows }

// Outputs returns the number of outputs, D.
func (m *Model) Outputs() int { return len(m.frame.Scale) }

// Step returns the grid spacing in units of the input, or the median spacing if the times are not on a grid.
func (m *Model) Step() float64 { return m.frame.Step }

// MaxHorizon is the maximum distance of a prediction from the end of the data, in data ranges.
const MaxHorizon = 10

// Extent returns the first and the last input of the data, and the last input at which the model can predict.
func (m *Model) Extent() (first, last, end float64) {
	return m.frame.First, m.frame.x(m.frame.Range), m.frame.x((MaxHorizon + 1) * m.frame.Range)
}
