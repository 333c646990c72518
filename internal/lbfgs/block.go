package lbfgs

// A Block is some coordinates with a curvature of their own, most of which
// lies within the block: a window's parameters.
type Block struct {
	Own Ranges
	// Shared marks coordinates that work on all blocks (a noise precision):
	// pairs restricted to them say nothing, so that their direction is their
	// part of the one that all coordinates have together.
	Shared bool
}

// Ranges are coordinates, rising, none twice.
type Ranges []Range

// Range is coordinates [Lo, Hi).
type Range struct{ Lo, Hi int }

// len is the number of coordinates.
func (r Ranges) len() int {
	n := 0
	for _, x := range r {
		n += x.Hi - x.Lo
	}
	return n
}

// dot is the inner product over the ranges.
func (r Ranges) dot(a, b []float64) float64 {
	s := 0.0
	for _, x := range r {
		s += dot(a[x.Lo:x.Hi], b[x.Lo:x.Hi])
	}
	return s
}

// copy copies the ranges' entries.
func (r Ranges) copy(to, from []float64) {
	for _, x := range r {
		copy(to[x.Lo:x.Hi], from[x.Lo:x.Hi])
	}
}

// gather packs the ranges' entries into a vector.
func (r Ranges) gather(from []float64) []float64 {
	to := make([]float64, 0, r.len())
	for _, x := range r {
		to = append(to, from[x.Lo:x.Hi]...)
	}
	return to
}

// scatter is gather's inverse.
func (r Ranges) scatter(to, from []float64) {
	at := 0
	for _, x := range r {
		at += copy(to[x.Lo:x.Hi], from[at:])
	}
}

// scaleClamp is how far a block's initial scale may lie from that of all
// coordinates.
const scaleClamp = 10

// scale multiplies q by the initial inverse curvature, s·y/y·y of the last
// pair: where there are blocks, each block's own.
func (s *State) scale(q []float64, blocks []Block) {
	n := len(s.S) - 1
	step, y := s.S[n], s.Y[n]
	all := dot(step, y) / dot(y, y)
	if len(blocks) < 2 {
		for i := range q {
			q[i] *= all
		}
		return
	}
	for _, b := range blocks {
		own := all
		if c := b.Own.dot(step, y); c > 0 {
			own = min(max(c/b.Own.dot(y, y), all/scaleClamp), all*scaleClamp)
		}
		for _, r := range b.Own {
			for i := r.Lo; i < r.Hi; i++ {
				q[i] *= own
			}
		}
	}
}
