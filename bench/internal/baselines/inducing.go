package baselines

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp"
)

// spread initializes m inducing inputs at evenly spaced quantiles of the distinct x.
func (p *problem) spread(m int) error {
	x := slices.Compact(slices.Sorted(slices.Values(p.x)))
	if m > len(x) {
		return fmt.Errorf("baselines: %d inducing inputs exceed the %d distinct inputs of the data: %w", m, len(x), vssgp.ErrOptions)
	}
	p.start.z = make([]float64, m)
	for j := range p.start.z {
		at := 0.5 * float64(len(x)-1)
		if m > 1 {
			at = float64(j) * float64(len(x)-1) / float64(m-1)
		}
		i, f := math.Modf(at)
		p.start.z[j] = x[int(i)]
		if f > 0 {
			p.start.z[j] += f * (x[int(i)+1] - x[int(i)])
		}
	}
	return nil
}

// inducingJitter is added to the diagonal of K_uu, as a fraction of k(x,x). It acts as noise of the inducing variables,
// u = f(z) + noise, so a lower bound remains a lower bound. Without it, if K_uu is numerically singular, the gradient
// is dominated by rounding errors and L-BFGS fails. With 1e-8 this noise would limit the fit of data whose own noise is
// below 10⁻⁴ of their standard deviation.
const inducingJitter = 1e-11

// A projection expresses rows in the whitened inducing variables v, where u = L·v:
//
//	K_uu = k(z, z) + ε·1 = L·Lᵀ,   φ(x) = k(x, z)·L⁻ᵀ   so that Φ·Φᵀ = K_fu K_uu⁻¹ K_uf
//
// set reuses its buffers.
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

// set sets the hyper-parameters to h and factorizes K_uu. The error wraps vssgp.ErrBound.
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

// pull adds to g the gradient with respect to the covariance and z. bar [n,M] is the gradient with respect to φ at the
// rows of x, diagonal with respect to k(x,x). The lower triangle of work contains LᵀL̄, where L̄ is the gradient with
// respect to L. bar and work are overwritten.
//
// K̄_fu = Φ̄·L⁻¹. Differentiating the factorization (Murray 2016) gives K̄_uu = ½·L⁻ᵀ(P + Pᵀ)L⁻¹, where P is the lower
// triangle of LᵀL̄ with half its diagonal.
func (p *projection) pull(g *hyper, bar *mat.Dense, diagonal float64, x []float64) {
	c, cov, z := p.work, p.h.cov, p.h.z
	c.Scale(0.5, c)
	mirror(c)
	p.factor.rightLower(c)
	transpose(c)
	p.factor.rightLower(c)
	for i := range z {
		diagonal += p.share * c.At(i, i)
	}
	p.factor.rightLower(bar)
	inner := hyper{cov: g.cov, z: make([]float64, len(z))}
	cov.pull(&inner, c, z, z)
	floats.AddScaled(g.z, 2, inner.z) // factor 2 because both arguments of the symmetric K_uu are z
	cov.pull(g, bar, x, z)
	floats.AddConst(diagonal, g.cov.Variance)
}

// A posterior is the distribution q(v) = N(mean, P⁻¹) of the whitened inducing variables.
type posterior struct {
	precision factor     // R of P = R·Rᵀ
	mean      *mat.Dense // [M,1]
}

// condition factorizes in place the precision P, whose lower triangle is in p, and replaces P·mean in mean by the mean.
// As P is 1 plus a Gram matrix, this fails only if P contains NaN.
func (q *posterior) condition(p *mat.Dense) (err error) {
	mirror(p)
	if q.precision, err = factorize(p); err != nil {
		return err
	}
	q.precision.solve(q.mean)
	return nil
}

