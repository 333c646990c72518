package vssgp

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
	// trueBound and trueGradient: against 192-bit values, on models of some ten
	// features and rows; trueGradientHard where float64's own conditioning takes
	// its share (Σ near 1e-8, x near 3e6, τ = 1e8 with G of low rank).
	trueBound        = 1e-9
	trueGradient     = 1e-7
	trueGradientHard = 1e-5
	// oracleBound, oracleGradient: the oracle's float64 sums, its differences.
	oracleBound    = 1e-10
	oracleGradient = 1e-7
	// rounding bounds what should agree but for the order of operations.
	rounding = 1e-9
	// chartGradient: Richardson differences of the float64 bound.
	chartGradient = 1e-6
)
