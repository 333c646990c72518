package spectral

import "fmt"

// NoSolver is embedded by Rows that have no CanSolve of their own: the caller does
// the algebra.
type NoSolver struct{}

// CanSolve is false.
func (NoSolver) CanSolve(*Features) bool { return false }

// Solve is an error.
func (NoSolver) Solve(*Solution, *Features, float64) error { return errNoSolver }

// PullbackSolved is an error.
func (NoSolver) PullbackSolved(_, _ *Features, _ SolvedAdjoint) error { return errNoSolver }

var errNoSolver = fmt.Errorf("spectral: these rows do not solve: %w", ErrShape)

// A Solution is what Solve gives of A = G + λI and C.
type Solution struct {
	C            []float64 // [M,D] Φ̄ᵀY
	Mean         []float64 // [M,D] m = A⁻¹C
	D            int       // outputs
	LogDet       float64   // log|A|
	TraceInverse float64   // tr(A⁻¹)
	TraceGram    float64   // tr(G)
}

// NewSolution makes room for m features and d outputs.
func NewSolution(m, d int) *Solution {
	return &Solution{C: make([]float64, m*d), Mean: make([]float64, m*d), D: d}
}

// Check reports arrays that do not fit the features and d.
func (s *Solution) Check(f *Features, d int) error {
	if s.D != d || len(s.C) != f.M*d {
		return shapeError("C", len(s.C), f.M*d, "M·D")
	}
	if len(s.Mean) != f.M*d {
		return shapeError("solution", len(s.Mean), f.M*d, "M·D")
	}
	return nil
}

// A SolvedAdjoint is the adjoint Inverse·A⁻¹ + Outer·m mᵀ of G, a symmetric matrix
// as in Moments, and Linear·m of C.
type SolvedAdjoint struct{ Inverse, Outer, Linear float64 }
