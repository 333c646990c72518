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

// dot is Σ a∘b, summed from the first entry to the last.
func dot(a, b []float64) float64 {
	s := 0.0
	for i, v := range a {
		s += v * b[i]
	}
	return s
}
