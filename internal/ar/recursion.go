package ar

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// A recursion is Levinson's for a symmetric positive definite Toeplitz matrix with first row r: after m steps a [m+1], a_0 = 1,
// are the coefficients with R a = (e, 0, …, 0), where R has m+1 rows. With s the reverse of a, the next ones are
//
//	(a, 0) + k·(0, s),   k = −Σ_j a_j r_{m+1−j} / e.
type recursion struct {
	r        []float64 // reversed
	a        []float64
	reversed []float64 // of a, at its end; one longer at every step
	e        float64
	work     []float64
}

func newRecursion(r []float64) *recursion {
	n := len(r)
	l := &recursion{make([]float64, n), make([]float64, 1, n), make([]float64, n), r[0], make([]float64, n)}
	for i, v := range r {
		l.r[n-1-i] = v
	}
	l.a[0], l.reversed[n-1] = 1, 1
	return l
}

// backward is the reverse of a.
func (l *recursion) backward() []float64 { return l.reversed[len(l.reversed)-len(l.a):] }

// step goes on to the next order, or reports false where the matrix is not positive definite or has no further row.
func (l *recursion) step() bool {
	m, n := len(l.a), len(l.r)
	if m >= n {
		return false
	}
	k := -floats.Dot(l.a, l.r[n-1-m:n-1]) / l.e
	left := 1 - k*k
	if !(left > 0) {
		return false
	}
	l.e *= left
	s := l.reversed[n-m-1:] // a 0 before the reverse of a
	copy(l.work, l.a)
	l.work[m] = 0
	l.a = append(l.a, 0)
	floats.AddScaled(l.a, k, s)
	floats.AddScaled(s, k, l.work[:m+1])
	return true
}

// toeplitz solves R x = y in place for the matrix with first row r, and returns the diagonal of R⁻¹. To each of draws, which
// are independent standard normal numbers, it does what makes their covariance R⁻¹. It reports whether R is positive definite.
//
// Each order's backward predictor b_m, of errors e_m, is orthogonal to the earlier ones: R⁻¹ = Σ_m b_m b_mᵀ/e_m. The diagonal is
// Gohberg's and Semencul's, from the last order alone.
func toeplitz(r, y []float64, draws [][]float64) (diagonal []float64, ok bool) {
	n := len(r)
	if n == 0 || !(r[0] > 0) {
		return nil, n == 0
	}
	l := newRecursion(r)
	x := make([]float64, n)
	sums := make([][]float64, len(draws))
	for i := range sums {
		sums[i] = make([]float64, n)
	}
	for m := range n {
		if m > 0 && !l.step() {
			return nil, false
		}
		b := l.backward()
		q := (y[m] - floats.Dot(x[:m], l.r[n-1-m:n-1])) / l.e
		floats.AddScaled(x[:m+1], q, b)
		for i, d := range draws {
			floats.AddScaled(sums[i][:m+1], d[m]/math.Sqrt(l.e), b)
		}
	}
	copy(y, x)
	for i, d := range draws {
		copy(d, sums[i])
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
