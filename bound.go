package vssgp

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/vssgp/vssgp/internal/blocktri"
	"github.com/vssgp/vssgp/internal/cost"
	"github.com/vssgp/vssgp/spectral"
)

// ErrBound is wrapped where a bound is not a number or its matrix has no
// Cholesky factor even with jitter: an optimiser shortens its step there.
var ErrBound = errors.New("bound cannot be evaluated")

// Term is a named part of a bound.
type Term struct {
	Name  string  `json:"name"`  // noise, fit, log_determinant, kl_frequencies, …: DESIGN.md, section 4
	Value float64 `json:"value"` // in nats
}

// fitTerm is the bound's term that holds the squared errors: −½τ times a sum of
// squares.
const fitTerm = "fit"

// Evaluation is a bound at some parameters.
type Evaluation struct {
	Bound    float64 // in nats, of y in the model's units
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
	deep   int     // the most rows that one window meets: the terms of its sums
	room   room

	segments int // Options.Segments
}

// close ends the use of the rows.
func (h *held) close() error {
	h.room.leave()
	return h.rows.Close()
}

// exact is the bound with the optimal q(A) (eq. lower_bound_opt_A): with
// A = G + τ⁻¹I and m = A⁻¹C,
//
//	L = −½ND log(2π/τ) − ½τ Σy² + ½τ Σ C∘m − ½D (M log τ + log|A|) − KL(q(ω)‖p(ω))
//
// in two passes over the rows with a gradient, one without, and one more where
// Σy² − Σ C∘m has lost its digits (residual). With a gradient all else
// happens in room that the next evaluation has again, or where the rows are, if
// they have a Solver for such windows; without one the evaluation keeps the
// posterior.
func (h *held) exact(p *Params, gradient bool) (*Evaluation, error) {
	f := h.room.featuresOf(p)
	if err := checkExact(f); err != nil {
		return nil, err
	}
	if !gradient {
		e, _, err := h.posterior(p, f, spectral.NewMoments(f, h.d), blocktri.FactoriseDown)
		return e, err
	}
	if s, ok := h.rows.(spectral.Solver); ok && s.Solves(f) {
		return h.exactThere(p, f, s)
	}
	mom := h.room.momentsOf(f, h.d)
	e, residual, err := h.posterior(p, f, mom, h.factorise)
	if err != nil {
		return nil, err
	}
	if err := h.ctx.Err(); err != nil {
		return nil, err
	}
	var inverse *spectral.Gram // in mom.Gram
	if err := h.await(cost.Inverse(f.Offsets()), func() { inverse = e.factor.Inverse() }); err != nil {
		return nil, err
	}
	e.factor = nil
	h.noiseGradient(e, p, residual, trace(inverse))
	return e, h.pullExact(e, p, f, mom)
}

// exactThere is exact with gradient where the algebra is done by who holds the
// rows: of G, A⁻¹ and their adjoint nothing comes here.
func (h *held) exactThere(p *Params, f *spectral.Features, rows spectral.Solver) (e *Evaluation, err error) {
	tau, s := p.NoisePrecision[0], h.room.solutionOf(f, h.d)
	e = &Evaluation{}
	if e.Jitter, err = withJitter(1/tau, f.M, func(jitter float64) (float64, error) {
		err := rows.Solve(s, f, 1/tau+jitter)
		return s.TraceGram, err
	}); err != nil {
		return nil, err
	}
	e.mean = append([]float64(nil), s.Mean...)
	if err := h.ctx.Err(); err != nil {
		return nil, err
	}
	barF := h.room.adjointOf(f)
	if err := rows.PullbackSolved(barF, f, h.exactAdjoint(tau)); err != nil {
		return nil, err
	}
	// The residual may take a pass of its own, which would use up what Solve left.
	residual, err := h.exactTerms(e, p, f, s.C, s.LogDet, s.TraceGram)
	if err != nil {
		return nil, err
	}
	h.noiseGradient(e, p, residual, s.TraceInverse)
	p.pullAll(e.Gradient, barF)
	return e, nil
}

// noiseGradient begins the gradient with that by τ, through λ = τ⁻¹ too.
func (h *held) noiseGradient(e *Evaluation, p *Params, residual, traceInverse float64) {
	tau, nd, dm := p.NoisePrecision[0], float64(h.n*h.d), float64(h.d*p.M())
	e.Gradient = h.room.zeroGradient(p)
	e.Gradient.NoisePrecision[0] = 0.5*(nd-dm)/tau - 0.5*residual +
		(0.5*float64(h.d)*traceInverse+0.5*tau*dotSelf(e.mean))/(tau*tau)
}

