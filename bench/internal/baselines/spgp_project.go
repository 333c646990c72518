package baselines

import (
	"fmt"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// inducingJitter is the share of k(x,x) that is added to K_uu's diagonal. It acts
// as noise of the inducing variables, u = f(z) + noise, so a lower bound stays one.
// Without it, if K_uu is singular to rounding, the gradient through it is rounding
// too, and L-BFGS finds no ascent. With 1e-8 the noise would limit the fit of data
// whose error is below 10⁻⁴ of their spread.
const inducingJitter = 1e-11

// A projection writes rows in the whitened inducing variables v, u = L·v:
//
//	K_uu = k(z, z) + ε·1 = L·Lᵀ,   φ(x) = k(x, z)·L⁻ᵀ   so that Φ·Φᵀ = K_fu K_uu⁻¹ K_uf
//
// Its buffers are used again by the next set.
type projection struct {
	h      hyper
	share  float64 // ε / k(x,x)
	factor factor  // L, in k
	k      *mat.Dense
	work   *mat.Dense // [M,M]
}

func newProjection(m int) *projection {
	return &projection{k: mat.NewDense(m, m, nil), work: mat.NewDense(m, m, nil)}
}

// set moves to h and factorizes K_uu; the error wraps vssgp.ErrBound.
func (p *projection) set(h hyper) (err error) {
	if err := h.check(); err != nil {
		return err
	}
	p.h = h
	h.cov.matrix(p.k, h.z, h.z)
	size := h.cov.diagonal()
	addDiagonal(p.k, inducingJitter*size)
	if p.factor, err = factorize(p.k); err != nil {
		return fmt.Errorf("baselines: inducing inputs: %w", err)
	}
	p.share = inducingJitter + p.factor.jitter/size
	return nil
}

// rows sets phi [n,M] to φ at each row of x.
func (p *projection) rows(phi *mat.Dense, x []float64) {
	p.h.cov.matrix(phi, x, p.h.z)
	p.factor.rightUpper(phi)
}

// pull adds to g the gradient by the covariance and, unless g.z is nil, by z,
// where bar [n,M] is the gradient by φ at the rows of x and diagonal the gradient
// by k(x,x). The lower triangle of work holds LᵀL̄ for the gradient L̄ by L. It
// overwrites bar and work.
//
// K̄_fu = Φ̄·L⁻¹. Through the factorization (Murray 2016) K̄_uu = ½·L⁻ᵀ(P + Pᵀ)L⁻¹,
// where P is that triangle with half its diagonal.
func (p *projection) pull(g *hyper, bar *mat.Dense, diagonal float64, x []float64) {
	c, cov, z := p.work, p.h.cov, p.h.z
	c.Scale(0.5, c)
	mirror(c)
	p.factor.rightLower(c)
	transpose(c)
	p.factor.rightLower(c)
	for i := range len(z) / cov.Q {
		diagonal += p.share * c.At(i, i)
	}
	p.factor.rightLower(bar)
	inner := hyper{cov: g.cov}
	if g.z != nil {
		inner.z = make([]float64, len(z))
	}
	cov.pull(&inner, c, z, z)
	floats.AddScaled(g.z, 2, inner.z) // z is both arguments of K_uu, which is symmetric
	cov.pull(g, bar, x, z)
	floats.AddConst(diagonal, g.cov.Variance)
}
