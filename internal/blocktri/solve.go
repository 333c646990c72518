package blocktri

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/vssgp/vssgp/spectral"
)

// SolveLower overwrites b [M,n] with R⁻¹b.
func (f *Factor) SolveLower(b []float64, n int) {
	if f.parts != nil {
		f.parts.solveLower(b, n)
		return
	}
	c := columns{r: f.R, hi: f.R.Blocks(), b: b, n: n}
	for v := range f.Middle {
		c.divide(blas.NoTrans, v)
		c.take(v+1, v)
	}
	for v := f.R.Blocks() - 1; v > f.Middle; v-- {
		c.divide(blas.NoTrans, v)
		c.take(v-1, v)
	}
	c.divide(blas.NoTrans, f.Middle)
}

// SolveUpper overwrites b [M,n] with R⁻ᵀb.
func (f *Factor) SolveUpper(b []float64, n int) {
	if f.parts != nil {
		f.parts.solveUpper(b, n)
		return
	}
	c := columns{r: f.R, hi: f.R.Blocks(), b: b, n: n}
	c.divide(blas.Trans, f.Middle)
	for v := f.Middle - 1; v >= 0; v-- {
		c.take(v, v+1)
		c.divide(blas.Trans, v)
	}
	for v := f.Middle + 1; v < f.R.Blocks(); v++ {
		c.take(v, v-1)
		c.divide(blas.Trans, v)
	}
}

// Solve overwrites b [M,n] with A⁻¹b.
func (f *Factor) Solve(b []float64, n int) {
	f.SolveLower(b, n)
	f.SolveUpper(b, n)
}

// columns are n right-hand sides: b has the rows of the blocks [lo, hi), left
// and right those of the blocks beside them.
type columns struct {
	r              *spectral.Gram
	lo, hi         int
	b, left, right []float64
	n              int
}

// rows is block v's part.
func (c columns) rows(v int) blas64.General {
	m := c.r.Size(v)
	switch {
	case v < c.lo:
		return general(c.left, m, c.n)
	case v >= c.hi:
		return general(c.right, m, c.n)
	}
	at := (c.r.Offset[v] - c.r.Offset[c.lo]) * c.n
	return general(c.b[at:][:m*c.n], m, c.n)
}

// divide overwrites block v's part by L_v⁻¹, or L_v⁻ᵀ, times it.
func (c columns) divide(t blas.Transpose, v int) {
	if bv := c.rows(v); bv.Rows > 0 {
		solve(t, triangular(c.r.Diag[v], bv.Rows), bv)
	}
}

// take takes from block to's part the block of R between it and its neighbour
// times the neighbour's part.
func (c columns) take(to, from int) {
	low, t := to, blas.Trans
	if from < to {
		low, t = from, blas.NoTrans
	}
	takeProduct(t, general(c.r.Below[low], c.r.Size(low+1), c.r.Size(low)), c.rows(from), c.rows(to))
}

// takeProduct takes E·b, or Eᵀ·b, from c. For one column gonum's product with
// a vector is many times faster than with a matrix.
func takeProduct(t blas.Transpose, e, b, c blas64.General) {
	switch {
	case e.Rows == 0 || e.Cols == 0:
	case b.Cols == 1:
		blas64.Gemv(t, -1, e, vector(b), 1, vector(c))
	default:
		blas64.Gemm(t, blas.NoTrans, -1, e, b, 1, c)
	}
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

func general(a []float64, rows, cols int) blas64.General {
	return blas64.General{Rows: rows, Cols: cols, Stride: max(1, cols), Data: a}
}

func triangular(a []float64, m int) blas64.Triangular {
	return blas64.Triangular{Uplo: blas.Lower, Diag: blas.NonUnit, N: m, Stride: m, Data: a}
}
