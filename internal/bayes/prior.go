// Package bayes is the inference of hyper-parameters that all models share: log-normal priors, the Gaussian at the mode (Laplace's
// approximation), Fisher scoring, draws and Hamiltonian Monte Carlo. Predictions are averaged over draws (Mixture).
//
// A model gives an objective, log p(y, θ) as a function of coordinates v with its gradient. Coordinates are logarithms of positive
// parameters, or shifts of others, so that a Gaussian over them is a fair approximation.
package bayes

import (
	"fmt"
	"math"

	"github.com/vssgp/vssgp/internal/optimize/lbfgs"
)

// A Prior is log-normal: the coordinate log θ is N(log Median, SD²).
type Prior struct {
	Median float64 // of θ, in θ's units
	SD     float64 // of log θ
}

// Check reports a prior that is not proper.
func (p Prior) Check() error {
	if !(p.Median > 0) || math.IsInf(p.Median, 0) || !(p.SD > 0) || math.IsInf(p.SD, 0) {
		return fmt.Errorf("a log-normal prior with median %v and standard deviation of the logarithm %v; want positive numbers", p.Median,
			p.SD)
	}
	return nil
}

// Log is the log density of the coordinate v = log θ, and its slope there.
func (p Prior) Log(v float64) (value, slope float64) {
	z := (v - math.Log(p.Median)) / p.SD
	return -0.5*z*z - math.Log(p.SD) - 0.5*math.Log(2*math.Pi), -z / p.SD
}

// With adds the log priors of all coordinates to an objective.
func With(f lbfgs.Func, priors []Prior) lbfgs.Func {
	return func(v, gradient []float64) (float64, error) {
		value, err := f(v, gradient)
		if err != nil {
			return 0, err
		}
		for i, p := range priors {
			log, slope := p.Log(v[i])
			value += log
			gradient[i] += slope
		}
		return value, nil
	}
}
