package cpu

import (
	"sync"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/simd"
)

// workspace is memory that is reused from call to call.
type workspace struct {
	clock  *clock
	mu     sync.Mutex
	tiles  []*tile
	ring   ring
	params featureParams
	lanes  []simd.Lane
	total  []float64
	output [][]float64 // weights of each output [Count,8]
	square []float64
	packs  packs
}

// over returns a tile for up to n rows of one of d's runs. put releases it.
func (w *workspace) over(d *prepared, r backend.Run, n int) *tile {
	b := &w.params
	lo, hi := b.over(r)
	count := hi - lo
	t := w.tile()
	t.rows, t.params, t.lo, t.hi = d, b, lo, hi
	for _, p := range []*simd.Panels{&t.cos, &t.sin} {
		*p = simd.Panels{Data: simd.Resize(p.Data, count*n*simd.Lanes), Stride: n, Count: count}
	}
	t.acc = simd.Resize(t.acc, n*simd.Lanes)
	if len(t.ones) < n {
		t.ones = simd.Resize(t.ones, n)
		for i := range t.ones {
			t.ones[i] = 1
		}
	}
	t.parts = t.parts[:0]
	for v := r.First; v < r.End; v++ {
		t.parts = append(t.parts, part{window: v, lo: b.first[v] - t.lo, hi: b.first[v+1] - t.lo})
	}
	return t
}

// tile returns an unused tile or a new one.
func (w *workspace) tile() *tile {
	w.mu.Lock()
	defer w.mu.Unlock()
	last := len(w.tiles) - 1
	if last < 0 {
		return &tile{}
	}
	t := w.tiles[last]
	w.tiles = w.tiles[:last]
	return t
}

// put releases a tile.
func (w *workspace) put(t *tile) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tiles = append(w.tiles, t)
}

// outputs returns d arrays of weights [Count,8] with value(k, i) for feature k and output i.
func (w *workspace) outputs(b *featureParams, d int, value func(k, i int) float64) [][]float64 {
	for len(w.output) < d {
		w.output = append(w.output, nil)
	}
	for i := range d {
		w.output[i] = b.spread(w.output[i], func(k int) float64 { return value(k, i) })
	}
	return w.output[:d]
}