// checkExact refuses features that no memory holds the moments of: a small
// model file may have them.
func checkExact(f *spectral.Features) error {
	offset := f.Offsets()
	for v := range len(offset) - 1 {
		if n := offset[v+1] - offset[v]; n > MaxExact {
			return fmt.Errorf("vssgp: %d features in window %d: exact inference needs %.0f GiB for each matrix of them; want at most %d, or factorised inference: %w",
				n, v, 8*float64(n)*float64(n)/(1<<30), MaxExact, ErrParams)
		}
	}
	return nil
}

// posterior fills in the bound, m and the factor of A, which takes G's room,
// and gives the residual.
func (h *held) posterior(p *Params, f *spectral.Features, mom *spectral.Moments, factorise func(*spectral.Gram, float64) (*blocktri.Factor, error)) (e *Evaluation, residual float64, err error) {
	if err := h.rows.Moments(mom, f); err != nil {
		return nil, 0, err
	}
	if err := h.ctx.Err(); err != nil {
		return nil, 0, err
	}
	tau, gram := p.NoisePrecision[0], trace(mom.Gram)
	e = &Evaluation{}
	if e.factor, e.Jitter, err = h.factor(f, mom, 1/tau, factorise); err != nil {
		return nil, 0, err
	}
	e.mean = append([]float64(nil), mom.C...)
	e.factor.Solve(e.mean, h.d)
	residual, err = h.exactTerms(e, p, f, mom.C, e.factor.LogDet(), gram)
	return e, residual, err
}

// exactTerms fills in the bound, given m, C, log|A| and tr(G), and gives the
// residual.
func (h *held) exactTerms(e *Evaluation, p *Params, f *spectral.Features, c []float64, logDet, traceGram float64) (residual float64, err error) {
	tau, dm := p.NoisePrecision[0], float64(h.d*p.M())
	if residual, err = h.residual(f, c, e.mean, 1/tau+e.Jitter, traceGram); err != nil {
		return 0, err
	}
	e.Terms = []Term{
		{"noise", -0.5 * float64(h.n*h.d) * math.Log(2*math.Pi/tau)},
		{fitTerm, -0.5 * tau * residual},
		{"log_determinant", -0.5 * (dm*math.Log(tau) + float64(h.d)*logDet)},
		{"kl_frequencies", 0 - p.klFrequencies(nil, 0)},
		{"kl_phases", 0 - p.klPhases(nil, 0)},
	}
	return residual, e.sum()
}

// exactAdjoint is ∂L/∂G = −½D·A⁻¹ − ½τ·m mᵀ and ∂L/∂C = τ·m.
func (h *held) exactAdjoint(tau float64) spectral.SolvedAdjoint {
	return spectral.SolvedAdjoint{Inverse: -0.5 * float64(h.d), Outer: -0.5 * tau, Linear: tau}
}

// pullExact takes the adjoint back to the parameters. bar comes with A⁻¹ and is
// overwritten.
func (h *held) pullExact(e *Evaluation, p *Params, f *spectral.Features, bar *spectral.Moments) error {
	by := h.exactAdjoint(p.NoisePrecision[0])
	for i, m := range e.mean {
		bar.C[i] = by.Linear * m
	}
	blocktri.OuterAdjoint(bar.Gram, e.mean, h.d, by.Inverse, by.Outer)
	barF := h.room.adjointOf(f)
	if err := h.rows.Pullback(barF, f, bar); err != nil {
		return err
	}
	p.pullAll(e.Gradient, barF)
	return nil
}

// pullAll adds to a gradient what comes by way of the features, and of the KL
// terms without coefficients.
func (p *Params) pullAll(gradient *Params, barF *spectral.Features) {
	p.pullFeatures(gradient, barF)
	p.klFrequencies(gradient, -1)
	p.klPhases(gradient, -1)
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
	return h.batch(p, rows, nil, gradient)
}

