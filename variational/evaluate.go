package variational

import "fmt"

// Inference selects the bound that a fit maximizes and the kind of posterior over the
// coefficients.
type Inference string

const (
	// Exact is VSSGP: the optimal q(A), eq. lower_bound_opt_A.
	Exact Inference = "exact"
	// Factorized is fVSSGP: a diagonal q(A), eq. lower_bound_factorized.
	Factorized Inference = "factorized"
	// Stochastic is sfVSSGP: Factorized on mini-batches, eq. lower_bound_SVI. The fitted
	// model has Factorized inference.
	Stochastic Inference = "stochastic"
)

// Method is the paper's model or one of its special cases.
type Method string

const (
	// VSSGP is the paper's model: frequencies have a posterior.
	VSSGP Method = "vssgp"
	// SSGP is the sparse spectrum GP (Lázaro-Gredilla et al. 2010): point
	// frequencies (Σ = 0), each a cosine and a sine, optimized with the
	// hyper-parameters.
	SSGP Method = "ssgp"
	// RP is random projections (Rahimi & Recht 2007): random phases, and point
	// frequencies that are drawn from the prior and not optimized.
	RP Method = "rp"
)

// Evaluate returns the bound of the given inference. rows selects a mini-batch for Factorized.
func (r *Rows) Evaluate(p *Params, inference Inference, rows []int, gradient bool) (*Evaluation, error) {
	if inference == Exact {
		return r.Exact(p, gradient)
	}
	if len(p.CoefMean) == 0 || len(p.CoefVar) == 0 {
		return nil, fmt.Errorf("the factorized bound needs coefficient.mean and coefficient.variance: %w", ErrUnfitted)
	}
	return r.Factorized(p, rows, nil, gradient)
}
