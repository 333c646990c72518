// Package parallel distributes work over goroutines.
package parallel

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// For calls f(0) … f(n−1), each once, on up to workers goroutines. The assignment of indices to
// goroutines is arbitrary.
func For(n, workers int, f func(i int)) {
	workers = min(workers, n)
	if workers <= 1 {
		for i := range n {
			f(i)
		}
		return
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	work := func() {
		for {
			i := int(next.Add(1)) - 1
			if i >= n {
				return
			}
			f(i)
		}
	}
	for range workers - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
}

// Blocks calls f for the blocks [lo, hi) of size out of n, on GOMAXPROCS goroutines. The blocks do
// not depend on GOMAXPROCS.
func Blocks(n, size int, f func(block, lo, hi int)) {
	For((n+size-1)/size, runtime.GOMAXPROCS(0), func(i int) { f(i, i*size, min(n, (i+1)*size)) })
}

// Sum returns the sum of f over the blocks, in their order, with the same bits for any GOMAXPROCS.
func Sum(n, size int, f func(lo, hi int) float64) (sum float64) {
	if n <= size {
		return f(0, n)
	}
	parts := make([]float64, (n+size-1)/size)
	Blocks(n, size, func(block, lo, hi int) { parts[block] = f(lo, hi) })
	for _, part := range parts {
		sum += part
	}
	return sum
}

// sortBlock is the number of elements that are sorted on one core.
const sortBlock = 1 << 14

// Sort sorts a on GOMAXPROCS goroutines. The result has the same bits for any GOMAXPROCS if no two elements compare equal.
func Sort[T any](a []T, compare func(a, b T) int) {
	Blocks(len(a), sortBlock, func(_, lo, hi int) { slices.SortFunc(a[lo:hi], compare) })
	from, to := a, make([]T, len(a))
	for size := sortBlock; size < len(a); size *= 2 {
		Blocks(len(a), 2*size, func(_, lo, hi int) {
			middle := min(hi, lo+size)
			merge(to[lo:hi], from[lo:middle], from[middle:hi], compare)
		})
		from, to = to, from
	}
	copy(a, from)
}

// merge merges two sorted slices.
func merge[T any](to, a, b []T, compare func(a, b T) int) {
	for i := range to {
		if len(b) == 0 || len(a) > 0 && compare(a[0], b[0]) <= 0 {
			to[i], a = a[0], a[1:]
		} else {
			to[i], b = b[0], b[1:]
		}
	}
}

// Try is For with calls that may fail. It makes all of them and returns the error of the lowest
// failed i.
func Try(n, workers int, f func(i int) error) error {
	errs := make([]error, n)
	For(n, workers, func(i int) { errs[i] = f(i) })
	return cmp.Or(errs...)
}

// awaitedFlops is the number of operations above which work runs in a separate goroutine: a tenth
// of a second on one core.
const awaitedFlops = 1e9

// Await runs work, which takes about flops operations, and returns when it is done. If ctx ends
// first, Await returns ctx's error at once while work continues; the caller must then not use the
// data that work reads and writes.
func Await(ctx context.Context, flops float64, work func()) error {
	if ctx.Done() == nil || flops < awaitedFlops {
		work()
		return ctx.Err()
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		work()
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
	return ctx.Err()
}
