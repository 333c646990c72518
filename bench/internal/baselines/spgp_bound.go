package baselines

import (
	"fmt"
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

// collapsed is the objective of SPGP, the bound at the best q(v):
//
//	F = Σ_d ln N(y_d | 0, ΦΦᵀ + Λ) − T
//	FITC: Λ_n = gap_n + s, T = 0      VFE: Λ_n = s, T = D/2s·Σ_n gap_n
//
// with s the noise's variance. In the M×M matrix B = 1 + ΦᵀΛ⁻¹Φ, which is the
// precision of q(v), with its mean m = B⁻¹ΦᵀΛ⁻¹Y and r = Y − Φm,
//
//	F = −½ [ D·(N ln 2π + Σ ln Λ_n + ln|B|) + Σ |r_n|²/Λ_n + |m|² ] − T
//
// The last two terms are all positive: nothing cancels. By Λ the gradient is
// ½(|r|² + D·φB⁻¹φᵀ − D·Λ)/Λ², by φ it is tile.adjoint's.
type collapsed struct {
	*problem
	bound Bound
	proj  *projection
	tile  *tile
	b     *mat.Dense // [M,M] holds B's factor
	post  posterior

	lambda []float64 // Λ [N]
	gapBar []float64 // ∂F/∂gap [N]
}

func newCollapsed(p *problem, bound Bound, m int) *collapsed {
	c := &collapsed{
		problem: p, bound: bound, proj: newProjection(m), tile: newTile(p.n, m, p.d), b: mat.NewDense(m, m, nil),
		lambda: make([]float64, p.n), gapBar: make([]float64, p.n),
	}
	c.tile.x, c.tile.y = p.x, p.y
	c.post.mean = mat.NewDense(m, p.d, nil)
	return c
}

// value returns F.
func (c *collapsed) value(h hyper) (float64, error) {
	if err := c.proj.set(h); err != nil {
		return 0, err
	}
	t, d := c.tile, float64(c.d)
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
		fit += square(t.residual[n*c.d:][:c.d]) / v
	}
	determinant := float64(c.n)*math.Log(2*math.Pi) + log + c.post.precision.logDet()
	f := -0.5*(d*determinant+fit+square(c.post.mean.RawMatrix().Data)) - 0.5*d/h.noise*open
	if !finite(f) {
		return 0, fmt.Errorf("baselines: %s bound is %v: %w", c.bound, f, vssgp.ErrBound)
	}
	return f, nil
}

// condition sets B and q(v).
func (c *collapsed) condition() error {
	t := c.tile
	for n, v := range c.lambda {
		scale := 1 / math.Sqrt(v)
		floats.ScaleTo(t.bar.RawRowView(n), scale, t.phi.RawRowView(n))
		floats.ScaleTo(t.residual[n*c.d:][:c.d], scale, t.y[n*c.d:][:c.d])
	}
	blas64.Syrk(blas.Trans, 1, t.bar.RawMatrix(), 0, lower(c.b))
	addDiagonal(c.b, 1)
	scaled := blas64.General{Rows: c.n, Cols: c.d, Stride: c.d, Data: t.residual}
	blas64.Gemm(blas.Trans, blas.NoTrans, 1, t.bar.RawMatrix(), scaled, 0, c.post.mean.RawMatrix())
	return c.post.condition(c.b)
}

// condition factorizes the precision P, whose lower triangle p holds, in its place
// and turns mean, which holds P·mean, into the mean. P is 1 plus a Gram matrix: it
// has a factor unless it holds NaN.
func (q *posterior) condition(p *mat.Dense) (err error) {
	mirror(p)
	if q.precision, err = factorize(p); err != nil {
		return err
	}
	q.precision.solve(q.mean)
	return nil
}

// gradient implements objective.
func (c *collapsed) gradient(grad *hyper) {
	t, d, noise := c.tile, float64(c.d), c.proj.h.noise
	t.spreads(&c.post)
	diagonal := 0.0
	for n, v := range c.lambda {
		r := square(t.residual[n*c.d:][:c.d])
		c.gapBar[n] = 0.5 * (r + d*t.spread[n] - d*v) / (v * v) // by Λ
		grad.noise += c.gapBar[n]
		if c.bound == VFE {
			c.gapBar[n] = -0.5 * d / noise
			grad.noise += 0.5 * d / (noise * noise) * t.gap[n]
		}
		diagonal += c.gapBar[n]
	}
	t.adjoint(&c.post, c.lambda, c.gapBar)
	// By L: L̄ = −tril(L⁻ᵀ Φ̄ᵀΦ). The entries that tril drops affect only entries that
	// the triangle of LᵀL̄ drops: it is the triangle of −Φ̄ᵀΦ.
	blas64.Gemm(blas.Trans, blas.NoTrans, -1, t.bar.RawMatrix(), t.phi.RawMatrix(), 0, c.proj.work.RawMatrix())
	c.proj.pull(grad, t.bar, diagonal, t.x)
}

func (c *collapsed) model() Model { return newSparseModel(c.units, c.proj, c.post) }
