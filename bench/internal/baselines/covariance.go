package baselines

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp/internal/parallel"
)

// Covariance is the spectral mixture, the same sum that package vssgp approximates:
//
//	k(x, x') = Σ_i σ²_i exp(−½ (x−x')²/l_i²) cos(2π p_i (x−x'))
//
// A component whose p is 0 is a squared exponential and stays one.
type Covariance struct {
	Variance    []float64 // σ² [L] in units of y's own variance: 1 is as much as the data vary
	Lengthscale []float64 // l [L], units of x
	Frequency   []float64 // p [L], cycles per unit of x; the sign has no meaning
}

// SE is a sum of squared exponentials with these length-scales, which share a variance of 1 equally.
func SE(lengthscales ...float64) Covariance {
	n := len(lengthscales)
	return Covariance{slices.Repeat([]float64{1 / float64(n)}, n), slices.Clone(lengthscales), make([]float64, n)}
}

// Clone copies every array.
func (c Covariance) Clone() Covariance {
	return Covariance{slices.Clone(c.Variance), slices.Clone(c.Lengthscale), slices.Clone(c.Frequency)}
}

// upright returns a copy whose frequencies are not negative.
func (c Covariance) upright() Covariance {
	c = c.Clone()
	for i, p := range c.Frequency {
		c.Frequency[i] = math.Abs(p)
	}
	return c
}

// diagonal returns k(x, x), the same for every x: Σ_i σ²_i.
func (c Covariance) diagonal() float64 { return floats.Sum(c.Variance) }

// matrix sets k [n,m] to k at every pair of x [n] and z [m].
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

// pull adds to g the gradient of Σ_nm kbar_nm k(x_n, z_m) by σ², l and p and, unless g.z is nil, by z [m]. kbar is [n,m]. x and z count
// as independent even where they are the same. A repeat gives the same bits for any GOMAXPROCS.
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

// precomputed is a covariance with the factors that do not depend on x.
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

// decay returns component i's exp(−½ r²/l²).
func (c *precomputed) decay(i int, r float64) float64 {
	r *= c.inverse[i]
	return math.Exp(-0.5 * (r * r))
}

// at returns k at the distance r.
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

// A chunk of rows is one goroutine's work and one partial sum. Its borders depend on the number of rows alone, so that sums do not depend
// on the machine. Many rows make longer chunks and not more of them, since each stores a whole gradient.
const (
	leastChunk = 32
	mostChunks = 64
)

func chunkRows(n int) int { return max(leastChunk, (n+mostChunks-1)/mostChunks) }

// chunks calls f for each chunk of n rows, [lo, hi).
func chunks(n int, f func(chunk, lo, hi int)) { parallel.Blocks(n, chunkRows(n), f) }
