package optimize

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/optimize/lbfgs"
	"github.com/vssgp/vssgp/variational"
)

// A Posterior is a Gaussian approximation of the posterior of a run's hyper-parameters about their final values, in unconstrained
// coordinates. The parameters of q are profiled out (bayes.Profile).
type Posterior struct {
	*bayes.Profile
	c      *Coordinates
	order  []int               // of the elements of c's vector; hyper-parameters first
	params *variational.Params // at the mode
	f      lbfgs.Func          // the bound plus the log prior of all coordinates in this order
}

// shiftScale is the length of coordinates that are not logarithms, in their units. It changes a feature's phase at its reach by about a
// radian, so a frequency with this uncertainty is not determined by the data.
const shiftScale = 1

// PosteriorSize returns the number of coordinates that Laplace's approximation differentiates for parameters of a shape, or 0 if all
// hyper-parameters are fixed.
func PosteriorSize(shape variational.Shape, s Settings) int {
	if Count(shape, s.unfixed(hyperparameters), s.Ties) == 0 {
		return 0
	}
	return Count(shape, s.unfixed(s.moving()), s.Ties)
}

// HistoryBytes returns the memory of L-BFGS for parameters of a shape: pairs of steps and gradient differences, and eight other arrays.
func HistoryBytes(shape variational.Shape, s Settings) float64 {
	pairs := lbfgs.Memory
	if s.Iterations != 0 {
		pairs = min(pairs, s.Iterations)
	}
	if pairs < 0 || s.Inference == variational.Stochastic {
		return 0
	}
	return 8 * float64(Count(shape, s.unfixed(s.moving()), s.Ties)*(2*pairs+8))
}

// Count returns the number of coordinates (Coordinates.N) of parameters of a shape.
func Count(shape variational.Shape, free []string, ties Ties) (n int) {
	for _, t := range shape.Tensors() {
		if !slices.Contains(free, t.Name) || t.Coordinate == variational.PhaseEnd || shape.Constant(t) {
			continue
		}
		size := t.Size()
		switch {
		case ties.Twins && t.Name == variational.FrequencyMean:
			size = shape.M() / 2 * shape.Q
		case slices.Contains(ties.Tensors, t.Name):
			size = t.PerComponent(shape.L())
		case ties.Shared && t.Tieable && len(shape.Windows.Center) > 0:
			size = shape.Most() * t.PerComponent(shape.L())
		}
		if t.Coordinate == variational.Phase {
			size *= 2
		}
		n += size
	}
	return n
}

// moving returns the tensors with respect to which the bound is maximal at the end of a run.
func (s *Settings) moving() []string {
	if cmp.Or(s.Inference, variational.Exact) == variational.Exact {
		return s.freeTensors()
	}
	return slices.Concat(s.freeTensors(), coefficients)
}

// Posterior computes the Gaussian at the end of the run, from two gradients of the bound per coordinate. Errors wrap variational.ErrBound
// if a gradient does not exist.
func (r *Run) Posterior() (*Posterior, error) {
	c := r.coordinates(r.Params, r.unfixed(r.moving()), r.Inference == variational.Exact)
	own := 0
	order, scale := make([]int, 0, c.n), make([]float64, 0, c.n)
	for _, hyper := range []bool{true, false} {
		for _, s := range c.spans {
			lo, hi := c.coordinates(s)
			for at := lo; at < hi; at++ {
				if c.point(s, at, r.Params) == hyper {
					order, scale = append(order, at), append(scale, c.length(s, at))
				}
			}
		}
		if hyper {
			own = len(order)
		}
	}
	p := &Posterior{c: c, order: order, params: r.Params}
	v := make([]float64, c.n)
	c.read(v, r.Params)
	p.f = p.ordered(r.objective(c, r.Params.Clone()))
	var err error
	if p.Profile, err = bayes.LaplaceProfile(p.f, p.sorted(v), scale, own); err != nil {
		err = fmt.Errorf("the posterior of the hyper-parameters: %w", err)
		if r.ctx.Err() == nil && !errors.Is(err, variational.ErrBound) {
			err = fmt.Errorf("%w: %w", err, variational.ErrBound)
		}
		return nil, Interrupted(r.ctx, err)
	}
	return p, nil
}

// point reports whether a coordinate of a span is a point estimate: of the covariance, of the noise, or of a point frequency.
func (c *Coordinates) point(s span, at int, p *variational.Params) bool {
	g := &c.groups[s.group]
	t := p.Tensors()[g.tensor]
	switch t.Group {
	case variational.Covariance, variational.Noise:
		return true
	case variational.FeatureDist:
		return t.Name == variational.FrequencyMean && p.FreqVar[g.of((at - s.at) / g.width())[0].index] == 0
	}
	return false
}

