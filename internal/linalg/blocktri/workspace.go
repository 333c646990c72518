package blocktri

import (
	"fmt"
	"sync"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/parallel"
	"github.com/vssgp/vssgp/internal/simd"
)

// parallelSize is the minimum size of a block that is processed by several goroutines.
const parallelSize = 192

// jobPanels is the number of panels of columns per job of a product.
const jobPanels = 6

// A workspace is the temporary memory of factors and inverses. It is reused.
type workspace struct {
	workers         int
	single, many    *simd.Dense
	diag, product   []float64
	couplings, h, z buffer
}

var spare sync.Pool

// borrow returns an unused workspace for the given number of goroutines.
func borrow(workers int) *workspace {
	w, _ := spare.Get().(*workspace)
	if w == nil {
		w = &workspace{single: simd.NewDense(1)}
	}
	if w.workers != workers {
		w.workers, w.many = workers, simd.NewDense(workers)
	}
	return w
}

func (w *workspace) back() { spare.Put(w) }

// dense returns the dense factorization of matrices of n rows.
func (w *workspace) dense(n int) *simd.Dense {
	if n < parallelSize {
		return w.single
	}
	return w.many
}

// factor factors A_vv + λI minus the products of the couplings to previously eliminated blocks. The
// factor is padded.
func (w *workspace) factor(r *backend.Gram, v int, lambda float64, couplings ...simd.Panels) (c []float64, ld int, err error) {
	m, a := r.Size(v), r.Diag[v]
	for i := range m {
		a[i*m+i] += lambda
	}
	c, ld = w.square(a, m)
	for _, x := range couplings {
		w.downdate(c, ld, x)
	}
	if bad := w.dense(ld).Cholesky(c, ld, ld); bad >= 0 {
		return nil, 0, fmt.Errorf("blocktri: block %d of %d, pivot %d: %w", v, r.Blocks(), r.Offset[v]+bad, backend.ErrNotPositive)
	}
	return c, ld, nil
}

// downdate subtracts the lower triangle of AᵀA from C (simd.Downdate).
func (w *workspace) downdate(c []float64, ld int, a simd.Panels) {
	if small(a) {
		simd.Downdate(c, ld, a, 0, a.Count)
		return
	}
	w.jobs(a.Count, func(lo, hi int) { simd.Downdate(c, ld, a, lo, hi) })
}

// addCross adds AᵀB to C (simd.Cross).
func (w *workspace) addCross(c []float64, ld int, a, b simd.Panels) {
	if small(a) {
		simd.Cross(c, ld, a, b)
		return
	}
	w.jobs(a.Count, func(lo, hi int) { simd.Cross(c[lo*simd.Lanes*ld:], ld, a.Slice(lo, hi), b) })
}

// multiply writes A·B to C (simd.Product).
func (w *workspace) multiply(c, a, b simd.Panels) {
	if small(c) {
		simd.Product(c, a, b, 0, c.Count)
		return
	}
	w.jobs(c.Count, func(lo, hi int) { simd.Product(c, a, b, lo, hi) })
}

// small reports whether one goroutine computes all of a product with x's columns (or
// rows, of Cross). Its callers then need no closure on the heap.
func small(x simd.Panels) bool { return x.Count*simd.Lanes < parallelSize }

// jobs calls f in parallel for ranges that make up the panels [0, count).
func (w *workspace) jobs(count int, f func(lo, hi int)) {
	parallel.For((count+jobPanels-1)/jobPanels, w.workers, func(i int) { f(i*jobPanels, min(count, (i+1)*jobPanels)) })
}

// square pads a [m,m] with the identity to a multiple of eight, in place if a's capacity allows it,
// otherwise in the workspace. unpad is its inverse.
func (w *workspace) square(a []float64, m int) (c []float64, ld int) {
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
	for i := ld - 1; i >= 0; i-- { // in reverse order, because rows move to higher addresses
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

// unpad copies square's matrix back to a [m,m].
func unpad(a []float64, m int, c []float64, ld int) {
	if ld == m {
		return
	}
	for i := range m {
		copy(a[i*m:][:m], c[i*ld:])
	}
}
