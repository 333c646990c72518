package series

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/vssgp/vssgp/internal/bayes"
)

// ErrReach is wrapped by the error about a time that is more than MaxHorizon ranges of the data after their end, or half a range before
// them.
var ErrReach = errors.New("series: beyond the model's reach")

// A Prediction is of observations at X, noise included, [D][N] in the outputs' units: Mean, standard deviation SD, and Lower and Upper, the
// ends of the central 95 % interval. If the data have known errors, the noise is that of a value with their median error.
type Prediction struct {
	X                      []float64
	Mean, SD, Lower, Upper [][]float64
	// Median [D][N] marks predictions whose Mean is the median and whose SD is half of the central 68 % interval, because the far tail of a
	// log-normal distribution decides its moments: the mean lies above the interval, or the standard deviation exceeds its width. If that
	// is so a tenth of the data's range ahead, it marks all rows of the output.
	Median [][]bool

	mixtures [][]bayes.Mixture
}

// Quantile returns the value below which an observation lies with a probability, for output d and row n. It panics unless 0 < probability < 1:
// the 95th percentile is that of 0.95.
func (p *Prediction) Quantile(d, n int, probability float64) float64 {
	if !(probability > 0 && probability < 1) {
		panic(fmt.Sprintf("series: quantile of probability %v, want a number between 0 and 1, such as 0.95", probability))
	}
	return p.mixtures[d][n].Quantile(probability)
}

// CRPS returns the continuous ranked probability score of an observation of output d in row n.
func (p *Prediction) CRPS(d, n int, y float64) float64 { return p.mixtures[d][n].CRPS(y) }

// LogDensity returns the predictive log density of an observation of output d in row n.
func (p *Prediction) LogDensity(d, n int, y float64) float64 { return p.mixtures[d][n].LogDensity(y) }

// Next returns the inputs [n] of the next n steps.
func (m *Model) Next(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = m.frame.x(m.frame.Range + float64(i+1))
	}
	return x
}

// Forecast predicts the next n steps, given each regressor's values there. Errors are the errors of Predict, and ErrOptions if n is
// negative.
func (m *Model) Forecast(ctx context.Context, n int, regressors ...[]float64) (*Prediction, error) {
	if n < 0 {
		return nil, fmt.Errorf("%w: a forecast of %d steps, must be 0 or more", ErrOptions, n)
	}
	return m.Predict(ctx, m.Next(n), regressors...)
}

// Predict predicts at any inputs x [N] up to Extent, given the values there of each regressor, in their order in Series: the mixture of
// the Gaussians of its draws of the hyper-parameters.
func (m *Model) Predict(ctx context.Context, x []float64, regressors ...[]float64) (*Prediction, error) {
	at, err := m.ready(ctx, x, regressors)
	if err != nil {
		return nil, err
	}
	p := &Prediction{X: x, mixtures: make([][]bayes.Mixture, len(m.frame.Scale))}
	for d := range p.mixtures {
		p.mixtures[d] = make([]bayes.Mixture, len(x))
	}
	for _, posterior := range m.posteriors {
		if err := m.latent(ctx, at, posterior, "", func(d, n int, mean, variance, noise float64) {
			mix := &p.mixtures[d][n]
			mix.Log, mix.Median, mix.Positive = m.frame.Log, len(m.medians) > 0 && m.medians[d], m.frame.Positive
			mix.Means = append(mix.Means, m.frame.Offset[d]+m.frame.Scale[d]*mean)
			mix.SDs = append(mix.SDs, m.frame.Scale[d]*math.Sqrt(max(variance, 0)+noise*m.frame.usualError(d)))
		}); err != nil {
			return nil, err
		}
	}
	for _, mixtures := range p.mixtures {
		n := len(x)
		median := make([]bool, n)
		mean, sd, low, high := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
		for i, mix := range mixtures {
			mean[i], sd[i], low[i], high[i], median[i] = mix.Summary()
		}
		p.Median = append(p.Median, median)
		p.Mean, p.SD, p.Lower, p.Upper = append(p.Mean, mean), append(p.SD, sd), append(p.Lower, low), append(p.Upper, high)
	}
	if m.loaded && slices.ContainsFunc(slices.Concat(p.Mean, p.SD, p.Lower, p.Upper), func(a []float64) bool {
		return slices.ContainsFunc(a, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) && !m.frame.Log })
	}) {
		return nil, m.failed(nil)
	}
	return p, nil
}

// ready opens the places and regressors of a prediction, and computes the posteriors.
func (m *Model) ready(ctx context.Context, x []float64, regressors [][]float64) (*track, error) {
	at, err := m.open(x, regressors)
	if err != nil {
		return nil, err
	}
	return at, m.condition(ctx)
}

// open checks times and regressors and brings them to the model's units.
func (m *Model) open(x []float64, regressors [][]float64) (*track, error) {
	p := &track{u: make([]float64, len(x))}
	for i, v := range x {
		u := m.frame.steps(v)
		if math.IsNaN(u) || math.IsInf(u, 0) {
			return nil, fmt.Errorf("%w: x[%d] is %v, must be a finite number", ErrData, i, v)
		}
		if _, last, end := m.Extent(); u > (MaxHorizon+1)*m.frame.Range*(1+1e-9) || u < -m.layout.reach/2 {
			return nil, fmt.Errorf("%w: x[%d] is %v; the data end at %v, and the model reaches to %v", ErrReach, i, v, last, end)
		}
		p.u[i] = u
	}
	if len(regressors) != len(m.frame.Regressors) {
		return nil, fmt.Errorf("%w: values of %d regressors; the model has %d", ErrOptions, len(regressors), len(m.frame.Regressors))
	}
	for j := range m.frame.Regressors {
		r, values := &m.frame.Regressors[j], regressors[j]
		if len(values) != len(x) {
			return nil, fmt.Errorf("%w: regressor %q has %d values for %d times", ErrData, r.Name, len(values), len(x))
		}
		for i, v := range values {
			if !(math.Abs(v) <= MaxValue) {
				return nil, fmt.Errorf("%w: regressor %q is %v at x[%d] = %v; a prediction needs its value there", ErrData, r.Name, v, i, x[i])
			}
		}
		p.regressors = append(p.regressors, r.standard(values))
	}
	return p, nil
}

