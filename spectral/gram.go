package spectral

import "fmt"

// Gram is a symmetric matrix [M,M] over the features, block tridiagonal in
// the windows: a row meets the features of at most two neighbouring windows,
// so all other blocks of E[ΦᵀΦ] are exactly zero. With one window it is dense.
type Gram struct {
	Offset []int       // [V+1] window v owns indices [Offset[v], Offset[v+1])
	Diag   [][]float64 // [V] block v: [M_v,M_v], both triangles filled
	Below  [][]float64 // [V−1] block v: [M_{v+1},M_v], rows of window v+1, columns of window v

	scratch []float64
}

// padding is a number of which a block's rows may be filled up to a multiple by
// code that computes with it.
const padding = 8

// NewGram makes a zero matrix with the given offsets. Where it is one dense
// block, that has capacity to be filled up in its own room to [P,P], P being M
// rounded up to a multiple of eight.
func NewGram(offset []int) *Gram {
	v := len(offset) - 1
	g := &Gram{Offset: append([]int(nil), offset...), Diag: make([][]float64, v), Below: make([][]float64, max(0, v-1))}
	if v == 1 {
		m := g.Size(0)
		padded := (m + padding - 1) / padding * padding
		g.Diag[0] = make([]float64, m*m, padded*padded)
		return g
	}
	size := 0
	for i := range v {
		size += g.Size(i) * g.Size(i)
		if i+1 < v {
			size += g.Size(i) * g.Size(i+1)
		}
	}
	all := make([]float64, size)
	take := func(n int) []float64 {
		b := all[:n:n]
		all = all[n:]
		return b
	}
	for i := range v {
		g.Diag[i] = take(g.Size(i) * g.Size(i))
		if i+1 < v {
			g.Below[i] = take(g.Size(i) * g.Size(i+1))
		}
	}
	return g
}

// CopyFrom takes the entries of a matrix with the same offsets.
func (g *Gram) CopyFrom(other *Gram) {
	for v, b := range other.Diag {
		copy(g.Diag[v], b)
	}
	for v, b := range other.Below {
		copy(g.Below[v], b)
	}
}

// Scratch is workspace for n numbers of any value. The matrix keeps it, so that
// factors, inverses and passes, which come one after the other, share one.
func (g *Gram) Scratch(n int) []float64 {
	if cap(g.scratch) < n {
		g.scratch = make([]float64, n)
	}
	return g.scratch[:n]
}

// Clone is a copy.
func (g *Gram) Clone() *Gram {
	c := NewGram(g.Offset)
	c.CopyFrom(g)
	return c
}

// M is the matrix's size.
func (g *Gram) M() int { return g.Offset[len(g.Offset)-1] }

// Blocks is V, the number of diagonal blocks.
func (g *Gram) Blocks() int { return len(g.Diag) }

// Size is M_v, the size of diagonal block v.
func (g *Gram) Size(v int) int { return g.Offset[v+1] - g.Offset[v] }

// Zero sets every stored entry to 0.
func (g *Gram) Zero() {
	for _, b := range g.Diag {
		clear(b)
	}
	for _, b := range g.Below {
		clear(b)
	}
}

// At is entry (i, j), zero outside the stored blocks. It is for tests and for
// small matrices: each call searches for the block.
func (g *Gram) At(i, j int) float64 {
	vi, vj := g.blockOf(i), g.blockOf(j)
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

func (g *Gram) blockOf(i int) int {
	for v := range g.Blocks() {
		if i < g.Offset[v+1] {
			return v
		}
	}
	panic("spectral: Gram index out of range")
}

// CheckShape reports offsets that are not those of the features.
func (g *Gram) CheckShape(f *Features) error {
	o := f.Offsets()
	if len(o) != len(g.Offset) {
		return fmt.Errorf("spectral: matrix has %d blocks, the features have %d windows: %w", len(g.Offset)-1, len(o)-1, ErrShape)
	}
	for v := range o {
		if o[v] != g.Offset[v] {
			return fmt.Errorf("spectral: matrix block %d begins at %d, the window's features at %d: %w", v, g.Offset[v], o[v], ErrShape)
		}
	}
	return nil
}
