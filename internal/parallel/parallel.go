// Package parallel shares work among goroutines.
package parallel

import (
	"sync"
	"sync/atomic"
)

// For calls f(0) … f(n−1), each once, on up to workers goroutines. Which
// of them takes which index is left open, so f must not let it matter.
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
