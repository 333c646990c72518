package spectral

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/vssgp/vssgp/internal/optimize/lbfgs"
	"github.com/vssgp/vssgp/variational"
)

// The coordinates of a model are log(noise/unit) and for each component log(σ/unit), the frequency in cycles per range of x if it has
// one, and log(l/range) if it has a length.

// A limit is a weak normal prior with soft walls at Low and High.
type limit struct{ mean, sd, low, high float64 }

// wall is the standard deviation of a normal density beyond a wall, in units of the coordinate.
const wall = 0.02

// log returns the log density, up to a constant, and its slope.
func (l limit) log(v float64) (value, slope float64) {
	if l.sd > 0 {
		z := (v - l.mean) / l.sd
		value, slope = -0.5*z*z, -z/l.sd
	}
	if past := max(l.low-v, v-l.high); past > 0 {
		value -= 0.5 * past * past / (wall * wall)
		slope -= math.Copysign(past/(wall*wall), v-l.low)
	}
	return value, slope
}

const (
	logSD     = 3    // prior standard deviation of the logarithms of σ, the noise, and the length of a broad component
	bandSD    = 2    // of the length of a band
	broadMean = 0.2  // prior median of the length of a broad component, in ranges of x
	noiseMean = 0.1  // prior median of the noise, in units of y
	minSD     = 1e-5 // smallest standard deviation, in units of y
	maxSD     = 100  // largest standard deviation of a component
	maxNoise  = 3    // largest standard deviation of the noise
	maxLength = 20   // largest length, in ranges of x
	minCycles = 1    // smallest frequency of a line or band, in cycles per range of x
	moveMost  = 3    // cycles per range by which one optimization may move a frequency
)

// limits returns the limits of the coordinates of a model.
func (d *Domain) limits(m Model) []limit {
	all := []limit{{math.Log(noiseMean), logSD, math.Log(minSD), math.Log(maxNoise)}}
	for _, c := range m.Components {
		all = append(all, limit{0, logSD, math.Log(minSD), math.Log(maxSD)})
		if c.Lengths != nil {
			all = append(all, d.lengthLimit(), d.lengthLimit())
			continue
		}
		if c.Kind.Centered() {
			p := c.Frequency * d.span()
			all = append(all, limit{low: max(minCycles, p-moveMost), high: min(p+moveMost, max(d.top()*d.span(), minCycles))})
		}
		if c.Kind.Wide() {
			l := limit{math.Log(broadMean), logSD, math.Log(d.shortest(c.Kind) / d.span()), math.Log(maxLength)}
			if c.Kind == Band {
				l.mean, l.sd = 0, bandSD
			}
			all = append(all, l)
		}
	}
	return all
}

// shortest returns the smallest length of a component: the spacing of the data, or the length that needs the maximum number of nodes.
func (d *Domain) shortest(kind Kind) float64 {
	nodes := nodeMargin * nodeTop / (2 * math.Pi)
	switch {
	case kind == Band:
		nodes *= 2
	case kind.Rough():
		nodes = 0
	}
	n := float64(d.Distinct)
	return max(d.Spacing, nodes*d.span()/min(maxPairs, n/2, max(fewPairs, n/4)))
}

// read returns the coordinates of the model.
func (d *Domain) read(m Model) []float64 {
	v := []float64{math.Log(m.Noise / d.Unit)}
	for _, c := range m.Components {
		v = append(v, math.Log(c.SD/d.Unit))
		for q, l := range c.Lengths {
			v = append(v, math.Log(l/d.spans[q].length()))
		}
		if c.Lengths != nil {
			continue
		}
		if c.Kind.Centered() {
			v = append(v, c.Frequency*d.span())
		}
		if c.Kind.Wide() {
			v = append(v, math.Log(c.Length/d.span()))
		}
	}
	return v
}

// set returns the model m with the numbers of the coordinates v.
func (d *Domain) set(m Model, v []float64) Model {
	m = m.clone()
	next := func() (x float64) {
		x, v = v[0], v[1:]
		return x
	}
	m.Noise = d.Unit * math.Exp(next())
	for i := range m.Components {
		c := &m.Components[i]
		c.SD = d.Unit * math.Exp(next())
		c.Lengths = slices.Clone(c.Lengths)
		for q := range c.Lengths {
			c.Lengths[q] = d.spans[q].length() * math.Exp(next())
		}
		if c.Lengths != nil {
			continue
		}
		if c.Kind.Centered() {
			c.Frequency = next() / d.span()
		}
		if c.Kind.Wide() {
			c.Length = d.span() * math.Exp(next())
		}
	}
	return m
}

