package variational_test

import "github.com/vssgp/vssgp/internal/testkit/modeltest"

// Tolerances of this package's tests, each with where it comes from.
const (
	// trueBound and trueGradient: against 192-bit values, on models of some ten
	// features and rows; trueGradientHard where float64's own conditioning takes
	// its share (Σ near 1e-8, x near 3e6, τ = 1e8 with G of low rank).
	trueBound        = 1e-9
	trueGradient     = 1e-7
	trueGradientHard = 1e-5
	// oracleBound: the oracle's float64 sums.
	oracleBound = 1e-10
	rounding    = modeltest.Rounding
)
