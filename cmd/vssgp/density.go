package main

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp"
)

// meanLogDensity is the mean over the rows of log N(y_n; mean_n, Cov_n), the
// outputs of a row jointly; NaN where a covariance is not positive definite.
func meanLogDensity(p *vssgp.Prediction, y []float64) float64 {
	d := p.D
	sum := 0.0
	diff := mat.NewVecDense(d, nil)
	var chol mat.Cholesky
	for n := range p.N {
		if !chol.Factorize(mat.NewSymDense(d, p.Cov[n*d*d:][:d*d])) {
			return math.NaN()
		}
		for i := range d {
			diff.SetVec(i, y[n*d+i]-p.Mean[n*d+i])
		}
		var solved mat.VecDense
		if err := chol.SolveVecTo(&solved, diff); err != nil {
			return math.NaN()
		}
		sum -= 0.5 * (float64(d)*math.Log(2*math.Pi) + chol.LogDet() + mat.Dot(diff, &solved))
	}
	return sum / float64(p.N)
}
