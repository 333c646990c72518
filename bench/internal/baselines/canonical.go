package baselines

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
)

// canonical is the posterior q(v) = N(m, P⁻¹) of the whitened inducing variables in its
// canonical parameters P and θ = P·m. In these, a natural gradient step is a weighted mean:
//
//	P ← (1−ρ)·P + ρ·(1 + wτ·ΦᵀΦ)      θ ← (1−ρ)·θ + ρ·wτ·Φᵀy
//
// with w = N/S for S of N rows. In the whitened variables, KL(q(u) ‖ p(u)) =
// KL(q(v) ‖ N(0,1)) depends only on q(v).
type canonical struct {
	posterior
	p     *mat.Dense // [M,M] lower triangle of P
	theta *mat.Dense // [M,1]
	r     *mat.Dense // [M,M] factor of P
	work  *mat.Dense // [M,M]
}

func newCanonical(m int) *canonical {
	q := &canonical{p: mat.NewDense(m, m, nil), theta: mat.NewDense(m, 1, nil), r: mat.NewDense(m, m, nil), work: mat.NewDense(m, m, nil)}
	q.mean = mat.NewDense(m, 1, nil)
	addDiagonal(q.p, 1)
	return q
}

// natural takes a natural gradient step of length rho with the rows of a tile. Each row counts as weight rows.
func (q *canonical) natural(t *tile, rho, weight, noise float64) error {
	q.decay(rho)
	q.observe(t, rho*weight/noise)
	return q.update()
}

// carry converts q(v) from one projection to another, in which v = L⁻¹u has a different
// meaning. It keeps the likelihood of the function given by the rows. With
// u₀ ≈ K₀₁K₁₁⁻¹u₁ and τ₀, τ₁ before and after the change,
//
//	P − 1 ← τ₁/τ₀·U(P − 1)Uᵀ,   θ ← τ₁/τ₀·Uθ,   Uᵀ = L₀⁻¹ K₀₁ L₁⁻ᵀ
//
// as for the dual parameters of Adam et al. (2021). This is exact for changes of σ² and τ.
// See gradient.
func (q *canonical) carry(from, to *projection) {
	u, product, scale := to.work, from.work, from.h.noise/to.h.noise
	to.h.cov.matrix(u, from.h.z, to.h.z)
	to.factor.rightUpper(u)
	transpose(u)
	from.factor.rightUpper(u)
	addDiagonal(q.p, -1)
	mirror(q.p)
	product.Mul(u, q.p)
	blas64.Gemm(blas.NoTrans, blas.Trans, scale, product.RawMatrix(), u.RawMatrix(), 0, q.p.RawMatrix())
	addDiagonal(q.p, 1)
	q.mean.Copy(q.theta)
	blas64.Gemm(blas.NoTrans, blas.NoTrans, scale, u.RawMatrix(), q.mean.RawMatrix(), 0, q.theta.RawMatrix())
}

// decay takes the part of a step toward the prior: P ← (1−ρ)·P + ρ·1, θ ← (1−ρ)·θ.
func (q *canonical) decay(rho float64) {
	if rho == 1 { // resets NaN, too
		q.p.Zero()
		q.theta.Zero()
	} else {
		q.p.Scale(1-rho, q.p)
		q.theta.Scale(1-rho, q.theta)
	}
	addDiagonal(q.p, rho)
}

// observe adds scale·ΦᵀΦ to P and scale·Φᵀy to θ.
func (q *canonical) observe(t *tile, scale float64) {
	blas64.Syrk(blas.Trans, scale, t.phi.RawMatrix(), 1, lower(q.p))
	blas64.Gemm(blas.Trans, blas.NoTrans, scale, t.phi.RawMatrix(), column(t.y).RawMatrix(), 1, q.theta.RawMatrix())
}

// update computes the factor and the mean from the canonical parameters.
func (q *canonical) update() error {
	q.r.Copy(q.p)
	q.mean.Copy(q.theta)
	return q.condition(q.r)
}

