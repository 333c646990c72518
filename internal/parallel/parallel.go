// Package parallel shares work among goroutines.
package parallel

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
)

// For calls f(0) … f(n−1), each once, on up to workers goroutines. Any of them may
// take any index, so f must not depend on which.
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

// Try is For with calls that may fail. It makes all of them and returns the error
// of the lowest i that failed.
func Try(n, workers int, f func(i int) error) error {
	errs := make([]error, n)
	For(n, workers, func(i int) { errs[i] = f(i) })
	return cmp.Or(errs...)
}

// awaitedFlops is the number of operations from which work is worth a goroutine
// of its own: a tenth of a second on one core.
const awaitedFlops = 1e9

// Await runs work, which takes about flops operations, and returns when it is done.
// If ctx ends first, Await returns at once and leaves work to end by itself; the
// caller must then not use what work reads and writes. The error is ctx's.
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
