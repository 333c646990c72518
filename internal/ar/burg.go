package ar

import (
	"slices"

	"github.com/vssgp/vssgp/internal/simd"
)

// A Segment is an unbroken run of samples, and the weights of the errors at them; no weights means 1.
type Segment struct{ X, Weights []float64 }

// Burg estimates a model from segments by Burg's recursion: stage m has the reflection coefficient that makes the weighted
// squares of the forward errors f and backward errors b least,
//
//	k_m = −2 Σ w f_{m−1,n} b_{m−1,n−1} / (Σ w (f²_{m−1,n} + b²_{m−1,n−1}) + m·E_{m−1}),   E_m = E_{m−1}(1 − k_m²),
//
// where the weight is that of the sample in the middle of the m+1 that the errors reach over. The term m·E_{m−1} are m errors
// without correlation: it keeps a high order from fitting a short segment. E_0 is the weighted mean square. It costs the
// samples times the order.
func Burg(segments []Segment, order int) Model {
	b := newBurg(segments)
	p, e := newPredictor(order), b.power
	for m := 1; m <= order; m++ {
		k := 0.0
		if e > 0 {
			k = -2 * b.products / (b.squares + float64(m)*e)
		}
		e *= 1 - k*k
		p.reflect(k, p.reversed) // any numbers: the product is not needed
		b.stage(m, k)
	}
	return Model{A: p.a, E: e}
}

// burg has the errors of all segments after a number of stages, and the sums for the next one.
type burg struct {
	segments          []burgSegment
	power             float64 // weighted mean square of the samples
	products, squares float64
}

// burgSegment has f_n and b_n of the present stage at n.
type burgSegment struct{ f, b, weights []float64 }

func newBurg(segments []Segment) *burg {
	b := &burg{}
	total := 0.0
	for _, s := range segments {
		n := len(s.X)
		if n == 0 {
			continue
		}
		g := burgSegment{simd.Aligned(n), simd.Aligned(n), s.Weights}
		copy(g.f, s.X)
		copy(g.b, s.X)
		if g.weights == nil {
			g.weights = slices.Repeat([]float64{1}, n)
		}
		for i, x := range s.X {
			w := g.weights[i]
			b.power += w * x * x
			total += w
			if i > 0 {
				b.products += w * x * s.X[i-1]
				b.squares += w * (x*x + s.X[i-1]*s.X[i-1])
			}
		}
		b.segments = append(b.segments, g)
	}
	if total > 0 {
		b.power /= total
	}
	return b
}

// stage applies reflection coefficient k_m and sums up for stage m+1.
func (b *burg) stage(m int, k float64) {
	b.products, b.squares = 0, 0
	for _, s := range b.segments {
		if m >= len(s.f) {
			continue
		}
		p, q := simd.Lattice(s.f, s.b, s.weights, (m+1)/2, m, k)
		b.products, b.squares = b.products+p, b.squares+q
	}
}
