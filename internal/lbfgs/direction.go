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

// apply replaces the ranges' entries of q, a gradient, by those of H·q, an ascent
// direction: the two-loop recursion with every inner product over the ranges, and
// only with those pairs of s whose curvature is real there. If there are blocks,
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
		alpha[i] = r.dot(s.S[i], q) / c
		r.axpy(q, -alpha[i], s.Y[i])
	}
	if last < 0 {
		r.scale(q, firstStep/max(r.largest(q), math.SmallestNonzeroFloat64))
		return
	}
	step, y := s.S[last], s.Y[last]
	all := curve[last] / r.dot(y, y) // the initial inverse curvature
	if len(blocks) < 2 {
		r.scale(q, all)
	} else {
		scaleBlocks(q, all, step, y, blocks)
	}
	for i, c := range curve {
		if c > 0 {
			r.axpy(q, alpha[i]-r.dot(s.Y[i], q)/c, s.S[i])
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

// scale multiplies the ranges' entries by c.
func (r Ranges) scale(a []float64, c float64) {
	for _, x := range r {
		floats.Scale(c, a[x.Lo:x.Hi])
	}
}

// axpy adds c times the ranges of b to those of a.
func (r Ranges) axpy(a []float64, c float64, b []float64) {
	for _, x := range r {
		floats.AddScaled(a[x.Lo:x.Hi], c, b[x.Lo:x.Hi])
	}
}

// largest is the largest absolute value of the ranges' entries.
func (r Ranges) largest(a []float64) float64 {
	big := 0.0
	for _, x := range r {
		big = max(big, floats.Norm(a[x.Lo:x.Hi], math.Inf(1)))
	}
	return big
}
