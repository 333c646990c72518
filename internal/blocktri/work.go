package blocktri

import (
	"sync"

	"github.com/vssgp/vssgp/cpu/simd"
	"github.com/vssgp/vssgp/internal/parallel"
)

// shared is the least block that is worth several goroutines.
const shared = 192

// jobPanels is how many panels of columns one job takes of a product.
const jobPanels = 6

// work is the room that factors and inverses need besides their results. It is
// kept from one to the next.
type work struct {
	workers            int
	single, many       *simd.Dense
	diag, cross        []float64
	couplings, h, next room
	coupling           simd.Panels // of the block before, in couplings' room
}

var spare sync.Pool

// borrow takes room that is not in use, for so many goroutines.
func borrow(workers int) *work {
	w, _ := spare.Get().(*work)
	if w == nil {
		w = &work{single: simd.NewDense(1)}
	}
	if w.workers != workers {
		w.workers, w.many = workers, simd.NewDense(workers)
	}
	w.coupling.Count = 0
	return w
}

func (w *work) back() { spare.Put(w) }

// dense factors matrices of n rows.
func (w *work) dense(n int) *simd.Dense {
	if n < shared {
		return w.single
	}
	return w.many
}

// downdate takes from C the lower triangle of AᵀA (simd.Downdate).
func (w *work) downdate(c []float64, ld int, a simd.Panels) {
	if alone(a) {
		simd.Downdate(c, ld, a, 0, a.Count)
		return
	}
	w.jobs(a.Count, func(lo, hi int) { simd.Downdate(c, ld, a, lo, hi) })
}

// addCross adds AᵀB to C (simd.Cross).
func (w *work) addCross(c []float64, ld int, a, b simd.Panels) {
	if alone(a) {
		simd.Cross(c, ld, a, b)
		return
	}
	w.jobs(a.Count, func(lo, hi int) { simd.Cross(c[lo*simd.Lanes*ld:], ld, a.Slice(lo, hi), b) })
}

// product writes A·B to C (simd.Product).
func (w *work) product(c, a, b simd.Panels) {
	if alone(c) {
		simd.Product(c, a, b, 0, c.Count)
		return
	}
	w.jobs(c.Count, func(lo, hi int) { simd.Product(c, a, b, lo, hi) })
}

// alone is whether one goroutine takes all of a product whose columns (or, of
// Cross, rows) are x's.
func alone(x simd.Panels) bool { return x.Count*simd.Lanes < shared }

// jobs calls f for [0, count) panels, cut into jobs.
func (w *work) jobs(count int, f func(lo, hi int)) {
	parallel.For((count+jobPanels-1)/jobPanels, w.workers, func(i int) { f(i*jobPanels, min(count, (i+1)*jobPanels)) })
}

// room is a buffer for panels.
type room []float64

// room is panels for cols columns of rows rows, both filled up to eights.
func (r *room) room(cols, rows int) simd.Panels {
	p := simd.Panels{N: padded(rows), Stride: padded(rows), Count: padded(cols) / simd.Lanes}
	if need := p.Count * p.N * simd.Lanes; cap(*r) < need {
		*r = simd.Aligned(need)
	}
	p.Data = (*r)[:p.Count*p.N*simd.Lanes]
	return p
}

// padded is n filled up to a multiple of eight.
func padded(n int) int { return (n + simd.Lanes - 1) / simd.Lanes * simd.Lanes }

// square is a [m,m] filled up by the identity where m is no multiple of eight:
// in a's own room if there is enough behind it, else beside it. unpad takes it
// back.
func (w *work) square(a []float64, m int) (c []float64, ld int) {
	ld = padded(m)
	if ld == m {
		return a, m
	}
	if cap(a) >= ld*ld {
		c = a[:ld*ld]
	} else {
		if len(w.diag) < ld*ld {
			w.diag = simd.Aligned(ld * ld)
		}
		c = w.diag[:ld*ld]
	}
	for i := ld - 1; i >= 0; i-- { // from the last row, so that none is overwritten before it has moved
		row := c[i*ld:][:ld]
		done := 0
		if i < m {
			done = copy(row, a[i*m:][:m])
		}
		clear(row[done:])
		if i >= m {
			row[i] = 1
		}
	}
	return c, ld
}

// unpad takes square's matrix back to a [m,m].
func unpad(a []float64, m int, c []float64, ld int) {
	if ld == m {
		return
	}
	for i := range m {
		copy(a[i*m:][:m], c[i*ld:])
	}
}

// pack writes b [rows,cols] in panels of eight columns, 0 beyond it.
func pack(x simd.Panels, b []float64, rows, cols int) {
	for p := range x.Count {
		to, at := x.Panel(p), p*simd.Lanes
		n := min(simd.Lanes, cols-at)
		for i := range rows {
			row := to[i*simd.Lanes:][:simd.Lanes]
			clear(row[copy(row, b[i*cols+at:][:n]):])
		}
		clear(to[rows*simd.Lanes:])
	}
}

// unpack writes what pack packs back to b.
func unpack(b []float64, x simd.Panels, rows, cols int) {
	for p := range x.Count {
		from, at := x.Panel(p), p*simd.Lanes
		n := min(simd.Lanes, cols-at)
		for i := range rows {
			copy(b[i*cols+at:][:n], from[i*simd.Lanes:])
		}
	}
}

// transpose writes b [rows,cols] in panels of eight rows, 0 beyond it.
func transpose(x simd.Panels, b []float64, rows, cols int) {
	for p := range x.Count {
		to, at := x.Panel(p), p*simd.Lanes
		n := min(simd.Lanes, rows-at)
		if n < simd.Lanes {
			clear(to)
		}
		clear(to[cols*simd.Lanes:])
		for l := range n {
			for k, v := range b[(at+l)*cols:][:cols] {
				to[k*simd.Lanes+l] = v
			}
		}
	}
}

// transposeBack writes what transpose packs back to b.
func transposeBack(b []float64, x simd.Panels, rows, cols int) {
	for p := range x.Count {
		from, at := x.Panel(p), p*simd.Lanes
		for l := range min(simd.Lanes, rows-at) {
			row := b[(at+l)*cols:][:cols]
			for k := range row {
				row[k] = from[k*simd.Lanes+l]
			}
		}
	}
}
