// Package blocktri is the host's linear algebra on spectral.Gram: Cholesky
// factor, log-determinant, solves and the stored blocks of the inverse of a
// symmetric positive definite block-tridiagonal matrix, O(V·M_v³) for V blocks
// of M_v features. One block is the dense case. Factor and inverse are made of
// the kernels of package simd, with the same bits for any number of goroutines;
// the solves are gonum's.
package blocktri

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/vssgp/vssgp/cpu/simd"
	"github.com/vssgp/vssgp/spectral"
)

// ErrNotPositive is wrapped where a matrix has no Cholesky factor.
var ErrNotPositive = errors.New("matrix is not positive definite")

// Factor is the Cholesky factor of A = R Rᵀ: R has lower-triangular diagonal
// blocks L_v and full blocks E_v below them,
//
//	L_v L_vᵀ = A_vv − E_{v−1} E_{v−1}ᵀ,   E_v = A_{v+1,v} L_v⁻ᵀ
//
// Both are kept in a Gram: L_v in Diag (upper triangle zero), E_v in Below.
type Factor struct{ R *spectral.Gram }

// Factorise factors A + λI. A keeps its value.
func Factorise(a *spectral.Gram, lambda float64) (*Factor, error) {
	w := borrow()
	defer w.back()
	r := spectral.NewGram(a.Offset)
	var left simd.Panels // E_{v−1}ᵀ; none where Count is 0
	for v := range a.Blocks() {
		m := a.Size(v)
		if m == 0 {
			left.Count = 0
			continue
		}
		copy(r.Diag[v], a.Diag[v])
		for i := range m {
			r.Diag[v][i*m+i] += lambda
		}
		c, ld := w.square(r.Diag[v], m)
		if left.Count > 0 {
			w.jobs(left.Count, func(lo, hi int) { simd.Downdate(c, ld, left, lo, hi) })
		}
		if bad := w.dense(ld).Cholesky(c, ld, ld); bad >= 0 {
			return nil, fmt.Errorf("blocktri: block %d of %d, pivot %d: %w", v, a.Blocks(), a.Offset[v]+bad, ErrNotPositive)
		}
		left.Count = 0
		if v+1 < a.Blocks() && a.Size(v+1) > 0 {
			left = w.left.room(a.Size(v+1), m)
			transpose(left, a.Below[v], a.Size(v+1), m)
			w.dense(ld).SolveLower(left, c, ld)
			transposeBack(r.Below[v], left, a.Size(v+1), m)
		}
		unpad(r.Diag[v], m, c, ld)
	}
	return &Factor{R: r}, nil
}

// LogDet is log|A|.
func (f *Factor) LogDet() float64 {
	s := 0.0
	for v, d := range f.R.Diag {
		m := f.R.Size(v)
		for i := range m {
			s += math.Log(d[i*m+i])
		}
	}
	return 2 * s
}

// SolveLower overwrites b [M,n] with R⁻¹b.
func (f *Factor) SolveLower(b []float64, n int) {
	r := f.R
	for v := range r.Blocks() {
		bv := f.rows(b, v, n)
		if bv.Rows == 0 {
			continue
		}
		if v > 0 && r.Size(v-1) > 0 {
			takeProduct(blas.NoTrans, general(r.Below[v-1], r.Size(v), r.Size(v-1)), f.rows(b, v-1, n), bv)
		}
		solve(blas.NoTrans, triangular(r.Diag[v], r.Size(v)), bv)
	}
}

// SolveUpper overwrites b [M,n] with R⁻ᵀb.
func (f *Factor) SolveUpper(b []float64, n int) {
	r := f.R
	for v := r.Blocks() - 1; v >= 0; v-- {
		bv := f.rows(b, v, n)
		if bv.Rows == 0 {
			continue
		}
		if v+1 < r.Blocks() && r.Size(v+1) > 0 {
			takeProduct(blas.Trans, general(r.Below[v], r.Size(v+1), r.Size(v)), f.rows(b, v+1, n), bv)
		}
		solve(blas.Trans, triangular(r.Diag[v], r.Size(v)), bv)
	}
}

// Solve overwrites b [M,n] with A⁻¹b.
func (f *Factor) Solve(b []float64, n int) {
	f.SolveLower(b, n)
	f.SolveUpper(b, n)
}

// takeProduct takes E·b, or Eᵀ·b, from c. For one column gonum's product with
// a vector is many times faster than with a matrix.
func takeProduct(t blas.Transpose, e, b, c blas64.General) {
	if b.Cols == 1 {
		blas64.Gemv(t, -1, e, vector(b), 1, vector(c))
		return
	}
	blas64.Gemm(t, blas.NoTrans, -1, e, b, 1, c)
}

// solve overwrites b with L⁻¹b, or L⁻ᵀb.
func solve(t blas.Transpose, l blas64.Triangular, b blas64.General) {
	if b.Cols == 1 {
		blas64.Trsv(t, l, vector(b))
		return
	}
	blas64.Trsm(blas.Left, t, 1, l, b)
}

// vector is a matrix of one column.
func vector(a blas64.General) blas64.Vector {
	return blas64.Vector{N: a.Rows, Data: a.Data, Inc: 1}
}

// rows is window v's part of b [M,n].
func (f *Factor) rows(b []float64, v, n int) blas64.General {
	return general(b[f.R.Offset[v]*n:f.R.Offset[v+1]*n], f.R.Size(v), n)
}

func general(a []float64, rows, cols int) blas64.General {
	return blas64.General{Rows: rows, Cols: cols, Stride: max(1, cols), Data: a}
}

func triangular(a []float64, m int) blas64.Triangular {
	return blas64.Triangular{Uplo: blas.Lower, Diag: blas.NonUnit, N: m, Stride: m, Data: a}
}
