package baselines

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
)

// canonical is q(v) = Π_d N(m_d, P⁻¹) of the whitened inducing variables in its
// canonical parameters, P and θ = P·m. There a natural gradient step is a mean:
//
//	P ← (1−ρ)·P + ρ·(1 + wτ·ΦᵀΦ)      θ ← (1−ρ)·θ + ρ·wτ·ΦᵀY
//
// with w = N/S on S of N rows. In these coordinates KL(q(u) ‖ p(u)) =
// KL(q(v) ‖ N(0,1)) depends on q(v) alone.
type canonical struct {
	posterior
	p     *mat.Dense // [M,M] P, the lower triangle
	theta *mat.Dense // [M,D]
	r     *mat.Dense // [M,M] holds P's factor
	work  *mat.Dense // [M,M]
}

func newCanonical(m, d int) *canonical {
	q := &canonical{p: mat.NewDense(m, m, nil), theta: mat.NewDense(m, d, nil), r: mat.NewDense(m, m, nil), work: mat.NewDense(m, m, nil)}
	q.mean = mat.NewDense(m, d, nil)
	addDiagonal(q.p, 1)
	return q
}

// natural takes a step ρ with a tile, each of whose rows stands for weight rows.
func (q *canonical) natural(t *tile, rho, weight, noise float64) error {
	q.decay(rho)
	q.observe(t, rho*weight/noise)
	return q.update()
}

// carry takes q(v) along from one projection to the next. v = L⁻¹u means something
// else there; the likelihood that the rows give the function should stay. With
// u₀ ≈ K₀₁K₁₁⁻¹u₁ and τ₀, τ₁ before and after, that is
//
//	P − 1 ← τ₁/τ₀·U(P − 1)Uᵀ,   θ ← τ₁/τ₀·Uθ,   Uᵀ = L₀⁻¹ K₀₁ L₁⁻ᵀ
//
// (after the dual parameters of Adam et al. 2021), which is exact for σ² and τ.
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

// decay takes the part of a step that leads towards the prior.
func (q *canonical) decay(rho float64) {
	if rho == 1 { // even if q(v) holds NaN
		q.p.Zero()
		q.theta.Zero()
	} else {
		q.p.Scale(1-rho, q.p)
		q.theta.Scale(1-rho, q.theta)
	}
	addDiagonal(q.p, rho)
}

// observe adds scale·ΦᵀΦ and scale·ΦᵀY.
func (q *canonical) observe(t *tile, scale float64) {
	blas64.Syrk(blas.Trans, scale, t.phi.RawMatrix(), 1, lower(q.p))
	y := blas64.General{Rows: t.n, Cols: t.d, Stride: t.d, Data: t.y}
	blas64.Gemm(blas.Trans, blas.NoTrans, scale, t.phi.RawMatrix(), y, 1, q.theta.RawMatrix())
}

// update computes the factor and the mean from the canonical parameters.
func (q *canonical) update() error {
	q.r.Copy(q.p)
	q.mean.Copy(q.theta)
	return q.condition(q.r)
}

// kl is Σ_d KL(q(v_d) ‖ N(0,1)) = ½[ D·(tr P⁻¹ − M + ln|P|) + |m|² ].
func (q *canonical) kl() float64 {
	m, d := q.mean.Dims()
	inverse := q.work // tr P⁻¹ = |R⁻¹|²
	inverse.Copy(q.r)
	lapack64.Trtri(q.precision.in(inverse).l)
	trace := 0.0
	for i := range m {
		trace += square(inverse.RawRowView(i)[:i+1])
	}
	return 0.5 * (float64(d)*(trace-float64(m)+q.precision.logDet()) + square(q.mean.RawMatrix().Data))
}

// data is Σ E_q[ln N(y_n | f_n, s)] over a tile's rows,
//
//	−½ Σ_n [ D·ln 2πs + (|r_n|² + D·(gap_n + spread_n))/s ],
//
// and prepares gradient.
func (q *canonical) data(t *tile, noise float64) float64 {
	t.residuals(&q.posterior)
	t.spreads(&q.posterior)
	return -0.5 * (float64(t.n*t.d)*math.Log(2*math.Pi*noise) + t.squares()/noise)
}

// squares is Σ_n |r_n|² + D·(gap_n + spread_n).
func (t *tile) squares() float64 {
	sum := square(t.residual)
	for i, gap := range t.gap {
		sum += float64(t.d) * (gap + t.spread[i])
	}
	return sum
}

// gradient adds to grad the gradient of the bound, whose first sum is w times
// data's last value, while the likelihood of u = L·v given by the rows stays:
// A = L⁻ᵀ(P − 1)L⁻¹ and a = L⁻ᵀθ. So P = 1 + LᵀAL and θ = Lᵀa move with L.
// At the best q(v) this is the gradient with q(v) fixed, which is VFE's. Anywhere
// else it differs, and for the better: a fixed q(v) of many rows ties the
// hyper-parameters down, and a length-scale that is wrong by a factor of four is
// still wrong by two after thousands of steps. This takes hundreds.
//
// With Δ = Φ(1 − P⁻¹), f = wτ·Φᵀr − m (the gradient by m) and g = P⁻¹f,
//
//	Φ̄ = wτ·(r mᵀ + D·Δ)
//	LᵀL̄ = −wτD·ΔᵀΔ − D(1 − P⁻¹)² − mmᵀ + (g−f)mᵀ + m(g−f)ᵀ
func (q *canonical) gradient(t *tile, p *projection, weight float64, grad *hyper) {
	m, d := q.mean.Dims()
	noise := p.h.noise
	tau := weight / noise
	nd := float64(t.n * t.d)
	grad.noise += 0.5 * weight * (t.squares()/noise - nd) / noise

	q.precision.rightLower(t.bar)
	t.bar.Sub(t.phi, t.bar) // Δ
	c := p.work
	q.openness(c)
	blas64.Syrk(blas.Trans, -tau*float64(d), t.bar.RawMatrix(), -float64(d), lower(c))

	f, g := mat.NewDense(m, d, nil), mat.NewDense(m, d, nil)
	r := mat.NewDense(t.n, d, t.residual)
	f.Mul(t.phi.T(), r)
	f.Scale(tau, f)
	f.Sub(f, q.mean)
	g.Copy(f)
	q.precision.solve(g)
	g.Sub(g, f)
	for i := range m {
		row, mi, gi := c.RawRowView(i), q.mean.RawRowView(i), g.RawRowView(i)
		for j := range i + 1 {
			mj, gj := q.mean.RawRowView(j), g.RawRowView(j)
			for e := range d {
				row[j] += gi[e]*mj[e] + mi[e]*gj[e] - mi[e]*mj[e]
			}
		}
	}
	t.bar.Scale(tau*float64(d), t.bar)
	blas64.Gemm(blas.NoTrans, blas.Trans, tau, r.RawMatrix(), q.mean.RawMatrix(), 1, t.bar.RawMatrix())
	p.pull(grad, t.bar, -0.5*weight*nd/noise, t.x)
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
