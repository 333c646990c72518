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

// spread starts m inducing inputs at evenly spread quantiles of the different x.
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

// inducingJitter is the share of k(x,x) that is added to K_uu's diagonal. It acts as noise of the inducing variables, u = f(z) + noise, so
// a lower bound stays one. Without it, if K_uu is singular to rounding, the gradient through it is rounding too, and L-BFGS finds no
// ascent. With 1e-8 the noise would limit the fit of data whose error is below 10⁻⁴ of their spread.
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

// pull adds to g the gradient by the covariance and z, where bar [n,M] is the gradient by φ at the rows of x and diagonal the gradient by
// k(x,x). The lower triangle of work is LᵀL̄ for the gradient L̄ by L. It overwrites bar and work.
//
// K̄_fu = Φ̄·L⁻¹. Through the factorization (Murray 2016) K̄_uu = ½·L⁻ᵀ(P + Pᵀ)L⁻¹, where P is that triangle with half its diagonal.
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
	floats.AddScaled(g.z, 2, inner.z) // z is both arguments of K_uu, which is symmetric
	cov.pull(g, bar, x, z)
	floats.AddConst(diagonal, g.cov.Variance)
}

// A posterior is q(v) of the whitened inducing variables, N(mean, P⁻¹).
type posterior struct {
	precision factor     // R of P = R·Rᵀ
	mean      *mat.Dense // [M,1]
}

// condition factorizes the precision P, whose lower triangle is in p, in place and turns mean from P·mean into the mean. P is
// 1 plus a Gram matrix: it has a factor unless it has NaN.
func (q *posterior) condition(p *mat.Dense) (err error) {
	mirror(p)
	if q.precision, err = factorize(p); err != nil {
		return err
	}
	q.precision.solve(q.mean)
	return nil
}

// A tile is rows of the data seen through a projection and a posterior; its buffers are used again.
type tile struct {
	n    int
	x, y []float64 // [n]

	phi      *mat.Dense // [n,M] φ
	bar      *mat.Dense // [n,M] first ΦP⁻¹, then the gradient by φ
	gap      []float64  // [n] k(x,x) − |φ|²: variance that the inducing variables do not explain
	spread   []float64  // [n] φ P⁻¹ φᵀ: variance at the row that comes from q(v)
	residual []float64  // [n] y − φ·mean
}

func newTile(n, m int) *tile {
	return &tile{
		n: n, phi: mat.NewDense(n, m, nil), bar: mat.NewDense(n, m, nil),
		gap: make([]float64, n), spread: make([]float64, n), residual: make([]float64, n),
	}
}

// each projects the rows of x and y, as many at a time as t has, and calls f with them and the first one's number.
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

// project fills phi and gap.
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

// residuals fills residual.
func (t *tile) residuals(q *posterior) {
	copy(t.residual, t.y)
	blas64.Gemm(blas.NoTrans, blas.NoTrans, -1, t.phi.RawMatrix(), q.mean.RawMatrix(), 1, column(t.residual).RawMatrix())
}

// spreads fills spread and leaves Φ·R⁻ᵀ in bar.
func (t *tile) spreads(q *posterior) {
	t.bar.Copy(t.phi)
	q.precision.rightUpper(t.bar)
	for i := range t.n {
		t.spread[i] = square(t.bar.RawRowView(i))
	}
}

// adjoint sets bar to the gradient by φ of
//
//	−½ Σ_n (r_n² + spread_n)/Λ_n + Σ_n ḡ_n gap_n
//
// at the given posterior: (r_n·meanᵀ − φ_n P⁻¹)/Λ_n − 2ḡ_n φ_n. It follows residuals and spreads.
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

// sparseModel is the model of SPGP and SVGP: inducing inputs and the posterior of the function there.
type sparseModel struct {
	scale
	proj *projection
	q    posterior
}

// predictRows is the number of rows whose features are stored at a time.
const predictRows = 1024

// Predict implements Model in O(M²) a row:
//
//	E[f] = φ·m,   Var[f] = k(x,x) − |φ|² + φ P⁻¹ φᵀ
func (s *sparseModel) Predict(_ context.Context, x []float64) (*vssgp.Prediction, error) {
	mean, variance := make([]float64, len(x)), make([]float64, len(x))
	newTile(min(len(x), predictRows), len(s.proj.h.z)).each(s.proj, x, mean, func(lo int, t *tile) {
		t.residuals(&s.q) // of zeros
		t.spreads(&s.q)
		for i, r := range t.residual {
			mean[lo+i] = -r
			variance[lo+i] = t.gap[i] + t.spread[i]
		}
	})
	return s.prediction(mean, variance, s.proj.h.noise), nil
}
