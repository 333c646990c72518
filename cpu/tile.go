package cpu

import "github.com/vssgp/vssgp/internal/simd"

// A tile contains a few rows and their features
//
//	cos = g·e·cos θ,  sin = g·e·sin θ,  e = exp(−q)
//
// from which E[φ] = A1·cos and E[φ²] = A0·g² + A2·e²·(cos² − sin²), with
// e² = (cos² + sin²)/g².
type tile struct {
	rows          *prepared
	params        *featureParams
	n, lo, hi     int       // number of rows; range of panels of params
	x, y          []float64 // [n,Q], [n,D]
	parts         []part
	intervals     []interval
	starts        [2]simd.Starts // of the parts' features
	cos, sin, bar simd.Panels    // bar: ∂/∂E[φ], or scratch memory of a pass
	lanes         []simd.Lane    // copy for the tile, because kernels write into it
	ones          []float64
	acc           []float64 // [n,8] sums over features, lane by lane
	res           []float64 // [n,D] residuals, or scratch memory of a pass
	scratch       []float64 // [n,8]
	blocks        []block
	block         [3][]float64 // separate memory for blocks
	weight        [2][]float64
}

// A part is one window's panels [lo, hi) in a tile.
type part struct {
	simd.Tile
	window, lo, hi int
}

// of returns the part's range of an array of the tile with width numbers per panel.
func (p *part) of(all []float64, width int) []float64 { return all[p.lo*width : p.hi*width] }

// A block is the memory in which products of the features of two windows are summed: the matrix
// itself, or separate memory if the matrix is not a multiple of a panel and has no space for padding.
type block struct {
	row, col   *part
	c          []float64
	ld         int
	to         []float64 // the matrix block, if c is separate memory or padded
	rows, cols int
}

// An interval is rows [lo, hi) of a tile, evenly spaced or not.
type interval struct {
	lo, hi int
	even   bool
}

// reserveBar allocates bar.
func (t *tile) reserveBar() {
	t.bar = simd.Panels{Data: simd.Resize(t.bar.Data, len(t.cos.Data)), Stride: t.cos.Stride, Count: t.cos.Count}
	t.scratch = simd.Resize(t.scratch, t.cos.Stride*simd.Lanes)
}

// copyLanes copies the tile's lanes from the lanes of all panels.
func (t *tile) copyLanes(all []simd.Lane) { t.lanes = append(t.lanes[:0], all[t.lo:t.hi]...) }

// each loads rows [lo, hi), size at a time, and calls visit after each load. It ends early if the pass
// is stopped.
func (t *tile) each(lo, hi, size int, visit func()) {
	for ; lo < hi && t.rows.data.Stopped() == nil; lo += size {
		t.load(lo, min(hi, lo+size))
		visit()
	}
}

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
		first, end := t.lo+p.lo, t.lo+p.hi
		p.Tile = simd.Tile{Cos: t.cos.Slice(p.lo, p.hi), Sin: t.sin.Slice(p.lo, p.hi), Params: t.params.Slice(first, end), X: t.x}
		if d.Even != nil {
			p.Steps = t.params.steps.Slice(first, end)
		}
		if d.data.Windows.Count() == 1 {
			p.Gate, p.Inv = t.ones[:t.n], t.ones[:t.n]
		} else {
			p.Gate, p.Inv = d.Gate[i][lo:hi], d.inv[i][lo:hi]
		}
	}
}

// cut determines the intervals of rows [lo, hi) of the data. Even intervals that are too short for the
// recurrence are joined with uneven rows.
func (t *tile) cut(lo, hi int) {
	t.intervals = t.intervals[:0]
	for n := lo; n < hi; {
		rows, even := hi-n, false
		if t.rows.Even != nil {
			rows = min(rows, int(t.rows.Even[n]))
			even = rows >= simd.EvenLeast
		}
		last := len(t.intervals) - 1
		if !even && last >= 0 && !t.intervals[last].even {
			t.intervals[last].hi += rows
		} else {
			t.intervals = append(t.intervals, interval{n - lo, n - lo + rows, even})
		}
		n += rows
	}
}

// fill computes panels of a part, and the fit if panels have one.
func (t *tile) fill(panels *simd.Tile) {
	for _, s := range t.intervals {
		rows := *panels
		if s.hi-s.lo < t.n {
			rows = panels.Rows(s.lo, s.hi)
		}
		if !s.even {
			rows.Steps = simd.Stepped{}
		}
		rows.Features()
	}
}

// fillAll computes cos and sin.
func (t *tile) fillAll() {
	for i := range t.parts {
		t.fill(&t.parts[i].Tile)
	}
}

// fit sets sum [n] to Σ_k w_k·cos_nk. w contains the weights of the panels [Count,8].
func (t *tile) fit(sum []float64, cos simd.Panels, w []float64) {
	acc := t.acc[:t.n*simd.Lanes]
	clear(acc)
	simd.Fit(acc, cos, w)
	simd.SumLanes(sum, acc)
}

// contract adds the tile's rows to the sums of simd.Contract for its panels.
func (t *tile) contract(sums []float64) {
	for i := range t.parts {
		p := &t.parts[i]
		p.Contract(p.of(sums, simd.SumRows(t.params.Q)*simd.Lanes), t.bar.Slice(p.lo, p.hi), t.scratch, t.lanes[p.lo:p.hi])
	}
}

// of returns the tile's range of an array over all panels with width numbers per panel.
func (t *tile) of(all []float64, width int) []float64 { return all[t.lo*width : t.hi*width] }
