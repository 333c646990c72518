package baselines

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/internal/linalg"
)

// factor is the Cholesky factor L of A + jitter·1 = L·Lᵀ.
type factor struct {
	l      blas64.Triangular
	jitter float64 // usually 0
}

// jitterTimes is the maximum number of attempts to factorize a matrix with jitter. The last one adds 10⁻⁴ of the
// diagonal's mean.
const jitterTimes = 7

// factorize computes the Cholesky factor of a symmetric matrix [n,n] in the lower triangle of a. The upper triangle is
// unchanged. If the factorization fails, it adds jitter to the diagonal (linalg.Jittered). The error wraps
// vssgp.ErrBound.
func factorize(a *mat.Dense) (f factor, err error) {
	n := a.RawMatrix().Rows
	diagonal := make([]float64, n)
	mean := 0.0
	for i := range diagonal {
		diagonal[i] = a.At(i, i)
		mean += diagonal[i] / float64(n)
	}
	f.jitter, err = linalg.Jittered(vssgp.ErrBound, jitterTimes, func(jitter float64) (float64, error) {
		for i := 0; i < n && jitter > 0; i++ { // the previous attempt has overwritten the lower triangle
			a.Set(i, i, diagonal[i]+jitter)
			for j := range i {
				a.Set(i, j, a.At(j, i))
			}
		}
		l, ok := lapack64.Potrf(lower(a))
		if f.l = l; !ok {
			return mean, vssgp.ErrBound
		}
		return mean, nil
	})
	if err != nil {
		return f, fmt.Errorf("baselines: covariance matrix of %d rows is not positive definite, even with jitter on the diagonal: %w", n, err)
	}
	return f, nil
}

// logDet returns ln |A|.
func (f factor) logDet() float64 {
	sum := 0.0
	for i := range f.l.N {
		sum += 2 * math.Log(f.l.Data[i*f.l.Stride+i])
	}
	return sum
}

// in returns the factor with its elements in a, which must be a copy of the original matrix.
func (f factor) in(a *mat.Dense) factor {
	f.l.Data = a.RawMatrix().Data
	return f
}

// solve sets b [n,c] to A⁻¹·b.
func (f factor) solve(b *mat.Dense) { lapack64.Potrs(f.l, b.RawMatrix()) }

// rightUpper sets b [c,n] to b·L⁻ᵀ.
func (f factor) rightUpper(b *mat.Dense) { f.right(b, blas.Trans) }

// rightLower sets b [c,n] to b·L⁻¹.
func (f factor) rightLower(b *mat.Dense) { f.right(b, blas.NoTrans) }

// rightBlock is the number of columns that right solves at a time. The remaining work is matrix products, which are
// much faster.
const rightBlock = 64

// right multiplies b [c,n] from the right by the inverse of L or, with blas.Trans, of Lᵀ.
func (f factor) right(b *mat.Dense, t blas.Transpose) {
	n, all := f.l.N, b.RawMatrix()
	l := blas64.General{Rows: n, Cols: n, Stride: f.l.Stride, Data: f.l.Data}
	blocks := (n + rightBlock - 1) / rightBlock
	for i := range blocks {
		if t == blas.NoTrans {
			i = blocks - 1 - i
		}
		lo, hi := i*rightBlock, min(n, (i+1)*rightBlock)
		x, done, offDiagonal := part(all, 0, all.Rows, lo, hi), part(all, 0, all.Rows, 0, lo), part(l, lo, hi, 0, lo)
		if t == blas.NoTrans {
			done, offDiagonal = part(all, 0, all.Rows, hi, n), part(l, hi, n, lo, hi)
		}
		if done.Cols > 0 {
			blas64.Gemm(blas.NoTrans, t, -1, done, offDiagonal, 1, x)
		}
		diagonal := f.l
		diagonal.N, diagonal.Data = hi-lo, part(l, lo, hi, lo, hi).Data
		chunks(x.Rows, func(_, from, to int) {
			blas64.Trsm(blas.Right, t, 1, diagonal, part(x, from, to, 0, x.Cols))
		})
	}
}

// part returns rows [i, i2) and columns [j, j2) of a.
func part(a blas64.General, i, i2, j, j2 int) blas64.General {
	a.Rows, a.Cols, a.Data = i2-i, j2-j, a.Data[min(i*a.Stride+j, len(a.Data)):]
	return a
}

// invert overwrites the factor with the lower triangle of A⁻¹.
func (f factor) invert() { lapack64.Potri(f.l) }

// mirror copies the lower triangle of a square matrix to the upper.
func mirror(a *mat.Dense) {
	for i := range a.RawMatrix().Rows {
		for j := range i {
			a.Set(j, i, a.At(i, j))
		}
	}
}

// transpose transposes a square matrix in place.
func transpose(a *mat.Dense) {
	for i := range a.RawMatrix().Rows {
		for j := range i {
			above, below := a.At(j, i), a.At(i, j)
			a.Set(j, i, below)
			a.Set(i, j, above)
		}
	}
}

// lower returns the symmetric matrix that has the lower triangle of a square matrix.
func lower(a *mat.Dense) blas64.Symmetric {
	raw := a.RawMatrix()
	return blas64.Symmetric{N: raw.Rows, Stride: raw.Stride, Data: raw.Data, Uplo: blas.Lower}
}

// addDiagonal adds v to the diagonal of a square matrix.
func addDiagonal(a *mat.Dense, v float64) {
	for i := range a.RawMatrix().Rows {
		a.Set(i, i, a.At(i, i)+v)
	}
}

// column returns v as a matrix with one column, which shares its memory.
func column(v []float64) *mat.Dense { return mat.NewDense(len(v), 1, v) }

// square returns Σ v².
func square(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x * x
	}
	return sum
}
