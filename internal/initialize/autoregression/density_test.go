package autoregression

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

// Density returns the two-sided power spectral density of the model at a frequency in cycles per sample. Its integral over [−½, ½] is
// the variance.
func (m Model) Density(f float64) float64 {
	var re, im float64
	s1, c1 := math.Sincos(-2 * math.Pi * f)
	c, s := 1.0, 0.0
	for _, a := range m.A {
		re += a * c
		im += a * s
		c, s = c*c1-s*s1, c*s1+s*c1
	}
	return m.E / (re*re + im*im)
}

// TestDensityIntegrates checks that the spectral density integrates to the variance and is even.
func TestDensityIntegrates(t *testing.T) {
	for _, c := range processes {
		x := process(c.model, 200_000, 4)
		variance := Autocorrelation(x, 0)[0]
		if got := covariance(c.model, 0)[0]; math.Abs(got-variance) > 0.05*variance {
			t.Errorf("%s: the density integrates to %v, the samples' variance is %v", c.name, got, variance)
		}
		if a, b := c.model.Density(0.13), c.model.Density(-0.13); math.Abs(a-b) > 1e-12*a {
			t.Errorf("%s: density %v at 0.13, %v at −0.13", c.name, a, b)
		}
	}
	if d := (Model{A: []float64{1, -0.9}, E: 1}).Density(0); math.Abs(d-100) > 1e-9 {
		t.Errorf("density of 1/|1 − 0.9|² at 0 is %v, want 100", d)
	}
}
