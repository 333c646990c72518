package series

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/parallel"
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

// Quantile is the value below which an observation lies with a probability, for output d and row n. It panics unless 0 < probability < 1:
// the 95th percentile is that of 0.95.
func (p *Prediction) Quantile(d, n int, probability float64) float64 {
	if !(probability > 0 && probability < 1) {
		panic(fmt.Sprintf("series: quantile of probability %v, want a number between 0 and 1, such as 0.95", probability))
	}
	return p.mixtures[d][n].Quantile(probability)
}

// CRPS is the continuous ranked probability score of an observation of output d in row n.
func (p *Prediction) CRPS(d, n int, y float64) float64 { return p.mixtures[d][n].CRPS(y) }

// LogDensity is the predictive log density of an observation of output d in row n.
func (p *Prediction) LogDensity(d, n int, y float64) float64 { return p.mixtures[d][n].LogDensity(y) }

// Next are the places of the next n steps.
func (m *Model) Next(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = m.frame.x(m.frame.Range + float64(i+1))
	}
	return x
}

// Forecast predicts the next n steps. Errors are the errors of Predict, and ErrOptions if n is negative.
func (m *Model) Forecast(ctx context.Context, n int) (*Prediction, error) {
	if n < 0 {
		return nil, fmt.Errorf("%w: a forecast of %d steps, must be 0 or more", ErrOptions, n)
	}
	return m.Predict(ctx, m.Next(n))
}

