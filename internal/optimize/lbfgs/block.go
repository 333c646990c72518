package lbfgs

import "github.com/vssgp/vssgp/internal/parallel"

// A Block is some coordinates with a separate curvature, most of which
// lies within the block: a window's parameters.
type Block struct {
	Own Ranges
	// Shared marks coordinates that affect all blocks (a noise precision). Pairs
	// restricted to them carry no information, so they take their part of the
	// direction of all coordinates together.
	Shared bool
}

// Ranges are coordinates, rising, none twice.
type Ranges []Range

// Range is coordinates [Lo, Hi).
type Range struct{ Lo, Hi int }

// neighbors is the number of consecutive blocks per core: they are adjacent in each
// vector, and a core that reads one fetches part of the next.
const neighbors = 4

// eachOf calls f for n blocks, on all cores.
func eachOf(n int, f func(block int)) {
	parallel.Blocks(n, neighbors, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			f(i)
		}
	})
}
