package hmc

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

// normal returns the standard normal log density in each coordinate.
func normal(x, gradient []float64) (float64, error) {
	for i, v := range x {
		gradient[i] = -v
	}
	return -0.5 * dot(x, x), nil
}

// skewed returns the log density of log Gamma(3, 1) in each coordinate, which has mean digamma(3) and variance
// trigamma(3).
func skewed(x, gradient []float64) (float64, error) {
	value := 0.0
	for i, v := range x {
		value += 3*v - math.Exp(v)
		gradient[i] = 3 - math.Exp(v)
	}
	return value, nil
}

// truncated returns the standard normal log density, or an error if the first coordinate exceeds 0.5.
func truncated(x, gradient []float64) (float64, error) {
	if x[0] > 0.5 {
		return 0, errors.New("no value")
	}
	return normal(x, gradient)
}

// identity returns a copy of z.
func identity(z []float64) []float64 { return slices.Clone(z) }

// TestTrajectory checks that short trajectories conserve the energy to second order in the step length, and the first
// step of dual averaging. The coordinates are sheared, so the gradient has to be transformed.
func TestTrajectory(t *testing.T) {
	sheared := func(z []float64) []float64 { return []float64{3 + 0.5*z[0], 1 - z[0] + 2*z[1]} }
	c := testkit.Must(newChain(normal, sheared, []float64{1, -2}, rand.New(rand.NewPCG(3, 3))))(t)
	c.length = 1e-3
	for range 50 {
		if share := c.step(); !(share > 1-1e-5) {
			t.Fatalf("acceptance %v at a step length of 0.001", share)
		}
	}
	c.adapt(1, 0.3)
	testkit.Near(t, c.surplus, (acceptance-0.3)/(1+delay), 1e-15, "shortfall")
}

// TestSampleHasMomentsOfDensity checks the moments of draws from Gaussian, skewed and truncated densities. Two of them
// need step lengths of about a tenth and ten times the first one.
func TestSampleHasMomentsOfDensity(t *testing.T) {
	const count = 4000
	for name, c := range map[string]struct {
		f        density
		along    affine
		n        int
		mean, sd float64 // of coordinate 0
	}{
		"short":     {normal, func(z []float64) []float64 { return []float64{10 * z[0]} }, 1, 0, 1},
		"long":      {normal, func(z []float64) []float64 { return []float64{z[0] / 10} }, 1, 0, 1},
		"skewed":    {skewed, func(z []float64) []float64 { return []float64{1 + z[0], 1 + z[1]/2} }, 2, 0.922784, 0.628439},
		"truncated": {truncated, identity, 1, -0.50916, 0.69740},
	} {
		mean, square := 0.0, 0.0
		for _, x := range testkit.Must(Sample(c.f, c.along, c.n, count, rand.New(rand.NewPCG(1, 2))))(t) {
			mean, square = mean+x[0]/count, square+x[0]*x[0]/count
		}
		if sd := math.Sqrt(square - mean*mean); math.Abs(mean-c.mean) > 0.1*c.sd || math.Abs(sd/c.sd-1) > 0.1 {
			t.Errorf("%s: mean %v and sd %v, want %v and %v", name, mean, sd, c.mean, c.sd)
		}
	}
}

// TestSampleFailsWithoutDensity checks the errors of Sample.
func TestSampleFailsWithoutDensity(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	beyond := func([]float64) []float64 { return []float64{1} }
	if _, err := Sample(truncated, beyond, 1, 1, random); err == nil {
		t.Error("no error for a density that fails at the origin")
	}
	rough := func(x, gradient []float64) (float64, error) {
		if x[0] != 0 {
			return 0, errors.New("no value")
		}
		return normal(x, gradient)
	}
	if _, err := Sample(rough, identity, 1, 10, random); err == nil {
		t.Error("no error although every trajectory is rejected")
	}
}
