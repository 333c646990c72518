package ar

import (
	"slices"

	"github.com/vssgp/vssgp/internal/initialize/autoregression"
	"github.com/vssgp/vssgp/internal/simd"
)

// A Segment is a run of consecutive samples X with error weights Weights; nil means 1.
type Segment struct{ X, Weights []float64 }

// Burg estimates a model from segments by Burg's method. Stage m minimizes the weighted sum of squares of the forward errors f and
// backward errors b with the reflection coefficient
//
//	k_m = −2 Σ w f_{m−1,n} b_{m−1,n−1} / (Σ w (f²_{m−1,n} + b²_{m−1,n−1}) + m·E_{m−1}),   E_m = E_{m−1}(1 − k_m²),
//
// where w is the weight of the sample in the middle of the m+1 samples that the errors depend on. The term m·E_{m−1} acts like m
// uncorrelated errors and prevents overfitting of short segments. E_0 is the weighted mean square. The cost is O(samples·order).
func Burg(segments []Segment, order int) Model {
	b := newBurg(segments)
	p, e := autoregression.NewPredictor(order), b.power
	unused := make([]float64, order+1) // the product with it is not needed
	for m := 1; m <= order; m++ {
		k := 0.0
		if e > 0 {
			k = -2 * b.products / (b.squares + float64(m)*e)
		}
		e *= 1 - k*k
		p.Reflect(k, unused)
		b.stage(m, k)
	}
	return Model{A: p.A, E: e}
}

// A burg contains the errors of all segments at the current stage, and the sums for the next stage.
type burg struct {
	segments          []burgSegment
	power             float64 // weighted mean square of the samples
	products, squares float64
}

// A burgSegment contains f_n and b_n of the current stage.
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

// stage applies reflection coefficient k_m and computes the sums for stage m+1.
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
