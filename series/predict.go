package series

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/fileio/fault"
)

// ErrReach is wrapped by the error about a time more than MaxHorizon data ranges after the end of the data, or too far before their
// start.
var ErrReach = fault.New("time out of range")

// A Prediction is the predictive distribution of observations at X, including noise, [D][N] in units of the outputs: Mean, standard
// deviation SD, and Lower and Upper, the ends of the central 95 % interval. If errors are known, the noise corresponds to the median
// error. For counts, Lower, Upper and quantiles are integers, and the tail of an uncertain mean is limited to its 97.5 % quantile in
// Mean and SD.
type Prediction struct {
	X                      []float64
	Mean, SD, Lower, Upper [][]float64
	// Median [D][N] marks predictions whose Mean is the median and whose SD is half of the central 68 % interval. This happens if the
	// tail of log-normal components dominates the moments: the mean is above the interval, or the standard deviation exceeds its
	// width. If it happens a tenth of the data range ahead, all predictions of the output are marked.
	Median [][]bool

	mixtures [][]bayes.Mixture
}

// Quantile returns a quantile of the observation of output d at X[n]. It panics unless 0 < probability < 1; the 95th percentile is
// Quantile(d, n, 0.95). Like CRPS and LogDensity, it panics if d or n is not an index of Mean[d][n].
func (p *Prediction) Quantile(d, n int, probability float64) float64 {
	if !(probability > 0 && probability < 1) {
		panic(fmt.Sprintf("series: quantile probability is %v, must be between 0 and 1", probability))
	}
	return p.mixtures[d][n].Quantile(probability)
}

// CRPS returns the continuous ranked probability score of an observation y of output d at X[n].
func (p *Prediction) CRPS(d, n int, y float64) float64 { return p.mixtures[d][n].CRPS(y) }

// LogDensity returns the predictive log density of an observation y of output d at X[n]; for counts, the log probability of the
// integer next to y.
func (p *Prediction) LogDensity(d, n int, y float64) float64 { return p.mixtures[d][n].LogDensity(y) }

// Next returns the inputs [n] of the next n steps, at most those up to the end that Extent returns; none if n is negative.
func (m *Model) Next(n int) []float64 {
	x := make([]float64, max(0, min(n, m.most())))
	for i := range x {
		x[i] = m.frame.x(m.frame.Range + float64(i+1))
	}
	return x
}

// most returns the number of steps from the end of the data to the end that Extent returns.
func (m *Model) most() int {
	const rounding = 1e-9
	return int(min(MaxHorizon*m.frame.Range*(1+rounding), maxSteps))
}

// maxSteps is the maximum number of steps of a forecast, which take about a kilobyte each.
const maxSteps = 10_000_000

// Forecast predicts the next n steps, given the values of each regressor there. It returns the errors of Predict, and an error that wraps
// ErrOptions if n is negative or greater than 10 million.
func (m *Model) Forecast(ctx context.Context, n int, regressors ...[]float64) (*Prediction, error) {
	switch {
	case m.frame == nil:
		return nil, errEmpty
	case n < 0 || n > maxSteps:
		return nil, fault.Errorf(ErrOptions, "number of steps is %d, must be 0 to %d", n, maxSteps)
	case n > m.most():
		return nil, fmt.Errorf("%w: number of steps is %d; the maximum is %d, %d times the data range", ErrReach, n, m.most(), MaxHorizon)
	}
	return m.Predict(ctx, m.Next(n), regressors...)
}

// Predict returns the predictive distribution at inputs x [N] up to the end that Extent returns: a mixture of one Gaussian or, on the scale
// of the logarithms, log-normal distribution per draw of the hyper-parameters. Each regressor needs its values at x, in the order of
// Regressors. Errors wrap ErrData, ErrOptions, ErrReach or the error of ctx.
func (m *Model) Predict(ctx context.Context, x []float64, regressors ...[]float64) (*Prediction, error) {
	p := &Prediction{X: x}
	var err error
	if p.mixtures, err = m.mixturesAt(ctx, x, regressors); err != nil {
		return nil, err
	}
	if m.other != nil {
		others, err := m.other.mixturesAt(ctx, x, regressors)
		if err != nil {
			return nil, err
		}
		for d, mixtures := range p.mixtures {
			for n := range mixtures {
				mixtures[n].Other = &others[d][n]
			}
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
	logs := m.frame.Log || m.other != nil && m.other.frame.Log // a log-normal distribution may overflow
	if m.loaded && slices.ContainsFunc(slices.Concat(p.Mean, p.SD, p.Lower, p.Upper), func(a []float64) bool {
		return slices.ContainsFunc(a, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) && !logs })
	}) {
		return nil, m.failed(nil)
	}
	return p, nil
}

