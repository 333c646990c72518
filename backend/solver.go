package backend

import (
	"cmp"
	"fmt"
)

// NoSolver implements the Solve methods of Rows for backends that leave the algebra to the host.
type NoSolver struct{}

// CanSolve returns false.
func (NoSolver) CanSolve(*Features) bool { return false }

// Solve returns an error.
func (NoSolver) Solve(*Solution, *Features, float64) error { return errNoSolver }

// PullbackSolved returns an error.
func (NoSolver) PullbackSolved(_, _ *Features, _ SolvedAdjoint) error { return errNoSolver }

var errNoSolver = fmt.Errorf("these rows do not implement Solve: %w", ErrShape)

// A Solution is the result of Solve for A = G + λI and C.
type Solution struct {
	C            []float64 // [M,D] Φ̄ᵀY
	Mean         []float64 // [M,D] m = A⁻¹C
	D            int       // outputs
	LogDet       float64   // log|A|
	TraceInverse float64   // tr(A⁻¹)
	TraceGram    float64   // tr(G)
	Terms        int       // as in Moments, for C and G
}

// NewSolution returns a zero solution for m features and d outputs.
func NewSolution(m, d int) *Solution {
	return &Solution{C: make([]float64, m*d), Mean: make([]float64, m*d), D: d}
}

// Check returns an error if the arrays do not match the features and d.
func (s *Solution) Check(f *Features, d int) error {
	if s == nil || f == nil {
		return errNil
	}
	return cmp.Or(checkOutputs(s.D, d), checkLength("C", len(s.C), f.M*d, "M·D"), checkLength("solution", len(s.Mean), f.M*d, "M·D"))
}

// A SolvedAdjoint represents the adjoint Inverse·A⁻¹ + Outer·m mᵀ of G, which is symmetric as in
// Moments, and the adjoint Linear·m of C.
type SolvedAdjoint struct{ Inverse, Outer, Linear float64 }
