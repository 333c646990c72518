package lbfgs

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

const (
	// firstStep is the length of the very first step in its largest coordinate.
	firstStep = 0.1
	// scaleClamp is how far a block's initial scale may lie from that of all
	// coordinates.
	scaleClamp = 10
)

// apply replaces q, a gradient packed over the ranges, by H·q, an ascent
// direction: the two-loop recursion with every inner product over the ranges, and
// with those of s's pairs alone whose curvature is real there. If there are blocks,
// the ranges are all coordinates.
func (r Ranges) apply(q []float64, s *State, blocks []Block) {
	alpha, curve := make([]float64, len(s.S)), make([]float64, len(s.S))
	last := -1
	for i := len(s.S) - 1; i >= 0; i-- {
		c := r.dot(s.S[i], s.Y[i])
		if !(c > tooFlat*r.dot(s.Y[i], s.Y[i])) {
			continue
		}
		last, curve[i] = max(last, i), c
		alpha[i] = r.dotPacked(s.S[i], q) / c
		r.axpyPacked(q, -alpha[i], s.Y[i])
	}
	if last < 0 {
		floats.Scale(firstStep/max(largest(q), math.SmallestNonzeroFloat64), q)
		return
	}
	step, y := s.S[last], s.Y[last]
	all := curve[last] / r.dot(y, y) // the initial inverse curvature
	if len(blocks) < 2 {
		floats.Scale(all, q)
	} else {
		scaleBlocks(q, all, step, y, blocks)
	}
	for i, c := range curve {
		if c > 0 {
			r.axpyPacked(q, alpha[i]-r.dotPacked(s.Y[i], q)/c, s.S[i])
		}
	}
}

// scaleBlocks multiplies each block of q by its own inverse curvature, near that of
// all coordinates.
func scaleBlocks(q []float64, all float64, step, y []float64, blocks []Block) {
	for _, b := range blocks {
		own := all
		if c := b.Own.dot(step, y); c > 0 {
			own = min(max(c/b.Own.dot(y, y), all/scaleClamp), all*scaleClamp)
		}
		b.Own.scale(q, own)
	}
}