// mixturesAt returns the predictive distributions [D][N] without the other model.
func (m *Model) mixturesAt(ctx context.Context, x []float64, regressors [][]float64) ([][]bayes.Mixture, error) {
	at, err := m.ready(ctx, x, regressors)
	if err != nil {
		return nil, err
	}
	all := make([][]bayes.Mixture, len(m.frame.Scale))
	for d := range all {
		all[d] = make([]bayes.Mixture, len(x))
	}
	for _, posterior := range m.posteriors {
		if err := m.latent(ctx, at, posterior, "", func(d, n int, mean, variance, noise float64) {
			mix := &all[d][n]
			mix.Log, mix.Median, mix.Positive = m.frame.Log, len(m.medians) > 0 && m.medians[d], m.frame.Positive
			mean, variance = m.frame.Offset[d]+m.frame.Scale[d]*mean, max(variance, 0)
			noise *= m.frame.defaultError(d)
			if m.frame.Counts != nil {
				mix.Count, noise = &m.frame.Counts[d], 0
			}
			sd := m.frame.Scale[d] * math.Sqrt(variance+noise)
			if mix.Positive && !mix.Log {
				mean, sd = bayes.Rectified(mean, m.frame.Scale[d]*math.Sqrt(variance), m.frame.Scale[d]*math.Sqrt(noise))
			}
			mix.Means, mix.SDs = append(mix.Means, mean), append(mix.SDs, sd)
		}); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// ready converts query times and regressors with open, and computes the posteriors.
func (m *Model) ready(ctx context.Context, x []float64, regressors [][]float64) (*track, error) {
	at, err := m.open(x, regressors)
	if err != nil {
		return nil, err
	}
	return at, m.condition(ctx)
}

// open checks query times and regressors and converts them to the model's units.
func (m *Model) open(x []float64, regressors [][]float64) (*track, error) {
	if m.frame == nil {
		return nil, errEmpty
	}
	p := &track{u: make([]float64, len(x))}
	for i, v := range x {
		u := m.frame.steps(v)
		if math.IsNaN(u) || math.IsInf(u, 0) {
			return nil, fault.Errorf(ErrData, "x[%d] is %v, must be a finite number", i, v)
		}
		if _, last, end := m.Extent(); u > (MaxHorizon+1)*m.frame.Range*(1+1e-9) || u < -m.layout.reach/2 {
			return nil, fmt.Errorf("%w: x[%d] is %v; the data end at %v and the maximum is %v", ErrReach, i, v, last, end)
		}
		p.u[i] = u
	}
	if len(regressors) != len(m.frame.Regressors) {
		return nil, fault.Errorf(ErrOptions, "values are given for %d regressors, but the model has %d", len(regressors),
			len(m.frame.Regressors))
	}
	for j := range m.frame.Regressors {
		r, values := &m.frame.Regressors[j], regressors[j]
		if len(values) != len(x) {
			return nil, fault.Errorf(ErrData, "regressor %q has %d values for %d times", r.Name, len(values), len(x))
		}
		for i, v := range values {
			if !(math.Abs(v) <= MaxValue) {
				return nil, fault.Errorf(ErrData, "regressor %q is %v at x[%d] = %v, must be finite", r.Name, v, i, x[i])
			}
		}
		p.regressors = append(p.regressors, r.standard(values))
	}
	return p, nil
}

// A Component contains the posterior Mean and standard deviation SD of the sum of some parts, without noise, [D][N] in units of the
// outputs, or of their logarithms for a model of logarithms.
type Component struct {
	Name     string // trend, a season's name, short memory, or a regressor's group
	Mean, SD [][]float64
}

// Components returns the components of the prediction at x at the mode of the hyper-parameters, on the more probable scale: the trend
// (constant, slope, damped and smooth trend, random walk and level shifts), each season with its products, the short memory, and each group
// of regressors. Their means add up to the mean at the mode. It returns the errors of Predict.
func (m *Model) Components(ctx context.Context, x []float64, regressors ...[]float64) ([]Component, error) {
	at, err := m.ready(ctx, x, regressors)
	if err != nil {
		return nil, err
	}
	var names []string // with duplicates
	for _, b := range m.layout.blocks {
		if b.known {
			break
		}
		names = append(names, b.component)
	}
	if m.layout.index.walk >= 0 || m.layout.index.rise >= 0 {
		names = append(names, trend)
	}
	if m.layout.index.sd >= 0 {
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

// component returns the name of the component that a part belongs to.
func component(p Part) string {
	switch p := p.(type) {
	case Season, ShortMemory:
		return p.name()
	case Product:
		return p.Long.name()
	}
	return trend
}

// An Effect is the posterior of a regressor's weight, or of the size of a level shift, at the mode of the hyper-parameters. Mean and SD
// are in units of the output, or of its logarithm, per unit of the regressor.
type Effect struct {
	Name string    `json:"name"` // name of the regressor or of the level shift
	Mean []float64 `json:"mean"` // [D]
	SD   []float64 `json:"sd"`   // [D]
}

// Effects returns the effects of the regressors, followed by the level shifts.
func (m *Model) Effects(ctx context.Context) (all []Effect, err error) {
	if m.frame == nil {
		return nil, errEmpty
	}
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

// effect returns the posterior of a feature's weight divided by scale.
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

// Draw draws functions from the posterior at inputs x, without noise: [count][D][N]. For counts, they are means. The draws are spread evenly over the draws of the
// hyper-parameters, so that also a few of them represent both scales and several variants. It returns the errors of Predict, and an error
// that wraps ErrOptions if count is negative or there are more than 10⁹ numbers.
func (m *Model) Draw(ctx context.Context, x []float64, count int, seed uint64, regressors ...[]float64) ([][][]float64, error) {
	const most = 1e9 // numbers
	if count < 0 {
		return nil, fault.Errorf(ErrOptions, "number of draws is %d, must be at least 0", count)
	}
	if m.frame == nil {
		return nil, errEmpty
	}
	if numbers := float64(count) * float64(m.Outputs()) * float64(len(x)+1); numbers > most {
		return nil, fault.Errorf(ErrOptions, "%d draws at %d times have %.3g numbers; the maximum is %.0g", count, len(x), numbers, most)
	}
	at, err := m.ready(ctx, x, regressors)
	if err != nil {
		return nil, err
	}
	scales := []*Model{m}
	ats := []*track{at}
	if m.other != nil {
		other, err := m.other.ready(ctx, x, regressors)
		if err != nil {
			return nil, err
		}
		scales, ats = append(scales, m.other), append(ats, other)
	}
	total := 0
	for _, one := range scales {
		total += len(one.posteriors)
	}
	random := rand.New(rand.NewPCG(seed, 2))
	all := make([][][]float64, count)
	for i := range all {
		k, scale := (2*i+1)*total/(2*count), 0
		for k >= len(scales[scale].posteriors) {
			k, scale = k-len(scales[scale].posteriors), scale+1
		}
		all[i] = scales[scale].drawn(scales[scale].posteriors[k], ats[scale], random)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// drawn draws the functions [D][N] of a posterior in the units of the data.
func (m *Model) drawn(posteriors []*posterior, at *track, random *rand.Rand) [][]float64 {
	all := make([][]float64, len(m.frame.Scale))
	for g, p := range posteriors {
		for j, d := range m.tracks[g].outputs {
			f := p.draw(m.layout, m.tracks[g], j, at, random)
			for n := range f {
				f[n] = m.frame.value(d, f[n])
				if m.frame.Positive {
					f[n] = max(0, f[n])
				}
			}
			all[d] = f
		}
	}
	return all
}
