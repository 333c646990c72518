package variational

import (
	"errors"
	"fmt"
	"math"

	"github.com/vssgp/vssgp/internal/linalg/blocktri"
)

var (
	// ErrBound is wrapped if a bound is not a number or its matrix has no Cholesky
	// factor even with jitter. An optimizer then shortens its step.
	ErrBound = errors.New("bound cannot be evaluated")
	// ErrUnfitted is wrapped if a posterior over the coefficients is needed and
	// there is none yet.
	ErrUnfitted = errors.New("model has no posterior over its coefficients")
)

// Term is a named part of a bound.
type Term struct {
	Name  string  // noise, fit, log_determinant, kl_frequencies, …: DESIGN.md, section 4
	Value float64 // in nats
}

// fitTerm is the bound's term with the squared errors: −½τ times a sum of squares.
const fitTerm = "fit"

// BoundTolerance is a negligible error of a bound, in nats for each number observed:
// an optimization that gains less has converged.
const BoundTolerance = 1e-6

// Evaluation.Sums.
const (
	sumsOfTables = "tables"
	sumsOfRows   = "rows"
)

// Evaluation is a bound at some parameters.
type Evaluation struct {
	Bound    float64 `json:"bound"`  // in nats, of y in the model's units
	Terms    []Term  `json:"terms"`  // they add up to Bound
	Gradient *Params `json:"-"`      // with respect to every parameter, in the model file's parametrisation; nil if not requested
	Jitter   float64 `json:"jitter"` // added to A's diagonal because A had no factor without it; normally 0
	// Sums is "tables" if the sums over rows came from tables of the rows' Fourier sums (DESIGN.md, section 18), else "rows".
	Sums string `json:"sums"`

	// Posterior is the optimal q(A) of an exact bound. With a gradient it has no
	// Factor, and its Mean is valid until the next evaluation, as the gradient is.
	Posterior *Posterior `json:"-"`
}

// Posterior is the optimal q(A) of the exact bound: N(m_d, τ⁻¹A⁻¹) for output d.
type Posterior struct {
	Mean   []float64        // m = A⁻¹C [M,D]
	Factor *blocktri.Factor // R with R Rᵀ = A = G + τ⁻¹I
}

// sum adds the terms up. A bound that is not finite is an error.
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
