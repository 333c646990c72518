package ar

import (
	"math"
	"math/rand/v2"
)

// resonance and resonances have one and two resonances.
var (
	resonance  = Model{A: []float64{1, -1.6, 0.81}, E: 0.5}
	resonances = Model{A: []float64{1, -0.4, 0.45, -0.2, 0.5}, E: 2}
)

// process simulates n samples of an autoregressive model after a transient.
func process(m Model, n int, seed uint64) []float64 {
	const settle = 2000
	rng := rand.New(rand.NewPCG(seed, 1))
	x := make([]float64, settle+n)
	for i := range x {
		x[i] = math.Sqrt(m.E) * rng.NormFloat64()
	}
	m.filter(x, 0)
	return x[settle:]
}
