package parallel

import (
	"sync/atomic"
	"testing"
)

// TestFor: every index once, whatever the number of goroutines.
func TestFor(t *testing.T) {
	for _, n := range []int{0, 1, 2, 7, 100} {
		for _, workers := range []int{0, 1, 2, 5, 200} {
			counts := make([]atomic.Int32, n)
			For(n, workers, func(i int) { counts[i].Add(1) })
			for i := range counts {
				if c := counts[i].Load(); c != 1 {
					t.Fatalf("n %d, %d workers: index %d was called %d times", n, workers, i, c)
				}
			}
		}
	}
}
