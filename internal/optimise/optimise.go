// Package optimise raises a bound from where a start has put the parameters:
// which tensors move when (stages), the coordinates they move in, L-BFGS over
// all of them or window by window, and RMSPROP on mini-batches. What a run
// depends on is its data, its Settings and its State; from the three it goes on
// to the same bits.
package optimise

import (
	"fmt"
	"math"

	"github.com/vssgp/vssgp/variational"
)

// Begin takes the run to where its stages begin: to the coefficients' start, or
// to where a State stands if there is one.
func (r *Run) Begin(from *State) error {
	r.stages = r.Settings.stages(r.data.N, r.Params.M())
	for _, s := range r.stages {
		r.total += s.iterations
	}
	if r.needsCoefficients(r.stages) {
		if err := r.startCoefficients(); err != nil {
			return err
		}
	}
	return r.goOn(from)
}

// Optimise takes all stages and says why it ended. Whatever error it returns,
// Params then are the best so far.
func (r *Run) Optimise() (ended string, err error) {
	ended = "starting values kept"
	for ; r.at < len(r.stages) && err == nil; r.at++ {
		r.stage = r.stages[r.at]
		if r.stage.stochastic {
			ended, err = r.descend()
		} else {
			ended, err = r.ascend()
		}
	}
	r.Params.WrapPhases()
	return ended, err
}

// goOn takes the run to where a State stands, if there is one.
func (r *Run) goOn(s *State) error {
	if s == nil {
		return nil
	}
	if s.Stage >= len(r.stages) || s.Iterations > r.total {
		return fmt.Errorf("vssgp: the checkpoint stands at stage %d, iteration %d, of %d and %d: %w", s.Stage, s.Iterations, len(r.stages), r.total, ErrState)
	}
	r.from, r.Taken, r.at = s, s.Iterations, s.Stage
	return nil
}

// Evaluate is the bound at the end, with the posterior of exact inference. The
// rows' context no longer ends it: an interrupted fit comes back whole.
func (r *Run) Evaluate() (*variational.Evaluation, error) {
	r.Rows.Finish()
	e, err := r.Rows.Evaluate(r.Params, r.Inference, nil, false)
	if err != nil {
		return nil, err
	}
	r.Bound = e.Bound
	return e, nil
}

// Criterion takes the run to its end and is the bound there less one nat for each
// point estimate, by which it is higher in the mean on the data that it was raised
// on than on others (Akaike 1974): the bound integrates over frequencies and
// coefficients alone.
func (r *Run) Criterion() (float64, error) {
	if err := r.Begin(nil); err != nil {
		return 0, err
	}
	if _, err := r.Optimise(); err != nil {
		return 0, err
	}
	if _, err := r.Evaluate(); err != nil {
		return 0, err
	}
	return r.Bound - float64(r.PointEstimates()), nil
}

// PointEstimates is how many numbers of the covariance and the noise the run
// estimates by a point.
func (r *Run) PointEstimates() int {
	free := r.unfixed(hyperparameters)
	if r.Params.FreqVar[0] == 0 && r.Method == variational.SSGP {
		free = append(free, variational.FrequencyMean)
	}
	return NewCoordinates(r.Params, free, r.Ties, r.reach()).n
}

// noiseShare is the share of the data's variance beyond which the noise is
// taken to have swallowed everything.
const noiseShare = 0.98

// Collapsed recognises the two bad optima: everything explained as noise, and
// features so short that they touch one row each, of data whose rows lie step
// apart; 0 where they lie on no grid. It says which, or nothing.
func (r *Run) Collapsed(step float64) string {
	p, variance := r.Params, r.Rows.MeanSquare()
	switch {
	case variance == 0:
		return "" // the data are constant: there is nothing to explain
	case 1/p.NoisePrecision[0] > noiseShare*variance:
		return "all of the data taken for noise"
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
