// Package bayes implements inference of hyper-parameters: log-normal priors, Laplace approximation and Fisher scoring.
// Predictions are averaged over draws (Mixture).
//
// A model provides an objective: log p(y, θ) and its gradient as a function of coordinates v. Coordinates are logarithms of positive
// parameters, or other parameters up to a shift, so that the posterior is approximately Gaussian.
package bayes

import (
	"fmt"
	"math"
)

// A Prior is a log-normal prior: log θ ~ N(log Median, SD²).
type Prior struct {
	Median float64 // of θ, in units of θ
	SD     float64 // of log θ
}

// Check returns an error if Median or SD is not positive and finite.
func (p Prior) Check() error {
	if !(p.Median > 0) || math.IsInf(p.Median, 0) || !(p.SD > 0) || math.IsInf(p.SD, 0) {
		return fmt.Errorf("log-normal prior has median %v and standard deviation %v of the logarithm, both must be positive and finite",
			p.Median, p.SD)
	}
	return nil
}

// Log returns the log density of the coordinate v = log θ and its derivative.
func (p Prior) Log(v float64) (value, slope float64) {
	z := (v - math.Log(p.Median)) / p.SD
	return -0.5*z*z - math.Log(p.SD) - 0.5*math.Log(2*math.Pi), -z / p.SD
}
