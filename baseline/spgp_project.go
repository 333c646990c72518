package baseline

import (
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// inducingJitter is the share of k(x,x) that the inducing variables carry as
// noise of their own, u = f(z) + noise, which leaves a lower bound one. Without
// it the gradient through a K_uu that is singular to rounding is rounding too,
// and L-BFGS finds no ascent; with 1e-8 the noise limits the fit of data with
// an error below 10⁻⁴ of their spread.
const inducingJitter = 1e-11

// A projection writes rows in the whitened inducing variables v, u = L·v:
//
//	K_uu = k(z, z) + ε·1 = L·Lᵀ,   φ(x) = k(x, z)·L⁻ᵀ   so that Φ·Φᵀ = K_fu K_uu⁻¹ K_uf
//
// Its buffers are used again by the next set.
type projection struct {
	cov    Covariance
	z      []float64 // [M,Q]
	share  float64   // ε / k(x,x)
	factor factor    // L, in k
	k      *mat.Dense
	work   *mat.Dense // [M,M]
}

func newProjection(m int) *projection {
	return &projection{k: mat.NewDense(m, m, nil), work: mat.NewDense(m, m, nil)}
}

// set checks h and factorises K_uu anew; the error wraps ErrBound.
func (p *projection) set(h hyper, z []float64) error {
	if err := h.check(); err != nil {
		return err
	}
	cov := h.cov
	p.cov, p.z = cov, z
	cov.matrixTo(p.k, z, z)
	addDiagonal(p.k, inducingJitter*cov.diagonal())
	var err error
	if p.factor, err = factorise(p.k); err != nil {
		return fmt.Errorf("baseline: inducing inputs: %w", err)
	}
	p.share = inducingJitter + p.factor.jitter/cov.diagonal()
	return nil
}

// rows sets phi [n,M] to φ at each row of x.
func (p *projection) rows(phi *mat.Dense, x []float64) {
	p.cov.matrixTo(phi, x, p.z)
	p.factor.rightUpper(phi)
}

// pull adds to g and, unless it is nil, to zbar [M,Q] the gradient by the
// covariance and by z, where bar [n,M] is the gradient by phi and diagonal the
// gradient by k(x,x). It overwrites bar.
//
// K̄_fu = Φ̄·L⁻¹. By L: L̄ = −tril(L⁻ᵀ Φ̄ᵀΦ), and through the factorisation
// (Murray 2016) K̄_uu = ½·L⁻ᵀ(P + Pᵀ)L⁻¹, where P is the lower triangle of LᵀL̄
// with half its diagonal. The entries that tril drops
// affect only entries that P drops, so P is the triangle of −Φ̄ᵀΦ, without a product with L.
func (p *projection) pull(g *Covariance, zbar []float64, bar, phi *mat.Dense, diagonal float64, x []float64) {
	blas64.Gemm(blas.Trans, blas.NoTrans, -1, bar.RawMatrix(), phi.RawMatrix(), 0, p.work.RawMatrix())
	p.pullWork(g, zbar, bar, diagonal, x)
}

// pullWork is pull where the lower triangle of P, its diagonal not yet halved,
// is in p.work.
func (p *projection) pullWork(g *Covariance, zbar []float64, bar *mat.Dense, diagonal float64, x []float64) {
	c := p.work
	c.Scale(0.5, c)
	mirror(c)
	p.factor.rightLower(c)
	transpose(c)
	p.factor.rightLower(c)
	for i := range len(p.z) / p.cov.Q {
		diagonal += p.share * c.At(i, i)
	}
	p.factor.rightLower(bar)
	var first []float64 // z is both arguments of K_uu, which is symmetric
	if zbar != nil {
		first = make([]float64, len(zbar))
	}
	p.cov.pull(g, first, c, p.z, p.z)
	for i, v := range first {
		zbar[i] += 2 * v
	}
	p.cov.pull(g, zbar, bar, x, p.z)
	for i := range g.Variance {
		g.Variance[i] += diagonal
	}
}
