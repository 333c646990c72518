// Package blocktri is the host's linear algebra on spectral.Gram: Cholesky
// factor, log-determinant, solves and the stored blocks of the inverse of a
// symmetric positive definite block-tridiagonal matrix, O(V·M_v³) for V blocks
// of M_v features. One block is the dense case. The work is gonum's BLAS and
// LAPACK.
package blocktri

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

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
	r := spectral.NewGram(a.Offset)
	for v := range a.Blocks() {
		m := a.Size(v)
		if m == 0 {
			continue
		}
		copy(r.Diag[v], a.Diag[v])
		for i := range m {
			r.Diag[v][i*m+i] += lambda
		}
		if v > 0 && a.Size(v-1) > 0 {
			blas64.Syrk(blas.NoTrans, -1, general(r.Below[v-1], m, a.Size(v-1)), 1, symmetric(r.Diag[v], m))
		}
		if _, ok := lapack64.Potrf(symmetric(r.Diag[v], m)); !ok {
			return nil, fmt.Errorf("blocktri: block %d of %d: %w", v, a.Blocks(), ErrNotPositive)
		}
		for i := range m {
			clear(r.Diag[v][i*m+i+1 : (i+1)*m])
			if d := r.Diag[v][i*m+i]; math.IsNaN(d) || math.IsInf(d, 0) {
				return nil, fmt.Errorf("blocktri: pivot %d is %v: %w", a.Offset[v]+i, d, ErrNotPositive)
			}
		}
		if v+1 < a.Blocks() && a.Size(v+1) > 0 {
			copy(r.Below[v], a.Below[v])
			blas64.Trsm(blas.Right, blas.Trans, 1, triangular(r.Diag[v], m), general(r.Below[v], a.Size(v+1), m))
		}
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
			blas64.Gemm(blas.NoTrans, blas.NoTrans, -1, general(r.Below[v-1], r.Size(v), r.Size(v-1)), f.rows(b, v-1, n), 1, bv)
		}
		blas64.Trsm(blas.Left, blas.NoTrans, 1, triangular(r.Diag[v], r.Size(v)), bv)
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
			blas64.Gemm(blas.Trans, blas.NoTrans, -1, general(r.Below[v], r.Size(v+1), r.Size(v)), f.rows(b, v+1, n), 1, bv)
		}
		blas64.Trsm(blas.Left, blas.Trans, 1, triangular(r.Diag[v], r.Size(v)), bv)
	}
}

// Solve overwrites b [M,n] with A⁻¹b.
func (f *Factor) Solve(b []float64, n int) {
	f.SolveLower(b, n)
	f.SolveUpper(b, n)
}

// Inverse is A⁻¹ on the stored blocks: with Z = A⁻¹ and H_v = E_v L_v⁻¹,
//
//	Z_{v+1,v} = −Z_{v+1,v+1} H_v,   Z_vv = (L_v L_vᵀ)⁻¹ + H_vᵀ Z_{v+1,v+1} H_v
//
// from the last block up.
func (f *Factor) Inverse() *spectral.Gram {
	r := f.R
	z := spectral.NewGram(r.Offset)
	for v := r.Blocks() - 1; v >= 0; v-- {
		m := r.Size(v)
		if m == 0 {
			continue
		}
		copy(z.Diag[v], r.Diag[v])
		lapack64.Potri(triangular(z.Diag[v], m))
		fillUpper(z.Diag[v], m)
		if v+1 == r.Blocks() || r.Size(v+1) == 0 {
			continue
		}
		n := r.Size(v + 1)
		h := general(append([]float64(nil), r.Below[v]...), n, m)
		blas64.Trsm(blas.Right, blas.NoTrans, 1, triangular(r.Diag[v], m), h)
		below := general(z.Below[v], n, m)
		blas64.Gemm(blas.NoTrans, blas.NoTrans, -1, general(z.Diag[v+1], n, n), h, 0, below)
		blas64.Gemm(blas.Trans, blas.NoTrans, -1, h, below, 1, general(z.Diag[v], m, m))
		symmetrise(z.Diag[v], m)
	}
	return z
}

// rows is window v's part of b [M,n].
func (f *Factor) rows(b []float64, v, n int) blas64.General {
	return general(b[f.R.Offset[v]*n:f.R.Offset[v+1]*n], f.R.Size(v), n)
}

func general(a []float64, rows, cols int) blas64.General {
	return blas64.General{Rows: rows, Cols: cols, Stride: max(1, cols), Data: a}
}

func symmetric(a []float64, m int) blas64.Symmetric {
	return blas64.Symmetric{Uplo: blas.Lower, N: m, Stride: m, Data: a}
}

func triangular(a []float64, m int) blas64.Triangular {
	return blas64.Triangular{Uplo: blas.Lower, Diag: blas.NonUnit, N: m, Stride: m, Data: a}
}

func fillUpper(a []float64, m int) {
	for i := range m {
		for j := range i {
			a[j*m+i] = a[i*m+j]
		}
	}
}

// symmetrise replaces a by the mean of itself and its transpose, so that
// rounding leaves the two triangles equal.
func symmetrise(a []float64, m int) {
	for i := range m {
		for j := range i {
			s := 0.5 * (a[i*m+j] + a[j*m+i])
			a[i*m+j], a[j*m+i] = s, s
		}
	}
}
