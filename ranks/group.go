package ranks

import (
	"fmt"
	"math"
	"sync"
)

// Group makes n ranks of one process, each for a goroutine of its own: for tests,
// and for backends that goroutines cannot share. Abort makes their exchanges panic.
func Group(n int) []Comm {
	g := &group{wires: make([][]chan []float64, n), over: make(chan struct{})}
	all := make([]Comm, n)
	for from := range g.wires {
		g.wires[from] = make([]chan []float64, n)
		for to := range n {
			g.wires[from][to] = make(chan []float64, 1)
		}
		all[from] = &member{group: g, rank: from}
	}
	return all
}

type group struct {
	wires [][]chan []float64 // [from][to]
	over  chan struct{}      // closed by Abort
	once  sync.Once
}

type member struct {
	*group
	rank int
}

func (m *member) Rank() int { return m.rank }

func (m *member) Size() int { return len(m.wires) }

func (m *member) Send(to int, a []float64) {
	select {
	case m.wires[m.rank][to] <- append([]float64(nil), a...):
	case <-m.over:
		panic(errAborted)
	}
}

func (m *member) Recv(from int, a []float64) {
	select {
	case b := <-m.wires[from][m.rank]:
		if len(b) != len(a) {
			panic(fmt.Sprintf("ranks: receiving %d numbers, %d were sent", len(a), len(b)))
		}
		copy(a, b)
	case <-m.over:
		panic(errAborted)
	}
}

func (m *member) Broadcast(a []float64, from int) {
	if m.rank != from {
		m.Recv(from, a)
		return
	}
	for to := range m.Size() {
		if to != from {
			m.Send(to, a)
		}
	}
}

// gather calls add on rank 0 with the blocks of the others.
func (m *member) gather(a []float64, add func(b []float64)) {
	if m.rank != 0 {
		m.Send(0, a)
		return
	}
	b := make([]float64, len(a))
	for from := 1; from < m.Size(); from++ {
		m.Recv(from, b)
		add(b)
	}
}

func (m *member) Max(a []float64) {
	m.gather(a, func(b []float64) {
		for i, v := range b {
			a[i] = math.Max(a[i], v)
		}
	})
	m.Broadcast(a, 0)
}

func (m *member) Sum(a []int64) {
	bits := make([]float64, len(a)) // not as numbers
	for i, v := range a {
		bits[i] = math.Float64frombits(uint64(v))
	}
	m.gather(bits, func(b []float64) {
		for i, v := range b {
			a[i] += int64(math.Float64bits(v))
		}
	})
}

func (m *member) Barrier() { m.Max([]float64{0}) }

func (m *member) Abort(int) { m.once.Do(func() { close(m.over) }) }
