package baseline

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
)

// factor is L of A + jitter·1 = L·Lᵀ.
type factor struct {
	l      blas64.Triangular
	jitter float64 // 0 as a rule
}

const (
	firstJitter = 1e-10 // of the mean of the diagonal
	lastJitter  = 1e-4
)

// factorise takes the Cholesky factor of a symmetric matrix [n,n] into a's lower
// triangle; what is above the diagonal stays as it is. Only where it fails is
// something added to the diagonal, ten times more each time. The error wraps
// ErrBound.
func factorise(a *mat.Dense) (factor, error) {
	raw := a.RawMatrix()
	n := raw.Rows
	diagonal := make([]float64, n)
	mean := 0.0
	for i := range diagonal {
		diagonal[i] = raw.Data[i*raw.Stride+i]
		mean += diagonal[i] / float64(n)
	}
	if !(mean > 0) || math.IsInf(mean, 0) {
		return factor{}, fmt.Errorf("baseline: a covariance matrix of %d rows has the mean variance %v; want a positive number: %w", n, mean, ErrBound)
	}
	sym := blas64.Symmetric{N: n, Stride: raw.Stride, Data: raw.Data, Uplo: blas.Lower}
	if t, ok := lapack64.Potrf(sym); ok {
		return factor{l: t}, nil
	}
	for share := firstJitter; share < 2*lastJitter; share *= 10 {
		for i := range n {
			raw.Data[i*raw.Stride+i] = diagonal[i] + share*mean
			for j := range i {
				raw.Data[i*raw.Stride+j] = raw.Data[j*raw.Stride+i]
			}
		}
		if t, ok := lapack64.Potrf(sym); ok {
			return factor{t, share * mean}, nil
		}
	}
	return factor{}, fmt.Errorf("baseline: a covariance matrix of %d rows has no Cholesky factor even with %.0e of its mean variance on the diagonal: %w", n, lastJitter, ErrBound)
}

// logDet is ln |A|.
func (f factor) logDet() float64 {
	sum := 0.0
	for i := range f.l.N {
		sum += 2 * math.Log(f.l.Data[i*f.l.Stride+i])
	}
	return sum
}

// solveLower sets b [n,c] to L⁻¹·b.
func (f factor) solveLower(b *mat.Dense) {
	blas64.Trsm(blas.Left, blas.NoTrans, 1, f.l, b.RawMatrix())
}

// solveUpper sets b [n,c] to L⁻ᵀ·b.
func (f factor) solveUpper(b *mat.Dense) {
	blas64.Trsm(blas.Left, blas.Trans, 1, f.l, b.RawMatrix())
}

// solve sets b [n,c] to A⁻¹·b.
func (f factor) solve(b *mat.Dense) {
	f.solveLower(b)
	f.solveUpper(b)
}

// invert overwrites the lower triangle of the matrix that the factor lies in
// with that of A⁻¹. The factor is gone then.
func (f factor) invert() {
	lapack64.Potri(f.l)
}
