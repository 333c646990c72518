package simd

import (
	"fmt"
	"math"

	"github.com/vssgp/vssgp/internal/parallel"
)

// A Dense factors and inverts symmetric positive definite matrices [n,n], stored by rows with
// stride ld; n is a multiple of eight. Matrices of other sizes can be padded with rows and columns
// of the identity, which does not change the factor, determinant or inverse. A Dense contains
// workspace and must be used by one goroutine at a time.
//
// Work is divided among goroutines in parts that do not depend on their number, and each element is summed by one goroutine, so the bits
// do not depend on the number of workers.
type Dense struct {
	workers int
	column  Panels    // the block column being factored, transposed: [n/8][block][8]
	inverse []float64 // L⁻¹ as panels of columns: [n/8][n][8]
	inv     []float64 // [n] 1/L_ii
}

// NewDense returns a Dense that uses up to workers goroutines.
func NewDense(workers int) *Dense { return &Dense{workers: workers} }

// blockOf returns the number of columns factored at once. Large blocks make products fast, but one
// core alone factors the diagonal part of a block.
func blockOf(n int) int {
	if n < 1500 {
		return 64
	}
	return 128
}

// checkSquare panics unless a contains [n,n] with n a multiple of eight.
func checkSquare(what string, a []float64, n, ld int) {
	if n < 0 || n%Lanes != 0 {
		panic(fmt.Sprintf("simd: %s: %d rows, must be a multiple of %d", what, n, Lanes))
	}
	checkMatrix(what, a, n, n, ld)
}

// Cholesky overwrites the lower triangle of a with L, A = LLᵀ, and its upper triangle with zeros.
// It reads only the lower triangle. If A is not positive definite, it returns the row whose pivot
// is not positive (or NaN) and leaves a undefined; otherwise it returns −1.
//
// Column blocks are processed from left to right. One goroutine factors the diagonal part of a
// block; all solve the rows below it and subtract their products from the columns to its right.
func (d *Dense) Cholesky(a []float64, n, ld int) int {
	checkSquare("Cholesky", a, n, ld)
	block := blockOf(n)
	d.inv = Resize(d.inv, n)
	if d.column.Count < n/Lanes || d.column.Stride != block {
		d.column = NewPanels(n/Lanes, block)
	}
	for k := 0; k < n; k += block {
		width := min(block, n-k)
		x := d.column.Slice(0, (n-k)/Lanes).Rows(0, width)
		own := width / Lanes
		for i := range own {
			if bad := d.ownRows(x, a[k*ld+k:], ld, i, k); bad >= 0 {
				return bad
			}
		}
		below := x.Count - own
		groups := (below + 2) / 3
		parallel.For(groups, d.workers, func(g int) {
			d.rowsBelow(x, a[k*ld+k:], ld, own+3*g, min(own+3*g+3, x.Count), k)
		})
		rest := x.Slice(own, x.Count)
		to := (k+width)*ld + k + width
		parallel.For(groups, d.workers, func(g int) {
			Downdate(a[to:], ld, rest, 3*g, min(3*g+3, below))
		})
	}
	for i := range n {
		clear(a[i*ld+i+1 : i*ld+n])
	}
	return -1
}

// ownRows factors eight rows of a block whose columns begin at c, panel i of x, and writes them
// back. k is the index of the first row. It returns a row with a bad pivot, or −1.
func (d *Dense) ownRows(x Panels, c []float64, ld, i, k int) int {
	own := x.Slice(i, i+1)
	at := c[i*Lanes*ld:]
	transpose(own.Data, Lanes, Lanes*Lanes, at, ld, Lanes, i+1)
	d.solveRows(own, c, ld, i, k)
	transpose(at, ld, Lanes, own.Data, Lanes, Lanes*Lanes, i)
	tile := own.Rows(i*Lanes, (i+1)*Lanes)
	if i > 0 {
		inner(tile, at, ld, Lanes, own, i, -1)
	}
	bad := factorTile(tile.Panel(0), d.inv[k+i*Lanes:][:Lanes])
	transpose(at[i*Lanes:], ld, Lanes, tile.Data, Lanes, Lanes*Lanes, 1)
	if bad >= 0 {
		return k + i*Lanes + bad
	}
	return -1
}

// rowsBelow solves X·L11ᵀ = A21 for the panels [lo, hi) of rows below a block
// of columns, and writes them back.
func (d *Dense) rowsBelow(x Panels, c []float64, ld, lo, hi, k int) {
	depth := x.N / Lanes
	for p := lo; p < hi; p++ {
		transpose(x.Panel(p), Lanes, Lanes*Lanes, c[p*Lanes*ld:], ld, Lanes, depth)
	}
	d.solveRows(x.Slice(lo, hi), c, ld, depth, k)
	for p := lo; p < hi; p++ {
		transpose(c[p*Lanes*ld:], ld, Lanes, x.Panel(p), Lanes, Lanes*Lanes, depth)
	}
}

// solveRows solves with the lower triangle at c for the first depth times eight rows of one to
// three panels, by forward substitution. k is the index of the triangle's first row.
func (d *Dense) solveRows(x Panels, c []float64, ld, depth, k int) {
	for j := range depth {
		rows := x.Rows(j*Lanes, (j+1)*Lanes)
		if j > 0 {
			inner(rows, c[j*Lanes*ld:], ld, Lanes, x, j, -1)
		}
		solve(rows, c[j*Lanes*(ld+1):], ld, d.inv[k+j*Lanes:])
	}
}

// factorTile factors the lower triangle of an 8×8 block stored by columns, and writes zeros above
// it. inv receives the reciprocals of L's diagonal. It returns a row whose pivot is not positive,
// or −1.
func factorTile(t, inv []float64) int {
	for j := range Lanes {
		c := t[j*Lanes:][:Lanes]
		if !(c[j] > 0) || math.IsInf(c[j], 0) {
			return j
		}
		root := math.Sqrt(c[j])
		inv[j] = 1 / root
		clear(c[:j])
		c[j] = root
		for i := j + 1; i < Lanes; i++ {
			c[i] *= inv[j]
		}
		for k := j + 1; k < Lanes; k++ {
			next := t[k*Lanes:][:Lanes]
			for i := k; i < Lanes; i++ {
				next[i] -= c[i] * c[k]
			}
		}
	}
	return -1
}
