// Package blocktri is the host's linear algebra on spectral.Gram: Cholesky
// factor, log-determinant, solves and the stored blocks of the inverse of a
// symmetric positive definite block-tridiagonal matrix, O(V·M_v³) for V blocks
// of M_v features. One block is the dense case. Factor and inverse are made of
// the kernels of package simd, in the matrix's own room and with the same bits
// for any number of goroutines; the solves are gonum's.
package blocktri

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/vssgp/vssgp/spectral"
)

// ErrNotPositive is wrapped where a matrix has no Cholesky factor.
var ErrNotPositive = spectral.ErrNotPositive

// Factor is the Cholesky factor of A with its blocks eliminated from both ends
// towards the one in the middle, each end by a goroutine of its own: down from
// block 0,
//
//	L_v L_vᵀ = A_vv − E_{v−1} E_{v−1}ᵀ,   E_v = A_{v+1,v} L_v⁻ᵀ
//
// up from the last one with the neighbours' parts exchanged,
//
//	L_v L_vᵀ = A_vv − F_v F_vᵀ,   F_{v−1} = A_{v−1,v} L_v⁻ᵀ
//
// and in the middle less both products. With R's rows and columns in that
// order A = R Rᵀ, exactly; where the middle is the last block R is A's factor
// as it is usually written. R keeps L_v in Diag (upper triangle zero), E_v and
// F_vᵀ in Below. One end meets the other once, so no blocks fill in and both
// take half the time.
type Factor struct {
	R      *spectral.Gram
	Middle int
}

// Clone is a copy.
func (f *Factor) Clone() *Factor { return &Factor{R: f.R.Clone(), Middle: f.Middle} }

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
	for v := range f.Middle {
		f.divide(blas.NoTrans, b, v, n)
		f.take(blas.NoTrans, b, v+1, v, n)
	}
	for v := r.Blocks() - 1; v > f.Middle; v-- {
		f.divide(blas.NoTrans, b, v, n)
		f.take(blas.Trans, b, v-1, v, n)
	}
	f.divide(blas.NoTrans, b, f.Middle, n)
}

// SolveUpper overwrites b [M,n] with R⁻ᵀb.
func (f *Factor) SolveUpper(b []float64, n int) {
	f.divide(blas.Trans, b, f.Middle, n)
	for v := f.Middle - 1; v >= 0; v-- {
		f.take(blas.Trans, b, v, v+1, n)
		f.divide(blas.Trans, b, v, n)
	}
	for v := f.Middle + 1; v < f.R.Blocks(); v++ {
		f.take(blas.NoTrans, b, v, v-1, n)
		f.divide(blas.Trans, b, v, n)
	}
}

// divide overwrites window v's part of b by L_v⁻¹, or L_v⁻ᵀ, times it.
func (f *Factor) divide(t blas.Transpose, b []float64, v, n int) {
	if bv := f.rows(b, v, n); bv.Rows > 0 {
		solve(t, triangular(f.R.Diag[v], bv.Rows), bv)
	}
}

// take takes from window to's part of b the block of R between it and its
// neighbour, transposed or not, times the neighbour's part.
func (f *Factor) take(t blas.Transpose, b []float64, to, from, n int) {
	low := min(to, from)
	below := general(f.R.Below[low], f.R.Size(low+1), f.R.Size(low))
	if below.Rows > 0 && below.Cols > 0 {
		takeProduct(t, below, f.rows(b, from, n), f.rows(b, to, n))
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
