package baseline

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// mirror copies the lower triangle of a square matrix to the upper.
func mirror(a *mat.Dense) {
	raw := a.RawMatrix()
	for i := range raw.Rows {
		for j := range i {
			raw.Data[j*raw.Stride+i] = raw.Data[i*raw.Stride+j]
		}
	}
}

// transpose swaps a square matrix's triangles.
func transpose(a *mat.Dense) {
	raw := a.RawMatrix()
	for i := range raw.Rows {
		for j := range i {
			u, l := j*raw.Stride+i, i*raw.Stride+j
			raw.Data[u], raw.Data[l] = raw.Data[l], raw.Data[u]
		}
	}
}

// lower is a square matrix as the symmetric one whose lower triangle it holds.
func lower(a *mat.Dense) blas64.Symmetric {
	raw := a.RawMatrix()
	return blas64.Symmetric{N: raw.Rows, Stride: raw.Stride, Data: raw.Data, Uplo: blas.Lower}
}

// addDiagonal adds v to the diagonal of a square matrix.
func addDiagonal(a *mat.Dense, v float64) {
	n, _ := a.Dims()
	for i := range n {
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
