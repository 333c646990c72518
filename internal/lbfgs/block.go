package lbfgs

// A Block is some coordinates with a curvature of their own, most of which
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
