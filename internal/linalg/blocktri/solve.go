package blocktri

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/vssgp/vssgp/backend"
)

// SolveLower overwrites b [M,n] with R⁻¹b. With several separators, the segments'
// contributions to their rows are summed from the first segment to the last.
func (f *Factor) SolveLower(b []float64, n int) {
	if f.schur == nil {
		for _, s := range f.segments {
			left, own, right := s.split(b, n)
			s.SolveLower(own, left, right, n)
		}
		f.solveSeparators(blas.NoTrans, b, n)
		return
	}
	type loss struct{ left, right []float64 }
	losses := make([]loss, len(f.segments))
	_ = f.each(func(i int, s *Segment) error {
		losses[i] = loss{make([]float64, s.leftSize()*n), make([]float64, s.rightSize()*n)}
		_, own, _ := s.split(b, n)
		s.SolveLower(own, losses[i].left, losses[i].right, n)
		return nil
	})
	for i, v := range f.separators {
		rows := rowsOf(f.R, b, v, v+1, n)
		floats.Add(rows, losses[i].right)
		floats.Add(rows, losses[i+1].left)
	}
	f.solveSeparators(blas.NoTrans, b, n)
}

// SolveUpper overwrites b [M,n] with R⁻ᵀb.
func (f *Factor) SolveUpper(b []float64, n int) {
	f.solveSeparators(blas.Trans, b, n)
	_ = f.each(func(_ int, s *Segment) error {
		left, own, right := s.split(b, n)
		s.SolveUpper(own, left, right, n)
		return nil
	})
}

// Solve overwrites b [M,n] with A⁻¹b.
func (f *Factor) Solve(b []float64, n int) {
	f.SolveLower(b, n)
	f.SolveUpper(b, n)
}

// solveSeparators multiplies the separators' rows of b by R⁻¹ or R⁻ᵀ.
func (f *Factor) solveSeparators(t blas.Transpose, b []float64, n int) {
	if f.schur == nil {
		for _, v := range f.separators {
			columns{r: f.R, hi: f.R.Blocks(), b: b, n: n}.divide(t, v)
		}
		return
	}
	var rows []float64
	for _, v := range f.separators {
		rows = append(rows, rowsOf(f.R, b, v, v+1, n)...)
	}
	if t == blas.NoTrans {
		f.schur.SolveLower(rows, n)
	} else {
		f.schur.SolveUpper(rows, n)
	}
	for _, v := range f.separators {
		rows = rows[copy(rowsOf(f.R, b, v, v+1, n), rows):]
	}
}

// rowsOf returns the rows of b [M,n] that belong to blocks [lo, hi).
func rowsOf(r *backend.Gram, b []float64, lo, hi, n int) []float64 {
	return b[r.Offset[lo]*n : r.Offset[hi]*n]
}

// split returns the segment's rows of b [M,n] and the rows of the separators to its left and right.
func (s *Segment) split(b []float64, n int) (left, own, right []float64) {
	left = rowsOf(s.r, b, max(0, s.lo-1), s.lo, n)
	right = rowsOf(s.r, b, s.hi, min(s.hi+1, s.r.Blocks()), n)
	return left, rowsOf(s.r, b, s.lo, s.hi, n), right
}

// LogDet returns the segment's part of log|A|, 2 Σ log diag L_v. It must follow Eliminate.
func (s *Segment) LogDet() float64 { return logDet(s.r, s.lo, s.hi) }

// SolveLower overwrites b [Σ M_v,n], the segment's rows of n right-hand sides, by R⁻¹b, and subtracts
// its contributions to the separators' rows from left [M_a,n] and right [M_b,n]. The sum over all
// segments, multiplied by R⁻¹ of the separators' matrix, gives the separators' rows.
func (s *Segment) SolveLower(b, left, right []float64, n int) {
	c := columns{r: s.r, lo: s.lo, hi: s.hi, b: b, left: left, right: right, n: n}
	for i := range s.blocks() {
		v := s.block(i)
		c.divide(blas.NoTrans, v)
		c.take(s.next(v).transpose(), v+s.step, v)
		c.take(s.coupling(v).transpose(), s.lo-1, v)
	}
}

// SolveUpper overwrites b by the segment's rows of R⁻ᵀb, given the separators' rows of the solution in
// left and right, which it does not change.
func (s *Segment) SolveUpper(b, left, right []float64, n int) {
	c := columns{r: s.r, lo: s.lo, hi: s.hi, b: b, left: left, right: right, n: n}
	for i := s.blocks() - 1; i >= 0; i-- {
		v := s.block(i)
		c.take(s.next(v), v, v+s.step)
		c.take(s.coupling(v), v, s.lo-1)
		c.divide(blas.Trans, v)
	}
}

// columns are n right-hand sides: b contains the rows of blocks [lo, hi), left and right the rows of the
// adjacent blocks.
type columns struct {
	r              *backend.Gram
	lo, hi         int
	b, left, right []float64
	n              int
}

// rows returns the rows of block v.
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

// divide multiplies the rows of block v by L_v⁻¹ or L_v⁻ᵀ.
func (c columns) divide(t blas.Transpose, v int) {
	b, m := c.rows(v), c.r.Size(v)
	l := blas64.Triangular{Uplo: blas.Lower, Diag: blas.NonUnit, N: m, Stride: m, Data: c.r.Diag[v]}
	switch {
	case m == 0:
	case c.n == 1:
		blas64.Trsv(t, l, vector(b))
	default:
		blas64.Trsm(blas.Left, t, 1, l, b)
	}
}

// take subtracts the product of e and block from's rows from block to's rows. For one column gonum's
// product with a vector is many times faster than its product with a matrix.
func (c columns) take(e matrix, to, from int) {
	if e.rows == 0 || e.cols == 0 {
		return
	}
	t := blas.NoTrans
	if e.transposed {
		t = blas.Trans
	}
	stored := general(e.a, e.rows, e.cols)
	if c.n == 1 {
		blas64.Gemv(t, -1, stored, vector(c.rows(from)), 1, vector(c.rows(to)))
		return
	}
	blas64.Gemm(t, blas.NoTrans, -1, stored, c.rows(from), 1, c.rows(to))
}

// vector converts a matrix of one column.
func vector(a blas64.General) blas64.Vector {
	return blas64.Vector{N: a.Rows, Data: a.Data, Inc: 1}
}

func general(a []float64, rows, cols int) blas64.General {
	return blas64.General{Rows: rows, Cols: cols, Stride: max(1, cols), Data: a}
}
