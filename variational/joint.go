package variational

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// ChunkRows is the number of rows whose features Joint stores at a time, and the number of
// rows at which one goroutine evaluates a drawn Function.
const ChunkRows = 256

// Joint returns the covariance [N·D,N·D] of the function at all rows of x [N,Q]. Entry
// (n·D+d, n'·D+d') is the covariance Cov(f_d, f'_d') of output d at row n and output d' at
// row n' (DESIGN.md, section 7; eq. pred_uncertainty at two inputs). It takes O(N²·(M+D²))
// operations and O(chunk·M) memory in addition to the result. Errors wrap ctx.Err().
func (t *Predictive) Joint(ctx context.Context, x []float64) (*mat.SymDense, error) {
	ctx = cmp.Or(ctx, context.Background())
	n := len(x) / t.p.Q
	j := &joint{Predictive: t, x: x, variances: t.Variances(), out: mat.NewSymDense(n*t.p.D, nil)}
	for lo := 0; lo < n; lo += ChunkRows {
		a := j.whitened(lo, min(n, lo+ChunkRows))
		for lo2 := 0; lo2 <= lo; lo2 += ChunkRows {
			b := a
			if lo2 < lo {
				b = j.whitened(lo2, lo2+ChunkRows)
			}
			if err := j.block(ctx, a, b); err != nil {
				return nil, fmt.Errorf("predict: interrupted: %w", err)
			}
		}
	}
	return j.out, nil
}

// joint contains the state that the blocks of a joint covariance share.
type joint struct {
	*Predictive
	x         []float64
	variances []float64 // [M,D]
	out       *mat.SymDense
}

// A chunk contains rows [lo, hi) and their features [M,hi−lo]: τ^−½ R⁻¹ φ̄ᵀ, whose products
// are φ̄ S φ̄ᵀ, for an exact posterior, and φ̄ᵀ for a factorized posterior.
type chunk struct {
	lo, hi   int
	features []float64
	gains    [][]gain  // [hi−lo] of a Fade
	phi      []float64 // [hi−lo,M] φ̄, with the gain
}

func (j *joint) whitened(lo, hi int) chunk {
	n, m, q := hi-lo, j.f.M, j.f.Q
	c := chunk{lo, hi, make([]float64, m*n), make([][]gain, n), make([]float64, n*m)}
	for i := range n {
		x, k := j.x[(lo+i)*q:][:q], 0
		c.gains[i] = j.Fade.gains(x, m)
		for _, g := range c.gains[i] {
			for ; k < g.end; k++ {
				phi := g.own * j.f.Mean(k, x)
				c.phi[i*m+k], c.features[k*n+i] = phi, phi
			}
		}
	}
	if j.r != nil {
		j.r.SolveLower(c.features, n)
		root := math.Sqrt(j.p.NoisePrecision[0])
		for i := range c.features {
			c.features[i] /= root
		}
	}
	return c
}

// block fills in the covariances between the rows of a and of b.
func (j *joint) block(ctx context.Context, a, b chunk) error {
	d := j.p.D
	c := make([]float64, d*d)
	for n := a.lo; n < a.hi; n++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		for n2 := b.lo; n2 < min(b.hi, n+1); n2++ {
			j.pair(c, a, n, b, n2)
			for i, v := range c {
				j.out.SetSym(n*d+i/d, n2*d+i%d, v)
			}
		}
	}
	return nil
}

// pair sets c [D,D] to the covariance of row n of a and row n2 of b.
func (j *joint) pair(c []float64, a chunk, n int, b chunk, n2 int) {
	m, d, q := j.f.M, j.p.D, j.f.Q
	x, y := j.x[n*q:][:q], j.x[n2*q:][:q]
	phi, phi2 := a.phi[(n-a.lo)*m:][:m], b.phi[(n2-b.lo)*m:][:m]
	clear(c)
	k := 0
	for i, g := range a.gains[n-a.lo] {
		g2 := b.gains[n2-b.lo][i]
		for ; k < g.end; k++ {
			both := j.f.Pair(k, x, y)
			spread := g.own*g2.own*both - phi[k]*phi2[k]
			product := a.features[k*(a.hi-a.lo)+n-a.lo] * b.features[k*(b.hi-b.lo)+n2-b.lo]
			j.add(c, k, product, spread)
			for o := range d {
				c[o*d+o] += g.rest * g2.rest * both
			}
		}
	}
}

// add adds the covariance of feature k to c [D,D]. product is an entry of φ̄ S φ̄ᵀ or of φ̄ᵀφ̄, spread is r_k.
func (j *joint) add(c []float64, k int, product, spread float64) {
	d := j.p.D
	means := j.Coefficients.Mean[k*d:][:d]
	for i, m := range means {
		for e, m2 := range means {
			c[i*d+e] += m * m2 * spread
		}
		if v := j.variances[k*d+i]; j.r != nil {
			c[i*d+i] += product + v*spread
		} else {
			c[i*d+i] += v * (product + spread)
		}
	}
}

// mean sets y [D] to the mean at row n of a.
func (j *joint) mean(y []float64, a chunk, n int) {
	clear(y)
	m := j.f.M
	for k, phi := range a.phi[(n-a.lo)*m:][:m] {
		for d := range y {
			y[d] += phi * j.Coefficients.Mean[k*len(y)+d]
		}
	}
}