// A Component is the Mean and standard deviation SD of some parts' sum at each time, without noise, [D][N] in the outputs' units, or in
// the units of their logarithm if the model is of that.
type Component struct {
	Name     string // trend, a season's name, short memory, or a regressor's group
	Mean, SD [][]float64
}

// Components splits predictions, at the mode of the hyper-parameters: the trend (constant, slope and walks), each season with its
// products, the short memory, each group of regressors. The means add up to the mean at the mode.
func (m *Model) Components(ctx context.Context, x []float64, regressors ...[]float64) ([]Component, error) {
	at, err := m.ready(ctx, x, regressors)
	if err != nil {
		return nil, err
	}
	var names []string // some twice
	for _, b := range m.layout.blocks {
		if b.known {
			break
		}
		names = append(names, b.component)
	}
	if m.layout.memory.walk >= 0 {
		names = append(names, trend)
	}
	if m.layout.memory.sd >= 0 {
		names = append(names, ShortMemory{}.name())
	}
	for _, r := range m.frame.Regressors {
		names = append(names, r.Group)
	}
	var all []Component
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			continue
		}
		c := Component{Name: name, Mean: make([][]float64, len(m.frame.Scale)), SD: make([][]float64, len(m.frame.Scale))}
		for d := range c.Mean {
			c.Mean[d], c.SD[d] = make([]float64, len(x)), make([]float64, len(x))
		}
		if err := m.latent(ctx, at, m.mode, name, func(d, n int, mean, variance, _ float64) {
			if name == trend {
				c.Mean[d][n] = m.frame.Offset[d]
			}
			c.Mean[d][n] += m.frame.Scale[d] * mean
			c.SD[d][n] = m.frame.Scale[d] * math.Sqrt(max(variance, 0))
		}); err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

const trend = "trend"

// component is the name of the component that a part belongs to.
func component(p Part) string {
	switch p := p.(type) {
	case Season, ShortMemory:
		return p.name()
	case Product:
		return p.Long.name()
	}
	return trend
}

// An Effect is the posterior of a regressor's weight, or of a level shift, at the mode of the hyper-parameters, by output: Mean and SD, in
// units of the output, or of its logarithm, for one unit of the regressor.
type Effect struct {
	Name string    `json:"name"` // of the regressor, or of the part
	Mean []float64 `json:"mean"` // [D]
	SD   []float64 `json:"sd"`   // [D]
}

// Effects returns the effects of the regressors, and then the level shifts.
func (m *Model) Effects(ctx context.Context) (all []Effect, err error) {
	shifts := ofKind[LevelShift](m.layout.parts)
	if len(m.frame.Regressors)+len(shifts) == 0 {
		return nil, nil
	}
	if err := m.condition(ctx); err != nil {
		return nil, err
	}
	waves := len(m.layout.cosines())
	for j, r := range m.frame.Regressors {
		all = append(all, m.effect(r.Name, waves+j, r.Scale))
	}
	for _, b := range m.layout.blocks {
		if b.from != nil {
			all, shifts = append(all, m.effect(shifts[0].name(), b.lo, 1)), shifts[1:]
		}
	}
	return all, nil
}

// effect is the posterior of a feature's weight, for a scale-th of a unit.
func (m *Model) effect(name string, feature int, scale float64) Effect {
	e := Effect{Name: name, Mean: make([]float64, m.Outputs()), SD: make([]float64, m.Outputs())}
	for g, p := range m.mode {
		unit := make([]float64, m.layout.size())
		unit[feature] = 1
		p.variances(unit, func(_ int, variance float64) {
			for i, d := range m.tracks[g].outputs {
				factor := m.frame.Scale[d] / scale
				e.Mean[d], e.SD[d] = factor*p.weights[i][feature], factor*math.Sqrt(variance)
			}
		})
	}
	return e
}

// Draw draws functions from the posterior, without noise, at any times: [draws][D][N]. Each has its own hyper-parameters.
func (m *Model) Draw(ctx context.Context, x []float64, count int, seed uint64, regressors ...[]float64) ([][][]float64, error) {
	if count < 0 {
		return nil, fmt.Errorf("%w: %d draws, must be 0 or more", ErrOptions, count)
	}
	at, err := m.ready(ctx, x, regressors)
	if err != nil {
		return nil, err
	}
	random := rand.New(rand.NewPCG(seed, 2))
	all := make([][][]float64, count)
	for i := range all {
		all[i] = make([][]float64, len(m.frame.Scale))
		for g, p := range m.posteriors[i%len(m.posteriors)] {
			for j, d := range m.tracks[g].outputs {
				f := p.draw(m.layout, m.tracks[g], j, at, random)
				for n := range f {
					f[n] = m.frame.value(d, f[n])
					if m.frame.Positive {
						f[n] = max(0, f[n])
					}
				}
				all[i][d] = f
			}
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return all, nil
}
