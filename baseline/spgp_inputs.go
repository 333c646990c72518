package baseline

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// usualInducing is M where the options leave it open.
const usualInducing = 100

// inputs are the inducing inputs' place in a fit: where they start and, after
// the hyper-parameters', their coordinates.
type inputs struct {
	*chart
	start []float64 // z [M,Q]
	unit  []float64 // of z's coordinates [Q]
	fixed bool
}

// inducing reads the options that SPGP and SVGP share.
func (p *problem) inducing(m int, given []float64, fixed bool) (*inputs, error) {
	in := &inputs{chart: newChart(p.start), unit: p.start.cov.grain(), fixed: fixed}
	if m < 0 {
		return nil, fmt.Errorf("baseline: %d inducing inputs; want a positive number, or 0 for the default: %w", m, ErrOptions)
	}
	if given == nil {
		var err error
		in.start, err = p.spread(m)
		return in, err
	}
	if len(given) == 0 || len(given)%p.q != 0 || m != 0 && m*p.q != len(given) {
		return nil, fmt.Errorf("baseline: Locations has %d numbers; want %d inducing inputs with %d coordinates each: %w", len(given), m, p.q, ErrOptions)
	}
	for i, v := range given {
		if !finite(v) {
			return nil, fmt.Errorf("baseline: Locations[%d] is %v; want a finite number: %w", i, v, ErrOptions)
		}
	}
	in.start = slices.Clone(given)
	return in, nil
}

// spread lays m inducing inputs over the data: at evenly spread quantiles of
// the distinct values of one input, at distinct rows drawn by the seed of
// several.
func (p *problem) spread(m int) ([]float64, error) {
	rows := make([][]float64, p.n)
	for i := range rows {
		rows[i] = p.x[i*p.q:][:p.q]
	}
	slices.SortFunc(rows, slices.Compare[[]float64])
	rows = slices.CompactFunc(rows, slices.Equal[[]float64])
	if m == 0 {
		m = min(usualInducing, len(rows))
	}
	if m > len(rows) {
		return nil, fmt.Errorf("baseline: %d inducing inputs for data with %d different inputs; want no more than that, or Locations: %w", m, len(rows), ErrOptions)
	}
	z := make([]float64, 0, m*p.q)
	if p.q == 1 {
		for j := range m {
			at := 0.5 * float64(len(rows)-1)
			if m > 1 {
				at = float64(j) * float64(len(rows)-1) / float64(m-1)
			}
			i := min(int(at), len(rows)-1)
			v := rows[i][0]
			if f := at - float64(i); f > 0 && i+1 < len(rows) {
				v += f * (rows[i+1][0] - v)
			}
			z = append(z, v)
		}
		return z, nil
	}
	rng := rand.New(rand.NewPCG(p.o.Seed, inducingSalt))
	for _, i := range rng.Perm(len(rows))[:m] {
		z = append(z, rows[i]...)
	}
	return z, nil
}

// inducingSalt tells this random stream from the others.
const inducingSalt = 0x1d0c

// grain is the shortest distance along each input over which k changes.
func (c Covariance) grain() []float64 {
	g := slices.Repeat([]float64{math.Inf(1)}, c.Q)
	for i, l := range c.Lengthscale {
		g[i%c.Q] = min(g[i%c.Q], 1/math.Hypot(1/l, 2*math.Pi*c.Frequency[i]))
	}
	return g
}

func (in *inputs) size() int {
	if in.fixed {
		return in.n
	}
	return in.n + len(in.start)
}

// coordinates are those of h and z; of z as it starts where it is fixed.
func (in *inputs) coordinates(h hyper, z []float64) []float64 {
	v := make([]float64, in.size())
	in.read(v, h)
	if !in.fixed {
		for i, x := range z {
			v[in.n+i] = x / in.unit[i%len(in.unit)]
		}
	}
	return v
}

// at is the point with coordinates v; like gives its shape.
func (in *inputs) at(v []float64, like hyper) (hyper, []float64) {
	h, z := like.clone(), slices.Clone(in.start)
	in.write(&h, v)
	if !in.fixed {
		for i := range z {
			z[i] = v[in.n+i] * in.unit[i%len(in.unit)]
		}
	}
	return h, z
}

// gradient sets g to the gradient by the coordinates, given that by h and z.
func (in *inputs) gradient(g []float64, h, grad hyper, zbar []float64) {
	in.pull(g, h, grad)
	for i, v := range zbar {
		g[in.n+i] = v * in.unit[i%len(in.unit)]
	}
}

// empty are zero gradients of h's shape and by z, nil where z is fixed.
func (in *inputs) empty(h hyper) (hyper, []float64) {
	grad := hyper{cov: newCovariance(h.cov.L, h.cov.Q)}
	if in.fixed {
		return grad, nil
	}
	return grad, make([]float64, len(in.start))
}
