package baselines

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// mirror copies the lower triangle of a square matrix to the upper.
func mirror(a *mat.Dense) {
	for i := range a.RawMatrix().Rows {
		for j := range i {
			a.Set(j, i, a.At(i, j))
		}
	}
}

// transpose swaps a square matrix's triangles.
func transpose(a *mat.Dense) {
	for i := range a.RawMatrix().Rows {
		for j := range i {
			above, below := a.At(j, i), a.At(i, j)
			a.Set(j, i, below)
			a.Set(i, j, above)
		}
	}
}

// lower returns the symmetric matrix whose lower triangle a square matrix holds.
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

func square(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x * x
	}
	return sum
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

func positive(v float64) bool { return v > 0 && !math.IsInf(v, 0) }
