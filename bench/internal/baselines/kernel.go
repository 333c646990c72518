package baselines

import (
	"math"
	"runtime"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp/internal/parallel"
)

// matrix sets k [n,m] to k at every pair of rows of x [n,Q] and z [m,Q].
func (c Covariance) matrix(k *mat.Dense, x, z []float64) {
	pre := c.precompute()
	chunks(len(x)/c.Q, func(_, lo, hi int) {
		for n := lo; n < hi; n++ {
			out := k.RawRowView(n)
			for m := range out {
				out[m] = pre.at(x[n*c.Q:][:c.Q], z[m*c.Q:][:c.Q])
			}
		}
	})
}

// diagonal returns k(x, x), the same for every x: Σ_i σ²_i.
func (c Covariance) diagonal() float64 {
	sum := 0.0
	for _, v := range c.Variance {
		sum += v
	}
	return sum
}

// pull adds to g the gradient of Σ_nm kbar_nm k(x_n, z_m) by σ², l and p and,
// unless g.z is nil, by z [m,Q]. kbar is [n,m]. x and z count as independent even
// where they are the same rows. The frequencies of a squared exponential have the
// gradient 0. A repeat gives the same bits for any GOMAXPROCS.
func (c Covariance) pull(g *hyper, kbar *mat.Dense, x, z []float64) {
	pre := c.precompute()
	n := len(x) / c.Q
	parts := make([]hyper, chunkCount(n))
	chunks(n, func(chunk, lo, hi int) {
		part := hyper{cov: newCovariance(c.L, c.Q)}
		if g.z != nil {
			part.z = make([]float64, len(z))
		}
		for n := lo; n < hi; n++ {
			for m, bar := range kbar.RawRowView(n) {
				pre.pull(&part, bar, m, x[n*c.Q:][:c.Q], z[m*c.Q:][:c.Q])
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
	inverse []float64 // 1/l [L,Q]
	angular []float64 // 2πp [L,Q]
	waves   []bool    // periodic(i) [L]
}

func (c Covariance) precompute() *precomputed {
	pre := &precomputed{Covariance: c}
	for i, l := range c.Lengthscale {
		pre.inverse = append(pre.inverse, 1/l)
		pre.angular = append(pre.angular, 2*math.Pi*c.Frequency[i])
	}
	for i := range c.L {
		pre.waves = append(pre.waves, c.periodic(i))
	}
	return pre
}

// parts returns component i's exp(−½ Σ r²/l²) and its angle 2π Σ p·r.
func (c *precomputed) parts(i int, x, z []float64) (decay, angle float64) {
	square := 0.0
	for q, inverse := range c.inverse[i*c.Q:][:c.Q] {
		r := x[q] - z[q]
		square += (r * inverse) * (r * inverse)
		angle += c.angular[i*c.Q+q] * r
	}
	return math.Exp(-0.5 * square), angle
}

// at returns k(x, z).
func (c *precomputed) at(x, z []float64) float64 {
	sum := 0.0
	for i, v := range c.Variance {
		decay, angle := c.parts(i, x, z)
		if c.waves[i] {
			decay *= math.Cos(angle)
		}
		sum += v * decay
	}
	return sum
}

// pull adds bar·∂k(x, z) to g; z is row m of the inducing inputs.
func (c *precomputed) pull(g *hyper, bar float64, m int, x, z []float64) {
	if bar == 0 {
		return
	}
	for i, v := range c.Variance {
		decay, angle := c.parts(i, x, z)
		sin, cos := 0.0, 1.0
		if c.waves[i] {
			sin, cos = math.Sincos(angle)
		}
		g.cov.Variance[i] += bar * decay * cos
		even, odd := bar*v*decay*cos, bar*v*decay*sin
		for q := range c.Q {
			at := i*c.Q + q
			r, inverse := x[q]-z[q], c.inverse[at]
			slope := even * r * inverse * inverse // −∂k/∂r without the cosine's part
			g.cov.Lengthscale[at] += slope * r * inverse
			g.cov.Frequency[at] -= 2 * math.Pi * odd * r
			if g.z != nil {
				g.z[m*c.Q+q] += slope + c.angular[at]*odd
			}
		}
	}
}

// A chunk of rows is one goroutine's work and one partial sum. Its borders depend
// on the number of rows alone, so that sums do not depend on the machine. Many rows
// make longer chunks and not more of them, since each holds a whole gradient.
const (
	leastChunk = 32
	mostChunks = 64
)

func chunkRows(n int) int { return max(leastChunk, (n+mostChunks-1)/mostChunks) }

func chunkCount(n int) int { return (n + chunkRows(n) - 1) / chunkRows(n) }

// chunks calls f for each chunk of n rows, [lo, hi).
func chunks(n int, f func(chunk, lo, hi int)) {
	rows := chunkRows(n)
	parallel.For(chunkCount(n), runtime.GOMAXPROCS(0), func(i int) { f(i, i*rows, min(n, (i+1)*rows)) })
}
