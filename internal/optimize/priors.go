package optimize

import (
	"slices"

	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/variational"
)

// Priors are a run's log-normal priors, in the model's units. Prior{} is flat, and so is Priors{} for all parameters.
type Priors struct {
	Variance    bayes.Prior   // σ²
	Lengthscale []bayes.Prior // [Q]; nil is flat
	Noise       bayes.Prior   // τ⁻¹
}

// none reports whether all priors are flat.
func (s Priors) none() bool {
	proper := func(p bayes.Prior) bool { return p.SD != 0 }
	return !proper(s.Variance) && !proper(s.Noise) && !slices.ContainsFunc(s.Lengthscale, proper)
}

// of returns the prior of the coordinate for entry i of a tensor, the first of the entries tied
// to it.
func (s Priors) of(t variational.Tensor, i, inputs int) bayes.Prior {
	switch t.Name {
	case "kernel.variance":
		return s.Variance
	case "kernel.lengthscale":
		if s.Lengthscale != nil {
			return s.Lengthscale[i%inputs]
		}
	case "noise.precision": // its coordinate is −log(τ⁻¹ − level)
		if s.Noise.SD > 0 {
			return bayes.Prior{Median: 1 / s.Noise.Median, SD: s.Noise.SD}
		}
	}
	return bayes.Prior{}
}

// setPriors sets the prior of every coordinate, one for tied entries.
func (c *Coordinates) setPriors(p *variational.Params, s Priors) {
	if s.none() {
		c.priors = nil
		return
	}
	tensors := p.Tensors()
	c.priors = make([]bayes.Prior, c.n)
	for _, span := range c.spans {
		g := &c.groups[span.group]
		for j := span.lo; j < span.hi; j++ {
			c.priors[span.at+(j-span.lo)*g.width()] = s.of(tensors[g.tensor], g.of(j)[0].index, p.Q)
		}
	}
}

// logPrior returns the log density of v under the priors of the spans' coordinates. If g is not
// nil, weight times the gradient is added to g.
func (c *Coordinates) logPrior(spans []span, v, g []float64, weight float64) (sum float64) {
	if c.priors == nil {
		return 0
	}
	for _, s := range spans {
		lo, hi := c.coordinates(s)
		for i := lo; i < hi; i++ {
			if c.priors[i].SD == 0 {
				continue
			}
			value, slope := c.priors[i].Log(v[i])
			sum += value
			if g != nil {
				g[i] += weight * slope
			}
		}
	}
	return sum
}