// kl returns KL(q(v) ‖ N(0,1)) = ½[ tr P⁻¹ − M + ln|P| + |m|² ].
func (q *canonical) kl() float64 {
	m := q.p.RawMatrix().Rows
	inverse := q.work // tr P⁻¹ = |R⁻¹|²
	inverse.Copy(q.r)
	lapack64.Trtri(q.precision.in(inverse).l)
	trace := 0.0
	for i := range m {
		trace += square(inverse.RawRowView(i)[:i+1])
	}
	return 0.5 * (trace - float64(m) + q.precision.logDet() + square(q.mean.RawMatrix().Data))
}

// data returns Σ E_q[ln N(y_n | f_n, s)] over a tile's rows,
//
//	−½ Σ_n [ ln 2πs + (r_n² + gap_n + spread_n)/s ],
//
// and prepares the tile for gradient.
func (q *canonical) data(t *tile, noise float64) float64 {
	t.residuals(&q.posterior)
	t.spreads(&q.posterior)
	return -0.5 * (float64(t.n)*math.Log(2*math.Pi*noise) + t.squares()/noise)
}

// squares returns Σ_n r_n² + gap_n + spread_n.
func (t *tile) squares() float64 {
	sum := square(t.residual)
	for i, gap := range t.gap {
		sum += gap + t.spread[i]
	}
	return sum
}

// gradient adds to grad the gradient of the bound, whose first sum is w times the last
// value of data. The likelihood of u = L·v given by the rows is constant: A = L⁻ᵀ(P − 1)L⁻¹
// and a = L⁻ᵀθ, so that P = 1 + LᵀAL and θ = Lᵀa change with L. At the optimal q(v) this
// equals the gradient with q(v) fixed, which is VFE's. Elsewhere it converges in hundreds of
// steps. With a fixed q(v) of many rows the hyper-parameters hardly change: a length-scale
// that is wrong by a factor of four is still wrong by two after thousands of steps.
//
// With Δ = Φ(1 − P⁻¹), f = wτ·Φᵀr − m (the gradient with respect to m) and g = P⁻¹f,
//
//	Φ̄ = wτ·(r mᵀ + Δ)
//	LᵀL̄ = −wτ·ΔᵀΔ − (1 − P⁻¹)² − mmᵀ + (g−f)mᵀ + m(g−f)ᵀ
func (q *canonical) gradient(t *tile, p *projection, weight float64, grad *hyper) {
	noise, rows := p.h.noise, float64(t.n)
	tau := weight / noise
	grad.noise += 0.5 * weight * (t.squares()/noise - rows) / noise

	q.precision.rightLower(t.bar)
	t.bar.Sub(t.phi, t.bar) // Δ
	c := p.work
	q.openness(c)
	blas64.Syrk(blas.Trans, -tau, t.bar.RawMatrix(), -1, lower(c))

	var f, g mat.Dense
	r := column(t.residual)
	f.Mul(t.phi.T(), r)
	f.Scale(tau, &f)
	f.Sub(&f, q.mean)
	g.CloneFrom(&f)
	q.precision.solve(&g)
	g.Sub(&g, &f)
	mean, diff := q.mean.RawMatrix().Data, g.RawMatrix().Data
	for i := range mean {
		row := c.RawRowView(i)
		for j := range i + 1 {
			row[j] += diff[i]*mean[j] + mean[i]*diff[j] - mean[i]*mean[j]
		}
	}
	t.bar.Scale(tau, t.bar)
	blas64.Gemm(blas.NoTrans, blas.Trans, tau, r.RawMatrix(), q.mean.RawMatrix(), 1, t.bar.RawMatrix())
	p.pull(grad, t.bar, -0.5*weight*rows/noise, t.x)
}

// openness sets c's lower triangle to (1 − P⁻¹)².
func (q *canonical) openness(c *mat.Dense) {
	s := q.work
	s.Copy(q.r)
	q.precision.in(s).invert()
	s.Scale(-1, s)
	addDiagonal(s, 1)
	mirror(s)
	blas64.Syrk(blas.NoTrans, 1, s.RawMatrix(), 0, lower(c))
}
