package lbfgs

import "github.com/vssgp/vssgp/internal/parallel"

// A Block is a set of coordinates, such as a window's parameters, that interact little with other
// coordinates and have a separate curvature.
type Block struct {
	Own Ranges
	// Shared marks coordinates that affect all blocks (a noise precision). Pairs restricted to
	// them contain no information, so their part of the direction is computed from all
	// coordinates.
	Shared bool
}

// Ranges are disjoint ranges of coordinates in increasing order.
type Ranges []Range

// Range is the coordinates [Lo, Hi).
type Range struct{ Lo, Hi int }

// neighbors is the number of consecutive blocks per core. They are adjacent in each vector, so
// reading one prefetches part of the next.
const neighbors = 4

// eachOf calls f in parallel for n blocks.
func eachOf(n int, f func(block int)) {
	parallel.Blocks(n, neighbors, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			f(i)
		}
	})
}