// A tile contains rows of the data and quantities derived from a projection and a posterior. Its buffers are reused.
type tile struct {
	n    int
	x, y []float64 // [n]

	phi      *mat.Dense // [n,M] φ
	bar      *mat.Dense // [n,M] first ΦP⁻¹, then the gradient with respect to φ
	gap      []float64  // [n] k(x,x) − |φ|²: variance that is not explained by the inducing variables
	spread   []float64  // [n] φ P⁻¹ φᵀ: variance due to q(v)
	residual []float64  // [n] y − φ·mean
}

func newTile(n, m int) *tile {
	return &tile{
		n: n, phi: mat.NewDense(n, m, nil), bar: mat.NewDense(n, m, nil),
		gap: make([]float64, n), spread: make([]float64, n), residual: make([]float64, n),
	}
}

// each projects the rows of x and y in blocks of t.n rows and calls f for each block with the index of its first row.
func (t *tile) each(p *projection, x, y []float64, f func(lo int, rows *tile)) {
	for lo := 0; lo < len(x); lo += t.n {
		if left := len(x) - lo; left < t.n {
			t = newTile(left, t.phi.RawMatrix().Cols)
		}
		rows := *t
		rows.x, rows.y = x[lo:][:t.n], y[lo:][:t.n]
		rows.project(p)
		f(lo, &rows)
	}
}

// project computes phi and gap.
func (t *tile) project(p *projection) {
	p.h.cov.matrix(t.phi, t.x, p.h.z)
	p.factor.rightUpper(t.phi)
	k := p.h.cov.diagonal()
	chunks(t.n, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			t.gap[i] = k - square(t.phi.RawRowView(i))
		}
	})
}

// residuals computes residual.
func (t *tile) residuals(q *posterior) {
	copy(t.residual, t.y)
	blas64.Gemm(blas.NoTrans, blas.NoTrans, -1, t.phi.RawMatrix(), q.mean.RawMatrix(), 1, column(t.residual).RawMatrix())
}

// spreads computes spread and writes Φ·R⁻ᵀ to bar.
func (t *tile) spreads(q *posterior) {
	t.bar.Copy(t.phi)
	q.precision.rightUpper(t.bar)
	for i := range t.n {
		t.spread[i] = square(t.bar.RawRowView(i))
	}
}

// adjoint sets bar to the gradient with respect to φ of
//
//	−½ Σ_n (r_n² + spread_n)/Λ_n + Σ_n ḡ_n gap_n
//
// for a fixed posterior, which is (r_n·meanᵀ − φ_n P⁻¹)/Λ_n − 2ḡ_n φ_n. It must be called after residuals and spreads.
func (t *tile) adjoint(q *posterior, lambda, gapBar []float64) {
	q.precision.rightLower(t.bar)
	mean := q.mean.RawMatrix().Data
	chunks(t.n, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			bar, phi, weight := t.bar.RawRowView(i), t.phi.RawRowView(i), 1/lambda[i]
			for m := range bar {
				bar[m] = weight*(t.residual[i]*mean[m]-bar[m]) - 2*gapBar[i]*phi[m]
			}
		}
	})
}

// sparseModel is the model of SPGP and SVGP. It consists of the inducing inputs and the posterior of the function at
// them.
type sparseModel struct {
	scale
	proj *projection
	q    posterior
}

// predictRows is the number of rows that are predicted at a time.
const predictRows = 1024

// Predict implements Model in O(M²) per row:
//
//	E[f] = φ·m,   Var[f] = k(x,x) − |φ|² + φ P⁻¹ φᵀ
func (s *sparseModel) Predict(_ context.Context, x []float64) (*vssgp.Prediction, error) {
	mean, variance := make([]float64, len(x)), make([]float64, len(x))
	newTile(min(len(x), predictRows), len(s.proj.h.z)).each(s.proj, x, mean, func(lo int, t *tile) {
		t.residuals(&s.q) // y is zero, so the residual is −φ·m
		t.spreads(&s.q)
		for i, r := range t.residual {
			mean[lo+i] = -r
			variance[lo+i] = t.gap[i] + t.spread[i]
		}
	})
	return s.prediction(mean, variance, s.proj.h.noise), nil
}
