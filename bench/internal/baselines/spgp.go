package baselines

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp"
)

// Bound is the objective of SPGP.
type Bound string

const (
	// VFE is the variational bound of Titsias (2009).
	VFE Bound = "VFE"
	// FITC is the approximation of Snelson & Ghahramani (2006).
	FITC Bound = "FITC"
)

// SPGP is a sparse Gaussian process with M inducing variables u = f(z). The inputs z and the hyper-parameters are
// learned by L-BFGS. An evaluation takes O(N·M²) time and O(N·M) memory. With Q_ff = K_fu K_uu⁻¹ K_uf it maximizes
//
//	FITC  ln N(y | 0, Q_ff + diag(K_ff − Q_ff) + τ⁻¹)
//	VFE   ln N(y | 0, Q_ff + τ⁻¹) − ½τ·tr(K_ff − Q_ff)
//
// VFE is a lower bound of the log marginal likelihood. FITC is the likelihood of a different model and may exceed it.
// The diagonal of K_uu is increased by a fraction of 10⁻¹¹, and by more if inducing inputs are nearly equal.
type SPGP struct {
	Options
	Inducing int // M; the inducing inputs are initialized at evenly spaced quantiles of x
	Bound    Bound
}

// Fit implements Method.
func (s SPGP) Fit(ctx context.Context, data *vssgp.Data) (*Fit, error) {
	p := prepare(data, s.Options)
	if err := p.spread(s.Inducing); err != nil {
		return nil, err
	}
	return p.ascend(ctx, newCollapsed(p, s.Bound))
}

// collapsed is the objective of SPGP, the bound at the optimal q(v):
//
//	F = ln N(y | 0, ΦΦᵀ + Λ) − T
//	FITC: Λ_n = gap_n + s, T = 0      VFE: Λ_n = s, T = 1/2s·Σ_n gap_n
//
// where s is the noise variance. With the M×M precision B = 1 + ΦᵀΛ⁻¹Φ and the mean m = B⁻¹ΦᵀΛ⁻¹y of q(v), and r = y −
// Φm,
//
//	F = −½ [ N ln 2π + Σ ln Λ_n + ln|B| + Σ r_n²/Λ_n + |m|² ] − T
//
// The last two terms in brackets are positive, so they do not cancel. The gradient with respect to Λ is ½(r² + φB⁻¹φᵀ −
// Λ)/Λ². The gradient with respect to φ is computed by tile.adjoint.
type collapsed struct {
	*problem
	bound Bound
	proj  *projection
	tile  *tile
	b     *mat.Dense // [M,M] factor of B
	post  posterior

	lambda []float64 // Λ [N]
	gapBar []float64 // ∂F/∂gap [N]
}

func newCollapsed(p *problem, bound Bound) *collapsed {
	n, m := len(p.x), len(p.start.z)
	c := &collapsed{
		problem: p, bound: bound, proj: newProjection(m), tile: newTile(n, m), b: mat.NewDense(m, m, nil),
		lambda: make([]float64, n), gapBar: make([]float64, n),
	}
	c.tile.x, c.tile.y = p.x, p.y
	c.post.mean = mat.NewDense(m, 1, nil)
	return c
}

// value returns F.
func (c *collapsed) value(h hyper) (float64, error) {
	if err := c.proj.set(h); err != nil {
		return 0, err
	}
	t := c.tile
	t.project(c.proj)
	open := 0.0
	for n, gap := range t.gap {
		c.lambda[n] = h.noise
		if c.bound == FITC {
			c.lambda[n] += gap
		} else {
			open += gap
		}
	}
	if err := c.condition(); err != nil {
		return 0, err
	}
	t.residuals(&c.post)
	log, fit := 0.0, 0.0
	for n, v := range c.lambda {
		log += math.Log(v)
		fit += t.residual[n] * t.residual[n] / v
	}
	determinant := float64(len(c.x))*math.Log(2*math.Pi) + log + c.post.precision.logDet()
	return -0.5*(determinant+fit+square(c.post.mean.RawMatrix().Data)) - 0.5/h.noise*open, nil
}

// condition computes B and q(v).
func (c *collapsed) condition() error {
	t := c.tile
	for n, v := range c.lambda {
		scale := 1 / math.Sqrt(v)
		floats.ScaleTo(t.bar.RawRowView(n), scale, t.phi.RawRowView(n))
		t.residual[n] = scale * t.y[n]
	}
	blas64.Syrk(blas.Trans, 1, t.bar.RawMatrix(), 0, lower(c.b))
	addDiagonal(c.b, 1)
	blas64.Gemm(blas.Trans, blas.NoTrans, 1, t.bar.RawMatrix(), column(t.residual).RawMatrix(), 0, c.post.mean.RawMatrix())
	return c.post.condition(c.b)
}

// gradient implements objective.
func (c *collapsed) gradient(grad *hyper) {
	t, noise := c.tile, c.proj.h.noise
	t.spreads(&c.post)
	diagonal := 0.0
	for n, v := range c.lambda {
		r := t.residual[n] * t.residual[n]
		c.gapBar[n] = 0.5 * (r + t.spread[n] - v) / (v * v) // with respect to Λ
		grad.noise += c.gapBar[n]
		if c.bound == VFE {
			c.gapBar[n] = -0.5 / noise
			grad.noise += 0.5 / (noise * noise) * t.gap[n]
		}
		diagonal += c.gapBar[n]
	}
	t.adjoint(&c.post, c.lambda, c.gapBar)
	// The gradient with respect to L is L̄ = −tril(L⁻ᵀ Φ̄ᵀΦ). The entries that tril sets to zero do not affect the
	// lower triangle of LᵀL̄, which is therefore the lower triangle of −Φ̄ᵀΦ.
	blas64.Gemm(blas.Trans, blas.NoTrans, -1, t.bar.RawMatrix(), t.phi.RawMatrix(), 0, c.proj.work.RawMatrix())
	c.proj.pull(grad, t.bar, diagonal, t.x)
}

func (c *collapsed) model() Model { return &sparseModel{c.scale, c.proj, c.post} }
