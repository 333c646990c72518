// Package baselines implements the Gaussian processes that `bench paper` compares VSSGP with, for data with one input
// and one output:
//
//	GP        the full Gaussian process, O(N³)
//	SPGP      inducing inputs: FITC (Snelson & Ghahramani 2006) or the variational bound (Titsias 2009), O(N·M²)
//	SVGP      inducing inputs and mini-batches (Hensman et al. 2013), O(S·M² + M³) per step
//	Features  the methods of package vssgp: VSSGP, SSGP, random projections
//
// Data and predictions are in the data's units. Internally, y is scaled to mean 0 and standard deviation 1.
package baselines

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/internal/optimize/lbfgs"
	"github.com/vssgp/vssgp/variational"
)

// A Method fits a model to data. It returns an error if ctx ends first.
type Method interface {
	Fit(ctx context.Context, data *vssgp.Data) (*Fit, error)
}

// A Model predicts the mean and the variance of y, including noise, at each x.
type Model interface {
	Predict(ctx context.Context, x []float64) (*vssgp.Prediction, error)
}

// A Fit is a fitted model with information about the fit.
type Fit struct {
	Model Model
	// Bound is the final value of the objective in nats, for the scaled y: the log marginal likelihood (GP), its
	// approximation (FITC) or a lower bound of it.
	Bound      float64
	Covariance Covariance    // learned covariance; l and p in the data's units
	NoiseSD    float64       // learned standard deviation of the noise, in units of y
	M          int           // features or inducing inputs; 0 for GP
	Iterations int           // steps of the optimizer
	Ended      string        // reason why the optimizer ended
	Elapsed    time.Duration // duration of the whole fit
}

// Options contains the initial hyper-parameters of a method with a covariance function, and the optimizer's number of
// steps.
type Options struct {
	Covariance     Covariance
	NoisePrecision float64 // τ in 1/y²
	Iterations     int
}

// Features implements Method with package vssgp. The Model of its Fit is a *vssgp.Model.
type Features struct{ vssgp.Options }

// Fit calls vssgp.Fit. The Covariance of the result contains the components of all windows.
func (f Features) Fit(ctx context.Context, data *vssgp.Data) (*Fit, error) {
	m, r, err := vssgp.Fit(ctx, data, f.Options)
	if err != nil {
		return nil, err
	}
	p := m.Params
	c := Covariance{p.Variance, p.Lengthscale, p.Frequency}.upright()
	_, y := data.Standardize()
	ratio := m.Y.Scale[0] / y.Scale[0]
	for i := range c.Variance {
		c.Variance[i] *= ratio * ratio
		c.Lengthscale[i] *= m.X.Scale[0]
		c.Frequency[i] /= m.X.Scale[0]
	}
	return &Fit{
		Model: m, Bound: r.Bound, Covariance: c, NoiseSD: m.NoiseSD()[0], M: p.M(),
		Iterations: r.Iterations, Ended: r.Starts[r.Kept].Ended, Elapsed: r.Elapsed,
	}, nil
}

// A problem contains the data and options prepared for a fit.
type problem struct {
	scale
	x, y       []float64 // x in the data's units, y with mean 0 and standard deviation 1
	start      hyper
	iterations int
	began      time.Time
}

// scale contains the mean and the standard deviation of y.
type scale struct{ offset, sd float64 }

// prepare scales y and the initial hyper-parameters.
func prepare(data *vssgp.Data, o Options) *problem {
	began := time.Now()
	_, y := data.Standardize()
	sd := y.Scale[0]
	return &problem{
		scale: scale{y.Offset[0], sd}, x: data.X, y: y.ToModel(data.Y), iterations: o.Iterations, began: began,
		start: hyper{cov: o.Covariance, noise: 1 / (o.NoisePrecision * sd * sd)},
	}
}

// prediction converts the function's mean and variance and the noise variance from units of the scaled y to the data's
// units.
func (s scale) prediction(mean, variance []float64, noise float64) *vssgp.Prediction {
	n := len(mean)
	p := &vssgp.Prediction{N: n, D: 1, Mean: make([]float64, n), Cov: make([]float64, n), Noise: []float64{noise * s.sd * s.sd}}
	for i, m := range mean {
		p.Mean[i] = s.offset + s.sd*m
		p.Cov[i] = max(0, variance[i])*s.sd*s.sd + p.Noise[0]
	}
	return p
}

// noiseSD returns the standard deviation of the noise in units of y.
func (s scale) noiseSD(h hyper) float64 { return math.Sqrt(h.noise) * s.sd }

// fit returns the result of a fit that ended at h.
func (p *problem) fit(m Model, h hyper, bound float64, iterations int, ended string) *Fit {
	return &Fit{
		Model: m, Bound: bound, Covariance: h.cov.upright(), NoiseSD: p.noiseSD(h), M: len(h.z),
		Iterations: iterations, Ended: ended, Elapsed: time.Since(p.began),
	}
}

// An objective is a bound with its gradient.
type objective interface {
	// value returns the bound at h. Its error wraps vssgp.ErrBound. Either of the other methods may be called once
	// after it.
	value(h hyper) (float64, error)
	// gradient adds the gradient at h to grad.
	gradient(grad *hyper)
	// model returns the model at h.
	model() Model
}

// ascend maximizes f by L-BFGS from the problem's initial hyper-parameters.
func (p *problem) ascend(ctx context.Context, f objective) (*Fit, error) {
	c := newCoordinates(p.start)
	eval := func(v, g []float64) (float64, error) {
		if err := ctx.Err(); err != nil {
			return 0, fmt.Errorf("%w: %w", lbfgs.ErrStop, err)
		}
		h, grad := c.at(v), c.zero()
		value, err := f.value(h)
		if err == nil {
			f.gradient(grad)
			c.pull(g, &h, grad)
		}
		return value, err
	}
	state, err := lbfgs.Start(eval, c.first())
	if err != nil {
		return nil, fmt.Errorf("baselines: at the initial hyper-parameters: %w", err)
	}
	why, err := lbfgs.Maximize(eval, state, lbfgs.Settings{Iterations: p.iterations, Gain: variational.BoundTolerance * float64(len(p.x))})
	if err != nil {
		return nil, err
	}
	h := c.at(state.X)
	value, err := f.value(h)
	if err != nil {
		return nil, err
	}
	return p.fit(f.model(), h, value, state.Iterations, string(why)), nil
}
