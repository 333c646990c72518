package variational

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/linalg"
	"github.com/vssgp/vssgp/internal/linalg/blocktri"
	"github.com/vssgp/vssgp/internal/parallel"
)

// MaxExact is the maximum number of features in a window for exact inference, which needs
// several matrices with that many rows and columns (3 GiB each).
const MaxExact = 20_000

// Exact returns the bound with the optimal q(A) (eq. lower_bound_opt_A): with
// A = G + τ⁻¹I and m = A⁻¹C,
//
//	L = −½ND log(2π/τ) − ½τ Σy² + ½τ Σ C∘m − ½D (M log τ + log|A|) − KL(q(w)‖p(w)) − KL(q(b)‖p(b))
//
// It takes one pass over the rows, or two with a gradient, and another one if
// Σy² − Σ C∘m has lost too many digits to cancellation (residual). With a gradient it
// computes the algebra in the workspace, or on the device if CanSolve. Without a gradient
// the evaluation contains the posterior.
func (r *Rows) Exact(p *Params, gradient bool) (*Evaluation, error) {
	f := r.workspace.featuresOf(p)
	offset := f.Offsets()
	if err := checkExact(offset); err != nil {
		return nil, err
	}
	e, tau := &Evaluation{Posterior: &Posterior{}}, p.NoisePrecision[0]
	solve, pullback := r.solveOnDevice, r.rows.PullbackSolved
	switch {
	case !gradient:
		mom := backend.NewMoments(f, r.D)
		solve = func(s *backend.Solution, f *backend.Features, lambda float64) (err error) {
			e.Posterior.factor, err = r.factor(s, f, mom, lambda, 1)
			return err
		}
	case !r.rows.CanSolve(f):
		solve, pullback = r.solve, r.pullbackSolved
	}
	s := r.workspace.solutionOf(f, r.D)
	r.workspace.terms = 0
	jitter, err := withJitter(s, f, 1/tau, solve)
	if err = cmp.Or(err, r.ctx.Err()); err != nil {
		return nil, err
	}
	e.Jitter, e.Posterior.Mean, e.Sums = jitter, s.Mean, sumsOfRows
	if r.workspace.terms > 0 {
		e.Sums = sumsOfTables
	}
	if !gradient {
		e.Posterior.Mean = slices.Clone(s.Mean)
	}
	var barF *backend.Features
	if gradient {
		barF = r.workspace.adjointOf(f)
		bar := backend.SolvedAdjoint{Inverse: -0.5 * float64(r.D), Outer: -0.5 * tau, Linear: tau} // ∂L/∂G = −½D·A⁻¹ − ½τ·m mᵀ, ∂L/∂C = τ·m
		if err := pullback(barF, f, bar); err != nil {
			return nil, err
		}
	}
	// The residual may need another pass, which invalidates the results of Solve on the device.
	residual, err := r.residual(f, offset, s, 1/tau+jitter)
	if err != nil {
		return nil, err
	}
	nd, dm := float64(r.N*r.D), float64(r.D*p.M())
	e.Terms = p.kl([]Term{
		{"noise", -0.5 * nd * math.Log(2*math.Pi/tau)},
		{fitTerm, -0.5 * tau * residual},
		{"log_determinant", -0.5 * (dm*math.Log(tau) + float64(r.D)*s.LogDet)},
	}, featureKL, nil)
	if err := e.sum(); err != nil || !gradient {
		return e, err
	}
	e.Gradient = r.workspace.gradientOf(p)
	e.Gradient.NoisePrecision[0] = 0.5*(nd-dm)/tau - 0.5*residual + // A also depends on λ = τ⁻¹
		(0.5*float64(r.D)*s.TraceInverse+0.5*tau*sumSquares(s.Mean))/(tau*tau)
	p.pull(e.Gradient, chain{scale: 1, features: barF, kl: featureKL})
	return e, nil
}

// checkExact returns an error if a window has more than MaxExact features. A small model file can
// declare so many features that their moments do not fit in memory.
func checkExact(offset []int) error {
	for v := range len(offset) - 1 {
		if n := offset[v+1] - offset[v]; n > MaxExact {
			return fmt.Errorf("%d features in window %d: exact inference needs matrices of %.0f GiB each; use at most %d features, "+
				"or factorized inference: %w", n, v, 8*float64(n)*float64(n)/(1<<30), MaxExact, ErrParams)
		}
	}
	return nil
}

// solver has the signature of backend.Rows.Solve. It runs on a device or on the host.
type solver func(s *backend.Solution, f *backend.Features, lambda float64) error

