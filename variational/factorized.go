package variational

import (
	"math"

	"github.com/vssgp/vssgp/backend"
)

// Factorized returns the bound with a diagonal q(A) (eqs. lower_bound_factorized,
// lower_bound_SVI) over the given rows S; nil means all rows. The data term is scaled by
// N/|S|:
//
//	L = −½ND log(2π/τ) − ½τ (N/|S|) F − KL(q(A)‖p(A)) − KL(q(w)‖p(w)) − KL(q(b)‖p(b))
//
// with F the expected squared error (backend.FactorizedSums). It takes one pass of
// O(|S|·M·(Q+D)). The KL terms of window v are multiplied by weight[v]; nil means 1. With
// weights, p may omit the components of windows that are not active in any given row.
func (r *Rows) Factorized(p *Params, rows []int, weight []float64, gradient bool) (*Evaluation, error) {
	f := r.workspace.featuresOf(p)
	sums := r.workspace.sumsOf(f, r.D)
	w := &backend.Weights{Mean: p.CoefMean, Var: p.CoefVar, D: r.D}
	if err := r.rows.Factorized(sums, f, w, rows); err != nil {
		return nil, err
	}
	scale := 1.0
	if rows != nil {
		scale = float64(r.N) / float64(len(rows))
	}
	tau, nd := p.NoisePrecision[0], float64(r.N*r.D)
	e := &Evaluation{Sums: sumsOfRows}
	e.Terms = p.kl([]Term{
		{"noise", -0.5 * nd * math.Log(2*math.Pi/tau)},
		{fitTerm, -0.5 * tau * scale * sums.Value},
	}, allKL, weight)
	if err := e.sum(); err != nil || !gradient {
		return e, err
	}
	e.Gradient = r.workspace.gradientOf(p)
	e.Gradient.NoisePrecision[0] = 0.5*nd/tau - 0.5*scale*sums.Value
	p.pull(e.Gradient, chain{scale: -0.5 * tau * scale, features: sums.Features, weights: sums.Weights, kl: allKL, weight: weight})
	return e, nil
}
