package baseline

import (
	"fmt"
	"math"
)

// hyper are the hyper-parameters that every method learns; also their gradient.
type hyper struct {
	cov   Covariance // σ² in units of the scaled y, l and p in those of x
	noise float64    // τ⁻¹, in units of the scaled y
}

func (h hyper) clone() hyper { return hyper{h.cov.Clone(), h.noise} }

// check reports where a step was too long: a value is no longer a positive
// number. The error wraps ErrBound.
func (h hyper) check() error {
	if err := h.cov.check(h.cov.Q); err != nil {
		return fmt.Errorf("%w: %v", ErrBound, err)
	}
	if !(h.noise > 0) || math.IsInf(h.noise, 0) {
		return fmt.Errorf("baseline: a noise variance of %v; want a positive number: %w", h.noise, ErrBound)
	}
	return nil
}

// A chart maps hyper-parameters to the vector that an optimiser sees and back:
// the logarithms of σ², l and τ⁻¹, and each periodic component's p in units of
// the 1/l that it starts with. A squared exponential's p stay 0. Nothing fixes
// the sign of p, since k is even in it.
type chart struct {
	n    int
	tau  int       // place of ln τ⁻¹
	free []int     // places in Frequency that are coordinates
	unit []float64 // of each, cycles per unit of x
}

// newChart is the chart around h.
func newChart(h hyper) *chart {
	c := &chart{}
	for i, periodic := range h.cov.precompute().periodic {
		if !periodic {
			continue
		}
		for at := i * h.cov.Q; at < (i+1)*h.cov.Q; at++ {
			c.free = append(c.free, at)
			c.unit = append(c.unit, 1/h.cov.Lengthscale[at])
		}
	}
	c.tau = len(h.cov.Variance) + len(h.cov.Lengthscale)
	c.n = c.tau + 1 + len(c.free)
	return c
}

// read writes h as coordinates v [n].
func (c *chart) read(v []float64, h hyper) {
	at := 0
	for _, a := range [][]float64{h.cov.Variance, h.cov.Lengthscale, {h.noise}} {
		for _, x := range a {
			v[at] = math.Log(x)
			at++
		}
	}
	for j, i := range c.free {
		v[at+j] = h.cov.Frequency[i] / c.unit[j]
	}
}

// write sets h, which has the shape that the chart was made for, to v [n].
func (c *chart) write(h *hyper, v []float64) {
	noise := []float64{0}
	at := 0
	for _, a := range [][]float64{h.cov.Variance, h.cov.Lengthscale, noise} {
		for i := range a {
			a[i] = math.Exp(v[at])
			at++
		}
	}
	h.noise = noise[0]
	for j, i := range c.free {
		h.cov.Frequency[i] = v[at+j] * c.unit[j]
	}
}

// noise is τ⁻¹ at v [n].
func (c *chart) noise(v []float64) float64 { return math.Exp(v[c.tau]) }

// pull sets g [n] to the gradient by the coordinates where grad is that by h.
func (c *chart) pull(g []float64, h, grad hyper) {
	at := 0
	for _, a := range [][2][]float64{
		{h.cov.Variance, grad.cov.Variance}, {h.cov.Lengthscale, grad.cov.Lengthscale}, {{h.noise}, {grad.noise}},
	} {
		for i, x := range a[0] {
			g[at] = x * a[1][i]
			at++
		}
	}
	for j, i := range c.free {
		g[at+j] = grad.cov.Frequency[i] * c.unit[j]
	}
}
