package rowspectrum

import "github.com/vssgp/vssgp/cpu/simd"

// A batch takes the sums of many waves with one vector v. Waves come in groups that share a shape.
type batch struct {
	s      *spectrum
	v      int // of the tables
	groups []group
	done   []moments // of waves that need no table
	bins   [bins]bin
}

// A group is one or two waves of a shape. Wave i's sums are those of the lanes first + i·blocks to first + (i+1)·blocks of a
// bin, added, or done[first + i] if there are no blocks.
type group struct{ bin, first, blocks int32 }

// A bin is waves with the same number of terms.
type bin struct {
	jobs   []float64 // [panels,WaveRows,8]
	sums   []float64 // [panels,WaveSums,8]
	places []int64   // [panels,8]
	lanes  int       // in use
}

// reset begins a new batch.
func (b *batch) reset(s *spectrum, v int) {
	b.s, b.v, b.groups, b.done = s, v, b.groups[:0], b.done[:0]
	for i := range b.bins {
		b.bins[i].places, b.bins[i].lanes = b.bins[i].places[:0], 0
	}
}

// add adds a group.
func (b *batch) add(m *shape, waves ...carrier) {
	if m.class != grid {
		b.groups = append(b.groups, group{first: int32(len(b.done))})
		for _, c := range waves {
			switch m.class {
			case none:
				b.done = append(b.done, moments{})
			case whole:
				b.done = append(b.done, b.s.closed(m, c))
			case few:
				b.done = append(b.done, b.s.direct(m, c, b.s.layout.values[b.v]))
			}
		}
		return
	}
	which := max(0, min(bins-1, (m.half-leastPoints+binPoints)/binPoints))
	to, blocks := &b.bins[which], m.half/mostPoints+1
	b.groups = append(b.groups, group{int32(which), int32(to.lanes), int32(blocks)})
	for _, c := range waves {
		g, r := b.s.nearest(c)
		phase, conjugate := c.phase, m.scale
		if g < 0 { // E_−g is conj(E_g)
			g, r, phase, conjugate = -g, -r, -phase, -conjugate
		}
		for i := range blocks {
			k := (2*i + 1 - blocks) * mostPoints
			lane := to.lane(int64(b.s.margin+k) + g)
			lane[simd.WaveDecay*simd.Lanes] = m.alpha
			lane[simd.WaveCenter*simd.Lanes] = r - float64(k)
			lane[simd.WaveQuad*simd.Lanes] = m.quad
			lane[simd.WaveTurns*simd.Lanes] = phase - m.turns*(float64(k)-r)
			lane[simd.WaveTwist*simd.Lanes] = -m.turns
			lane[simd.WaveWeight*simd.Lanes] = m.eta
			lane[simd.WaveOffset*simd.Lanes] = m.delta
			lane[simd.WaveSquare*simd.Lanes] = m.square
			lane[simd.WaveReal*simd.Lanes] = m.scale
			lane[simd.WaveImag*simd.Lanes] = conjugate
		}
	}
}

// lane takes the next lane, for the frequencies around a place of the table.
func (b *bin) lane(place int64) []float64 {
	panel, lane := b.lanes/simd.Lanes, b.lanes%simd.Lanes
	const size = simd.WaveRows * simd.Lanes
	if lane == 0 {
		if len(b.jobs) < (panel+1)*size {
			b.jobs = append(b.jobs, make([]float64, (panel+1)*size)...)
		}
		clear(b.jobs[panel*size:][:size])
		for range simd.Lanes {
			b.places = append(b.places, mostPoints)
		}
	}
	b.places[b.lanes] = place
	b.lanes++
	return b.jobs[panel*size+lane:][:simd.WaveImag*simd.Lanes+1]
}

// run takes the sums.
func (b *batch) run() {
	for i := range b.bins {
		to := &b.bins[i]
		to.sums = resize(to.sums, len(to.places)*simd.WaveSums)
		simd.SumWaves(to.sums, to.jobs, b.s.tables[b.v], to.places, leastPoints+i*binPoints)
	}
}

// of returns the moments of wave i of a group.
func (b *batch) of(g *group, i int) (m moments) {
	if g.blocks == 0 {
		return b.done[int(g.first)+i]
	}
	sums, first := b.bins[g.bin].sums, int(g.first)+i*int(g.blocks)
	for lane := first; lane < first+int(g.blocks); lane++ {
		s := sums[lane/simd.Lanes*simd.WaveSums*simd.Lanes+lane%simd.Lanes:][:(simd.WaveSums-1)*simd.Lanes+1]
		m.re[0] += s[0]
		m.im[0] += s[simd.Lanes]
		m.re[1] += s[2*simd.Lanes]
		m.im[1] += s[3*simd.Lanes]
		m.re[2] += s[4*simd.Lanes]
	}
	return m
}

// resize returns a slice of n elements, whose values are arbitrary.
func resize[T any](a []T, n int) []T {
	if cap(a) < n {
		return make([]T, n)
	}
	return a[:n]
}
