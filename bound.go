package vssgp

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/vssgp/vssgp/internal/blocktri"
	"github.com/vssgp/vssgp/spectral"
)

// ErrBound is wrapped where a bound is not a number or its matrix has no
// Cholesky factor even with jitter: an optimiser shortens its step there.
var ErrBound = errors.New("bound cannot be evaluated")

// Term is a named part of a bound.
type Term struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

// Evaluation is a bound at some parameters.
type Evaluation struct {
	Bound    float64
	Terms    []Term  // they add up to Bound
	Gradient *Params // by every parameter, in the file's own parametrisation; nil if not asked for
	Jitter   float64 // added to A's diagonal because the factor failed without; 0 as a rule

	mean   []float64        // exact: m = A⁻¹C [M,D]
	factor *blocktri.Factor // exact: of A
}

// held are rows that a backend holds, with what the host knows of them.
type held struct {
	ctx    context.Context // looked at between passes
	rows   spectral.Rows
	n, d   int
	square float64 // Σ y²
}

// exact is the bound with the optimal q(A) (eq. lower_bound_opt_A): with
// A = G + τ⁻¹I and m = A⁻¹C,
//
//	L = −½ND log(2π/τ) − ½τ Σy² + ½τ Σ C∘m − ½D (M log τ + log|A|) − KL(q(ω)‖p(ω))
//
// in two passes over the rows with a gradient, one without.
func (h *held) exact(p *Params, gradient bool) (*Evaluation, error) {
	f := p.Features()
	mom := spectral.NewMoments(f, h.d)
	if err := h.rows.Moments(mom, f); err != nil {
		return nil, err
	}
	if err := h.ctx.Err(); err != nil {
		return nil, err
	}
	tau := p.NoisePrecision[0]
	e := &Evaluation{}
	var err error
	if e.factor, e.Jitter, err = factorise(mom.Gram, 1/tau); err != nil {
		return nil, err
	}
	e.mean = append([]float64(nil), mom.C...)
	e.factor.Solve(e.mean, h.d)
	fit := 0.0
	for i, c := range mom.C {
		fit += c * e.mean[i]
	}
	nd, dm := float64(h.n*h.d), float64(h.d*f.M)
	e.Terms = []Term{
		{"noise", -0.5 * nd * math.Log(2*math.Pi/tau)},
		{"fit", -0.5 * tau * (h.square - fit)},
		{"log_determinant", -0.5 * (dm*math.Log(tau) + float64(h.d)*e.factor.LogDet())},
		{"kl_frequencies", 0 - p.klFrequencies(nil, 0)},
		{"kl_phases", 0 - p.klPhases(nil, 0)},
	}
	if err := e.sum(); err != nil || !gradient {
		return e, err
	}
	if err := h.ctx.Err(); err != nil {
		return nil, err
	}
	inverse := e.factor.Inverse()
	e.Gradient = p.zeroGradient()
	e.Gradient.NoisePrecision[0] = 0.5*(nd-dm)/tau - 0.5*(h.square-fit) +
		(0.5*float64(h.d)*trace(inverse)+0.5*tau*dotSelf(e.mean))/(tau*tau)
	return e, h.pullExact(e, p, f, inverse)
}

// pullExact takes ∂L/∂G = −½D·A⁻¹ − ½τ·m mᵀ and ∂L/∂C = τ·m back to the
// parameters. It overwrites inverse.
func (h *held) pullExact(e *Evaluation, p *Params, f *spectral.Features, inverse *spectral.Gram) error {
	tau := p.NoisePrecision[0]
	bar := &spectral.Moments{C: make([]float64, len(e.mean)), Gram: inverse, D: h.d}
	for i, m := range e.mean {
		bar.C[i] = tau * m
	}
	for v, b := range inverse.Diag {
		outerAdjoint(b, e.mean, inverse, v, v, h.d, tau)
		if v < len(inverse.Below) {
			outerAdjoint(inverse.Below[v], e.mean, inverse, v+1, v, h.d, tau)
		}
	}
	barF := spectral.NewFeatures(f.M, f.Q)
	if err := h.rows.Pullback(barF, f, bar); err != nil {
		return err
	}
	p.pullFeatures(e.Gradient, barF)
	p.klFrequencies(e.Gradient, -1)
	p.klPhases(e.Gradient, -1)
	return nil
}

// outerAdjoint replaces block (vi, vj) of A⁻¹ by −½D·A⁻¹ − ½τ·m mᵀ.
func outerAdjoint(b, mean []float64, g *spectral.Gram, vi, vj, d int, tau float64) {
	cols := g.Size(vj)
	for i := range g.Size(vi) {
		mi := mean[(g.Offset[vi]+i)*d:][:d]
		for j := range cols {
			mj := mean[(g.Offset[vj]+j)*d:][:d]
			s := 0.0
			for o, x := range mi {
				s += x * mj[o]
			}
			b[i*cols+j] = -0.5*float64(d)*b[i*cols+j] - 0.5*tau*s
		}
	}
}

