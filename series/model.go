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
)

// ErrFile is wrapped by every error about the content of a model file.
var ErrFile = errors.New("series: not a model file of a series")

// A Model is a fitted model of a series. The caller sets its names and notes.
type Model struct {
	XName  string            // of the input
	YNames []string          // of the outputs
	Notes  map[string]string // kept in the model file, such as the notation of times

	frame      *frame
	layout     *layout
	tracks     []*track // the rows of each group
	at         *bayes.Gaussian
	mode       []*posterior // [groups]
	draws      [][]float64
	posteriors [][]*posterior // [draws][groups]
	bound      float64
	loaded     bool   // from a file
	medians    []bool // [D] of a model of logarithms: predictions are medians; nil: none

	conditioning sync.Mutex // of a model from a file, whose posteriors are computed when they are needed
}

// failed words an error of the algebra. The numbers of a fit go together; those of a file need not.
func (m *Model) failed(err error) error {
	if m.loaded && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("its numbers do not go together, so nothing can be computed with them: %w", ErrFile)
	}
	return fmt.Errorf("series: %w", err)
}

// A Value is the posterior of the hyper-parameter Name: its Mode, and Lower and Upper, a central 95 % interval from the Gaussian at the
// mode of its logarithm. It is in units of the output, of the input for a length, or none for a factor of known errors.
type Value struct {
	Name  string  `json:"name"`
	Mode  float64 `json:"mode"`
	Lower float64 `json:"lower"`
	Upper float64 `json:"upper"`
}

// Hyper lists the hyper-parameters of the most probable parts.
func (m *Model) Hyper() (all []Value) {
	for i, name := range m.layout.names {
		unit := m.frame.Scale[0]
		switch {
		case strings.HasSuffix(name, ".length"):
			unit = m.frame.Step
		case strings.HasSuffix(name, ".factor"), strings.HasSuffix(name, ".quality"):
			unit = 1
		}
		if at, sd := m.at.Mode[i], m.at.SD(i); at != absent {
			all = append(all, Value{name, unit * math.Exp(at), unit * math.Exp(at-bayes.SD95*sd), unit * math.Exp(at+bayes.SD95*sd)})
		}
	}
	return all
}

// Parts returns the model's parts, with those that Fit has added.
func (m *Model) Parts() []Part { return slices.Clone(m.layout.parts) }

// PartNames returns the names of the parts: constant, slope, smooth trend, random walk, short memory, season 12, level shift 301, noise,
// and volatility if the size of the noise and the innovations changes.
func (m *Model) PartNames() (names []string) {
	for _, p := range m.layout.parts {
		names = append(names, p.name())
	}
	if slices.ContainsFunc(m.tracks, func(t *track) bool { return t.volatility != nil }) {
		names = append(names, "volatility")
	}
	return names
}

// Log reports whether the model is of the values' logarithms. Then hyper-parameters, the noise and components are in units of the logarithm:
// 0.05 is five per cent.
func (m *Model) Log() bool { return m.frame.Log }

// Periods returns the seasons' periods in units of the input, in the order in which they were found.
func (m *Model) Periods() (all []float64) {
	for _, s := range ofKind[Season](m.layout.parts) {
		all = append(all, s.Period)
	}
	return all
}

// NoiseSD returns the noise's standard deviation of an output at the mode; with known errors, of a value with their median error, and with a
// volatility, of a row where it is usual.
func (m *Model) NoiseSD(d int) float64 {
	lambda, _ := m.layout.variance(m.at.Mode)
	return m.frame.Scale[d] * math.Sqrt(lambda*m.frame.usualError(d))
}

// Bound returns the log marginal likelihood of the standardized outputs at the mode, in nats.
func (m *Model) Bound() float64 { return m.bound }

// Features returns the number of features.
func (m *Model) Features() int { return m.layout.size() }

// Regressors returns the regressors' names, in the order in which predictions take their values.
func (m *Model) Regressors() (names []string) {
	for _, r := range m.frame.Regressors {
		names = append(names, r.Name)
	}
	return names
}

// Rows returns the number of rows that the model was fitted to.
func (m *Model) Rows() int { return m.frame.Rows }

// Outputs returns the number of outputs, D.
func (m *Model) Outputs() int { return len(m.frame.Scale) }

// Step returns the distance of neighboring rows in units of the input: the grid's, or the median.
func (m *Model) Step() float64 { return m.frame.Step }

// MaxHorizon is the maximum distance of a prediction from the end of the data, in ranges of the data.
const MaxHorizon = 10

// Extent returns the first and the last input of the data, and the last at which the model predicts.
func (m *Model) Extent() (first, last, end float64) {
	return m.frame.First, m.frame.x(m.frame.Range), m.frame.x((MaxHorizon + 1) * m.frame.Range)
}
