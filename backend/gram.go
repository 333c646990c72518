package backend

import (
	"fmt"
	"slices"
	"sort"
)

// Gram is a symmetric matrix [M,M] over the features that is block tridiagonal in the
// windows. In any row the features of at most two neighboring windows are non-zero, so all
// other blocks of E[ΦᵀΦ] are exactly zero. With one window it is dense.
type Gram struct {
	Offset []int       // [V+1] window v owns indices [Offset[v], Offset[v+1])
	Diag   [][]float64 // [V] block v: [M_v,M_v], both triangles filled
	Below  [][]float64 // [V−1] block v: [M_{v+1},M_v], rows of window v+1, columns of window v

	scratch []float64
}

// padding is the number to a multiple of which other packages pad the row length of a block.
const padding = 8

// NewGram returns a zero matrix with the given offsets. A single dense block has the capacity
// to be padded in place to [P,P], where P is M rounded up to a multiple of eight.
func NewGram(offset []int) *Gram {
	v := len(offset) - 1
	g := &Gram{Offset: slices.Clone(offset), Diag: make([][]float64, v), Below: make([][]float64, max(0, v-1))}
	if v == 1 {
		padded := (g.M() + padding - 1) / padding * padding
		g.Diag[0] = make([]float64, g.M()*g.M(), padded*padded)
		return g
	}
	size := 0
	g.each(func(_ *[]float64, n int) { size += n })
	all := make([]float64, size)
	g.each(func(block *[]float64, n int) { *block, all = all[:n:n], all[n:] })
	return g
}

// each calls f for each stored block and its size.
func (g *Gram) each(f func(block *[]float64, size int)) {
	for v := range g.Diag {
		f(&g.Diag[v], g.Size(v)*g.Size(v))
		if v < len(g.Below) {
			f(&g.Below[v], g.Size(v)*g.Size(v+1))
		}
	}
}

// CopyFrom copies the entries of a matrix with the same offsets.
func (g *Gram) CopyFrom(other *Gram) {
	for v, b := range other.Diag {
		copy(g.Diag[v], b)
	}
	for v, b := range other.Below {
		copy(g.Below[v], b)
	}
}

// Scratch returns uninitialized workspace of n numbers. The matrix keeps it for the next
// factor, inverse or pass.
func (g *Gram) Scratch(n int) []float64 {
	if cap(g.scratch) < n {
		g.scratch = make([]float64, n)
	}
	return g.scratch[:n]
}

// Clone returns a copy.
func (g *Gram) Clone() *Gram {
	c := NewGram(g.Offset)
	c.CopyFrom(g)
	return c
}

// M returns the matrix's size.
func (g *Gram) M() int { return g.Offset[len(g.Offset)-1] }

// Blocks returns V, the number of diagonal blocks.
func (g *Gram) Blocks() int { return len(g.Diag) }

// Size returns M_v, the size of diagonal block v.
func (g *Gram) Size(v int) int { return g.Offset[v+1] - g.Offset[v] }

// Trace returns the trace of the diagonal blocks [lo, hi).
func (g *Gram) Trace(lo, hi int) (sum float64) {
	for v := lo; v < hi; v++ {
		for i := range g.Size(v) {
			sum += g.Diag[v][i*g.Size(v)+i]
		}
	}
	return sum
}

// Zero sets every stored entry to 0.
func (g *Gram) Zero() {
	for _, b := range g.Diag {
		clear(b)
	}
	for _, b := range g.Below {
		clear(b)
	}
}

// At returns entry (i, j), which is zero outside the stored blocks. It searches for the block
// and is meant for tests and small matrices.
func (g *Gram) At(i, j int) float64 {
	blockOf := func(i int) int { return sort.SearchInts(g.Offset[1:], i+1) }
	vi, vj := blockOf(i), blockOf(j)
	switch {
	case vi == vj:
		return g.Diag[vi][(i-g.Offset[vi])*g.Size(vi)+j-g.Offset[vi]]
	case vi == vj+1:
		return g.Below[vj][(i-g.Offset[vi])*g.Size(vj)+j-g.Offset[vj]]
	case vj == vi+1:
		return g.At(j, i)
	}
	return 0
}

// checkShape returns an error if the offsets differ from the features' offsets.
func (g *Gram) checkShape(f *Features) error {
	o := f.Offsets()
	if len(o) != len(g.Offset) {
		return fmt.Errorf("the matrix has %d blocks, but the features have %d windows: %w", len(g.Offset)-1, len(o)-1, ErrShape)
	}
	for v := range o {
		if o[v] != g.Offset[v] {
			return fmt.Errorf("matrix block %d begins at index %d, but the window's features at %d: %w", v, g.Offset[v], o[v], ErrShape)
		}
	}
	return nil
}
