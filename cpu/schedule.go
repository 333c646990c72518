package cpu

import (
	"sync"
	"sync/atomic"

	"github.com/vssgp/vssgp/spectral"
)

// parallel calls f(0) … f(n−1), each once, on up to w goroutines. Which
// goroutine takes which index is left open, so f must not let it matter.
func parallel(n, w int, f func(i int)) {
	w = min(w, n)
	if w <= 1 {
		for i := range n {
			f(i)
		}
		return
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range w {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				f(i)
			}
		}()
	}
	wg.Wait()
}

// sweep calls body once for each run. Runs whose cells have one parity touch
// the features of different windows (cell v meets windows v and v+1 alone), so
// they go side by side: first the even cells, then the odd ones, and every sum
// over rows is taken in one order. body is told how many goroutines it may use
// itself.
func sweep(runs []spectral.Run, body func(r spectral.Run, w int)) {
	var half [2][]spectral.Run
	for _, r := range runs {
		half[r.Cell&1] = append(half[r.Cell&1], r)
	}
	total := workers()
	for _, side := range half {
		inner := 1
		if len(side) < 2*total {
			inner = total
		}
		outer := max(1, total/inner)
		parallel(len(side), outer, func(i int) { body(side[i], inner) })
	}
}

// blocks cuts n features into blocks of featureBlock and calls f(lo, hi, b)
// for each on up to w goroutines.
func blocks(n, w int, f func(lo, hi, b int)) {
	parallel(blockCount(n), w, func(b int) {
		f(b*featureBlock, min(n, (b+1)*featureBlock), b)
	})
}

func blockCount(n int) int { return (n + featureBlock - 1) / featureBlock }

const (
	// tileRows is how many rows a tile has: a block of features times a tile
	// (32·128 numbers, 32 KiB) stays in a core's nearest cache.
	tileRows = 128
	// featureBlock is how many features one job takes.
	featureBlock = 32
)
