package spectral

// A Solver is Rows that can keep the moments where they have summed them and do
// there what the exact bound needs of them, so that G, A⁻¹ and their adjoint,
// each O(M·M_v) with M_v features a window, never come to the host. It knows no
// bound: what the numbers are for is the caller's matter.
type Solver interface {
	// Solves says whether there is room for f's windows: a matter of shapes and
	// of the kind of device, never of the memory that is free.
	Solves(f *Features) bool
	// Solve sums the moments G and C and fills dst with what follows from
	// A = G + λI. Where A has no Cholesky factor the error wraps ErrNotPositive,
	// and of dst TraceGram alone is filled in. f has to be one that Solves.
	Solve(dst *Solution, f *Features, lambda float64) error
	// PullbackSolved is Pullback of an adjoint made of what the last Solve has
	// left, which it uses up: nothing else may have been asked of the Rows in
	// between, but for f, which has to be the same.
	PullbackSolved(dst, f *Features, bar SolvedAdjoint) error
}

// A Solution is what Solve gives of A = G + λI and C.
type Solution struct {
	C            []float64 // [M,D] Φ̄ᵀY
	Mean         []float64 // [M,D] m = A⁻¹C
	D            int
	LogDet       float64 // log|A|
	TraceInverse float64 // tr(A⁻¹)
	TraceGram    float64 // tr(G)
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
