package baseline

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// inducingJitter is the share of k(x,x) that the inducing variables carry as
// noise of their own, u = f(z) + noise, which leaves a lower bound one. Without
// it the gradient through a K_uu that is singular to rounding is rounding too,
// and L-BFGS finds no ascent; with 1e-8 the noise is what limits the fit of data
// with an error below 10⁻⁴ of their spread.
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

// set factorises K_uu anew; the error wraps ErrBound.
func (p *projection) set(cov Covariance, z []float64) error {
	p.cov, p.z = cov, z
	cov.matrixTo(p.k, z, z)
	m, _ := p.k.Dims()
	for i := range m {
		p.k.Set(i, i, p.k.At(i, i)+inducingJitter*cov.diagonal())
	}
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
// covariance and by z, where bar [n,M] is that by phi and diagonal that by
// k(x,x). It overwrites bar.
//
// K̄_fu = Φ̄·L⁻¹. By L: L̄ = −tril(L⁻ᵀ Φ̄ᵀΦ), and through the factorisation
// (Murray 2016) K̄_uu = ½·L⁻ᵀ(P + Pᵀ)L⁻¹, where P is the lower triangle of LᵀL̄
// with half its diagonal. What tril cuts off meets only what P cuts off, so P
// is that of −Φ̄ᵀΦ: no product with L is needed.
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

// rightUpper sets b [c,n] to b·L⁻ᵀ.
func (f factor) rightUpper(b *mat.Dense) { f.right(b, blas.Trans) }

// rightLower sets b [c,n] to b·L⁻¹.
func (f factor) rightLower(b *mat.Dense) { f.right(b, blas.NoTrans) }

// rightBlock is how many columns right solves at a time; the rest is products
// of matrices, which are much faster.
const rightBlock = 64

func (f factor) right(b *mat.Dense, t blas.Transpose) {
	n := f.l.N
	blocks := (n + rightBlock - 1) / rightBlock
	for i := range blocks {
		if t == blas.NoTrans {
			i = blocks - 1 - i
		}
		lo, hi := i*rightBlock, min(n, (i+1)*rightBlock)
		x := columns(b.RawMatrix(), lo, hi)
		if done := columns(b.RawMatrix(), 0, lo); t == blas.Trans && lo > 0 {
			blas64.Gemm(blas.NoTrans, blas.Trans, -1, done, f.block(lo, hi, 0, lo), 1, x)
		}
		if done := columns(b.RawMatrix(), hi, n); t == blas.NoTrans && hi < n {
			blas64.Gemm(blas.NoTrans, blas.NoTrans, -1, done, f.block(hi, n, lo, hi), 1, x)
		}
		diagonal := f.l
		diagonal.N, diagonal.Data = hi-lo, f.l.Data[lo*f.l.Stride+lo:]
		chunks(x.Rows, func(_, from, to int) {
			part := x
			part.Rows, part.Data = to-from, x.Data[from*x.Stride:]
			blas64.Trsm(blas.Right, t, 1, diagonal, part)
		})
	}
}

// block is rows [i, i2) and columns [j, j2) of L, below its diagonal.
func (f factor) block(i, i2, j, j2 int) blas64.General {
	return blas64.General{Rows: i2 - i, Cols: j2 - j, Stride: f.l.Stride, Data: f.l.Data[i*f.l.Stride+j:]}
}

func columns(a blas64.General, lo, hi int) blas64.General {
	a.Cols, a.Data = hi-lo, a.Data[min(lo, len(a.Data)):]
	return a
}

// mirror copies the lower triangle of a square matrix to the upper.
func mirror(a *mat.Dense) {
	raw := a.RawMatrix()
	for i := range raw.Rows {
		for j := range i {
			raw.Data[j*raw.Stride+i] = raw.Data[i*raw.Stride+j]
		}
	}
}

// transpose swaps a square matrix's triangles.
func transpose(a *mat.Dense) {
	raw := a.RawMatrix()
	for i := range raw.Rows {
		for j := range i {
			u, l := j*raw.Stride+i, i*raw.Stride+j
			raw.Data[u], raw.Data[l] = raw.Data[l], raw.Data[u]
		}
	}
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