// withinRange reports whether the lengths of a component are positive and finite in units of x.
func (d *Domain) withinRange(c Component) bool {
	within := func(l, span float64) bool { return l > 0 && l < math.MaxFloat32*span }
	if c.Lengths != nil {
		return within(c.Lengths[0], d.spans[0].length()) && within(c.Lengths[1], d.spans[1].length())
	}
	return !c.Kind.Wide() || within(c.Length, d.span())
}

// An objective is the log evidence of an expansion plus the log priors, as a function of the coordinates.
type objective struct {
	*expansion
	ctx    context.Context
	rows   *variational.Rows
	series *series
	p      *variational.Params
	limits []limit
	free   []bool // coordinates to optimize; nil for all
}

// newObjective returns the objective about a model.
func (s *Search) newObjective(m Model) *objective {
	e := s.domain.expand(m)
	o := &objective{expansion: e, ctx: s.ctx, rows: s.rows, series: s.series, p: e.params(), limits: s.domain.limits(m)}
	e.floor = s.rows.NoiseLevel(o.p, true).At(o.p)
	e.write(o.p)
	return o
}

// at evaluates the objective (lbfgs.Func).
func (o *objective) at(v, slope []float64) (float64, error) {
	if err := o.ctx.Err(); err != nil {
		return 0, fmt.Errorf("%w: %w", err, lbfgs.ErrStop)
	}
	o.model = o.domain.set(o.model, v)
	for _, c := range o.model.Components { // a step of a line search can be very long
		if !(c.SD < math.MaxFloat32) || !(c.SD > 0) || !o.domain.withinRange(c) {
			return 0, errors.New("a component is out of range")
		}
	}
	o.write(o.p)
	value, noise, components, err := o.evidence()
	if err != nil {
		return 0, err
	}
	i := 0
	put := func(d float64) {
		log, s := o.limits[i].log(v[i])
		value += log
		slope[i] = d + s
		if o.free != nil && !o.free[i] {
			slope[i] = 0
		}
		i++
	}
	put(noise)
	for c, component := range o.model.Components {
		put(components[c][0])
		if component.Lengths != nil {
			put(components[c][1])
			put(components[c][2])
			continue
		}
		if component.Kind.Centered() {
			put(components[c][1] / o.domain.span())
		}
		if component.Kind.Wide() {
			put(components[c][2])
		}
	}
	return value, nil
}

// evidence returns the log evidence and its derivatives with respect to the logarithm of the noise and the numbers of the components
// (expansion.slopes).
func (o *objective) evidence() (value, noise float64, components [][3]float64, err error) {
	square := o.model.Noise * o.model.Noise
	if terms := o.model.terms(); terms != nil {
		e, err := o.series.condition(o.p, terms, math.Sqrt(o.noise()), true)
		if err != nil {
			return 0, 0, nil, err
		}
		variance, frequency, filter, err := e.gradient()
		if err != nil {
			return 0, 0, nil, err
		}
		value, _ = e.evidence()
		last := len(filter) - 1
		return value, filter[last] * square / o.noise(), o.slopes(variance, frequency, filter[:last]), nil
	}
	e, err := o.rows.Exact(o.p, true)
	if err != nil {
		return 0, 0, nil, err
	}
	tau, g := o.p.NoisePrecision[0], e.Gradient
	for i, v := range o.p.Variance {
		g.Variance[i] *= v
	}
	inflation, n := o.model.Inflated(), float64(o.rows.N*o.rows.D)
	square *= inflation
	value, noise = e.Bound, -2*square*tau*tau*g.NoisePrecision[0]
	if inflation > 1 { // N/κ rows
		value += 0.5 * n * (math.Log(2*math.Pi/tau) - math.Log(2*math.Pi*square/inflation)/inflation)
		noise += n * (square*tau - 1/inflation)
	}
	return value, noise, o.slopes(g.Variance, g.Frequency, nil), nil
}
