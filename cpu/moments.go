package cpu

import (
	"fmt"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/parallel"
	"github.com/vssgp/vssgp/internal/simd"
)

const (
	momentsRows   = 256 // rows of a tile
	featurePanels = 4   // panels of features per job
	gramPanels    = 3   // panels of columns per job of products
)

// Moments sets dst to C = Φ̄ᵀY and G = E[ΦᵀΦ].
func (d *rows) Moments(dst *backend.Moments, f *backend.Features) error {
	if err := d.data.CheckMoments(dst, f); err != nil {
		return fmt.Errorf("cpu: moments: %w", err)
	}
	b := &d.work.params
	b.set(f, d.Delta)
	width := b.Count * simd.Lanes
	sums := simd.Resize(d.work.total, (2+dst.D)*width)
	d.work.total = sums
	clear(sums)
	dst.Gram.Zero()
	m := &moments{rows: d, params: b, gram: dst.Gram, second: sums[:2*width], along: sums[2*width:], outputs: dst.D}
	sweep(d.Runs, m.run)
	m.finish(dst)
	return d.stopped("moments")
}

// moments is the state of one call of Moments: sums of products of cosines, which finish multiplies
// by the amplitudes.
type moments struct {
	*rows
	params  *featureParams
	gram    *backend.Gram
	second  []float64 // [Count,2,8]
	along   []float64 // [D,Count,8] Σ y·cos
	outputs int
}

// run adds the sums over a run, tile by tile: first the features, then the products of all pairs of
// panels.
func (m *moments) run(r backend.Run, w int) {
	t := m.work.over(&m.prepared, r, momentsRows)
	defer m.work.put(t)
	m.blocks(t)
	t.each(r.Lo, r.Hi, momentsRows, func() {
		for i := range t.parts {
			p := &t.parts[i]
			if w == 1 {
				m.features(t, p, 0, p.hi-p.lo)
				continue
			}
			jobs(p.hi-p.lo, featurePanels, w, func(lo, hi int) { m.features(t, p, lo, hi) })
		}
		for i := range t.blocks {
			b := &t.blocks[i]
			panels := b.row.hi - b.row.lo // panels of columns for diagonal blocks, otherwise of rows
			if w == 1 {
				m.products(t, b, 0, panels)
				continue
			}
			jobs(panels, gramPanels, w, func(lo, hi int) { m.products(t, b, lo, hi) })
		}
	})
	for i := range t.blocks {
		t.blocks[i].add()
	}
}

// features computes the panels [lo, hi) of a part and adds to the sums of each feature.
func (m *moments) features(t *tile, p *part, lo, hi int) {
	lap := m.work.clock.begin()
	panels := p.Slice(lo, hi)
	t.fill(&panels)
	first, end := (t.lo+p.lo+lo)*simd.Lanes, (t.lo+p.lo+hi)*simd.Lanes
	panels.Second(m.second[2*first : 2*end])
	for i := range m.outputs {
		at := i * m.params.Count * simd.Lanes
		simd.Along(m.along[at+first:at+end], panels.Cos, t.y[i:], m.outputs)
	}
	lap.end(momentsFeatures)
}

// blocks determines the blocks of the matrix for the products of the tile's features.
func (m *moments) blocks(t *tile) {
	t.blocks = t.blocks[:0]
	for i := range t.parts {
		for j := range i + 1 {
			row, col := &t.parts[i], &t.parts[j]
			b := block{row: row, col: col, rows: m.gram.Size(row.window), cols: m.gram.Size(col.window)}
			if b.rows == 0 || b.cols == 0 {
				continue
			}
			b.c, b.ld = m.gram.Diag[row.window], b.cols
			if i != j {
				b.c = m.gram.Below[col.window]
			}
			if b.rows%simd.Lanes != 0 || b.cols%simd.Lanes != 0 {
				b.to, b.ld = b.c, (col.hi-col.lo)*simd.Lanes
				if need := (row.hi - row.lo) * simd.Lanes * b.ld; m.gram.Blocks() == 1 && cap(b.c) >= need {
					b.c = b.c[:need]
				} else {
					t.block[i+j] = simd.Resize(t.block[i+j], need)
					b.c = t.block[i+j]
				}
				clear(b.c)
			}
			t.blocks = append(t.blocks, b)
		}
	}
}

// products adds the tile's products for a block's panels [lo, hi).
func (m *moments) products(t *tile, b *block, lo, hi int) {
	lap := m.work.clock.begin()
	rows, cols := t.cos.Slice(b.row.lo, b.row.hi), t.cos.Slice(b.col.lo, b.col.hi)
	if b.row == b.col {
		simd.Gram(b.c, b.ld, cols, lo, hi)
	} else {
		simd.Cross(b.c[lo*simd.Lanes*b.ld:], b.ld, rows.Slice(lo, hi), cols)
	}
	lap.end(momentsProducts)
}

// add adds the sums to the matrix if they were computed in separate memory. If they were computed in
// the block's padded memory, it removes the padding between rows.
func (b *block) add() {
	if b.to == nil {
		return
	}
	if &b.to[0] == &b.c[0] {
		for i := range b.rows {
			copy(b.to[i*b.cols:][:b.cols], b.c[i*b.ld:])
		}
		return
	}
	for i := range b.rows {
		to := b.to[i*b.cols:][:b.cols]
		for j, v := range b.c[i*b.ld:][:b.cols] {
			to[j] += v
		}
	}
}

// finish multiplies the sums by the amplitudes, and sets the second moments on the diagonal and the
// upper triangles of diagonal blocks.
func (m *moments) finish(dst *backend.Moments) {
	b, f, g := m.params, m.params.f, dst.Gram
	for k, lane := range b.lane {
		for i := range dst.D {
			dst.C[k*dst.D+i] = f.Amp[k] * m.along[i*b.Count*simd.Lanes+lane]
		}
	}
	if g.Blocks() == 1 {
		jobs(f.M, mirrorRows, workers(), func(lo, hi int) { scaleTriangle(g.Diag[0], f.M, f.Amp, lo, hi) })
	} else {
		parallel.For(g.Blocks(), workers(), func(v int) { m.scale(v) })
	}
	second := column{m.second, 2}
	for k, lane := range b.lane {
		*diagonal(g, b, k) = f.Power[k]*m.power[b.window(k)] + f.Ripple[k]*second.of(lane)[0]
	}
}

// scale multiplies the blocks (v, v) and (v+1, v) by the amplitudes.
func (m *moments) scale(v int) {
	g, all := m.gram, m.params.f.Amp
	n, amp := g.Size(v), all[g.Offset[v]:g.Offset[v+1]]
	scaleTriangle(g.Diag[v], n, amp, 0, n)
	if v+1 == g.Blocks() {
		return
	}
	for i, a := range all[g.Offset[v+1]:g.Offset[v+2]] {
		row := g.Below[v][i*n:][:n]
		for j, aj := range amp {
			row[j] *= a * aj
		}
	}
}

// mirrorRows is the tile size of scaleTriangle.
const mirrorRows = 32

// scaleTriangle multiplies rows [lo, hi) of the lower triangle of g [n,n] by the amplitudes and copies
// them to the upper triangle.
func scaleTriangle(g []float64, n int, amp []float64, lo, hi int) {
	for left := 0; left < hi; left += mirrorRows {
		for i := lo; i < hi; i++ {
			for j := left; j < min(i, left+mirrorRows); j++ {
				s := g[i*n+j] * (amp[i] * amp[j])
				g[i*n+j], g[j*n+i] = s, s
			}
		}
	}
}
