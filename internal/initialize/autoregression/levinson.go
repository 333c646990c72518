package autoregression

import (
	"slices"

	"github.com/vssgp/vssgp/internal/simd"
)

// A Predictor contains the coefficients A [m+1] of order m, A[0] = 1, and their reverse.
type Predictor struct {
	A        []float64
	reversed []float64 // its last m+1 elements are the reverse of A
}

// NewPredictor returns the predictor of order 0 with capacity for the given order.
func NewPredictor(order int) Predictor {
	p := Predictor{make([]float64, 1, order+1), make([]float64, order+1)}
	p.A[0], p.reversed[order] = 1, 1
	return p
}

// backward returns the reverse of A.
func (p *Predictor) backward() []float64 { return p.reversed[len(p.reversed)-len(p.A):] }

// Reflect advances to the next order with reflection coefficient k, a ← (a, 0) + k·(0, reverse of a), and returns its product with r.
func (p *Predictor) Reflect(k float64, r []float64) float64 {
	p.A = append(p.A, 0)
	return simd.Reflect(p.A, p.backward(), r, k)
}

// Levinson runs Levinson's recursion for autocorrelation r. For each order m from 0 to len(r)−1 it calls each with the backward
// predictor b, the lags r_m, …, r_1 and the error variance e. It returns the coefficients a and their error variance. If r is not
// positive definite, a is shorter than r. With the Toeplitz matrix R of first row r, R a = (e, 0, …, 0) and R⁻¹ = Σ_m b_m b_mᵀ/e_m.
func Levinson(r []float64, each func(b, lags []float64, e float64)) (a []float64, e float64) {
	n, p, reversed, product := len(r), NewPredictor(len(r)-1), slices.Clone(r), 0.0
	slices.Reverse(reversed)
	if e = r[0]; n > 1 {
		product = r[1]
	}
	for e > 0 {
		m := len(p.A)
		each(p.backward(), reversed[n-m:n-1], e)
		k := -product / e
		left := 1 - k*k
		if m == n || !(left > 0) {
			break
		}
		e *= left
		lags := reversed[max(0, n-m-2):]
		product = p.Reflect(k, lags[:m+1]) // not needed at the last order
	}
	return p.A, e
}

// YuleWalker returns the model of order len(r)−1 with autocorrelation r, by Levinson's recursion. The model is stable, and its
// spectrum is smoother than a least-squares estimate, as the spectrum initialization requires.
func YuleWalker(r []float64) Model {
	r = slices.Clone(r)
	r[0] *= 1 + ridge
	a, e := Levinson(r, func(_, _ []float64, _ float64) {})
	return Model{A: append(a, make([]float64, len(r)-len(a))...), E: max(e, 0)}
}
