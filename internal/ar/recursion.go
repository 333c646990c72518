package ar

import (
	"math"
	"slices"

	"github.com/vssgp/vssgp/internal/simd"
	"gonum.org/v1/gonum/floats"
)

// A predictor has the coefficients a [m+1] of order m, a_0 = 1, and their reverse.
type predictor struct {
	a        []float64
	reversed []float64 // at its end; one longer at every order
}

// newPredictor returns order 0 with space up to an order.
func newPredictor(order int) predictor {
	p := predictor{make([]float64, 1, order+1), make([]float64, order+1)}
	p.a[0], p.reversed[order] = 1, 1
	return p
}

// backward is the reverse of a.
func (p *predictor) backward() []float64 { return p.reversed[len(p.reversed)-len(p.a):] }

// reflect goes on to the next order with reflection coefficient k, (a, 0) + k·(0, reverse of a), and returns its product with r.
func (p *predictor) reflect(k float64, r []float64) float64 {
	p.a = append(p.a, 0)
	return simd.Reflect(p.a, p.backward(), r, k)
}

// A recursion is Levinson's for a symmetric positive definite Toeplitz matrix with first row r: R a = (e, 0, …, 0), where R has as
// many rows as a.
type recursion struct {
	predictor
	r       []float64 // reversed
	e       float64
	product float64 // Σ_j a_j r_{m+1−j}
}

func newRecursion(r []float64) *recursion {
	l := &recursion{newPredictor(len(r) - 1), slices.Clone(r), r[0], 0}
	slices.Reverse(l.r)
	if len(r) > 1 {
		l.product = r[1]
	}
	return l
}

// lags returns r_m … r_1 for m lags.
func (l *recursion) lags(m int) []float64 { return l.r[len(l.r)-1-m : len(l.r)-1] }

// step goes on to the next order, or reports false where the matrix is not positive definite.
func (l *recursion) step() bool {
	k := -l.product / l.e
	left := 1 - k*k
	if !(left > 0) {
		return false
	}
	l.e *= left
	if m := len(l.a) + 1; m < len(l.r) {
		l.product = l.reflect(k, l.lags(m))
	} else {
		l.reflect(k, l.r)
	}
	return true
}

// toeplitz solves R x = y in place, for each y, where R has first row r, and returns the diagonal of R⁻¹. To each of draws, which
// are independent standard normal numbers, it does what makes their covariance R⁻¹. It reports whether R is positive definite.
//
// Each order's backward predictor b_m, of errors e_m, is orthogonal to the earlier ones: R⁻¹ = Σ_m b_m b_mᵀ/e_m. The diagonal is
// Gohberg's and Semencul's, from the last order alone.
func toeplitz(r []float64, right, draws [][]float64) (diagonal []float64, ok bool) {
	n := len(r)
	if !(r[0] > 0) {
		return nil, false
	}
	l := newRecursion(r)
	zeros := func(like [][]float64) [][]float64 {
		out := make([][]float64, len(like))
		for i := range out {
			out[i] = make([]float64, n)
		}
		return out
	}
	solutions, sums := zeros(right), zeros(draws)
	for m := range n {
		if m > 0 && !l.step() {
			return nil, false
		}
		b := l.backward()
		for i, x := range solutions {
			q := (right[i][m] - simd.Dot(x[:m], l.lags(m))) / l.e
			floats.AddScaled(x[:m+1], q, b)
		}
		for i, d := range draws {
			floats.AddScaled(sums[i][:m+1], d[m]/math.Sqrt(l.e), b)
		}
	}
	for i, x := range solutions {
		copy(right[i], x)
	}
	for i, x := range sums {
		copy(draws[i], x)
	}
	diagonal = make([]float64, n)
	sum := 0.0
	for i, v := range l.a {
		sum += v * v
		if i > 0 {
			sum -= l.a[n-i] * l.a[n-i]
		}
		diagonal[i] = sum / l.e
	}
	return diagonal, true
}
