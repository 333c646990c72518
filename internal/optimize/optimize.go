// Package optimize maximizes a bound from initial parameters. It defines the stages of an
// optimization with their free tensors, the transform between parameters and unconstrained
// coordinates (Coordinates), L-BFGS over all coordinates or per window, and RMSProp on
// mini-batches. A run depends only on its data, its Settings and its State, and a resumed run
// gives the same bits.
package optimize

import (
	"fmt"
	"math"

	"github.com/vssgp/vssgp/variational"
)

// Begin lists the run's stages, initializes the coefficients and, if from is not nil, prepares to
// resume from it.
func (r *Run) Begin(from *State) error {
	r.stages = r.Settings.stages(r.data.N, r.Params.M())
	for _, s := range r.stages {
		r.Total += s.iterations
	}
	if r.needsCoefficients(r.stages) {
		if err := r.startCoefficients(); err != nil {
			return err
		}
	}
	if from == nil {
		return nil
	}
	if from.Stage >= len(r.stages) || from.Iterations > r.Total {
		return fmt.Errorf("the checkpoint is at stage %d, iteration %d, of %d and %d: %w", from.Stage, from.Iterations,
			len(r.stages), r.Total, ErrState)
	}
	r.from, r.Taken, r.at = from, from.Iterations, from.Stage
	return nil
}

// Optimize runs all stages and returns why the run ended. Params are the best so far, even if it
// returns an error.
func (r *Run) Optimize() (ended string, err error) {
	ended = "starting values kept"
	for ; r.at < len(r.stages) && err == nil; r.at++ {
		ended, err = r.take(r.stages[r.at])
	}
	r.Params.WrapPhases()
	return ended, err
}

// take runs or resumes a stage.
func (r *Run) take(s stage) (ended string, err error) {
	r.stage, r.begun = s, r.Params.Clone()
	from := &State{}
	if r.from != nil {
		from, r.from = r.from, nil
		r.begun = from.Begun
	}
	c := r.coordinates(r.begun, s.free, r.Inference == variational.Exact && !s.stochastic)
	switch {
	case c.n == 0:
		return "nothing to optimize", r.ctx.Err()
	case s.stochastic:
		return r.descend(c, from)
	}
	return r.ascend(c, from)
}

// coordinates returns the coordinates of the running stage, or of all hyper-parameters, relative to p.
func (r *Run) coordinates(p *variational.Params, free []string, exact bool) *Coordinates {
	c := NewCoordinates(p, free, r.Ties, r.reach())
	c.level = r.Rows.NoiseLevel(r.Params, exact)
	c.setPriors(p, r.Priors)
	return c
}

// LogPrior returns the log density of the run's free hyper-parameters, at their current values, under their priors.
func (r *Run) LogPrior() float64 {
	c := r.coordinates(r.Params, r.unfixed(hyperparameters), r.Inference == variational.Exact)
	v := make([]float64, c.n)
	c.read(v, r.Params)
	return c.logPrior(c.spans, v, nil, 1)
}

// levelReached is the maximum ratio of the noise to the noise level at which the level may limit
// the noise. It does if the derivative of the bound per observed number with respect to log τ
// exceeds levelSlope nats. With noise in the data the derivative is .01, without noise .12 to .5
// (TestNoiseless).
const levelReached, levelSlope = 2, 0.05

// NoiseFloor returns the smallest noise variance that float64 can resolve if the noise has
// reached it, else 0.
func (r *Run) NoiseFloor() float64 {
	p := r.Params
	level := r.Rows.NoiseLevel(p, r.Inference == variational.Exact).At(p)
	if tau := p.NoisePrecision[0]; 1/tau <= levelReached*level {
		e, err := r.Rows.Evaluate(p, r.Inference, nil, true)
		if err == nil && tau*e.Gradient.NoisePrecision[0] > levelSlope*float64(r.Rows.N*r.Rows.D) {
			return level
		}
	}
	return 0
}

// Evaluate returns the final bound, with the posterior of exact inference. The rows' context no
// longer stops it, so that an interrupted fit has a complete model.
func (r *Run) Evaluate() (*variational.Evaluation, error) {
	r.Rows.Finish()
	e, err := r.Rows.Evaluate(r.Params, r.Inference, nil, false)
	if err != nil {
		return nil, err
	}
	r.Bound = e.Bound
	return e, nil
}

// Criterion performs the run and returns its bound minus one nat per point estimate. On average
// the bound of the fitted data exceeds the bound of other data by that much (Akaike 1974), since it
// integrates only over frequencies and coefficients.
func (r *Run) Criterion() (float64, error) {
	if err := r.Begin(nil); err != nil {
		return 0, err
	}
	if _, err := r.Optimize(); err != nil {
		return 0, err
	}
	if _, err := r.Evaluate(); err != nil {
		return 0, err
	}
	return r.Bound - float64(r.PointEstimates()), nil
}

// PointEstimates returns the number of parameters of the covariance and the noise
// that have point estimates.
func (r *Run) PointEstimates() int {
	free := r.unfixed(hyperparameters)
	if r.Params.FreqVar[0] == 0 && r.Method == variational.SSGP {
		free = append(free, r.unfixed([]string{variational.FrequencyMean})...)
	}
	return NewCoordinates(r.Params, free, r.Ties, r.reach()).n
}

// noiseShare is the fraction of the data's variance above which a fit reports that the model
// explains all of the data as noise.
const noiseShare = 0.98

// Collapsed names the bad optimum in which the run has ended, or "" for none: everything is
// explained as noise, or most features are shorter than the distance between rows. step is this
// distance, or 0 if the rows are not on a grid.
func (r *Run) Collapsed(step float64) string {
	p, variance := r.Params, r.Rows.MeanSquare()
	switch {
	case variance == 0:
		return "" // the data are constant: there is nothing to explain
	case 1/p.NoisePrecision[0] > noiseShare*variance:
		return "all of the data explained as noise"
	case step == 0:
		return ""
	}
	short := 0
	for k := range p.M() {
		l := p.Lengthscale[(k/p.K)*p.Q]
		if l/math.Sqrt(p.FreqVar[k*p.Q]) < step {
			short++
		}
	}
	if 2*short > p.M() {
		return "most features reach less than one step of x"
	}
	return ""
}
