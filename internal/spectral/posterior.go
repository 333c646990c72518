package spectral

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/optimize/lbfgs"
	"github.com/vssgp/vssgp/variational"
)

// drawSalt separates the random stream of the draws from other streams.
const drawSalt = 0x5bec7a1

// An Expanded model has the parameters of package variational: pairs of cosine and sine for the components' nodes.
type Expanded struct {
	Model
	Params *variational.Params
	// Floor is the noise variance if it has decreased to the smallest that float64 resolves, else 0.
	Floor float64
}

// Expand returns the parameters of a model.
func (s *Search) Expand(m Model) Expanded {
	o := s.newObjective(m)
	e := Expanded{Model: m, Params: o.p}
	if resolved := 2 * minSD * s.domain.Unit; m.Noise*m.Noise < max(o.floor, resolved*resolved) {
		e.Floor = o.noise()
	}
	return e
}

// Initial returns the model from which a search starts: one broad component and noise.
func Initial(data *backend.Data) Expanded {
	d := NewDomain(data)
	m := d.initial(RBF, broadMean*d.span())
	if d.planar() {
		m = d.initialPlane(broadMean)
	}
	e := d.expand(m)
	return Expanded{Model: e.model, Params: e.params()}
}

// Pairs returns the number of pairs of cosine and sine of a large model of a search.
func Pairs(data *backend.Data) int {
	if data.Q == 2 {
		return NewDomain(data).last
	}
	return min(maxPairs, data.N)
}

// Shape returns the shape of a model with the given number of pairs, for an estimate of its memory.
func Shape(data *backend.Data, pairs int) variational.Shape {
	return variational.Shape{Components: []int{1 + pairs}, K: 2, Q: data.Q, D: data.D, PointFrequencies: true, FixedPhases: true}
}

// A Posterior is the Laplace approximation of the posterior of a model's numbers.
type Posterior struct {
	Candidate
	// Spread are the standard deviations of log σ, p and log l of the components.
	Spread []Component
	// NoiseSD is the standard deviation of the logarithm of the noise.
	NoiseSD float64

	s     *Search
	o     *objective
	about *bayes.Gaussian
}

// Posterior computes the posterior of a candidate from two gradients for each number. The nodes remain the same. It returns nil if the
// bound cannot be evaluated around the candidate.
func (s *Search) Posterior(c Candidate) (*Posterior, error) {
	o := s.newObjective(c.Model)
	mode := s.domain.read(c.Model)
	scale := slices.Repeat([]float64{1}, len(mode))
	profile, err := bayes.LaplaceProfile(s.counted(o), mode, scale, len(mode))
	if err != nil {
		return nil, s.stopped(err)
	}
	p := &Posterior{Candidate: c, s: s, o: o, about: profile.Gaussian}
	i := 0
	next := func() float64 {
		i++
		return p.about.SD(i - 1)
	}
	p.NoiseSD = next()
	for _, c := range c.Components {
		spread := Component{Kind: c.Kind, SD: next()}
		for range c.Lengths {
			spread.Lengths = append(spread.Lengths, next())
		}
		if c.Lengths != nil {
			p.Spread = append(p.Spread, spread)
			continue
		}
		if c.Kind.Centered() {
			spread.Frequency = next() / s.domain.span()
		}
		if c.Kind.Wide() {
			spread.Length = next()
		}
		p.Spread = append(p.Spread, spread)
	}
	return p, nil
}

// Spreads returns the standard deviations of the logarithm of the variance and of the frequency of the constant and each pair of the
// expansion. With two inputs the nodes' frequencies are fixed.
func (p *Posterior) Spreads() (variance, frequency []float64) {
	if p.o.lattices != nil {
		return p.o.latticeSpreads(p.Spread)
	}
	variance, frequency = []float64{0}, []float64{0}
	for i, c := range p.Components {
		d := p.Spread[i]
		for _, w := range p.o.nodes[i].Node {
			variance = append(variance, 2*d.SD)
			f := 0.0
			if c.Kind.Wide() {
				f = d.Length * w / (2 * math.Pi * c.Length)
			}
			frequency = append(frequency, math.Hypot(d.Frequency, f))
		}
	}
	return variance, frequency
}

// draw returns the model for standard normal variables z.
func (p *Posterior) draw(z []float64) (Model, error) {
	slope := make([]float64, len(z))
	v, err := p.about.Plausible(z, p.about.Along, func(v []float64) (float64, error) {
		value, err := p.s.counted(p.o)(v, slope)
		if err != nil && !errors.Is(err, lbfgs.ErrStop) {
			return math.Inf(-1), nil
		}
		return value, err
	}, bayes.Slack)
	if err != nil {
		return Model{}, p.s.stopped(err)
	}
	if v == nil {
		return p.Model, nil
	}
	return p.s.domain.set(p.Model, v), nil
}

// Draws returns n models from the posteriors of the candidates, which Search has returned. A candidate has a share of the draws in
// proportion to the exponential of its score.
func (s *Search) Draws(candidates []Candidate, n int, seed uint64) ([]Expanded, error) {
	weights := make([]float64, len(candidates))
	total := 0.0
	for i, c := range candidates {
		weights[i] = math.Exp(c.Score - candidates[0].Score)
		total += weights[i]
	}
	random := rand.New(rand.NewPCG(seed, drawSalt))
	var out []Expanded
	sum := 0.0
	for i, c := range candidates {
		sum += weights[i] / total
		count := int(math.Round(float64(n)*sum)) - len(out)
		if count == 0 {
			continue
		}
		p, err := s.Posterior(c)
		if err != nil {
			return nil, err
		}
		for _, z := range bayes.Normals(count, len(s.domain.read(c.Model)), random) {
			m := c.Model
			if p != nil {
				if m, err = p.draw(z); err != nil {
					return nil, err
				}
			}
			out = append(out, s.Expand(m))
		}
	}
	return out, nil
}
