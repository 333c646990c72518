package ranks

import (
	"fmt"
	"math"
	"slices"
	"sync"
)

// Group returns n ranks within one process, each to be used by a separate goroutine, for tests and
// for backends that goroutines cannot share. Abort makes their exchanges panic. It returns nil if n is
// less than 1.
func Group(n int) []Comm {
	if n < 1 {
		return nil
	}
	g := &group{wires: make([][]chan any, n), over: make(chan struct{})}
	all := make([]Comm, n)
	for from := range g.wires {
		g.wires[from] = make([]chan any, n)
		for to := range n {
			g.wires[from][to] = make(chan any, 1)
		}
		all[from] = &member{group: g, rank: from}
	}
	return all
}

type group struct {
	wires [][]chan any  // [from][to], of slices
	over  chan struct{} // closed by Abort
	once  sync.Once
}

type member struct {
	*group
	rank int
}

func (m *member) Rank() int { return m.rank }

func (m *member) Size() int { return len(m.wires) }

func (m *member) Send(to int, a []float64) { give(m, to, a) }

func (m *member) Recv(from int, a []float64) { copy(a, take[float64](m, from, len(a))) }

func give[T any](m *member, to int, a []T) {
	select {
	case m.wires[m.rank][to] <- slices.Clone(a):
	case <-m.over:
		panic(errAborted)
	}
}

func take[T any](m *member, from, size int) []T {
	select {
	case sent := <-m.wires[from][m.rank]:
		b := sent.([]T)
		if len(b) != size {
			panic(fmt.Sprintf("ranks: expected %d numbers but %d were sent", size, len(b)))
		}
		return b
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

// reduce combines the ranks' blocks on rank 0.
func reduce[T any](m *member, a []T, combine func(x, y T) T) {
	if m.rank != 0 {
		give(m, 0, a)
		return
	}
	for from := 1; from < m.Size(); from++ {
		for i, v := range take[T](m, from, len(a)) {
			a[i] = combine(a[i], v)
		}
	}
}

func (m *member) Max(a []float64) {
	reduce(m, a, math.Max)
	m.Broadcast(a, 0)
}

func (m *member) Sum(a []int64) { reduce(m, a, func(x, y int64) int64 { return x + y }) }

func (m *member) Barrier() { m.Max([]float64{0}) }

func (m *member) Abort(int) { m.once.Do(func() { close(m.over) }) }
