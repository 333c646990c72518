package ar

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestDensities compares Densities with direct sums, including models of higher order than the Transform.
func TestDensities(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	long := Model{A: []float64{1}, E: 3}
	for range 40 {
		long.A = append(long.A, 0.1*rng.NormFloat64())
	}
	models := []Model{long}
	for _, p := range processes {
		models = append(models, p.model)
	}
	transforms := map[int]*Transform{} // reused
	for i, m := range models {
		for _, n := range []int{1, 2, 7, 64, 97} {
			if transforms[n] == nil {
				transforms[n] = NewTransform(n, 3)
			}
			for j, got := range transforms[n].Densities(m) {
				if want := m.Density((float64(j) + 0.5) / float64(2*n)); math.Abs(got-want) > 1e-12*want {
					t.Fatalf("model %d, %d frequencies: density %d is %v, want %v", i, n, j, got, want)
				}
			}
		}
	}
}