// solve implements solver on the host. It overwrites the workspace's moments with A⁻¹.
func (r *Rows) solve(s *backend.Solution, f *backend.Features, lambda float64) error {
	mom := r.workspace.momentsOf(f, r.D)
	factor, err := r.factor(s, f, mom, lambda, max(2, r.Segments))
	if err != nil {
		return err
	}
	if err := r.await(blocktri.Flops(f.Offsets()), func() { factor.Inverse() }); err != nil {
		return err
	}
	s.TraceInverse = mom.Gram.Trace(0, mom.Gram.Blocks())
	return nil
}

// solveOnDevice implements solver on the device. If the sums came from tables, it sets upper bounds of the workspace's diagonal and spread,
// because the host has neither the factor nor the diagonal of G.
func (r *Rows) solveOnDevice(s *backend.Solution, f *backend.Features, lambda float64) error {
	s.Terms = 0
	err := r.rows.Solve(s, f, lambda)
	if r.workspace.terms = s.Terms; err != nil || s.Terms == 0 {
		return err
	}
	largest := 0.0
	for k := range f.M {
		largest = max(largest, float64(r.N)*(f.Power[k]+math.Abs(f.Ripple[k])))
	}
	r.workspace.diagonal = append(r.workspace.diagonal[:0], min(largest, s.TraceGram))
	r.workspace.spread = r.spread(f, f.Offsets(), s.Mean, lambda, s.TraceGram)
	return nil
}

// pullbackSolved implements backend.Rows.PullbackSolved on the host. It must follow solve.
func (r *Rows) pullbackSolved(dst, f *backend.Features, bar backend.SolvedAdjoint) error {
	mom, mean := r.workspace.moments, r.workspace.solution.Mean
	for i, m := range mean {
		mom.C[i] = bar.Linear * m
	}
	blocktri.OuterAdjoint(mom.Gram, mean, r.D, bar.Inverse, bar.Outer)
	return r.rows.Pullback(dst, f, mom)
}

// factor computes G and C and overwrites G by the factor of A = G + λI with the given
// number of segments. It fills in s, except the trace of A⁻¹.
func (r *Rows) factor(s *backend.Solution, f *backend.Features, mom *backend.Moments, lambda float64, segments int,
) (*blocktri.Factor, error) {
	mom.Terms = 0
	if err := cmp.Or(r.rows.Moments(mom, f), r.ctx.Err()); err != nil {
		return nil, err
	}
	s.TraceGram = mom.Gram.Trace(0, mom.Gram.Blocks())
	diag := slices.Grow(r.workspace.diagonal[:0], f.M)
	for k := range f.M {
		diag = append(diag, mom.Gram.At(k, k))
	}
	r.workspace.diagonal = diag
	var factor *blocktri.Factor
	var err error // abandoned work may still write it
	if stopped := r.await(blocktri.Flops(f.Offsets()), func() {
		factor, err = blocktri.Factorize(mom.Gram, lambda, segments)
	}); stopped != nil {
		return nil, stopped
	}
	if err != nil {
		return nil, err
	}
	copy(s.C, mom.C)
	copy(s.Mean, mom.C)
	factor.Solve(s.Mean, r.D)
	s.LogDet = factor.LogDet()
	if r.workspace.terms = mom.Terms; mom.Terms > 0 {
		r.workspace.measure(factor.R, s)
	}
	return factor, nil
}

// await runs work on the workspace's moments like parallel.Await. If ctx ends first, the moments
// are not reused, because the abandoned work may still write them.
func (r *Rows) await(flops float64, work func()) error {
	err := parallel.Await(r.ctx, flops, work)
	if err != nil {
		r.workspace.moments = nil
	}
	return err
}

// jitterTimes is the maximum number of attempts to factor A with jitter.
const jitterTimes = 6

// withJitter solves for A = G + (λ + jitter)·I. The jitter is 0 if A then has a Cholesky
// factor (linalg.Jittered).
func withJitter(s *backend.Solution, f *backend.Features, lambda float64, solve solver) (jitter float64, err error) {
	jitter, err = linalg.Jittered(backend.ErrNotPositive, jitterTimes, func(jitter float64) (float64, error) {
		err := solve(s, f, lambda+jitter)
		return s.TraceGram/float64(f.M) + lambda, err
	})
	if errors.Is(err, backend.ErrNotPositive) {
		err = fmt.Errorf("cannot factor the features' matrix with noise variance %v: %w: %w", lambda, backend.ErrNotPositive, ErrBound)
	}
	return jitter, err
}
