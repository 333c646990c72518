package main

import (
	"context"
	"math"

	"github.com/vssgp/vssgp"
)

// meanLogDensity is the mean over the rows of log N(y_n; mean_n, Cov_n), the
// outputs of a row jointly; NaN where a covariance is not positive definite.
func meanLogDensity(ctx context.Context, p *vssgp.Prediction, y []float64) (float64, error) {
	rows, err := p.LogDensityContext(ctx, y)
	if ctx.Err() != nil {
		return 0, err
	}
	if err != nil {
		return math.NaN(), nil
	}
	sum := 0.0
	for _, v := range rows {
		sum += v
	}
	return sum / float64(p.N), nil
}
