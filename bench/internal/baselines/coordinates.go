package baselines

import (
	"fmt"
	"math"
	"slices"

	"github.com/vssgp/vssgp"
)

// hyper contains the hyper-parameters, or the gradient with respect to them.
type hyper struct {
	cov   Covariance // σ² in units of the scaled y, l and p in units of x
	noise float64    // τ⁻¹, in units of the scaled y
	z     []float64  // inducing inputs [M]; nil if there are none
}

func (h hyper) clone() hyper { return hyper{h.cov.Clone(), h.noise, slices.Clone(h.z)} }

// numbers returns pointers to σ², l and τ⁻¹, which are optimized in logarithms, and to p and z.
func (h *hyper) numbers() (logs, linear []*float64) {
	pointers := func(parts ...[]float64) (out []*float64) {
		for _, part := range parts {
			for i := range part {
				out = append(out, &part[i])
			}
		}
		return out
	}
	return append(pointers(h.cov.Variance, h.cov.Lengthscale), &h.noise), pointers(h.cov.Frequency, h.z)
}

// check returns an error that wraps vssgp.ErrBound if a step was so long that a value has overflowed or underflowed.
func (h hyper) check() error {
	logs, _ := h.numbers()
	for _, x := range logs {
		if !(*x > 0) || math.IsInf(*x, 0) {
			return fmt.Errorf("baselines: variance or length-scale %v: must be positive and finite: %w", *x, vssgp.ErrBound)
		}
	}
	return nil
}

// coordinates converts between hyper and the optimizer's vector. The vector contains the logarithms of σ², l and τ⁻¹,
// the p of each periodic component in units of its initial 1/l, and z in units of the shortest distance over which the
// initial k changes. The p of squared exponentials remain 0. p may become negative, since k is even in p.
type coordinates struct {
	start hyper
	free  []int     // indices of the optimized p and z
	unit  []float64 // units of the optimized p and z
}

// newCoordinates returns the coordinates for an initial point.
func newCoordinates(start hyper) *coordinates {
	c := &coordinates{start: start}
	grain := math.Inf(1)
	for i, l := range start.cov.Lengthscale {
		p := start.cov.Frequency[i]
		grain = min(grain, 1/math.Hypot(1/l, 2*math.Pi*p))
		if p != 0 {
			c.free, c.unit = append(c.free, i), append(c.unit, 1/l)
		}
	}
	for i := range start.z {
		c.free, c.unit = append(c.free, len(start.cov.Frequency)+i), append(c.unit, grain)
	}
	return c
}

// first returns the coordinates of the initial point.
func (c *coordinates) first() (v []float64) {
	logs, linear := c.start.numbers()
	for _, x := range logs {
		v = append(v, math.Log(*x))
	}
	for j, i := range c.free {
		v = append(v, *linear[i]/c.unit[j])
	}
	return v
}

// at returns the point with coordinates v.
func (c *coordinates) at(v []float64) hyper {
	h := c.start.clone()
	logs, linear := h.numbers()
	for i, x := range logs {
		*x = math.Exp(v[i])
	}
	for j, i := range c.free {
		*linear[i] = v[len(logs)+j] * c.unit[j]
	}
	return h
}

// zero returns a gradient of zeros.
func (c *coordinates) zero() *hyper {
	grad := c.start.clone()
	logs, linear := grad.numbers()
	for _, x := range slices.Concat(logs, linear) {
		*x = 0
	}
	return &grad
}

// pull sets g to the gradient with respect to the coordinates, given the gradient grad with respect to h.
func (c *coordinates) pull(g []float64, h, grad *hyper) {
	logs, linear := grad.numbers()
	at, _ := h.numbers()
	for i, slope := range logs {
		g[i] = *slope * *at[i]
	}
	for j, i := range c.free {
		g[len(logs)+j] = *linear[i] * c.unit[j]
	}
}
