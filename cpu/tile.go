package cpu

import (
	"sync"

	"github.com/vssgp/vssgp/cpu/simd"
	"github.com/vssgp/vssgp/spectral"
)

// A tile is a few rows and what the features over them are there:
//
//	cos = g·e·cos θ,  sin = g·e·sin θ,  e = exp(−q)
//
// from which E[φ] = A1·cos and E[φ²] = A0·g² + A2·e²·(cos² − sin²), e² being
// (cos² + sin²)/g².
type tile struct {
	rows          *rows
	bank          *bank
	n, lo, hi     int       // rows; panels, among all
	x, y          []float64 // [n,Q], [n,D]
	parts         []part
	stretches     []stretch
	starts        [2]simd.Starts // of the parts' features
	cos, sin, bar simd.Panels    // bar: ∂/∂E[φ], or as a pass likes
	lanes         []simd.Lane    // the panels' own copy: kernels write into it
	ones          []float64
	acc           []float64 // [n,8] sums over features, lane by lane
	res           []float64 // [n,D] and as a pass likes
	scratch       []float64 // [n,8]
	blocks        []block
	block         [3][]float64 // beside the matrix
	weight        [2][]float64
}

// A part is one window's panels in a tile, counted within the tile, and its
// gates over the rows.
type part struct {
	window, lo, hi int
	gate, inv      []float64 // [n]
}

// A stretch is rows [lo, hi) of a tile, which lie one step apart or anyhow.
type stretch struct {
	lo, hi int
	even   bool
}

// over takes a tile for up to n rows of a run. It goes back by put.
func (d *rows) over(b *bank, r spectral.Run, n int) *tile {
	lo, hi := b.over(r)
	count := hi - lo
	t := d.spare.tile(count * n * simd.Lanes)
	t.rows, t.bank, t.lo, t.hi = d, b, lo, hi
	for _, p := range []*simd.Panels{&t.cos, &t.sin} {
		*p = simd.Panels{Data: resize(p.Data, count*n*simd.Lanes), Stride: n, Count: count}
	}
	t.acc = resize(t.acc, n*simd.Lanes)
	if len(t.ones) < n {
		t.ones = resize(t.ones, n)
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

// reserveBar makes room for bar.
func (t *tile) reserveBar() {
	t.bar = simd.Panels{Data: resize(t.bar.Data, len(t.cos.Data)), Stride: t.cos.Stride, Count: t.cos.Count}
	t.scratch = resize(t.scratch, t.cos.Stride*simd.Lanes)
}

// copyLanes takes the tile's lanes of the model's.
func (t *tile) copyLanes(all []simd.Lane) { t.lanes = append(t.lanes[:0], all[t.lo:t.hi]...) }

// load points the tile at rows [lo, hi) of the data.
func (t *tile) load(lo, hi int) {
	d := t.rows
	q, dd := d.data.Q, d.data.D
	t.n = hi - lo
	t.x, t.y = d.x[lo*q:hi*q], d.y[lo*dd:hi*dd]
	t.cut(lo, hi)
	t.cos.N, t.sin.N, t.bar.N = t.n, t.n, t.n
	for i := range t.parts {
		p := &t.parts[i]
		if d.data.Windows.Count() == 1 {
			p.gate, p.inv = t.ones[:t.n], t.ones[:t.n]
			continue
		}
		p.gate, p.inv = d.gate[i][lo:hi], d.inv[i][lo:hi]
	}
}

// cut finds the stretches of rows [lo, hi) of the data. Even ones that are
// too short to be worth it go with what is not even.
func (t *tile) cut(lo, hi int) {
	t.stretches = t.stretches[:0]
	for n := lo; n < hi; {
		rows, even := hi-n, false
		if t.rows.even != nil {
			rows = min(rows, int(t.rows.even[n]))
			even = rows >= simd.EvenLeast
		}
		last := len(t.stretches) - 1
		if !even && last >= 0 && !t.stretches[last].even {
			t.stretches[last].hi += rows
		} else {
			t.stretches = append(t.stretches, stretch{n - lo, n - lo + rows, even})
		}
		n += rows
	}
}

// fill computes cos and sin of the panels [lo, hi) of a part.
func (t *tile) fill(p *part, lo, hi int) {
	cos, sin, b := t.cos.Slice(lo, hi), t.sin.Slice(lo, hi), t.bank.Slice(t.lo+lo, t.lo+hi)
	for _, s := range t.stretches {
		cos, sin, gate := cos.Rows(s.lo, s.hi), sin.Rows(s.lo, s.hi), p.gate[s.lo:s.hi]
		if s.even {
			simd.FeaturesEven(cos, sin, b, t.steps(lo, hi), t.x[s.lo:s.hi], gate)
		} else {
			simd.Features(cos, sin, b, t.x[s.lo*b.Q:s.hi*b.Q], gate)
		}
	}
}

// steps are those of panels [lo, hi) of the tile.
func (t *tile) steps(lo, hi int) simd.Stepped { return t.bank.steps.Slice(t.lo+lo, t.lo+hi) }

// allEven is whether the tile's rows are one even stretch.
func (t *tile) allEven() bool { return len(t.stretches) == 1 && t.stretches[0].even }

// fillAll computes cos and sin.
func (t *tile) fillAll() {
	for i := range t.parts {
		p := &t.parts[i]
		t.fill(p, p.lo, p.hi)
	}
}

// fit writes Σ_k w_k·cos_nk to sum [n], w being the model's weights [Count,8].
func (t *tile) fit(sum []float64, cos simd.Panels, w []float64) {
	acc := t.acc[:t.n*simd.Lanes]
	clear(acc)
	simd.Fit(acc, cos, w)
	simd.SumLanes(sum, acc)
}

// of is the tile's part of a model's numbers, width of them for a panel.
func (t *tile) of(all []float64, width int) []float64 { return all[t.lo*width : t.hi*width] }

// spare is what is kept from one call to the next.
type spare struct {
	clock  *clock
	mu     sync.Mutex
	tiles  []*tile
	ring   ring
	bank   bank
	lanes  []simd.Lane
	total  []float64
	output [][]float64 // weights of each output [Count,8]
	square []float64
	packs  packs
}

// tile takes one that is not in use, with room for so many numbers in its
// panels if there is one, or makes one.
func (s *spare) tile(room int) *tile {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := len(s.tiles) - 1
	if last < 0 {
		return &tile{}
	}
	for i, t := range s.tiles[:last] {
		if cap(s.tiles[last].cos.Data) >= room {
			break
		}
		if cap(t.cos.Data) >= room {
			s.tiles[i], s.tiles[last] = s.tiles[last], t
		}
	}
	t := s.tiles[last]
	s.tiles = s.tiles[:last]
	return t
}

// put gives a tile back.
func (s *spare) put(t *tile) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tiles = append(s.tiles, t)
}

// outputs are d arrays of weights [Count,8], value(k, i) for feature k and
// output i.
func (s *spare) outputs(b *bank, d int, value func(k, i int) float64) [][]float64 {
	for len(s.output) < d {
		s.output = append(s.output, nil)
	}
	for i := range d {
		s.output[i] = b.spread(s.output[i], func(k int) float64 { return value(k, i) })
	}
	return s.output[:d]
}