// batch is factorised with the KL terms of each window times its weight, nil
// for once. p may then lack components of windows that no given row meets.
func (h *held) batch(p *Params, rows []int, weight []float64, gradient bool) (*Evaluation, error) {
	f := h.room.featuresOf(p)
	sums := h.room.sumsOf(f, h.d)
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
		{fitTerm, -0.5 * tau * scale * sums.Value},
		{"kl_coefficients", 0 - p.weighted((*Params).klCoefficients, weight, nil, 0)},
		{"kl_frequencies", 0 - p.weighted((*Params).klFrequencies, weight, nil, 0)},
		{"kl_phases", 0 - p.weighted((*Params).klPhases, weight, nil, 0)},
	}
	if err := e.sum(); err != nil || !gradient {
		return e, err
	}
	e.Gradient = h.room.zeroGradient(p)
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
	p.weighted((*Params).klCoefficients, weight, g, -1)
	p.weighted((*Params).klFrequencies, weight, g, -1)
	p.weighted((*Params).klPhases, weight, g, -1)
	return e, nil
}

// sum adds the terms up and refuses what is not a number.
func (e *Evaluation) sum() error {
	for _, t := range e.Terms {
		if t.Name == fitTerm && t.Value > 0 {
			return fmt.Errorf("vssgp: the term %s is %v, and no squared error is negative: %w", t.Name, t.Value, ErrBound)
		}
		e.Bound += t.Value
	}
	if math.IsNaN(e.Bound) || math.IsInf(e.Bound, 0) {
		return fmt.Errorf("vssgp: the bound is %v: %w", e.Bound, ErrBound)
	}
	return nil
}

const (
	jitterFirst = 1e-10 // of the mean of A's diagonal, once the factor has failed
	jitterGrow  = 10
	jitterTries = 6
)

// factor factors G + λI in G's room, with jitter where it has to, and says how
// much it took. Each further try sums G anew: the one before has overwritten it.
func (h *held) factor(f *spectral.Features, mom *spectral.Moments, lambda float64, factorise func(*spectral.Gram, float64) (*blocktri.Factor, error)) (r *blocktri.Factor, jitter float64, err error) {
	tried := false
	jitter, err = withJitter(lambda, f.M, func(jitter float64) (float64, error) {
		if tried {
			if err := h.rows.Moments(mom, f); err != nil {
				return 0, err
			}
		}
		tried = true
		gram := trace(mom.Gram)
		var err error
		var made *blocktri.Factor
		if stopped := h.await(cost.Factor(f.Offsets()), func() { made, err = factorise(mom.Gram, lambda+jitter) }); stopped != nil {
			return gram, stopped
		}
		r = made
		return gram, err
	})
	return r, jitter, err
}

// await is await for work on the moments, which are not lent to anyone any more
// where they are left to it.
func (h *held) await(flops float64, work func()) error {
	err := await(h.ctx, flops, work)
	if err != nil {
		h.room.moments = nil
	}
	return err
}

// withJitter has factor try G + (λ + jitter)·I, with jitter growing from
// jitterFirst·mean(diag A) only where that has no Cholesky factor. factor gives
// tr(G), of m features, whether there is one or not.
func withJitter(lambda float64, m int, factor func(jitter float64) (traceGram float64, err error)) (jitter float64, err error) {
	for try := 0; ; try++ {
		gram, err := factor(jitter)
		if err == nil || !errors.Is(err, spectral.ErrNotPositive) {
			return jitter, err
		}
		mean := gram/float64(m) + lambda
		if try == jitterTries || math.IsNaN(mean) || math.IsInf(mean, 0) {
			return 0, fmt.Errorf("vssgp: A = E[ΦᵀΦ] + τ⁻¹I with τ⁻¹ = %v: %w: %w", lambda, err, ErrBound)
		}
		if jitter *= jitterGrow; try == 0 {
			jitter = jitterFirst * mean
		}
	}
}

// factorise is the factor for those who do not keep it.
func (h *held) factorise(a *spectral.Gram, lambda float64) (*blocktri.Factor, error) {
	return blocktri.FactoriseSegments(a, lambda, h.segments)
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
	if err := checkExact(f); err != nil {
		return nil, nil, err
	}
	mom := h.room.momentsOf(f, h.d)
	if err := h.rows.Moments(mom, f); err != nil {
		return nil, nil, err
	}
	if err := h.ctx.Err(); err != nil {
		return nil, nil, err
	}
	for v, b := range mom.Gram.Diag {
		m := mom.Gram.Size(v)
		for i := range m {
			diag = append(diag, b[i*m+i])
		}
	}
	factor, _, err := h.factor(f, mom, 1/p.NoisePrecision[0], h.factorise)
	if err != nil {
		return nil, nil, err
	}
	mean = append([]float64(nil), mom.C...)
	factor.Solve(mean, h.d)
	return diag, mean, nil
}
