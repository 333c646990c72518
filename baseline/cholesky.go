package baseline

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp/internal/matrices"
)

// factor is L of A + jitter·1 = L·Lᵀ.
type factor struct {
	l      blas64.Triangular
	jitter float64 // 0 as a rule
}

// jitterTimes bounds the attempts to factor a matrix with jitter: the last one
// has 10⁻⁴ of the mean of the diagonal.
const jitterTimes = 7

// errNotPositive says that a matrix has no Cholesky factor.
var errNotPositive = errors.New("not positive definite")

// factorise takes the Cholesky factor of a symmetric matrix [n,n] into a's lower
// triangle; the upper one stays as it is. Where it fails, it adds
// jitter to the diagonal (matrices.Jittered). The error wraps ErrBound.
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
		return factor{}, fmt.Errorf("baseline: a covariance matrix of %d rows has the mean variance %v; want a positive number: %w",
			n, mean, ErrBound)
	}
	var f factor
	var err error
	f.jitter, err = matrices.Jittered(errNotPositive, jitterTimes, func(jitter float64) (float64, error) {
		for i := 0; i < n && jitter > 0; i++ { // the attempt before has overwritten the lower triangle
			raw.Data[i*raw.Stride+i] = diagonal[i] + jitter
			for j := range i {
				raw.Data[i*raw.Stride+j] = raw.Data[j*raw.Stride+i]
			}
		}
		l, ok := lapack64.Potrf(lower(a))
		if f.l = l; !ok {
			return mean, errNotPositive
		}
		return mean, nil
	})
	if err != nil {
		return factor{}, fmt.Errorf("baseline: a covariance matrix of %d rows: %w, even with jitter on the diagonal: %w", n, err, ErrBound)
	}
	return f, nil
}

// logDet is ln |A|.
func (f factor) logDet() float64 {
	sum := 0.0
	for i := range f.l.N {
		sum += 2 * math.Log(f.l.Data[i*f.l.Stride+i])
	}
	return sum
}

// in is the factor in another matrix, which holds a copy of the first.
func (f factor) in(a *mat.Dense) factor {
	f.l.Data = a.RawMatrix().Data
	return f
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

// rightUpper sets b [c,n] to b·L⁻ᵀ.
func (f factor) rightUpper(b *mat.Dense) { f.right(b, blas.Trans) }

// rightLower sets b [c,n] to b·L⁻¹.
func (f factor) rightLower(b *mat.Dense) { f.right(b, blas.NoTrans) }

// rightBlock is how many columns right solves at a time; the rest is products
// of matrices, which are much faster.
const rightBlock = 64

func (f factor) right(b *mat.Dense, t blas.Transpose) {
	n := f.l.N
	blocks := (n + rightBlock - 1) / rightBlock
	for i := range blocks {
		if t == blas.NoTrans {
			i = blocks - 1 - i
		}
		lo, hi := i*rightBlock, min(n, (i+1)*rightBlock)
		x := columns(b.RawMatrix(), lo, hi)
		if done := columns(b.RawMatrix(), 0, lo); t == blas.Trans && lo > 0 {
			blas64.Gemm(blas.NoTrans, blas.Trans, -1, done, f.block(lo, hi, 0, lo), 1, x)
		}
		if done := columns(b.RawMatrix(), hi, n); t == blas.NoTrans && hi < n {
			blas64.Gemm(blas.NoTrans, blas.NoTrans, -1, done, f.block(hi, n, lo, hi), 1, x)
		}
		diagonal := f.l
		diagonal.N, diagonal.Data = hi-lo, f.l.Data[lo*f.l.Stride+lo:]
		chunks(x.Rows, func(_, from, to int) {
			part := x
			part.Rows, part.Data = to-from, x.Data[from*x.Stride:]
			blas64.Trsm(blas.Right, t, 1, diagonal, part)
		})
	}
}

// block is rows [i, i2) and columns [j, j2) of L, below its diagonal.
func (f factor) block(i, i2, j, j2 int) blas64.General {
	return blas64.General{Rows: i2 - i, Cols: j2 - j, Stride: f.l.Stride, Data: f.l.Data[i*f.l.Stride+j:]}
}

func columns(a blas64.General, lo, hi int) blas64.General {
	a.Cols, a.Data = hi-lo, a.Data[min(lo, len(a.Data)):]
	return a
}

// invert overwrites the lower triangle of the matrix that the factor lies in
// with A⁻¹'s. The factor is gone then.
func (f factor) invert() {
	lapack64.Potri(f.l)
}
