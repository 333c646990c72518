// Package hmc draws from a density by Hamiltonian Monte Carlo (Neal 2011). It is slow but asymptotically exact, so
// tests compare the Laplace approximation with it. The package imports no other package of this module.
package hmc

import (
	"fmt"
	"math"
	"math/rand/v2"
)

const (
	warm          = 100 // trajectories that adapt the step length and are discarded
	acceptance    = 0.8 // target acceptance rate
	minAcceptance = 0.5
	maxSteps      = 4 // maximum number of leapfrog steps per trajectory
	// Dual averaging (Hoffman & Gelman 2014, section 3.2): κ, initial step length, γ, t₀.
	forgetting, firstLength, shrinkage, delay = 0.75, 0.5, 0.05, 10.0
)

// An affine function returns x for coordinates z.
type affine = func(z []float64) []float64

// A density returns a log density at x, up to a constant, and writes its gradient.
type density = func(x, gradient []float64) (float64, error)

// Sample returns count consecutive draws x = along(z) from exp(f) [count][n]. along is an affine function of z [n],
// which is approximately standard normal. The chain begins at z = 0. Points at which f fails are rejected. Sample
// returns an error if f fails at z = 0, or if less than half of the trajectories are accepted.
func Sample(f density, along affine, n, count int, random *rand.Rand) (draws [][]float64, err error) {
	c, err := newChain(f, along, make([]float64, n), random)
	if err != nil {
		return nil, err
	}
	for i := range warm {
		c.adapt(i+1, c.step())
	}
	c.length = math.Exp(c.smooth)
	accepted := 0.0
	for range count {
		accepted += c.step() / float64(count)
		draws = append(draws, along(c.at.z))
	}
	if accepted < minAcceptance {
		return nil, fmt.Errorf("%.2f of the trajectories are accepted, must be at least %v", accepted, minAcceptance)
	}
	return draws, nil
}

// A point contains coordinates z, and the log density and its gradient with respect to z there.
type point struct {
	z, slope []float64
	value    float64
}

type chain struct {
	f       density
	along   affine
	columns [][]float64 // ∂x/∂z_k [n][n]
	random  *rand.Rand
	at      *point

	length          float64 // step length
	surplus, smooth float64 // averages of the adaptation: acceptance shortfall, log length
}

func newChain(f density, along affine, z []float64, random *rand.Rand) (c *chain, err error) {
	c = &chain{f: f, along: along, random: random, length: firstLength}
	origin := along(make([]float64, len(z)))
	for k := range z {
		unit := make([]float64, len(z))
		unit[k] = 1
		column := along(unit)
		for i := range column {
			column[i] -= origin[i]
		}
		c.columns = append(c.columns, column)
	}
	c.at, err = c.point(z)
	return c, err
}

func (c *chain) point(z []float64) (*point, error) {
	gradient, slope := make([]float64, len(z)), make([]float64, len(z))
	value, err := c.f(c.along(z), gradient)
	for k, column := range c.columns {
		slope[k] = dot(column, gradient)
	}
	return &point{z, slope, value}, err
}

// step simulates a trajectory and accepts or rejects its end. It returns the acceptance probability.
func (c *chain) step() float64 {
	momentum := make([]float64, len(c.at.z))
	for i := range momentum {
		momentum[i] = c.random.NormFloat64()
	}
	steps := 1 + c.random.IntN(maxSteps)
	length := c.length * (0.8 + 0.4*c.random.Float64()) // avoids periodic trajectories

	energy := func(p *point) float64 { return 0.5*dot(momentum, momentum) - p.value }
	before, to := energy(c.at), c.at
	for range steps {
		z := make([]float64, len(momentum))
		for i := range z {
			momentum[i] += 0.5 * length * to.slope[i]
			z[i] = to.z[i] + length*momentum[i]
		}
		next, err := c.point(z)
		if err != nil || math.IsNaN(next.value) {
			return 0
		}
		for i := range z {
			momentum[i] += 0.5 * length * next.slope[i]
		}
		to = next
	}

	share := math.Exp(min(0, before-energy(to)))
	if c.random.Float64() < share {
		c.at = to
	}
	return share
}

// adapt updates the step length by dual averaging after n trajectories. share is the acceptance probability of the last
// one.
func (c *chain) adapt(n int, share float64) {
	k := float64(n)
	c.surplus += (acceptance - share - c.surplus) / (k + delay)
	log := math.Log(4*firstLength) - math.Sqrt(k)/shrinkage*c.surplus
	weight := math.Pow(k, -forgetting)
	c.smooth = weight*log + (1-weight)*c.smooth
	c.length = math.Exp(log)
}

func dot(a, b []float64) (sum float64) {
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}
