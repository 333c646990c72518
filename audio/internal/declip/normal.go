package declip

import "math"

// hazardTail is the limit above which the hazard is computed by a continued fraction. Below it, erfc is accurate.
const hazardTail = 3

// furthest is the maximum limit. Above it, the mean equals the limit in float64.
const furthest = 1e8

// above returns E x − a and the variance of a standard normal x given x ≥ a:
//
//	λ = φ(a)/Φ(−a),   E x − a = λ − a,   Var x = 1 − λ(λ − a)
//
// In the far tail both formulas suffer from cancellation. There above evaluates the continued fraction K = λ − a = 1/(a + 2/(a + 3/(a +
// …))); with K = 1/(a + M) the variance is (aM + M² − 1)/(a + M)².
func above(a float64) (excess, variance float64) {
	if a < hazardTail {
		hazard := math.Sqrt(2/math.Pi) * math.Exp(-a*a/2) / math.Erfc(a/math.Sqrt2)
		return hazard - a, 1 - hazard*(hazard-a)
	}
	const terms = 60     // at 3, the fraction's error is below 1e-15
	a = min(a, furthest) // avoids overflow
	j := 0.0
	for i := terms; i >= 3; i-- {
		j = float64(i) / (a + j)
	}
	// m = 2/(a + j), and am − 1 = (a − j)/(a + j) with a − j > 0 as j < a
	m := 2 / (a + j)
	return 1 / (a + m), ((a-j)/(a+j) + m*m) / ((a + m) * (a + m))
}
