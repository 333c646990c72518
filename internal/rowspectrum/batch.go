package rowspectrum

import "github.com/vssgp/vssgp/internal/simd"

// A batch computes the sums of many waves with one vector v. Waves are added in groups with the same shape.
type batch struct {
	s      *line
	v      int // of the tables
	groups []group
	done   []moments // of waves that need no table
	free   int       // lanes of the last panel
	panels
}

// A group is one or two waves with the same shape. The sums of wave i are the total of the lanes first + i·blocks to
// first + (i+1)·blocks, or done[first + i] if blocks is 0.
type group struct{ first, blocks int }

// panels are the lanes of sums from a table.
type panels struct {
	jobs      []float64 // [panels,WaveRows,8]
	sums      []float64 // [panels,WaveSums,8]
	positions []int64   // [panels,8]
	points    []int64   // [panels]
}

// jobSize and sumSize are the numbers of values in a panel.
const (
	jobSize = simd.WaveRows * simd.Lanes
	sumSize = simd.WaveSums * simd.Lanes
)

// reset allocates n panels with arbitrary values.
func (p *panels) reset(n int) {
	p.jobs, p.sums = resize(p.jobs, n*jobSize), resize(p.sums, n*sumSize)
	p.positions, p.points = resize(p.positions, n*simd.Lanes), resize(p.points, n)
}

// idle sets panel i to a job that takes almost no time.
func (p *panels) idle(i int) {
	clear(p.jobs[i*jobSize:][:jobSize])
	for lane := range simd.Lanes {
		p.positions[i*simd.Lanes+lane] = maxPoints
	}
	p.points[i] = 1
}

// sum computes the sums of all lanes.
func (p *panels) sum(table []complex128) { simd.SumWaves(p.sums, p.jobs, table, p.positions, p.points) }

// reset begins a new batch.
func (b *batch) reset(s *line, v int) {
	b.s, b.v, b.groups, b.done, b.free = s, v, b.groups[:0], b.done[:0], 0
	b.panels.reset(0)
}

// add adds a group.
func (b *batch) add(m *shape, waves ...carrier) {
	if m.class != grid {
		b.groups = append(b.groups, group{first: len(b.done)})
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
	blocks := m.half/maxPoints + 1
	points := min(m.half+1, maxPoints)
	for i, c := range waves {
		g, r := b.s.layout.nearest(c)
		phase, conjugate := c.phase, m.scale
		if g < 0 { // E_−g is conj(E_g)
			g, r, phase, conjugate = -g, -r, -phase, -conjugate
		}
		for block := range blocks {
			k := (2*block + 1 - blocks) * maxPoints
			n, lane := b.lane(int64(b.s.margin+k)+g, points)
			if i == 0 && block == 0 {
				b.groups = append(b.groups, group{n, blocks})
			}
			for row, v := range [...]float64{
				simd.WaveDecay: m.alpha, simd.WaveCenter: r - float64(k), simd.WaveQuad: m.quad,
				simd.WaveTurns: phase - m.turns*(float64(k)-r), simd.WaveTwist: -m.turns, simd.WaveWeight: m.eta,
				simd.WaveOffset: m.delta, simd.WaveSquare: m.square, simd.WaveReal: m.scale, simd.WaveImag: conjugate,
			} {
				lane[row*simd.Lanes] = v
			}
		}
	}
}

// lane allocates the next lane, for the frequencies around a position of the table, and returns its number.
func (b *batch) lane(position int64, points int) (n int, lane []float64) {
	if b.free == 0 {
		b.jobs = append(b.jobs, make([]float64, jobSize)...)
		b.positions = append(b.positions, make([]int64, simd.Lanes)...)
		b.points = append(b.points, 1)
		b.idle(len(b.points) - 1)
		b.free = simd.Lanes
	}
	n = len(b.positions) - b.free
	b.free--
	panel := n / simd.Lanes
	b.positions[n], b.points[panel] = position, max(b.points[panel], int64(points))
	return n, b.jobs[panel*jobSize+n%simd.Lanes : (panel+1)*jobSize]
}

// run computes the sums.
func (b *batch) run() {
	b.sums = resize(b.sums, len(b.points)*sumSize)
	b.sum(b.s.tables[b.v])
}

// of returns the moments of wave i of a group.
func (b *batch) of(g group, i int) (m moments) {
	if g.blocks == 0 {
		return b.done[g.first+i]
	}
	for block := range g.blocks {
		lane := g.first + i*g.blocks + block
		s := b.sums[lane/simd.Lanes*sumSize+lane%simd.Lanes:][:sumSize-simd.Lanes+1]
		m.re[0] += s[0]
		m.im[0] += s[simd.Lanes]
		m.re[1] += s[2*simd.Lanes]
		m.im[1] += s[3*simd.Lanes]
		m.re[2] += s[4*simd.Lanes]
	}
	return m
}

// resize returns a slice of n elements with arbitrary values.
func resize[T any](a []T, n int) []T {
	if cap(a) < n {
		return make([]T, n)
	}
	return a[:n]
}
