package baseline

import (
	"math"
	"runtime"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp/internal/parallel"
)

// matrix is k at every pair of rows of x [n,Q] and z [m,Q]: [n,m].
func (c Covariance) matrix(x, z []float64) *mat.Dense {
	k := mat.NewDense(len(x)/c.Q, len(z)/c.Q, nil)
	c.matrixTo(k, x, z)
	return k
}

// matrixTo is matrix into k [n,m], whatever it held.
func (c Covariance) matrixTo(k *mat.Dense, x, z []float64) {
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

// diagonal is k(x, x), the same for every x: Σ_i σ²_i.
func (c Covariance) diagonal() float64 {
	sum := 0.0
	for _, v := range c.Variance {
		sum += v
	}
	return sum
}

// pull adds to g the gradient of Σ_nm kbar_nm k(x_n, z_m) by σ², l and p, and
// where zbar [m,Q] is not nil, to zbar the gradient by z. kbar is [n,m]. x and z count
// as independent even where they are the same rows. The frequencies of a
// squared exponential have the gradient 0. A repeat gives the same bits for any
// GOMAXPROCS.
func (c Covariance) pull(g *Covariance, zbar []float64, kbar *mat.Dense, x, z []float64) {
	pre := c.precompute()
	n := len(x) / c.Q
	parts := make([]partial, chunkCount(n))
	chunks(n, func(chunk, lo, hi int) {
		p := partial{g: newCovariance(c.L, c.Q)}
		if zbar != nil {
			p.zbar = make([]float64, len(zbar))
		}
		for n := lo; n < hi; n++ {
			for m, bar := range kbar.RawRowView(n) {
				pre.pull(&p, bar, m, x[n*c.Q:][:c.Q], z[m*c.Q:][:c.Q])
			}
		}
		parts[chunk] = p
	})
	for _, p := range parts {
		floats.Add(g.Variance, p.g.Variance)
		floats.Add(g.Lengthscale, p.g.Lengthscale)
		floats.Add(g.Frequency, p.g.Frequency)
		floats.Add(zbar, p.zbar)
	}
}

// partial is the gradient that some rows of x give.
type partial struct {
	g    Covariance
	zbar []float64
}

// precomputed is a covariance with the factors that do not depend on x.
type precomputed struct {
	Covariance
	inverse  []float64 // 1/l [L,Q]
	angular  []float64 // 2πp [L,Q]
	periodic []bool    // [L] has a p that is not 0
}

func (c Covariance) precompute() *precomputed {
	pre := &precomputed{c, make([]float64, c.L*c.Q), make([]float64, c.L*c.Q), make([]bool, c.L)}
	for i, l := range c.Lengthscale {
		pre.inverse[i] = 1 / l
		pre.angular[i] = 2 * math.Pi * c.Frequency[i]
		pre.periodic[i/c.Q] = pre.periodic[i/c.Q] || c.Frequency[i] != 0
	}
	return pre
}

// parts are component i's exp(−½ Σ r²/l²) and its angle 2π Σ p·r.
func (c *precomputed) parts(i int, x, z []float64) (decay, angle float64) {
	square := 0.0
	for q, inverse := range c.inverse[i*c.Q:][:c.Q] {
		r := x[q] - z[q]
		square += (r * inverse) * (r * inverse)
		angle += c.angular[i*c.Q+q] * r
	}
	return math.Exp(-0.5 * square), angle
}

// at is k(x, z).
func (c *precomputed) at(x, z []float64) float64 {
	sum := 0.0
	for i, v := range c.Variance {
		decay, angle := c.parts(i, x, z)
		if c.periodic[i] {
			decay *= math.Cos(angle)
		}
		sum += v * decay
	}
	return sum
}

// pull adds bar·∂k(x, z)/∂(σ², l, p) to p.g and bar·∂k/∂z to row m of p.zbar.
func (c *precomputed) pull(p *partial, bar float64, m int, x, z []float64) {
	if bar == 0 {
		return
	}
	for i, v := range c.Variance {
		decay, angle := c.parts(i, x, z)
		sin, cos := 0.0, 1.0
		if c.periodic[i] {
			sin, cos = math.Sincos(angle)
		}
		p.g.Variance[i] += bar * decay * cos
		even, odd := bar*v*decay*cos, bar*v*decay*sin
		for q := range c.Q {
			at := i*c.Q + q
			r, inverse := x[q]-z[q], c.inverse[at]
			slope := even * r * inverse * inverse // −∂k/∂r without the cosine's part
			p.g.Lengthscale[at] += slope * r * inverse
			p.g.Frequency[at] -= 2 * math.Pi * odd * r
			if p.zbar != nil {
				p.zbar[m*c.Q+q] += slope + c.angular[at]*odd
			}
		}
	}
}

// A chunk of rows is one goroutine's work and one partial sum: its borders
// depend on the number of rows alone, so that sums do not depend on the
// machine. Many rows make longer chunks, not more: each holds a whole gradient.
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
