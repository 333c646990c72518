package ar

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/vssgp/vssgp/internal/initialize/autoregression"
	"github.com/vssgp/vssgp/internal/simd"
)

// Whitening returns the rows of L⁻¹ up to the diagonal, where L Lᵀ is the Toeplitz matrix with first row r. The rows are the backward
// predictors divided by their error standard deviations. It returns nil if the matrix is not positive definite.
func Whitening(r []float64) (rows [][]float64) {
	autoregression.Levinson(r, func(b, _ []float64, e float64) {
		row := slices.Clone(b)
		floats.Scale(1/math.Sqrt(e), row)
		rows = append(rows, row)
	})
	if len(rows) < len(r) {
		return nil
	}
	return rows
}

// toeplitz solves R x = right in place for the Toeplitz matrix R with first row r, and returns the diagonal of R⁻¹ (Gohberg and
// Semencul). It transforms draws of standard normal variables in place so that their covariance is R⁻¹. ok is false if R is not
// positive definite.
func toeplitz(r, right []float64, draws [][]float64) (diagonal []float64, ok bool) {
	n := len(r)
	a, e := autoregression.Levinson(r, func(b, lags []float64, e float64) { // x[:m] is the solution of order m, x[m:] the input
		m := len(lags)
		next := func(x []float64, scale float64) {
			x[m] = 0
			floats.AddScaled(x[:m+1], scale, b)
		}
		next(right, (right[m]-simd.Dot(right[:m], lags))/e)
		for _, x := range draws {
			next(x, x[m]/math.Sqrt(e))
		}
	})
	if len(a) < n || !(e > 0) {
		return nil, false
	}
	diagonal = make([]float64, n)
	sum := 0.0
	for i, v := range a {
		sum += v * v
		if i > 0 {
			sum -= a[n-i] * a[n-i]
		}
		diagonal[i] = sum / e
	}
	return diagonal, true
}
