package variational

import (
	"errors"
	"fmt"
	"math"

	"github.com/vssgp/vssgp/internal/blocktri"
	"github.com/vssgp/vssgp/internal/cost"
	"github.com/vssgp/vssgp/internal/matrices"
	"github.com/vssgp/vssgp/internal/parallel"
	"github.com/vssgp/vssgp/spectral"
)

// MaxExact bounds the features that meet in one window under exact inference,
// which holds several matrices of that size squared (3 GiB each).
const MaxExact = 20_000

// Exact is the bound with the optimal q(A) (eq. lower_bound_opt_A): with
// A = G + τ⁻¹I and m = A⁻¹C,
//
//	L = −½ND log(2π/τ) − ½τ Σy² + ½τ Σ C∘m − ½D (M log τ + log|A|) − KL(q(ω)‖p(ω))
//
// It takes two passes over the rows with a gradient and one without, and one
// more where Σy² − Σ C∘m has lost its digits (residual). With a gradient the
// algebra happens in the workspace, or on the device of rows that can Solve;
// without one the evaluation keeps the posterior.
func (r *Rows) Exact(p *Params, gradient bool) (*Evaluation, error) {
	f := r.workspace.featuresOf(p)
	if err := checkExact(f); err != nil {
		return nil, err
	}
	if !gradient {
		e, _, err := r.posterior(p, f, spectral.NewMoments(f, r.D), blocktri.FactoriseDown)
		return e, err
	}
	if r.rows.CanSolve(f) {
		return r.exactOnDevice(p, f)
	}
	mom := r.workspace.momentsOf(f, r.D)
	e, residual, err := r.posterior(p, f, mom, r.factorise)
	if err != nil {
		return nil, err
	}
	if err := r.ctx.Err(); err != nil {
		return nil, err
	}
	factor := e.Posterior.Factor
	e.Posterior.Factor = nil
	var inverse *spectral.Gram // in mom.Gram
	if err := r.await(cost.Inverse(f.Offsets()), func() { inverse = factor.Inverse() }); err != nil {
		return nil, err
	}
	r.noiseGradient(e, p, residual, trace(inverse))
	return e, r.pullExact(e, p, f, mom)
}

// exactOnDevice is Exact with gradient where the rows' device does the algebra:
// G, A⁻¹ and their adjoint never come here.
func (r *Rows) exactOnDevice(p *Params, f *spectral.Features) (e *Evaluation, err error) {
	tau, s := p.NoisePrecision[0], r.workspace.solutionOf(f, r.D)
	e = &Evaluation{}
	if e.Jitter, err = withJitter(1/tau, f.M, func(jitter float64) (float64, error) {
		err := r.rows.Solve(s, f, 1/tau+jitter)
		return s.TraceGram, err
	}); err != nil {
		return nil, err
	}
	e.Posterior = &Posterior{Mean: append([]float64(nil), s.Mean...)}
	if err := r.ctx.Err(); err != nil {
		return nil, err
	}
	barF := r.workspace.adjointOf(f)
	if err := r.rows.PullbackSolved(barF, f, r.exactAdjoint(tau)); err != nil {
		return nil, err
	}
	// The residual may take a pass of its own, which would use up what Solve left.
	residual, err := r.exactTerms(e, p, f, s.C, s.LogDet, s.TraceGram)
	if err != nil {
		return nil, err
	}
	r.noiseGradient(e, p, residual, s.TraceInverse)
	p.pullAll(e.Gradient, barF)
	return e, nil
}

// noiseGradient begins the gradient with that by τ, through λ = τ⁻¹ too.
func (r *Rows) noiseGradient(e *Evaluation, p *Params, residual, traceInverse float64) {
	tau, nd, dm := p.NoisePrecision[0], float64(r.N*r.D), float64(r.D*p.M())
	e.Gradient = r.workspace.zeroGradient(p)
	e.Gradient.NoisePrecision[0] = 0.5*(nd-dm)/tau - 0.5*residual +
		(0.5*float64(r.D)*traceInverse+0.5*tau*sumSquares(e.Posterior.Mean))/(tau*tau)
}

// checkExact refuses features whose moments no memory holds: a small model file
// may have them.
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

// factoriser is one of blocktri's ways to factor A in G's memory.
type factoriser func(*spectral.Gram, float64) (*blocktri.Factor, error)

// factorise is the factoriser for callers that do not keep the factor.
func (r *Rows) factorise(a *spectral.Gram, lambda float64) (*blocktri.Factor, error) {
	return blocktri.FactoriseSegments(a, lambda, r.Segments)
}