// factorised is the bound with a diagonal q(A) (eqs. lower_bound_factorised,
// lower_bound_SVI) over the given rows, nil for all; the data's part is scaled
// by N/|S|:
//
//	L = −½ND log(2π/τ) − ½τ (N/|S|) F − KL(q(A)‖p(A)) − KL(q(ω)‖p(ω))
//
// with F the expected squared error (spectral.FactorisedSums), one pass of
// O(|S|·M·(Q+D)).
func (h *held) factorised(p *Params, rows []int, gradient bool) (*Evaluation, error) {
	f := p.Features()
	sums := spectral.NewFactorisedSums(f, h.d)
	w := &spectral.Weights{Mean: p.CoefMean, Var: p.CoefVar, D: h.d}
	if err := h.rows.Factorised(sums, f, w, rows); err != nil {
		return nil, err
	}
	scale := 1.0
	if rows != nil {
		scale = float64(h.n) / float64(len(rows))
	}
	tau, nd := p.NoisePrecision[0], float64(h.n*h.d)
	e := &Evaluation{}
	e.Terms = []Term{
		{"noise", -0.5 * nd * math.Log(2*math.Pi/tau)},
		{"fit", -0.5 * tau * scale * sums.Value},
		{"kl_coefficients", 0 - p.klCoefficients(nil, 0)},
		{"kl_frequencies", 0 - p.klFrequencies(nil, 0)},
		{"kl_phases", 0 - p.klPhases(nil, 0)},
	}
	if err := e.sum(); err != nil || !gradient {
		return e, err
	}
	e.Gradient = p.zeroGradient()
	g, c := e.Gradient, -0.5*tau*scale
	g.NoisePrecision[0] = 0.5*nd/tau - 0.5*scale*sums.Value
	for _, a := range sums.Features.Fields() {
		for i := range a.Data {
			a.Data[i] *= c
		}
	}
	p.pullFeatures(g, sums.Features)
	for i, m := range sums.Weights.Mean {
		g.CoefMean[i] = c * m
		g.CoefVar[i] = c * sums.Weights.Var[i]
	}
	p.klCoefficients(g, -1)
	p.klFrequencies(g, -1)
	p.klPhases(g, -1)
	return e, nil
}

// sum adds the terms up and refuses what is not a number.
func (e *Evaluation) sum() error {
	for _, t := range e.Terms {
		e.Bound += t.Value
	}
	if math.IsNaN(e.Bound) || math.IsInf(e.Bound, 0) {
		return fmt.Errorf("vssgp: the bound is %v: %w", e.Bound, ErrBound)
	}
	return nil
}

// zeroGradient is a zero Params of p's shape, sharing p's windows.
func (p *Params) zeroGradient() *Params {
	g := NewParams(p.L, p.K, p.Q, p.D)
	g.Windows, g.ComponentWindow = p.Windows, p.ComponentWindow
	return g
}

const (
	jitterFirst = 1e-10 // of the mean of A's diagonal, once the factor has failed
	jitterGrow  = 10
	jitterTries = 6
)

// factorise factors G + λI, with jitter growing from jitterFirst·mean(diag A)
// only where that fails, and says how much it took.
func factorise(g *spectral.Gram, lambda float64) (*blocktri.Factor, float64, error) {
	f, err := blocktri.Factorise(g, lambda)
	if err == nil {
		return f, 0, nil
	}
	jitter := jitterFirst * (trace(g)/float64(g.M()) + lambda)
	for range jitterTries {
		if f, err = blocktri.Factorise(g, lambda+jitter); err == nil {
			return f, jitter, nil
		}
		jitter *= jitterGrow
	}
	return nil, 0, fmt.Errorf("vssgp: A = E[ΦᵀΦ] + τ⁻¹I with τ⁻¹ = %v: %w: %w", lambda, err, ErrBound)
}

func trace(g *spectral.Gram) float64 {
	s := 0.0
	for v, b := range g.Diag {
		m := g.Size(v)
		for i := range m {
			s += b[i*m+i]
		}
	}
	return s
}

func dotSelf(a []float64) float64 {
	s := 0.0
	for _, v := range a {
		s += v * v
	}
	return s
}

// exactDiagonal is the diagonal of G [M] and m = A⁻¹C [M,D] at p.
func (h *held) exactDiagonal(p *Params) (diag, mean []float64, err error) {
	f := p.Features()
	mom := spectral.NewMoments(f, h.d)
	if err := h.rows.Moments(mom, f); err != nil {
		return nil, nil, err
	}
	for v, b := range mom.Gram.Diag {
		m := mom.Gram.Size(v)
		for i := range m {
			diag = append(diag, b[i*m+i])
		}
	}
	factor, _, err := factorise(mom.Gram, 1/p.NoisePrecision[0])
	if err != nil {
		return nil, nil, err
	}
	factor.Solve(mom.C, h.d)
	return diag, mom.C, nil
}
