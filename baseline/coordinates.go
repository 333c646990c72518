package baseline

import (
	"fmt"
	"math"
	"slices"
)

// hyper are the hyper-parameters that every method learns; also their gradient.
type hyper struct {
	cov   Covariance // σ² in units of the scaled y, l and p in those of x
	noise float64    // τ⁻¹, in units of the scaled y
}

func (h hyper) clone() hyper { return hyper{h.cov.Clone(), h.noise} }

// check reports values that are no longer positive numbers because a step was
// too long. The error wraps ErrBound.
func (h hyper) check() error {
	if err := h.cov.check(h.cov.Q); err != nil {
		return fmt.Errorf("%w: %v", ErrBound, err)
	}
	if !(h.noise > 0) || math.IsInf(h.noise, 0) {
		return fmt.Errorf("baseline: a noise variance of %v; want a positive number: %w", h.noise, ErrBound)
	}
	return nil
}

// positive visits σ², l and τ⁻¹, numbered from 0.
func (h *hyper) positive(visit func(i int, x *float64)) {
	n := len(h.cov.Variance)
	for i := range h.cov.Variance {
		visit(i, &h.cov.Variance[i])
	}
	for i := range h.cov.Lengthscale {
		visit(n+i, &h.cov.Lengthscale[i])
	}
	visit(n+len(h.cov.Lengthscale), &h.noise)
}

// coordinates map hyper-parameters and inducing inputs to the vector that an
// optimiser sees and back: the logarithms of σ², l and τ⁻¹, each periodic
// component's p in units of the 1/l that it starts with, and z in units of the
// shortest distance over which the starting k changes. The p of a squared
// exponential stay 0. Nothing fixes the sign of p, since k is even in it.
type coordinates struct {
	start hyper
	z     []float64 // inducing inputs at the start [M,Q]; nil: the method has none
	fixed bool      // z is not optimised
	grain []float64 // units of z [Q]
	tau   int       // place of ln τ⁻¹, after which the free p and z follow
	free  []int     // places in Frequency that are coordinates
}

// newCoordinates returns the coordinates around a starting point.
func newCoordinates(start hyper, z []float64, fixed bool) *coordinates {
	c := &coordinates{start: start, z: z, fixed: fixed, grain: start.cov.grain(), tau: len(start.cov.Variance) + len(start.cov.Lengthscale)}
	for i, periodic := range start.cov.precompute().periodic {
		for q := range start.cov.Q {
			if periodic {
				c.free = append(c.free, i*start.cov.Q+q)
			}
		}
	}
	return c
}

// size is the number of coordinates.
func (c *coordinates) size() int {
	if c.fixed {
		return c.inputs()
	}
	return c.inputs() + len(c.z)
}

// inputs is the place of the first of z's coordinates.
func (c *coordinates) inputs() int { return c.tau + 1 + len(c.free) }

// first are the coordinates of the start.
func (c *coordinates) first() []float64 {
	v := make([]float64, c.size())
	c.start.positive(func(i int, x *float64) { v[i] = math.Log(*x) })
	for j, i := range c.free {
		v[c.tau+1+j] = c.start.cov.Frequency[i] / c.frequencyUnit(i)
	}
	for i := range v[c.inputs():] {
		v[c.inputs()+i] = c.z[i] / c.grain[i%len(c.grain)]
	}
	return v
}

func (c *coordinates) frequencyUnit(i int) float64 { return 1 / c.start.cov.Lengthscale[i] }

// at is the point with coordinates v.
func (c *coordinates) at(v []float64) (hyper, []float64) {
	h, z := c.start.clone(), slices.Clone(c.z)
	h.positive(func(i int, x *float64) { *x = math.Exp(v[i]) })
	for j, i := range c.free {
		h.cov.Frequency[i] = v[c.tau+1+j] * c.frequencyUnit(i)
	}
	for i, x := range v[c.inputs():] {
		z[i] = x * c.grain[i%len(c.grain)]
	}
	return h, z
}

// noise is τ⁻¹ at v.
func (c *coordinates) noise(v []float64) float64 { return math.Exp(v[c.tau]) }

// zero are zero gradients by h and by z, nil where z is fixed.
func (c *coordinates) zero() (hyper, []float64) {
	grad := hyper{cov: newCovariance(c.start.cov.L, c.start.cov.Q)}
	if c.fixed {
		return grad, nil
	}
	return grad, make([]float64, len(c.z))
}

// pull sets g to the gradient by the coordinates, given the one by h and z.
func (c *coordinates) pull(g []float64, h, grad hyper, zbar []float64) {
	grad.positive(func(i int, x *float64) { g[i] = *x })
	h.positive(func(i int, x *float64) { g[i] *= *x })
	for j, i := range c.free {
		g[c.tau+1+j] = grad.cov.Frequency[i] * c.frequencyUnit(i)
	}
	for i, v := range zbar {
		g[c.inputs()+i] = v * c.grain[i%len(c.grain)]
	}
}