// posterior fills in the bound, m and the factor of A, which takes G's memory,
// and returns the residual.
func (r *Rows) posterior(p *Params, f *spectral.Features, mom *spectral.Moments, factorise factoriser) (e *Evaluation, residual float64, err error) {
	if err := r.moments(mom, f); err != nil {
		return nil, 0, err
	}
	gram := trace(mom.Gram)
	e = &Evaluation{Posterior: &Posterior{}}
	if e.Posterior.Factor, e.Jitter, err = r.factor(f, mom, 1/p.NoisePrecision[0], factorise); err != nil {
		return nil, 0, err
	}
	e.Posterior.Mean = append([]float64(nil), mom.C...)
	e.Posterior.Factor.Solve(e.Posterior.Mean, r.D)
	residual, err = r.exactTerms(e, p, f, mom.C, e.Posterior.Factor.LogDet(), gram)
	return e, residual, err
}

// moments is the pass over the rows that sums G and C.
func (r *Rows) moments(dst *spectral.Moments, f *spectral.Features) error {
	if err := r.rows.Moments(dst, f); err != nil {
		return err
	}
	return r.ctx.Err()
}

// exactTerms fills in the bound, given m, C, log|A| and tr(G), and returns the
// residual.
func (r *Rows) exactTerms(e *Evaluation, p *Params, f *spectral.Features, c []float64, logDet, traceGram float64) (residual float64, err error) {
	tau, dm := p.NoisePrecision[0], float64(r.D*p.M())
	if residual, err = r.residual(f, c, e.Posterior.Mean, 1/tau+e.Jitter, traceGram); err != nil {
		return 0, err
	}
	e.Terms = []Term{
		{"noise", -0.5 * float64(r.N*r.D) * math.Log(2*math.Pi/tau)},
		{fitTerm, -0.5 * tau * residual},
		{"log_determinant", -0.5 * (dm*math.Log(tau) + float64(r.D)*logDet)},
		{"kl_frequencies", 0 - p.klFrequencies(nil, 0)},
		{"kl_phases", 0 - p.klPhases(nil, 0)},
	}
	return residual, e.sum()
}

// exactAdjoint is ∂L/∂G = −½D·A⁻¹ − ½τ·m mᵀ and ∂L/∂C = τ·m.
func (r *Rows) exactAdjoint(tau float64) spectral.SolvedAdjoint {
	return spectral.SolvedAdjoint{Inverse: -0.5 * float64(r.D), Outer: -0.5 * tau, Linear: tau}
}

// pullExact takes the adjoint back to the parameters. bar comes with A⁻¹ and is
// overwritten.
func (r *Rows) pullExact(e *Evaluation, p *Params, f *spectral.Features, bar *spectral.Moments) error {
	by := r.exactAdjoint(p.NoisePrecision[0])
	for i, m := range e.Posterior.Mean {
		bar.C[i] = by.Linear * m
	}
	blocktri.OuterAdjoint(bar.Gram, e.Posterior.Mean, r.D, by.Inverse, by.Outer)
	barF := r.workspace.adjointOf(f)
	if err := r.rows.Pullback(barF, f, bar); err != nil {
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

// jitterTimes bounds the attempts to factor A with jitter.
const jitterTimes = 6

// factor factors G + λI in G's memory, with jitter where it has to, and says how
// much it took. Each further try sums G anew: the one before has overwritten it.
func (r *Rows) factor(f *spectral.Features, mom *spectral.Moments, lambda float64, factorise factoriser) (factor *blocktri.Factor, jitter float64, err error) {
	tried := false
	jitter, err = withJitter(lambda, f.M, func(jitter float64) (float64, error) {
		if tried {
			if err := r.rows.Moments(mom, f); err != nil {
				return 0, err
			}
		}
		tried = true
		gram := trace(mom.Gram)
		var err error
		var made *blocktri.Factor
		if stopped := r.await(cost.Factor(f.Offsets()), func() { made, err = factorise(mom.Gram, lambda+jitter) }); stopped != nil {
			return gram, stopped
		}
		factor = made
		return gram, err
	})
	return factor, jitter, err
}

// await is parallel.Await for work on the workspace's moments. Where the work is
// left unfinished, the moments stay with it and are reused no more.
func (r *Rows) await(flops float64, work func()) error {
	err := parallel.Await(r.ctx, flops, work)
	if err != nil {
		r.workspace.moments = nil
	}
	return err
}

// withJitter has factor try G + (λ + jitter)·I, with jitter only where that has
// no Cholesky factor (matrices.Jittered). factor returns tr(G), of m features,
// whether there is one or not.
func withJitter(lambda float64, m int, factor func(jitter float64) (traceGram float64, err error)) (jitter float64, err error) {
	jitter, err = matrices.Jittered(spectral.ErrNotPositive, jitterTimes, func(jitter float64) (float64, error) {
		gram, err := factor(jitter)
		return gram/float64(m) + lambda, err
	})
	if errors.Is(err, spectral.ErrNotPositive) {
		err = fmt.Errorf("vssgp: A = E[ΦᵀΦ] + τ⁻¹I with τ⁻¹ = %v: %w: %w", lambda, err, ErrBound)
	}
	return jitter, err
}
