package rowspectrum

import (
	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/simd"
)

// numbers returns a wave's parameters for simd.PairWaves.
func (w *wave) numbers() [simd.PairRows]float64 {
	return [...]float64{
		simd.PairDecay: w.p, simd.PairCenter: w.z, simd.PairLow: w.zLow,
		simd.PairCycles: float64(w.cycles), simd.PairPart: w.part, simd.PairPhase: w.phase,
	}
}

// prepare implements table. It writes the waves to panels.
func (s *line) prepare(u *sums, f *backend.Features) (blocks int) {
	const size = simd.PairRows * simd.Lanes
	s.panels = resize(s.panels, panelsOf(f.M)*size)
	clear(s.panels)
	for k := range u.waves[0] {
		for row, v := range u.waves[0][k].numbers() {
			s.panels[k/simd.Lanes*size+row*simd.Lanes+k%simd.Lanes] = v
		}
	}
	return f.M
}

// A lineWork is the workspace of one goroutine.
type lineWork struct {
	plain panels // from PairWaves: the sums and the differences with each panel
	rest  batch
	slow  []int // panels that slowPairs computes
}

// borrow returns the workspace of a goroutine; put returns it to the pool.
func borrow[T any](u *sums) (w *T, put func()) {
	w, _ = u.work.Get().(*T)
	if w == nil {
		w = new(T)
	}
	return w, func() { u.work.Put(w) }
}

// takePairs computes the sums of feature j = M − 1 − block with the features before it (table).
func (s *line) takePairs(u *sums, block int) {
	w, put := borrow[lineWork](u)
	defer put()
	j := len(u.waves[0]) - 1 - block // longest first
	n := panelsOf(j)
	to, one := u.along[0].pairs[panelsBefore(j)*pairSize:][:n*pairSize], u.waves[0][j].numbers()
	w.plain.reset(2 * n)
	vector := simd.PairWaves(w.plain.jobs, w.plain.positions, to, one[:], s.panels[:n*simd.PairRows*simd.Lanes], s.pairs)
	if !vector {
		for i := range n {
			s.slowPairs(u, &w.rest, j, i, to[i*pairSize:])
		}
		return
	}
	w.slow = w.slow[:0]
	for i := range n {
		points, plain := pointsOf(w.plain.jobs[2*i*jobSize:][:jobSize])
		w.plain.points[2*i], w.plain.points[2*i+1] = points, points
		if !plain {
			w.plain.idle(2 * i)
			w.plain.idle(2*i + 1)
			w.slow = append(w.slow, i)
		}
	}
	w.plain.sum(s.tables[0])
	for i := range n {
		combine((*[pairSize]float64)(to[i*pairSize:]), (*[sumSize]float64)(w.plain.sums[2*i*sumSize:]),
			(*[sumSize]float64)(w.plain.sums[(2*i+1)*sumSize:]))
	}
	for _, i := range w.slow {
		s.slowPairs(u, &w.rest, j, i, to[i*pairSize:])
	}
}

// pointsOf returns the number of terms on each side for the waves of a panel, and whether one lane from a table
// suffices for all.
func pointsOf(job []float64) (points int64, plain bool) {
	extent, reach := 0.0, 0.0
	for lane := range simd.Lanes {
		extent = max(extent, job[simd.WaveExtent*simd.Lanes+lane])
		reach = max(reach, job[simd.WaveReach*simd.Lanes+lane])
	}
	if !(extent <= digits*digits && reach+1.5 < maxPoints) {
		return 0, false
	}
	return int64(reach+0.5) + 2, true
}

// combine computes the sums of a panel of pairs from the sums of their products.
func combine(to *[pairSize]float64, plus, minus *[sumSize]float64) {
	const n = simd.Lanes
	for i := range n {
		to[pairRe0*n+i], to[pairRe1*n+i], to[pairRe2*n+i] = plus[i]+minus[i], plus[2*n+i]+minus[2*n+i], plus[4*n+i]+minus[4*n+i]
		to[pairPlus0*n+i], to[pairMinus0*n+i] = plus[n+i]+minus[n+i], plus[n+i]-minus[n+i]
		to[pairPlus1*n+i], to[pairMinus1*n+i] = plus[3*n+i]+minus[3*n+i], plus[3*n+i]-minus[3*n+i]
	}
}

// slowPairs computes the sums of feature j with the features of panel i one by one.
func (s *line) slowPairs(u *sums, b *batch, j, i int, to []float64) {
	b.reset(s, 0)
	var m shape
	waves := u.waves[0]
	features := waves[i*simd.Lanes : min(j, (i+1)*simd.Lanes)]
	for lane := range features {
		m.set(s, product(&waves[j], &features[lane]), true)
		to[pairAbout*simd.Lanes+lane] = m.a
		b.add(&m, waves[j].plus(features[lane].carrier), waves[j].minus(features[lane].carrier))
	}
	b.run()
	for lane := range features {
		plus, minus := b.of(b.groups[lane], 0), b.of(b.groups[lane], 1)
		for r := range plus.re {
			to[(pairRe0+r)*simd.Lanes+lane] = plus.re[r] + minus.re[r]
		}
		for r := range plus.im {
			to[(pairPlus0+2*r)*simd.Lanes+lane] = plus.im[r] + minus.im[r]
			to[(pairMinus0+2*r)*simd.Lanes+lane] = plus.im[r] - minus.im[r]
		}
	}
}

// takeSingles implements table.
func (s *line) takeSingles(u *sums, v, lo, hi int) {
	w, put := borrow[lineWork](u)
	defer put()
	b, singles := &w.rest, u.along[0].singles
	b.reset(s, v)
	var m shape
	for k := lo; k < hi; k++ {
		one := u.waves[0][k]
		if v == 0 {
			one = one.twice()
		}
		m.set(s, one.envelope, v == 0)
		singles[k*(1+u.outputs)+v].a = m.a
		b.add(&m, one.carrier)
	}
	b.run()
	for k := lo; k < hi; k++ {
		singles[k*(1+u.outputs)+v].moments = b.of(b.groups[k-lo], 0)
	}
}
