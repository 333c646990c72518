package bayes

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/vssgp/vssgp/internal/optimize/lbfgs"
)

const (
	acceptance = 0.8 // the share of trajectories accepted that the step length is adapted to
	mostSteps  = 4   // of a trajectory
	// Of the adaptation (Hoffman & Gelman 2014, section 3.2): how fast it forgets, its first step, its shrinkage.
	forgetting, firstLength, shrinkage, delay = 0.75, 0.5, 0.05, 10.0
)

// HMC draws from exp(objective) by Hamiltonian Monte Carlo (Neal 2011) in the coordinates z of the Gaussian at the mode, in which the
// posterior is about a standard normal. The step length is adapted during warm further trajectories, whose draws are dropped. It is exact
// but for the chain's length, and slow: the judge of the Gaussian. accepted is the share of trajectories that were accepted. A place where
// the objective has no value is rejected. The error is ctx's, or the objective's at the mode.
func HMC(ctx context.Context, f lbfgs.Func, g *Gaussian, warm, count int, random *rand.Rand) (draws [][]float64, accepted float64,
	err error) {
	c := &chain{f: f, g: g, random: random, length: firstLength}
	if c.at, err = c.place(make([]float64, len(g.Mode))); err != nil {
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

// A place in the coordinates of Along, with the objective and its slope.
type place struct {
	z, slope []float64
	value    float64
}

type chain struct {
	f      lbfgs.Func
	g      *Gaussian
	random *rand.Rand
	at     *place

	length          float64 // of a step
	surplus, smooth float64 // of the adaptation: mean shortfall of acceptance, mean log length
}

func (c *chain) place(z []float64) (*place, error) {
	gradient := make([]float64, len(z))
	value, err := c.f(c.g.Along(z), gradient)
	return &place{z, c.g.slopeAlong(gradient), value}, err
}

// step follows a trajectory and takes its end, or not. It returns the probability of taking it.
func (c *chain) step() float64 {
	momentum := normals(c.random, len(c.at.z))
	steps := 1 + c.random.IntN(mostSteps)
	length := c.length * (0.8 + 0.4*c.random.Float64()) // so that no orbit closes
	energy := func(p *place) float64 { return halfSquare(momentum) - p.value }
	before, to := energy(c.at), c.at
	for range steps {
		z := make([]float64, len(momentum))
		for i := range z {
			momentum[i] += 0.5 * length * to.slope[i]
			z[i] = to.z[i] + length*momentum[i]
		}
		next, err := c.place(z)
		if err != nil || math.IsNaN(next.value) {
			c.random.Float64() // the same stream, whatever happens
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

// adapt moves the step length by dual averaging after n trajectories; at the last one it takes the mean.
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
