package oracle

import (
	"math"
	"math/rand/v2"
)

// shape is the size of a random model.
type shape struct {
	l, k, q, d, n int
	windows       bool
}

func newRNG(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x5651)) }

// random draws a model with every part in play and N rows on [0, 6)^Q.
func random(s shape, rng *rand.Rand) (p *Params, xs, ys [][]float64) {
	uniform := func(lo, hi float64) float64 { return lo + (hi-lo)*rng.Float64() }
	fill := func(rows, cols int, draw func() float64) [][]float64 {
		a := array(rows, cols)
		for i := range a {
			for j := range a[i] {
				a[i][j] = draw()
			}
		}
		return a
	}
	m := s.l * s.k
	p = &Params{
		Lengthscale:    fill(s.l, s.q, func() float64 { return uniform(1, 3) }),
		Frequency:      fill(s.l, s.q, func() float64 { return uniform(0, 0.5) }),
		Location:       fill(m, s.q, func() float64 { return uniform(0, 6) }),
		FreqMean:       fill(m, s.q, rng.NormFloat64),
		FreqVar:        fill(m, s.q, func() float64 { return uniform(0.05, 0.8) }),
		CoefMean:       fill(m, s.d, rng.NormFloat64),
		CoefVar:        fill(m, s.d, func() float64 { return uniform(0.1, 0.9) }),
		NoisePrecision: uniform(1, 20),
	}
	for range s.l {
		p.Variance = append(p.Variance, uniform(0.5, 2))
	}
	for range m {
		lower := uniform(0, 4)
		p.PhaseLower = append(p.PhaseLower, lower)
		p.PhaseUpper = append(p.PhaseUpper, uniform(lower+0.2, 2*math.Pi))
	}
	if s.windows {
		p.WindowCenter, p.WindowLength = []float64{1, 3, 5}, 4
		for i := range s.l {
			p.ComponentWindow = append(p.ComponentWindow, i*3/s.l)
		}
	}
	xs = fill(s.n, s.q, func() float64 { return uniform(0, 6) })
	ys = fill(s.n, s.d, rng.NormFloat64)
	return p, xs, ys
}
