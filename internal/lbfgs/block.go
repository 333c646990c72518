package lbfgs

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

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

// scale multiplies the ranges' entries by c.
func (r Ranges) scale(a []float64, c float64) {
	for _, x := range r {
		floats.Scale(c, a[x.Lo:x.Hi])
	}
}

// dotPacked is the inner product of the ranges of full with q.
func (r Ranges) dotPacked(full, q []float64) float64 {
	s, at := 0.0, 0
	for _, x := range r {
		s += dot(full[x.Lo:x.Hi], q[at:])
		at += x.Hi - x.Lo
	}
	return s
}

// axpyPacked adds a times the ranges of full to q.
func (r Ranges) axpyPacked(q []float64, a float64, full []float64) {
	at := 0
	for _, x := range r {
		n := x.Hi - x.Lo
		floats.AddScaled(q[at:][:n], a, full[x.Lo:x.Hi])
		at += n
	}
}

func dot(a, b []float64) float64 {
	s := 0.0
	for i, v := range a {
		s += v * b[i]
	}
	return s
}

func largest(a []float64) float64 {
	big := 0.0
	for _, v := range a {
		big = max(big, math.Abs(v))
	}
	return big
}
