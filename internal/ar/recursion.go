package ar

import (
	"math"
	"slices"

	"github.com/vssgp/vssgp/internal/simd"
	"gonum.org/v1/gonum/floats"
)

// A predictor contains the coefficients a [m+1] of order m, a_0 = 1, and their reverse.
type predictor struct {
	a        []float64
	reversed []float64 // its last m+1 elements are the reverse of a
}

// newPredictor returns the predictor of order 0 with capacity for the given order.
func newPredictor(order int) predictor {
	p := predictor{make([]float64, 1, order+1), make([]float64, order+1)}
	p.a[0], p.reversed[order] = 1, 1
	return p
}

// backward returns the reverse of a.
func (p *predictor) backward() []float64 { return p.reversed[len(p.reversed)-len(p.a):] }

// reflect advances to the next order with reflection coefficient k, a ← (a, 0) + k·(0, reverse of a), and returns its product with r.
func (p *predictor) reflect(k float64, r []float64) float64 {
	p.a = append(p.a, 0)
	return simd.Reflect(p.a, p.backward(), r, k)
}

// levinson runs Levinson's recursion for autocorrelation r. For each order m from 0 to len(r)−1 it calls each with the backward
// predictor b, the lags r_m, …, r_1 and the error variance e. It returns the coefficients a and their error variance. If r is not
// positive definite, a is shorter than r. With the Toeplitz matrix R of first row r, R a = (e, 0, …, 0) and R⁻¹ = Σ_m b_m b_mᵀ/e_m.
func levinson(r []float64, each func(b, lags []float64, e float64)) (a []float64, e float64) {
	n, p, reversed, product := len(r), newPredictor(len(r)-1), slices.Clone(r), 0.0
	slices.Reverse(reversed)
	if e = r[0]; n > 1 {
		product = r[1]
	}
	for e > 0 {
		m := len(p.a)
		each(p.backward(), reversed[n-m:n-1], e)
		k := -product / e
		left := 1 - k*k
		if m == n || !(left > 0) {
			break
		}
		e *= left
		lags := reversed[max(0, n-m-2):]
		product = p.reflect(k, lags[:m+1]) // not needed at the last order
	}
	return p.a, e
}

// YuleWalker returns the model of order len(r)−1 with autocorrelation r, by Levinson's recursion. The model is stable, and its
// spectrum is smoother than a least-squares estimate, as the spectrum initialization requires.
func YuleWalker(r []float64) Model {
	r = slices.Clone(r)
	r[0] *= 1 + ridge
	a, e := levinson(r, func(_, _ []float64, _ float64) {})
	return Model{A: append(a, make([]float64, len(r)-len(a))...), E: max(e, 0)}
}

// Whitening returns the rows of L⁻¹ up to the diagonal, where L Lᵀ is the Toeplitz matrix with first row r. The rows are the backward
// predictors divided by their error standard deviations. It returns nil if the matrix is not positive definite.
func Whitening(r []float64) (rows [][]float64) {
	levinson(r, func(b, _ []float64, e float64) {
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
	a, e := levinson(r, func(b, lags []float64, e float64) { // x[:m] is the solution of order m, x[m:] the input
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
