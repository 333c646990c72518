package main

import (
	"math"

	"github.com/vssgp/vssgp"
)

// meanLogDensity is the mean over the rows of log N(y_n; mean_n, Cov_n), the
// outputs of a row jointly; NaN where a covariance is not positive definite.
func meanLogDensity(p *vssgp.Prediction, y []float64) float64 {
	rows, err := p.LogDensity(y)
	if err != nil {
		return math.NaN()
	}
	sum := 0.0
	for _, v := range rows {
		sum += v
	}
	return sum / float64(p.N)
}
