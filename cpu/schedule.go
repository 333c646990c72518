package cpu

import (
	"runtime"
	"sync"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/parallel"
	"github.com/vssgp/vssgp/internal/simd"
)

// A chunk is rows [lo, hi) of a run, which one goroutine processes.
type chunk struct{ run, lo, hi int }

// Chunks have chunkRows rows, or fewer if there would otherwise be less than chunkCount chunks, but at
// least minRows. The last chunk of a run may be shorter.
const (
	chunkRows  = 256
	chunkCount = 16
	minRows    = 32
)

// cut appends the chunks of the runs of n rows. It determines the order of sums, so it must depend only
// on the data.
func cut(to []chunk, runs []backend.Run, n int) []chunk {
	size := min(chunkRows, (n/chunkCount+minRows)/minRows*minRows)
	for i, r := range runs {
		for lo := r.Lo; lo < r.Hi; lo += size {
			to = append(to, chunk{run: i, lo: lo, hi: min(r.Hi, lo+size)})
		}
	}
	return to
}

// A ring buffers the sums of chunks until all earlier chunks have been added.
type ring struct {
	mu    sync.Mutex
	freed sync.Cond
	slots []slot
	next  int
}

type slot struct {
	sums  []float64
	ready bool
}

// inOrder calls work(i, sums) for n chunks in parallel, where sums are size(i) zeros, and then
// add(i, sums) sequentially in the order of the chunks.
func (r *ring) inOrder(n int, size func(i int) int, work, add func(i int, sums []float64)) {
	w := min(workers(), n)
	depth := 1
	if w > 1 {
		depth = 4 * w
	}
	for len(r.slots) < depth {
		r.slots = append(r.slots, slot{})
	}
	r.next, r.freed.L = 0, &r.mu
	parallel.For(n, w, func(i int) { // chunks start in order, so the chunk that the others wait for is running
		r.mu.Lock()
		for i >= r.next+depth {
			r.freed.Wait()
		}
		r.mu.Unlock()
		s := &r.slots[i%depth]
		s.sums = simd.Resize(s.sums, size(i))
		clear(s.sums)
		work(i, s.sums)
		r.mu.Lock()
		defer r.mu.Unlock()
		for s.ready = true; r.slots[r.next%depth].ready; r.next++ {
			done := &r.slots[r.next%depth]
			add(r.next, done.sums)
			done.ready = false
		}
		r.freed.Broadcast()
	})
}

// workers returns the maximum number of concurrent goroutines.
func workers() int { return runtime.GOMAXPROCS(0) }

// jobs calls f for [0, n) in jobs of the given size.
func jobs(n, size, w int, f func(lo, hi int)) {
	parallel.For((n+size-1)/size, w, func(i int) { f(i*size, min(n, (i+1)*size)) })
}

// sweep calls body once for each run. Cell v uses only windows v and v+1, so runs whose cells have the
// same parity use different features and run in parallel: first the even cells, then the odd ones.
// Every sum over rows has a fixed order. w is the number of goroutines that body may use.
func sweep(runs []backend.Run, body func(r backend.Run, w int)) {
	inner, total := 1, workers()
	if len(runs) < 4*total {
		inner = total
	}
	side := make([]backend.Run, 0, len(runs))
	for parity := range 2 {
		side = side[:0]
		for _, r := range runs {
			if r.Cell&1 == parity {
				side = append(side, r)
			}
		}
		parallel.For(len(side), max(1, total/inner), func(i int) { body(side[i], inner) })
	}
}