// Predict predicts at any places that the model reaches: the mixture of the Gaussians that its draws of the hyper-parameters give.
func (m *Model) Predict(ctx context.Context, x []float64) (*Prediction, error) {
	at, err := m.open(ctx, x)
	if err != nil {
		return nil, err
	}
	defer at.close()
	p := &Prediction{X: x, mixtures: make([][]bayes.Mixture, len(m.frame.Scale))}
	for d := range p.mixtures {
		p.mixtures[d] = make([]bayes.Mixture, len(x))
	}
	o := newObjective(m.layout, m.sums)
	for _, hyper := range m.draws {
		if err := m.each(o, hyper, func(v view) error {
			return v.latent(at, nil, func(d, n int, mean, variance float64) {
				mix := &p.mixtures[d][n]
				mix.Log, mix.Median = m.frame.Log, len(m.medians) > 0 && m.medians[d]
				mix.Means = append(mix.Means, m.frame.Offset[d]+m.frame.Scale[d]*mean)
				mix.SDs = append(mix.SDs, m.frame.Scale[d]*math.Sqrt(variance+m.noise(d, v.lambda)))
			})
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

// places are where to predict: on the backend up to the layout's end, or, for a long series, bridged on the host.
type places struct {
	u         []float64
	near, far []int        // indices of u, up to the layout's end and beyond
	rows      backend.Rows // the near ones
	bridges   []*bridge    // a group each
}

func (p *places) close() {
	if p.rows != nil {
		p.rows.Close()
	}
}

// open checks places and brings them to where predictions are computed.
func (m *Model) open(ctx context.Context, x []float64) (*places, error) {
	steps := make([]float64, len(x))
	for i, v := range x {
		u := m.frame.steps(v)
		if math.IsNaN(u) || math.IsInf(u, 0) {
			return nil, fmt.Errorf("%w: place %d is %v, want a finite number", ErrData, i, v)
		}
		if _, last, end := m.Extent(); u > (MaxHorizon+1)*m.frame.Range*(1+1e-9) || u < -m.layout.reach/2 {
			return nil, fmt.Errorf("%w: x[%d] is %v; the data end at %v, and the model reaches to %v", ErrReach, i, v, last, end)
		}
		steps[i] = u
	}
	return m.openSteps(ctx, steps)
}

func (m *Model) openSteps(ctx context.Context, u []float64) (p *places, err error) {
	p = &places{u: u}
	var near []float64
	for i, v := range u {
		if v > m.layout.reach {
			p.far = append(p.far, i)
		} else {
			p.near, near = append(p.near, i), append(near, v)
		}
	}
	if m.long == nil {
		if len(near) > 0 {
			p.rows, err = m.backend.Open(backend.Data{N: len(near), Q: 1, X: near, Stop: ctx.Err})
		}
		return p, err
	}
	features := m.layout.spectral()
	for g := range m.sums {
		b, err := m.long.bridge(ctx, g, features, u)
		if err != nil {
			return nil, err
		}
		p.bridges = append(p.bridges, b)
	}
	return p, nil
}

// each visits the groups of outputs at hyper-parameters v.
func (m *Model) each(o *objective, v []float64, visit func(view) error) error {
	lambda, _ := o.variance(v)
	m.layout.amplitudes(o.d, v, nil)
	for g, s := range m.sums {
		factor, err := o.factor(s, o.d, lambda)
		if err == nil {
			err = visit(view{g, o, s, factor, lambda, v})
		}
		if err != nil {
			return m.failed(err)
		}
	}
	return nil
}

// latent predicts the outputs at the places without noise, standardized, by all features or by a selection. The factor is lost.
func (v view) latent(at *places, only *selection, visit func(d, n int, mean, variance float64)) error {
	if at.bridges != nil {
		return at.bridges[v.group].latent(v, only, visit)
	}
	v.beyond(at, only, visit)
	if len(at.near) == 0 {
		return nil
	}
	d, outputs := v.o.d, len(v.sums.outputs)
	post := &backend.Posterior{Mean: make([]float64, len(d)*outputs), D: outputs}
	for i, c := range v.sums.c {
		for k, w := range v.o.mean(v.factor, c) {
			post.Mean[k*outputs+i] = w
		}
	}
	post.Cov = v.factor.Inverse()
	for i := range post.Cov.Diag[0] {
		post.Cov.Diag[0][i] *= v.lambda
	}
	features := v.o.layout.spectral()
	for k, a := range d {
		if only != nil && !only.keep(k) {
			a = 0
		}
		features.Amp[k] *= a
		features.Power[k] *= a * a
		features.Ripple[k] *= a * a
	}
	p := backend.NewPrediction(len(at.near), outputs)
	if err := at.rows.Predict(p, features, post); err != nil {
		return err
	}
	for r, n := range at.near {
		for i, out := range v.sums.outputs {
			visit(out, n, p.Mean[r*outputs+i], max(0, p.Cov[(r*outputs+i)*outputs+i]))
		}
	}
	return nil
}

// beyond is latent at the places beyond the layout's end, on the host.
func (v view) beyond(at *places, only *selection, visit func(d, n int, mean, variance float64)) {
	m := len(v.o.d)
	x, innovations := make([]float64, len(at.far)*m), make([]float64, len(at.far))
	parallel.For(len(at.far), runtime.GOMAXPROCS(0), func(i int) {
		row := x[i*m : (i+1)*m]
		innovations[i] = v.o.layout.beyond(row, v.hyper, at.u[at.far[i]], only.features())
		for k, d := range v.o.d {
			row[k] *= d
		}
	})
	v.solve(x, func(r int, means []float64, variance float64) {
		for i, out := range v.sums.outputs {
			visit(out, at.far[r], means[i], variance+innovations[r])
		}
	})
}

// draw draws the weights of the group's output i, times their amplitudes.
func (v view) draw(i int, random *rand.Rand) []float64 {
	w, noise := v.o.mean(v.factor, v.sums.c[i]), make([]float64, len(v.o.d))
	for k := range noise {
		noise[k] = random.NormFloat64()
	}
	v.factor.SolveUpper(noise, 1)
	for k, a := range v.o.d {
		w[k] = a * (w[k] + math.Sqrt(v.lambda)*noise[k])
	}
	return w
}

// A Component is the Mean and standard deviation SD of some parts' sum at each time, without noise, [D][N] in the outputs' units, or in
// those of their logarithm if the model is of that.
type Component struct {
	Name     string // trend, a season's name, or short memory
	Mean, SD [][]float64
}

// Components splits predictions, at the mode of the hyper-parameters: the trend (constant, slope and walks), each season with its
// products, the short memory. The means add up to the mean at the mode.
func (m *Model) Components(ctx context.Context, x []float64) ([]Component, error) {
	at, err := m.open(ctx, x)
	if err != nil {
		return nil, err
	}
	defer at.close()
	var names []string
	of := make([]string, m.layout.features())
	for _, b := range m.layout.blocks {
		name := component(m.layout.parts[b.part])
		if len(names) == 0 || names[len(names)-1] != name {
			names = append(names, name)
		}
		for k := b.lo; k < b.hi; k++ {
			of[k] = name
		}
	}
	if m.long != nil {
		names = append(names, ShortMemory{}.name())
	}
	var all []Component
	o := newObjective(m.layout, m.sums)
	for _, name := range names {
		if len(all) > 0 && all[len(all)-1].Name == name {
			continue
		}
		c := Component{Name: name, Mean: make([][]float64, len(m.frame.Scale)), SD: make([][]float64, len(m.frame.Scale))}
		for d := range c.Mean {
			c.Mean[d], c.SD[d] = make([]float64, len(x)), make([]float64, len(x))
		}
		if err := m.each(o, m.at.Mode, func(v view) error {
			only := &selection{m.long != nil && name == ShortMemory{}.name(), func(k int) bool { return of[k] == name }}
			return v.latent(at, only, func(d, n int, mean, variance float64) {
				if name == trend {
					c.Mean[d][n] = m.frame.Offset[d]
				}
				c.Mean[d][n] += m.frame.Scale[d] * mean
				c.SD[d][n] = m.frame.Scale[d] * math.Sqrt(variance)
			})
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

// Draw draws functions from the posterior, without noise, at any places: [draws][D][N]. Each has hyper-parameters of its own.
func (m *Model) Draw(ctx context.Context, x []float64, count int, seed uint64) ([][][]float64, error) {
	if count < 0 {
		return nil, fmt.Errorf("%w: %d draws, must be 0 or more", ErrOptions, count)
	}
	at, err := m.open(ctx, x)
	if err != nil {
		return nil, err
	}
	at.close()
	order := slices.Clone(at.far)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(at.u[a], at.u[b]) })
	var far []float64
	for _, n := range order {
		far = append(far, at.u[n])
	}
	features, random := m.layout.spectral(), rand.New(rand.NewPCG(seed, 2))
	phi := make([]float64, features.M)
	o := newObjective(m.layout, m.sums)
	all := make([][][]float64, count)
	for i := range all {
		all[i] = make([][]float64, len(m.frame.Scale))
		if err := m.each(o, m.draws[i%len(m.draws)], func(v view) error {
			for j, d := range v.sums.outputs {
				w, f := v.draw(j, random), make([]float64, len(x))
				if m.long != nil {
					f = at.bridges[v.group].draw(m.long.tracks[v.group], features, j, w, m.layout.reach, random)
				} else {
					for _, n := range at.near {
						values(phi, features, at.u[n], 1)
						f[n] = dot(phi, w)
					}
				}
				for i, y := range m.layout.drawBeyond(w, v.hyper, far, random) {
					f[order[i]] += y
				}
				for n := range f {
					f[n] = m.frame.value(d, f[n])
				}
				all[i][d] = f
			}
			return ctx.Err()
		}); err != nil {
			return nil, err
		}
	}
	return all, nil
}
