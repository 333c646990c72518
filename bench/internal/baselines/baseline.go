// Package baselines holds the Gaussian processes that VSSGP is compared with,
// each a method that one can also use on its own:
//
//	GP        the full Gaussian process, O(N³)
//	SPGP      inducing inputs: FITC (Snelson & Ghahramani 2006) or the
//	          variational bound (Titsias 2009), O(N·M²)
//	SVGP      inducing inputs on mini-batches (Hensman et al. 2013), O(S·M² + M³) a step
//	Features  the methods of package vssgp: VSSGP, SSGP, random projections
//
// All take data in their own units and give predictions in them. Inside, y has
// mean 0 and standard deviation 1 by column, and D outputs share one covariance.
//
//	fit, err := baseline.GP{Options: baseline.Options{Covariance: baseline.SE(1, 1)}}.Fit(ctx, data)
//	p, err := fit.Model.Predict(x) // p.Mean, p.SD(true)
package baselines

import (
	"context"
	"time"

	"github.com/vssgp/vssgp"
)

// A Method makes a model of data. Where ctx (nil: the background) ends it early,
// the best model so far comes back together with an error that wraps ctx.Err().
// Errors of Fit wrap vssgp.ErrOptions, ErrData or ErrBound.
type Method interface {
	Fit(ctx context.Context, data *vssgp.Data) (*Fit, error)
}

// A Model predicts: the mean and covariance of y, noise included, at each row
// of x [N,Q]. Predict fails if x has another number of inputs than the fit, or
// values that are not finite.
type Model interface {
	Predict(ctx context.Context, x []float64) (*vssgp.Prediction, error)
}

// A Fit is a fitted model and how it came about.
type Fit struct {
	Model Model // to predict with
	// Bound is the maximum found, in nats of the scaled y: the log marginal
	// likelihood (GP), its approximation (FITC) or a lower bound of it.
	Bound      float64
	Covariance Covariance    // learnt, in the data's units (see Covariance for σ²)
	NoiseSD    float64       // learnt, in the units of the first output
	Iterations int           // steps of the optimizer
	Ended      string        // why the optimizer ended
	Elapsed    time.Duration // of the whole fit
}

// Options are common to the methods with a covariance matrix. Bad ones give an
// error that wraps vssgp.ErrOptions, bad data one that wraps vssgp.ErrData.
type Options struct {
	// Covariance has the starting hyper-parameters; the zero value stands for one
	// squared exponential with a tenth of each input's range, times √Q.
	Covariance Covariance
	// NoisePrecision is the starting τ in 1/y² of the first output; 0 makes the
	// noise a hundredth of its variance.
	NoisePrecision float64
	// Iterations bounds the optimizer's steps; 0 stands for 300 of L-BFGS, or 2000
	// of SVGP; NoIterations keeps the starting values.
	Iterations int
	Seed       uint64               // of everything random; the same seed gives the same bits
	Progress   func(vssgp.Progress) // called now and then, from one goroutine
}

// NoIterations asks for the starting hyper-parameters and inducing inputs.
const NoIterations = vssgp.NoIterations
