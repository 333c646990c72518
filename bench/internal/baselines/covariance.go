package baselines

import (
	"fmt"
	"math"
	"slices"

	"github.com/vssgp/vssgp"
)

// Covariance is the spectral mixture, the same sum that package vssgp
// approximates:
//
//	k(x, x') = Σ_i σ²_i exp(−½ Σ_q (x_q−x'_q)²/l_iq²) cos(2π Σ_q p_iq (x_q−x'_q))
//
// A component whose p are all 0 is a squared exponential and stays one.
type Covariance struct {
	L, Q int // components, inputs
	// Variance is σ² [L] in units of the outputs' own variances (each output
	// has its own scale): 1 is as much as the data vary.
	Variance    []float64
	Lengthscale []float64 // l [L,Q], units of x
	// Frequency is p [L,Q], cycles per unit of x. Only the signs of a component's
	// p against each other have a meaning; of a fitted one's the first is positive.
	Frequency []float64
}

// SE is a sum of squared exponentials with the same length-scale for each of q
// inputs, which share a variance of 1 equally.
func SE(q int, lengthscales ...float64) Covariance {
	q = max(0, q)
	c := newCovariance(len(lengthscales), q)
	for i, l := range lengthscales {
		c.Variance[i] = 1 / float64(c.L)
		for j := range q {
			c.Lengthscale[i*q+j] = l
		}
	}
	return c
}

func newCovariance(l, q int) Covariance {
	return Covariance{L: l, Q: q, Variance: make([]float64, l), Lengthscale: make([]float64, l*q), Frequency: make([]float64, l*q)}
}

// Clone copies every array.
func (c Covariance) Clone() Covariance {
	c.Variance, c.Lengthscale, c.Frequency = slices.Clone(c.Variance), slices.Clone(c.Lengthscale), slices.Clone(c.Frequency)
	return c
}

// check reports shapes and values that are not a covariance over q inputs.
func (c Covariance) check(q int) error {
	if c.Q != q || c.L < 1 || len(c.Variance) != c.L || len(c.Lengthscale) != c.L*q || len(c.Frequency) != c.L*q {
		return fmt.Errorf("baselines: covariance of %d components and %d inputs: %d variances, %d length-scales, %d frequencies; "+
			"the data have %d inputs: %w", c.L, c.Q, len(c.Variance), len(c.Lengthscale), len(c.Frequency), q, vssgp.ErrOptions)
	}
	for _, a := range []struct {
		name   string
		values []float64
		want   string
		ok     func(float64) bool
	}{
		{"variance", c.Variance, "positive", positive},
		{"length-scale", c.Lengthscale, "positive", positive},
		{"frequency", c.Frequency, "finite", finite},
	} {
		if i := slices.IndexFunc(a.values, func(v float64) bool { return !a.ok(v) }); i >= 0 {
			return fmt.Errorf("baselines: covariance's %s %d is %v; want a %s number: %w", a.name, i, a.values[i], a.want, vssgp.ErrOptions)
		}
	}
	return nil
}

// periodic reports whether component i has a frequency other than 0.
func (c Covariance) periodic(i int) bool {
	return slices.ContainsFunc(c.Frequency[i*c.Q:][:c.Q], func(p float64) bool { return p != 0 })
}

// upright returns a copy in which the first p of a component that is not 0 is
// positive: k(x, x') is even in the whole of a component's p.
func (c Covariance) upright() Covariance {
	c = c.Clone()
	for i := range c.L {
		p := c.Frequency[i*c.Q:][:c.Q]
		first := slices.IndexFunc(p, func(v float64) bool { return v != 0 })
		if first >= 0 && p[first] < 0 {
			for q := range p {
				p[q] = -p[q] + 0 // + 0: no −0
			}
		}
	}
	return c
}

// grain returns the shortest distance along each input over which k changes.
func (c Covariance) grain() []float64 {
	g := slices.Repeat([]float64{math.Inf(1)}, c.Q)
	for i, l := range c.Lengthscale {
		g[i%c.Q] = min(g[i%c.Q], 1/math.Hypot(1/l, 2*math.Pi*c.Frequency[i]))
	}
	return g
}

// defaultCovariance returns the covariance that Options.Covariance describes.
func defaultCovariance(data *vssgp.Data) Covariance {
	c := SE(data.Q, 1)
	for q := range data.Q {
		lo, hi := math.Inf(1), math.Inf(-1)
		for i := q; i < len(data.X); i += data.Q {
			lo, hi = min(lo, data.X[i]), max(hi, data.X[i])
		}
		if hi > lo {
			c.Lengthscale[q] = (hi - lo) / 10 * math.Sqrt(float64(data.Q))
		}
	}
	return c
}
