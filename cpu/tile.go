package cpu

import (
	"github.com/vssgp/vssgp/cpu/simd"
)

// A tile is a few rows and what the features over them are there:
//
//	cos = g·e·cos θ,  sin = g·e·sin θ,  e = exp(−q)
//
// from which E[φ] = A1·cos and E[φ²] = A0·g² + A2·e²·(cos² − sin²), e² being
// (cos² + sin²)/g².
type tile struct {
	rows          *prepared
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

// A block is where products of the features of two windows are summed: in the
// matrix itself, or where that has no whole panels in room behind or beside it.
type block struct {
	row, col   *part
	c          []float64
	ld         int
	to         []float64 // the matrix's own, if c is not or is wider
	rows, cols int
}

// A stretch is rows [lo, hi) of a tile, evenly spaced or not.
type stretch struct {
	lo, hi int
	even   bool
}

// reserveBar makes room for bar.
func (t *tile) reserveBar() {
	t.bar = simd.Panels{Data: simd.Resize(t.bar.Data, len(t.cos.Data)), Stride: t.cos.Stride, Count: t.cos.Count}
	t.scratch = simd.Resize(t.scratch, t.cos.Stride*simd.Lanes)
}

// copyLanes takes the tile's lanes of the model's.
func (t *tile) copyLanes(all []simd.Lane) { t.lanes = append(t.lanes[:0], all[t.lo:t.hi]...) }

// load points the tile at rows [lo, hi) of the data.
func (t *tile) load(lo, hi int) {
	d := t.rows
	q, dd := d.data.Q, d.data.D
	t.n = hi - lo
	t.x, t.y = d.X[lo*q:hi*q], d.Y[lo*dd:hi*dd]
	t.cut(lo, hi)
	t.cos.N, t.sin.N, t.bar.N = t.n, t.n, t.n
	for i := range t.parts {
		p := &t.parts[i]
		if d.data.Windows.Count() == 1 {
			p.gate, p.inv = t.ones[:t.n], t.ones[:t.n]
			continue
		}
		p.gate, p.inv = d.Gate[i][lo:hi], d.inv[i][lo:hi]
	}
}

// cut finds the stretches of rows [lo, hi) of the data. Even ones that are
// too short to be worth it go with what is not even.
func (t *tile) cut(lo, hi int) {
	t.stretches = t.stretches[:0]
	for n := lo; n < hi; {
		rows, even := hi-n, false
		if t.rows.Even != nil {
			rows = min(rows, int(t.rows.Even[n]))
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

// allEven reports whether all rows of the tile are evenly spaced.
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

// of is the tile's part of all numbers of a model, width of them for each panel.
func (t *tile) of(all []float64, width int) []float64 { return all[t.lo*width : t.hi*width] }