// length returns the natural length of a coordinate.
func (c *Coordinates) length(s span, at int) float64 {
	switch {
	case c.priors != nil && c.priors[at].SD > 0:
		return c.priors[at].SD
	case c.groups[s.group].kind == variational.Shift:
		return shiftScale
	}
	return 1
}

// sorted returns coordinates in the posterior's order.
func (p *Posterior) sorted(v []float64) []float64 {
	out := make([]float64, len(v))
	for i, at := range p.order {
		out[i] = v[at]
	}
	return out
}

// ordered returns f as a function of coordinates in the posterior's order.
func (p *Posterior) ordered(f lbfgs.Func) lbfgs.Func {
	x, slope := make([]float64, p.c.n), make([]float64, p.c.n)
	return func(v, g []float64) (float64, error) {
		for i, at := range p.order {
			x[at] = v[i]
		}
		value, err := f(x, slope)
		copy(g, p.sorted(slope))
		return value, err
	}
}

// At writes the parameters for hyper-parameters own to to, a copy of the run's parameters.
func (p *Posterior) At(to *variational.Params, own []float64) { p.write(to, p.All(own)) }

// write sets parameters from all coordinates in the posterior's order.
func (p *Posterior) write(to *variational.Params, v []float64) {
	x := make([]float64, p.c.n)
	for i, v := range v {
		x[p.order[i]] = v
	}
	p.c.write(to, x)
}

// followGain is the minimum gain in nats of a step that adapts q to the hyper-parameters of a draw, and followMost is
// the maximum number of steps.
const followGain, followMost = 1e-3, 50

// follow returns all coordinates and the objective for hyper-parameters own and the optimal q for them.
func (p *Posterior) follow(own []float64) (v []float64, value float64, err error) {
	n := len(own)
	v = p.All(own)
	slope := make([]float64, len(v))
	inner := func(x, s []float64) (float64, error) {
		copy(v[n:], x)
		value, err := p.f(v, slope)
		copy(s, slope[n:])
		return value, err
	}
	state, err := lbfgs.Start(inner, v[n:])
	if err != nil {
		return nil, 0, err
	}
	if _, err := lbfgs.Maximize(inner, state, lbfgs.Settings{Iterations: followMost, Gain: followGain}); err != nil {
		return nil, 0, err
	}
	value, err = inner(state.X, state.G)
	return v, value, err
}

// Draw returns the parameters of a draw from the Gaussian, with the optimal q for them.
func (p *Posterior) Draw(random *rand.Rand) (*variational.Params, error) {
	z := make([]float64, len(p.Mode))
	for i := range z {
		z[i] = random.NormFloat64()
	}
	var all []float64 // coordinates of the last point
	own, err := p.Plausible(z, p.Along, func(own []float64) (value float64, err error) {
		all, value, err = p.follow(own)
		if err != nil && !errors.Is(err, lbfgs.ErrStop) {
			return math.Inf(-1), nil
		}
		return value, err
	}, bayes.Slack)
	if err != nil {
		return nil, err
	}
	to := p.params.Clone()
	if own != nil {
		p.write(to, all)
	}
	return to, nil
}

// axisStep is the size of SD's finite differences along the Gaussian's axes, in standard
// deviations.
const axisStep = 1e-3

// SD returns the standard deviation of each number that the function of returns. It is a first-order approximation by finite differences
// along the Gaussian's axes.
func (p *Posterior) SD(of func(*variational.Params) []float64) []float64 {
	var variance []float64
	z, at := make([]float64, len(p.Mode)), p.params.Clone()
	for k := range z {
		z[k] = axisStep
		p.At(at, p.Along(z))
		up := of(at)
		z[k] = -axisStep
		p.At(at, p.Along(z))
		z[k] = 0
		if variance == nil {
			variance = make([]float64, len(up))
		}
		for i, down := range of(at) {
			d := (up[i] - down) / (2 * axisStep)
			variance[i] += d * d
		}
	}
	for i, v := range variance {
		variance[i] = math.Sqrt(v)
	}
	return variance
}

// FrequencySD returns the standard deviations [M,Q] of the features' frequencies p + w/(2πl), in cycles per unit of x, by the law of
// total variance: over the hyper-parameters, which also determine μ, and over w under q(w).
func (p *Posterior) FrequencySD() []float64 {
	sd := p.SD(func(p *variational.Params) []float64 {
		out := make([]float64, len(p.FreqMean))
		for i, mean := range p.FreqMean {
			of := i/p.Q/p.K*p.Q + i%p.Q
			out[i] = p.Frequency[of] + mean/(2*math.Pi*p.Lengthscale[of])
		}
		return out
	})
	for i, v := range p.params.FreqVar {
		l := p.params.Lengthscale[i/p.params.Q/p.params.K*p.params.Q+i%p.params.Q]
		sd[i] = math.Hypot(sd[i], math.Sqrt(v)/(2*math.Pi*l))
	}
	return sd
}
