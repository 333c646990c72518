package lbfgs

import (
	"math"

	"github.com/vssgp/vssgp/internal/parallel"
	"gonum.org/v1/gonum/floats"
)

// chunk is the number of elements per block of parallel work; a few vectors of this length fit
// into a core's cache. Sums are computed by chunk, so they do not depend on the number of cores.
const chunk = 1 << 11

// eachChunk calls f in parallel for chunks of n numbers.
func eachChunk(n int, f func(lo, hi int)) {
	parallel.Blocks(n, chunk, func(_, lo, hi int) { f(lo, hi) })
}

// dot returns the inner product of a and b.
func dot(a, b []float64) float64 {
	if len(a) <= chunk {
		return dotChunk(a, b)
	}
	return parallel.Sum(len(a), chunk, func(lo, hi int) float64 { return dotChunk(a[lo:hi], b[lo:hi]) })
}

// dotChunk is dot on one core.
func dotChunk(a, b []float64) float64 { return floats.Dot(a, b) }

// addDot adds c·b to a and returns the inner product of the result with w, in one pass. It returns
// 0 if w is nil.
func addDot(a []float64, c float64, b, w []float64) float64 {
	if len(a) <= chunk {
		return addDotChunk(a, c, b, w)
	}
	return parallel.Sum(len(a), chunk, func(lo, hi int) float64 {
		if w == nil {
			return addDotChunk(a[lo:hi], c, b[lo:hi], nil)
		}
		return addDotChunk(a[lo:hi], c, b[lo:hi], w[lo:hi])
	})
}

// addDotChunk is addDot on one core.
func addDotChunk(a []float64, c float64, b, w []float64) float64 {
	floats.AddScaled(a, c, b)
	if w == nil {
		return 0
	}
	return dotChunk(w, a)
}

// copyAll is a parallel copy.
func copyAll(to, from []float64) {
	eachChunk(len(to), func(lo, hi int) { copy(to[lo:hi], from[lo:hi]) })
}

// subtract computes to = a − b.
func subtract(to, a, b []float64) {
	eachChunk(len(to), func(lo, hi int) { floats.SubTo(to[lo:hi], a[lo:hi], b[lo:hi]) })
}

// addScaled computes to = a + c·b.
func addScaled(to, a []float64, c float64, b []float64) {
	eachChunk(len(to), func(lo, hi int) { floats.AddScaledTo(to[lo:hi], a[lo:hi], c, b[lo:hi]) })
}

// usable reports whether a value and its gradient are finite.
func usable(v float64, g []float64) bool {
	zero := parallel.Sum(len(g), chunk, func(lo, hi int) (zero float64) {
		for _, x := range g[lo:hi] {
			zero += x - x // NaN if x is not finite
		}
		return zero
	})
	return zero == 0 && !math.IsNaN(v) && !math.IsInf(v, 0)
}

// dot returns the inner product over the ranges.
func (r Ranges) dot(a, b []float64) float64 {
	s := 0.0
	for _, x := range r {
		s += dot(a[x.Lo:x.Hi], b[x.Lo:x.Hi])
	}
	return s
}

// addDot adds c times the ranges of b to a and returns the inner product of a with w over them. It
// returns 0 if w is nil.
func (r Ranges) addDot(a []float64, c float64, b, w []float64) float64 {
	s := 0.0
	for _, x := range r {
		var with []float64
		if w != nil {
			with = w[x.Lo:x.Hi]
		}
		s += addDot(a[x.Lo:x.Hi], c, b[x.Lo:x.Hi], with)
	}
	return s
}

// copy copies the entries of the ranges.
func (r Ranges) copy(to, from []float64) {
	for _, x := range r {
		copy(to[x.Lo:x.Hi], from[x.Lo:x.Hi])
	}
}

// scale multiplies the entries of the ranges by c.
func (r Ranges) scale(a []float64, c float64) {
	for _, x := range r {
		part := a[x.Lo:x.Hi]
		if len(part) <= chunk {
			floats.Scale(c, part)
			continue
		}
		eachChunk(len(part), func(lo, hi int) { floats.Scale(c, part[lo:hi]) })
	}
}

// largest returns the maximum absolute value of the entries of the ranges.
func (r Ranges) largest(a []float64) float64 {
	big := 0.0
	for _, x := range r {
		big = max(big, floats.Norm(a[x.Lo:x.Hi], math.Inf(1)))
	}
	return big
}
