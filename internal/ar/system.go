package ar

import (
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/vssgp/vssgp/internal/simd"
)

// A system is a symmetric positive definite matrix to solve with. Its condition number does not matter here: near-solutions
// predict as well.
type system struct {
	data     []float64 // entry (i, j) of the lower triangle at i·row + j·col
	row, col int
	// solve overwrites b by the solution with ridge added to the diagonal, or reports false and leaves b as it is.
	solve func(b []float64, ridge float64) bool
}

// newSystem returns a zero matrix of n rows, of which only the entries within band of the diagonal are written.
func newSystem(n, band int) system {
	if 4*band >= n { // dense is then so much faster that its zeros do not matter
		return newDense(n)
	}
	return newBanded(n, band)
}

// newDense returns a whole matrix [ld,ld], factored by the kernels of package simd; beyond n it is the identity.
func newDense(n int) system {
	ld := (n + simd.Lanes - 1) / simd.Lanes * simd.Lanes
	a := simd.Aligned(ld * ld)
	for i := n; i < ld; i++ {
		a[i*ld+i] = 1
	}
	return system{a, ld, 1, func(b []float64, ridge float64) bool {
		l := simd.Aligned(len(a))
		copy(l, a)
		for i := range n {
			l[i*ld+i] += ridge
		}
		if simd.NewDense(1).Cholesky(l, ld, ld) >= 0 {
			return false
		}
		t := blas64.Triangular{Uplo: blas.Lower, Diag: blas.NonUnit, N: n, Stride: ld, Data: l}
		x := blas64.Vector{N: n, Data: b, Inc: 1}
		blas64.Trsv(blas.NoTrans, t, x)
		blas64.Trsv(blas.Trans, t, x)
		return true
	}}
}

// newBanded returns the diagonals of the upper triangle side by side, as LAPACK stores them.
func newBanded(n, band int) system {
	a := make([]float64, n*(band+1))
	return system{a, 1, band, func(b []float64, ridge float64) bool {
		l := blas64.SymmetricBand{Uplo: blas.Upper, N: n, K: band, Stride: band + 1, Data: slices.Clone(a)}
		for i := range n {
			l.Data[i*l.Stride] += ridge
		}
		t, ok := lapack64.Pbtrf(l)
		if !ok {
			return false
		}
		lapack64.Pbtrs(t, blas64.General{Rows: n, Cols: 1, Stride: 1, Data: b})
		return true
	}}
}
