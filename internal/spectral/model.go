package spectral

import (
	"math"
	"slices"

	"github.com/vssgp/vssgp/variational"
)

// A Model is a sum of components, a constant and noise.
type Model struct {
	Components []Component `json:"components"`
	Noise      float64     `json:"noise"` // standard deviation of the noise of an observation
	// Inflation κ is the factor by which a sum of residuals over many rows varies more than that of independent
	// residuals, or 0 for 1. The rows then count as N/κ independent ones (unresolved.go).
	Inflation float64 `json:"inflation,omitempty"`
}

// Inflated returns max(κ, 1).
func (m *Model) Inflated() float64 { return max(m.Inflation, 1) }

// Rough reports whether the model, unless it is nil, has rough components.
func (m *Model) Rough() bool { return m != nil && m.terms() != nil }

// HasLine reports whether one of the components is a line at frequency f.
func (m *Model) HasLine(f float64) bool {
	return slices.ContainsFunc(m.Components, func(c Component) bool { return c.Kind == Line && c.Frequency == f })
}

// clone returns a copy.
func (m Model) clone() Model {
	m.Components = append([]Component(nil), m.Components...)
	return m
}

// A Domain describes the rows that a model explains.
type Domain struct {
	Low, High float64 // the smallest and the largest x
	Spacing   float64 // median distance of distinct times; components are limited to frequencies up to ½/Spacing
	Distinct  int     // number of distinct times
	Outputs   int
	Unit      float64 // standard deviation of y
	Constant  float64 // prior standard deviation of the constant

	spans       []span // of two inputs; Low, High and Spacing are 0 then
	pairs, last int    // largest numbers of nodes of a model of two inputs: now, and for the result of a search
}

// span returns the range of x.
func (d *Domain) span() float64 { return d.High - d.Low }

// inputs returns the ranges of the inputs.
func (d *Domain) inputs() []span {
	if d.planar() {
		return d.spans
	}
	return []span{{d.Low, d.High}}
}

// top returns the highest frequency of a component.
func (d *Domain) top() float64 { return 0.5 / d.Spacing }

const (
	// nodeMargin is the ratio of a component's length to the shortest length for which its nodes are exact. Optimization may change the
	// length by this ratio before the nodes are chosen again.
	nodeMargin = 1.6
	// The maximum number of nodes of a component is a quarter of the number of distinct times, but at least fewPairs, and at most maxPairs
	// and half of that number.
	fewPairs, maxPairs = 60, 250
)

// nodes returns the nodes of a component for lengths down to a nodeMargin-th of its length, none for a rough component.
func (d *Domain) nodes(c Component) (n Nodes) {
	switch {
	case c.filtered():
		return n
	case c.Kind.Wide():
		return newNodes(c.Kind, d.span()*nodeMargin/c.Length)
	}
	return newNodes(c.Kind, 0)
}

// An expansion is a model with nodes for its components, which remain the same while its numbers change.
type expansion struct {
	domain   *Domain
	model    Model
	nodes    []Nodes
	lattices []lattice // in place of nodes for two inputs
	floor    float64   // smallest variance of the noise that float64 can resolve
}

// expand chooses the nodes of a model's components.
func (d *Domain) expand(m Model) *expansion {
	e := &expansion{domain: d, model: m}
	if d.planar() {
		e.lattices = d.lattices(m.Components)
		return e
	}
	for _, c := range m.Components {
		e.nodes = append(e.nodes, d.nodes(c))
	}
	return e
}

// pairs returns the number of pairs of cosine and sine, without the constant.
func (e *expansion) pairs() (n int) {
	for _, n1 := range e.nodes {
		n += len(n1.Node)
	}
	for _, l := range e.lattices {
		n += len(l.node)
	}
	return n
}

// noise returns the variance of the rows' noise, as the posterior of the components sees it.
func (e *expansion) noise() float64 { return e.model.Inflated()*e.model.Noise*e.model.Noise + e.floor }

// params returns the parameters of package variational: a constant and one component with a cosine and a sine for each node.
func (e *expansion) params() *variational.Params {
	inputs := e.domain.inputs()
	p := variational.NewParams(1+e.pairs(), 2, len(inputs), e.domain.Outputs)
	p.CoefMean, p.CoefVar = nil, nil
	for k := range p.M() {
		phase := -float64(k%2) * math.Pi / 2
		p.PhaseLower[k], p.PhaseUpper[k] = phase, phase
	}
	for q, s := range inputs {
		for k := range p.M() {
			p.Location[k*p.Q+q] = s.low + s.length()/2
		}
		for i := range p.L {
			p.Lengthscale[i*p.Q+q] = s.length() // without effect, since μ and Σ are 0
		}
	}
	e.write(p)
	return p
}

// write sets the variances, frequencies and the noise of p, from params, to the present numbers.
func (e *expansion) write(p *variational.Params) {
	p.Variance[0] = e.domain.Constant * e.domain.Constant
	p.NoisePrecision[0] = 1 / e.noise()
	if e.lattices != nil {
		e.writeLattices(p)
		return
	}
	i := 1
	for c, component := range e.model.Components {
		v := component.SD * component.SD
		for j, w := range e.nodes[c].Node {
			p.Variance[i] = v * e.nodes[c].Weight[j]
			p.Frequency[i] = component.Frequency
			if component.Kind.Wide() {
				p.Frequency[i] += w / (2 * math.Pi * component.Length)
			}
			i++
		}
	}
}

// slopes returns the derivatives of the log evidence with respect to log σ, p and log l of each component, or to log σ
// and the logarithms of two lengths. It is given those with respect to log V and the frequency of each component of
// params, and those with respect to log σ, log l and p of each rough component.
func (e *expansion) slopes(variance, frequency, rough []float64) (all [][3]float64) {
	if e.lattices != nil {
		return e.latticeSlopes(variance)
	}
	all = make([][3]float64, len(e.nodes))
	i := 1
	for c, component := range e.model.Components {
		s := &all[c]
		if component.filtered() {
			s[0], s[1], s[2] = rough[0], rough[2], rough[1]
			rough = rough[3:]
			continue
		}
		for _, w := range e.nodes[c].Node {
			s[0] += 2 * variance[i]
			s[1] += frequency[i]
			if component.Kind.Wide() {
				s[2] -= frequency[i] * w / (2 * math.Pi * component.Length)
			}
			i++
		}
	}
	return all
}
