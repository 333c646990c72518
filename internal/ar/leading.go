package ar

import (
	"github.com/vssgp/vssgp/cpu/simd"
	"gonum.org/v1/gonum/floats"
)

// Covers returns Σ_i a_i a_{i+j} for so many j from 0: what the prediction errors of two samples j apart have in common, if p samples
// follow them.
func (m Model) Covers(n int) []float64 {
	r := make([]float64, n)
	for j := range min(n, len(m.A)) {
		r[j] = simd.Dot(m.A[:len(m.A)-j], m.A[j:])
	}
	return r
}

// A Toeplitz solves R x = h for the leading parts of a symmetric positive definite Toeplitz matrix.
type Toeplitz struct {
	backward [][]float64
	// Errors are those of predicting the m-th number from those before it; the product of the first m is the determinant of the leading part
	// of m rows.
	Errors []float64
}

// NewToeplitz takes the matrix with first row r. It has fewer rows where that is singular in float64.
func NewToeplitz(r []float64) *Toeplitz {
	l, t := newRecursion(r), &Toeplitz{}
	for k := range r {
		if k > 0 && !l.step() {
			break
		}
		t.backward = append(t.backward, append([]float64(nil), l.backward()...))
		t.Errors = append(t.Errors, l.e)
	}
	return t
}

// Solve puts R⁻¹h into x, of h's length.
func (t *Toeplitz) Solve(x, h []float64) {
	clear(x)
	for m := range h {
		b := t.backward[m]
		floats.AddScaled(x[:m+1], simd.Dot(h[:m+1], b)/t.Errors[m], b)
	}
}
