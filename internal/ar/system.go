package ar

import (
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/vssgp/vssgp/cpu/simd"
)

// A system is a symmetric positive definite matrix to solve with. Its condition
// number does not matter here, since near-solutions predict as well.
type system interface {
	// entries are where the lower triangle is written: (i, j) at i·row + j·col.
	entries() (data []float64, row, col int)
	// solve overwrites b by the solution with ridge added to the diagonal, or
	// reports false and leaves b as it is.
	solve(b []float64, ridge float64) bool
}

// newSystem is a zero matrix of n rows whose entries further than band from the
// diagonal stay zero.
func newSystem(n, band int) system {
	if 4*band >= n { // then so much faster that the zeros do not count
		return newDense(n)
	}
	return newBanded(n, band)
}

// dense is a whole matrix, factored by the kernels of package simd.
type dense struct {
	a     []float64 // [ld,ld], lower triangle; beyond n the identity
	n, ld int
}

func newDense(n int) dense {
	ld := (n + simd.Lanes - 1) / simd.Lanes * simd.Lanes
	d := dense{simd.Aligned(ld * ld), n, ld}
	for i := n; i < ld; i++ {
		d.a[i*ld+i] = 1
	}
	return d
}

// lower is row i up to the diagonal.
func (d dense) lower(i int) []float64 { return d.a[i*d.ld:][:i+1] }

func (d dense) entries() (data []float64, row, col int) { return d.a, d.ld, 1 }

func (d dense) solve(b []float64, ridge float64) bool {
	l := simd.Aligned(len(d.a))
	copy(l, d.a)
	for i := range d.n {
		l[i*d.ld+i] += ridge
	}
	if simd.NewDense(1).Cholesky(l, d.ld, d.ld) >= 0 {
		return false
	}
	t := blas64.Triangular{Uplo: blas.Lower, Diag: blas.NonUnit, N: d.n, Stride: d.ld, Data: l}
	x := blas64.Vector{N: d.n, Data: b, Inc: 1}
	blas64.Trsv(blas.NoTrans, t, x)
	blas64.Trsv(blas.Trans, t, x)
	return true
}

// banded has its upper triangle's diagonals side by side, as LAPACK has them.
type banded struct{ blas64.SymmetricBand }

func newBanded(n, band int) banded {
	return banded{blas64.SymmetricBand{Uplo: blas.Upper, N: n, K: band, Stride: band + 1, Data: make([]float64, n*(band+1))}}
}

func (s banded) entries() (data []float64, row, col int) { return s.Data, 1, s.K }

func (s banded) solve(b []float64, ridge float64) bool {
	l := s.SymmetricBand
	l.Data = slices.Clone(s.Data)
	for i := range l.N {
		l.Data[i*l.Stride] += ridge
	}
	t, ok := lapack64.Pbtrf(l)
	if !ok {
		return false
	}
	lapack64.Pbtrs(t, blas64.General{Rows: l.N, Cols: 1, Stride: 1, Data: b})
	return true
}
