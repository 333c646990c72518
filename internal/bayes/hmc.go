package bayes

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/vssgp/vssgp/internal/optimize/lbfgs"
)

const (
	acceptance = 0.8 // target acceptance rate
	maxSteps   = 4   // maximum number of leapfrog steps per trajectory
	// Dual averaging (Hoffman & Gelman 2014, section 3.2): κ, initial step length, γ, t₀.
	forgetting, firstLength, shrinkage, delay = 0.75, 0.5, 0.05, 10.0
)

// HMC draws from exp(objective) by Hamiltonian Monte Carlo (Neal 2011) in the coordinates z of the Laplace approximation g, in which
// the posterior is approximately standard normal. During the first warm trajectories it adapts the step length and discards the
// draws. It is slow but asymptotically exact, so it serves to validate g. It rejects points at which the objective fails. accepted is
// the acceptance rate. The error is the error of ctx, or of the objective at the mode.
func HMC(ctx context.Context, f lbfgs.Func, g *Gaussian, warm, count int, random *rand.Rand) (draws [][]float64, accepted float64,
	err error) {
	c := &chain{f: f, g: g, random: random, length: firstLength}
	if c.at, err = c.point(make([]float64, len(g.Mode))); err != nil {
		return nil, 0, err
	}
	for n := range warm + count {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		share := c.step()
		if n < warm {
			c.adapt(n+1, share, n == warm-1)
			continue
		}
		accepted += share / float64(count)
		draws = append(draws, g.Along(c.at.z))
	}
	return draws, accepted, nil
}

// A point contains coordinates z of Along, and the objective and its gradient there.
type point struct {
	z, slope []float64
	value    float64
}

type chain struct {
	f      lbfgs.Func
	g      *Gaussian
	random *rand.Rand
	at     *point

	length          float64 // step length
	surplus, smooth float64 // averages of the adaptation: acceptance shortfall, log length
}

func (c *chain) point(z []float64) (*point, error) {
	gradient := make([]float64, len(z))
	value, err := c.f(c.g.Along(z), gradient)
	return &point{z, c.g.slopeAlong(gradient), value}, err
}

// step simulates a trajectory and accepts or rejects its end. It returns the acceptance probability.
func (c *chain) step() float64 {
	momentum := normals(c.random, len(c.at.z))
	steps := 1 + c.random.IntN(maxSteps)
	length := c.length * (0.8 + 0.4*c.random.Float64()) // avoids periodic trajectories
	energy := func(p *point) float64 { return halfSquare(momentum) - p.value }
	before, to := energy(c.at), c.at
	for range steps {
		z := make([]float64, len(momentum))
		for i := range z {
			momentum[i] += 0.5 * length * to.slope[i]
			z[i] = to.z[i] + length*momentum[i]
		}
		next, err := c.point(z)
		if err != nil || math.IsNaN(next.value) {
			c.random.Float64() // keeps the random stream in sync
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

// adapt updates the step length by dual averaging after n trajectories. After the last one it uses the average.
func (c *chain) adapt(n int, share float64, last bool) {
	k := float64(n)
	c.surplus += (acceptance - share - c.surplus) / (k + delay)
	log := math.Log(4*firstLength) - math.Sqrt(k)/shrinkage*c.surplus
	weight := math.Pow(k, -forgetting)
	c.smooth = weight*log + (1-weight)*c.smooth
	c.length = math.Exp(log)
	if last {
		c.length = math.Exp(c.smooth)
	}
}

func halfSquare(a []float64) float64 {
	s := 0.0
	for _, v := range a {
		s += 0.5 * v * v
	}
	return s
}
