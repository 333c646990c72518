package variational

import (
	"errors"
	"fmt"
	"math"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/fileio/fault"
	"github.com/vssgp/vssgp/internal/linalg/blocktri"
)

var (
	// ErrBound is wrapped if a bound is not finite or its matrix has no Cholesky factor
	// even with jitter. An optimizer then shortens its step.
	ErrBound = errors.New("bound cannot be evaluated")
	// ErrUnfitted is wrapped if a posterior over the coefficients is needed but has not
	// been computed.
	ErrUnfitted = fault.New("model has no posterior over its coefficients")
)

// Term is a named part of a bound.
type Term struct {
	Name  string  // noise, fit, log_determinant, kl_frequencies, …: DESIGN.md, section 4
	Value float64 // in nats
}

// fitTerm is the name of the term −½τ times the sum of squared errors.
const fitTerm = "fit"

// BoundTolerance is a negligible error of a bound, in nats per observed number. An
// optimization has converged if it gains less.
const BoundTolerance = 1e-6

// Values of Evaluation.Sums.
const (
	sumsOfTables = "tables"
	sumsOfRows   = "rows"
)

// Evaluation contains the bound at given parameters and, if requested, its gradient.
type Evaluation struct {
	Bound    float64 `json:"bound"`  // in nats, for y in the model's units
	Terms    []Term  `json:"terms"`  // their sum is Bound
	Gradient *Params `json:"-"`      // with respect to every parameter, in the model file's parametrization; nil if not requested
	Jitter   float64 `json:"jitter"` // added to A's diagonal because A had no Cholesky factor; normally 0
	// Sums is "tables" if the sums over rows came from tables of Fourier sums (DESIGN.md, section 18), and "rows" otherwise.
	Sums string `json:"sums"`

	// Posterior is the optimal q(A) of an exact bound. If the gradient was requested, it
	// has no Root, and its Mean and the gradient are valid until the next evaluation.
	Posterior *Posterior `json:"-"`
}

// Posterior is the optimal q(A) of the exact bound: N(m_d, τ⁻¹A⁻¹) for output d.
type Posterior struct {
	Mean   []float64        // m = A⁻¹C [M,D]
	factor *blocktri.Factor // R with R Rᵀ = A = G + τ⁻¹I
}

// NewPosterior returns the posterior with mean m [M,D] and the lower triangular factor R of A = R Rᵀ, as Root returned it.
func NewPosterior(mean []float64, root *backend.Gram) *Posterior {
	return &Posterior{mean, blocktri.Downward(root)}
}

// Root returns the factor R of A = R Rᵀ = G + τ⁻¹I, or nil if the gradient was requested.
func (q *Posterior) Root() *backend.Gram {
	if q.factor == nil {
		return nil
	}
	return q.factor.R
}

// sum computes the bound from the terms. It returns an error if the bound is not finite.
func (e *Evaluation) sum() error {
	for _, t := range e.Terms {
		if t.Name == fitTerm && t.Value > 0 {
			return fmt.Errorf("the term %s is %v, but squared errors cannot be negative: %w", t.Name, t.Value, ErrBound)
		}
		e.Bound += t.Value
	}
	if math.IsNaN(e.Bound) || math.IsInf(e.Bound, 0) {
		return fmt.Errorf("the bound is %v: %w", e.Bound, ErrBound)
	}
	return nil
}
