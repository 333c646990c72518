package blocktri

import "github.com/vssgp/vssgp/internal/simd"

// lanes is a row of a panel.
type lanes [simd.Lanes]float64

// A matrix is a stored block [rows,cols] or its transpose.
type matrix struct {
	a          []float64
	rows, cols int
	transposed bool
}

func (b matrix) transpose() matrix {
	b.transposed = !b.transposed
	return b
}

// width returns the number of columns, after any transposition.
func (b matrix) width() int {
	if b.transposed {
		return b.rows
	}
	return b.cols
}

// pack writes b to panels of eight columns, padded with zeros.
func (b matrix) pack(x simd.Panels) {
	a, rows, cols := b.a, b.rows, b.cols
	for p := range x.Count {
		to, at := x.Panel(p), p*simd.Lanes
		if b.transposed {
			n := min(simd.Lanes, rows-at)
			if n < simd.Lanes {
				clear(to)
			}
			clear(to[cols*simd.Lanes:])
			for l := range n {
				for k, v := range a[(at+l)*cols:][:cols] {
					to[k*simd.Lanes+l] = v
				}
			}
			continue
		}
		n := min(simd.Lanes, cols-at)
		for i := range rows {
			row, from := (*lanes)(to[i*simd.Lanes:]), a[i*cols+at:]
			if n == simd.Lanes { // many times faster than copy
				*row = lanes(from)
				continue
			}
			clear(row[copy(row[:], from[:n]):])
		}
		clear(to[rows*simd.Lanes:])
	}
}

// unpack is the inverse of pack.
func (b matrix) unpack(x simd.Panels) {
	a, rows, cols := b.a, b.rows, b.cols
	for p := range x.Count {
		from, at := x.Panel(p), p*simd.Lanes
		if b.transposed {
			for l := range min(simd.Lanes, rows-at) {
				row := a[(at+l)*cols:][:cols]
				for k := range row {
					row[k] = from[k*simd.Lanes+l]
				}
			}
			continue
		}
		n := min(simd.Lanes, cols-at)
		for i := range rows {
			row, to := (*lanes)(from[i*simd.Lanes:]), a[i*cols+at:]
			if n == simd.Lanes {
				*(*lanes)(to) = *row
				continue
			}
			copy(to[:n], row[:])
		}
	}
}

// A buffer is memory for panels, which grows as needed.
type buffer []float64

// panels returns memory for a matrix of the given numbers of rows and columns, both padded.
func (b *buffer) panels(cols, rows int) simd.Panels {
	p := simd.Panels{N: padded(rows), Stride: padded(rows), Count: padded(cols) / simd.Lanes}
	need := p.Count * p.N * simd.Lanes
	if cap(*b) < need {
		*b = simd.Aligned(need)
	}
	p.Data = (*b)[:need]
	return p
}

// padded returns n rounded up to a multiple of eight.
func padded(n int) int { return (n + simd.Lanes - 1) / simd.Lanes * simd.Lanes }
