package simd

import "fmt"

// Rows of Factorised's sums, eight numbers each.
const (
	FactorisedAlong  = iota // Σ r·cos
	FactorisedSquare        // Σ cos²
	FactorisedRipple        // and so on as Contract's
	FactorisedTheta
	FactorisedThetaD
	FactorisedQuadD
	FactorisedQuadD2
	FactorisedRows
)

// Factorised is Contract for one input and one output with A1·∂/∂E[φ_n] =
// α·cos + β·r_n made on the way, r [n] being the residuals. Its sums
// [Count,FactorisedRows,8] have Σ r·cos and Σ cos² instead of Σ u·cos, which is (α·Σ
// cos² + β·Σ r·cos)/A1. inv may be nil where all gates are 1. For more inputs or outputs Fit (with weights α, into
// zeros) and AddOutput make bar, and Along, Second and Contract the sums.
func Factorised(sums []float64, cos, sin Panels, res, x, inv []float64, lanes []Lane, b Bank) {
	b.check("Factorised", cos.N, x, cos, sin)
	checkSums("Factorised", sums, cos.Count*FactorisedRows)
	if b.Q != 1 || len(res) != cos.N || inv != nil && len(inv) != cos.N {
		panic(fmt.Sprintf("simd: Factorised: %d inputs, want one; %d residuals and %d gates in %d rows", b.Q, len(res), len(inv), cos.N))
	}
	b.centers("Factorised", lanes, 0)
	if cos.empty() {
		return
	}
	if !factorisedVector(&sums[0], cos.row(0, 0), sin.row(0, 0), &res[0], &x[0], first(inv), &lanes[0].Amp[0], cos.Stride, cos.N, cos.Count) {
		for i := range cos.Count {
			factorisedPlain(sums[i*FactorisedRows*Lanes:], cos.Panel(i), sin.Panel(i), res, x, inv, &lanes[i])
		}
	}
}

// factorisedPlain is Factorised's plain loop.
func factorisedPlain(sums, cos, sin, res, x, inv []float64, lane *Lane) {
	for l := range Lanes {
		var along, square, ripple, theta, thetaD, quadD, quadD2 float64
		a2 := lane.Ripple[l]
		for n, r := range res {
			c, s := cos[n*Lanes+l], sin[n*Lanes+l]
			e2, diff := c*c+s*s, c*c-s*s
			if inv != nil {
				e2 *= inv[n]
			}
			along += r * c
			square += c * c
			ripple += e2 * diff
			u := lane.Square[l]*c + lane.Weight[l]*r
			th := (u + a2*e2*c) * s
			qu := u*c + a2*e2*diff
			d := x[n] - lane.Center[l]
			theta -= th
			thetaD -= th * d
			quadD -= qu * d
			quadD2 -= qu * d * d
		}
		for i, v := range [FactorisedRows]float64{along, square, ripple, theta, thetaD, quadD, quadD2} {
			sums[i*Lanes+l] += v
		}
	}
}
