package blocktri

import "github.com/vssgp/vssgp/backend"

// A Band is a symmetric band matrix [n,n] with one row per position. Entries are zero for positions that are more than reach apart. A
// block contains the rows at positions less than reach after its first row, so that only neighboring blocks are coupled. Only the entries
// up to the diagonal are used.
type Band struct {
	*backend.Gram
	block []int         // block of each row
	work  *backend.Gram // memory of the factor
}

// NewBand returns a zero matrix for positions in increasing order.
func NewBand(at []int, reach int) *Band {
	offset, block := []int{0}, make([]int, len(at))
	start := 0 // row at which the last block begins
	for i, u := range at {
		if i > 0 && u >= at[start]+max(1, reach) {
			offset = append(offset, i)
			if start = i; u > at[i-1]+reach { // an empty block decouples the two blocks
				offset = append(offset, i)
			}
		}
		block[i] = len(offset) - 1
	}
	return &Band{Gram: backend.NewGram(append(offset, len(at))), block: block}
}

// NewDense returns a zero matrix of one block.
func NewDense(n int) *Band { return &Band{Gram: backend.NewGram([]int{0, n}), block: make([]int, n)} }

// A Run is the part of a row that starts at column First.
type Run struct {
	First  int
	Values []float64
}

// Row returns the entries of row i in the previous block, and the entries in its own block up to the diagonal.
func (b *Band) Row(i int) [2]Run { return b.in(b.Gram, i) }

// in returns row i of a matrix with the same blocks.
func (b *Band) in(g *backend.Gram, i int) (runs [2]Run) {
	v := b.block[i]
	if v > 0 {
		m := g.Size(v - 1)
		runs[0] = Run{g.Offset[v-1], g.Below[v-1][(i-g.Offset[v])*m:][:m]}
	}
	runs[1] = Run{g.Offset[v], g.Diag[v][(i-g.Offset[v])*g.Size(v):][:i+1-g.Offset[v]]}
	return runs
}

// Diagonal returns entry (i, i).
func (b *Band) Diagonal(i int) float64 {
	own := b.Row(i)[1].Values
	return own[len(own)-1]
}

// Factorize returns the Cholesky factor of the matrix plus the diagonal matrix extra [n], if extra is not nil. The factor is valid until the
// next call. The matrix does not change.
func (b *Band) Factorize(extra []float64) (*Factor, error) {
	if b.work == nil {
		b.work = backend.NewGram(b.Offset)
	}
	b.work.CopyFrom(b.Gram)
	for i, v := range extra {
		own := b.in(b.work, i)[1].Values
		own[len(own)-1] += v
	}
	return Factorize(b.work, 0, 1)
}

// Like returns the matrix g, which is a factor's R or an inverse, as a Band with the rows of b.
func (b *Band) Like(g *backend.Gram) *Band { return &Band{Gram: g, block: b.block} }
