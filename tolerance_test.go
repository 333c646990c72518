package vssgp

import "github.com/vssgp/vssgp/internal/testkit/modeltest"

// Tolerances of this package's tests, each with where it comes from.
const (
	// goldenBound: bounds are sums of some hundred terms near the bound's own
	// size; both sides round at 1e-16.
	goldenBound = 1e-11
	// goldenGradient: the same sums with A⁻¹ between, condition number to 1e5.
	goldenGradient = 1e-9
	// goldenGradientHard: x near 1e5 costs five digits of x − z, Σ near 1e-8
	// leaves a sum of terms 1e8 apart.
	goldenGradientHard = 1e-7
	// goldenPredict: one solve with A.
	goldenPredict = 1e-9
	rounding      = modeltest.Rounding
)
