package baselines

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp/internal/parallel"
)

// Covariance is the spectral mixture kernel, which package vssgp approximates:
//
//	k(x, x') = Σ_i σ²_i exp(−½ (x−x')²/l_i²) cos(2π p_i (x−x'))
//
// A component with p = 0 is a squared exponential. Its p is not optimized.
type Covariance struct {
	Variance    []float64 // σ² [L], relative to the variance of y
	Lengthscale []float64 // l [L], units of x
	Frequency   []float64 // p [L], cycles per unit of x; the sign has no meaning
}

// SE returns a sum of squared exponentials with the given length-scales, equal variances, and a total variance of 1.
func SE(lengthscales ...float64) Covariance {
	n := len(lengthscales)
	return Covariance{slices.Repeat([]float64{1 / float64(n)}, n), slices.Clone(lengthscales), make([]float64, n)}
}

// Clone returns a deep copy.
func (c Covariance) Clone() Covariance {
	return Covariance{slices.Clone(c.Variance), slices.Clone(c.Lengthscale), slices.Clone(c.Frequency)}
}

// upright returns a copy with nonnegative frequencies.
func (c Covariance) upright() Covariance {
	c = c.Clone()
	for i, p := range c.Frequency {
		c.Frequency[i] = math.Abs(p)
	}
	return c
}

// diagonal returns k(x, x) = Σ_i σ²_i, which does not depend on x.
func (c Covariance) diagonal() float64 { return floats.Sum(c.Variance) }

// matrix sets k [n,m] to the covariances of x [n] and z [m].
func (c Covariance) matrix(k *mat.Dense, x, z []float64) {
	pre := c.precompute()
	chunks(len(x), func(_, lo, hi int) {
		for n := lo; n < hi; n++ {
			out := k.RawRowView(n)
			for m := range out {
				out[m] = pre.at(x[n] - z[m])
			}
		}
	})
}

// pull adds to g the gradient of Σ_nm kbar_nm k(x_n, z_m) with respect to σ², l and p and, unless g.z is nil, z [m].
// kbar is [n,m]. x is constant, even if it is the same array as z. The result has the same bits for any GOMAXPROCS.
func (c Covariance) pull(g *hyper, kbar *mat.Dense, x, z []float64) {
	pre, l := c.precompute(), len(c.Variance)
	parts := make([]hyper, (len(x)+chunkRows(len(x))-1)/chunkRows(len(x)))
	chunks(len(x), func(chunk, lo, hi int) {
		part := hyper{cov: Covariance{make([]float64, l), make([]float64, l), make([]float64, l)}, z: make([]float64, len(g.z))}
		for n := lo; n < hi; n++ {
			for m, bar := range kbar.RawRowView(n) {
				var at *float64
				if g.z != nil {
					at = &part.z[m]
				}
				pre.pull(&part.cov, at, bar, x[n]-z[m])
			}
		}
		parts[chunk] = part
	})
	for _, part := range parts {
		floats.Add(g.cov.Variance, part.cov.Variance)
		floats.Add(g.cov.Lengthscale, part.cov.Lengthscale)
		floats.Add(g.cov.Frequency, part.cov.Frequency)
		floats.Add(g.z, part.z)
	}
}

// precomputed is a covariance with precomputed factors.
type precomputed struct {
	Covariance
	inverse, angular []float64 // 1/l, 2πp [L]
}

func (c Covariance) precompute() *precomputed {
	pre := &precomputed{Covariance: c}
	for i, l := range c.Lengthscale {
		pre.inverse, pre.angular = append(pre.inverse, 1/l), append(pre.angular, 2*math.Pi*c.Frequency[i])
	}
	return pre
}

// decay returns exp(−½ r²/l²) of component i.
func (c *precomputed) decay(i int, r float64) float64 {
	r *= c.inverse[i]
	return math.Exp(-0.5 * (r * r))
}

// at returns the covariance at distance r.
func (c *precomputed) at(r float64) (sum float64) {
	for i, v := range c.Variance {
		decay := c.decay(i, r)
		if c.Frequency[i] != 0 {
			decay *= math.Cos(c.angular[i] * r)
		}
		sum += v * decay
	}
	return sum
}

// pull adds bar·∂k to g and, unless z is nil, bar·∂k/∂z to z, for the distance r = x − z.
func (c *precomputed) pull(g *Covariance, z *float64, bar, r float64) {
	if bar == 0 {
		return
	}
	for i, v := range c.Variance {
		decay, sin, cos := c.decay(i, r), 0.0, 1.0
		if c.Frequency[i] != 0 {
			sin, cos = math.Sincos(c.angular[i] * r)
		}
		g.Variance[i] += bar * decay * cos
		even, odd, inverse := bar*v*decay*cos, bar*v*decay*sin, c.inverse[i]
		slope := even * r * inverse * inverse
		g.Lengthscale[i] += slope * r * inverse
		g.Frequency[i] -= 2 * math.Pi * odd * r
		if z != nil {
			*z += slope + c.angular[i]*odd
		}
	}
}

// A chunk is a range of rows that is processed by one goroutine and has one partial sum. The ranges depend only on the
// number of rows, so that sums do not depend on the machine. The number of chunks is limited because each stores a
// whole gradient.
const (
	minChunk  = 32
	maxChunks = 64
)

func chunkRows(n int) int { return max(minChunk, (n+maxChunks-1)/maxChunks) }

// chunks calls f for each chunk of n rows, [lo, hi).
func chunks(n int, f func(chunk, lo, hi int)) { parallel.Blocks(n, chunkRows(n), f) }
