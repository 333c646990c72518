package simd

import "fmt"

// A Lane contains the numbers of a panel's features for sums over rows.
type Lane struct {
	Amp    [Lanes]float64 // A1; not for Factorized
	Ripple [Lanes]float64 // 4·A2·b̄, b̄ = ∂/∂E[φ_n²], the same for every row
	Center [Lanes]float64 // z; set by Contract and Factorized
	Square [Lanes]float64 // α, for Factorized: A1·∂/∂E[φ_n] = α·cos + β·r_n
	Weight [Lanes]float64 // β
}

// These are the rows of a panel's sums. Each row has eight numbers, one per lane. The last three rows are repeated for each input.
const (
	SumAmp    = iota // Σ u·cos, u = ∂/∂E[φ_n]
	SumRipple        // Σ e²·(cos² − sin²)
	SumTheta         // Σ θ̄
	SumThetaD        // Σ θ̄·d
	SumQuadD         // Σ q̄·d
	SumQuadD2        // Σ q̄·d²
)

// SumRows returns the number of rows of sums for features of q inputs.
func SumRows(q int) int { return SumThetaD + 3*q }

// InverseSquares sets inv to 1/g² for each gate, from which Contract, Factorized and Second compute e² = (cos² + sin²)/g². If g²
// vanishes, as do all terms with it, it sets 0.
func InverseSquares(inv, gate []float64) {
	const least = 1e-290 // above it, 1/g² and its products are finite
	for n, g := range gate {
		inv[n] = 0
		if s := g * g; !(s < least) {
			inv[n] = 1 / s
		}
	}
}

// Contract adds the terms of all rows to sums [Count,SumRows(Q),8], for u = ∂/∂E[φ] in bar, with d
// = x − z:
//
//	θ̄ = −A1·u·sin − 4·A2·b̄·e²·cos·sin
//	q̄ = −A1·u·cos − 4·A2·b̄·e²·(cos² − sin²)
//
// It overwrites bar and, for Q > 1, the scratch [n,8].
func (t *Tile) Contract(sums []float64, bar Panels, scratch []float64, lanes []Lane) {
	t.check("Contract", false, t.Inv)
	same("Contract", t.Cos, bar)
	checkSums("Contract", sums, t.Cos.Count*SumRows(t.Params.Q))
	t.Params.centers("Contract", lanes, 0)
	cos, sin := t.Cos, t.Sin
	if cos.empty() {
		return
	}
	each, quad := cos.Count, []float64(nil)
	if t.Params.Q > 1 { // per panel: the part that does not depend on the inputs, then each input
		each, quad = 1, scratch[:cos.N*Lanes]
	}
	for i := 0; i < cos.Count; i += each {
		to, lanes := sums[i*SumRows(t.Params.Q)*Lanes:], lanes[i:i+each]
		if !contractVector(&to[0], cos.row(i, 0), sin.row(i, 0), bar.row(i, 0), first(quad), &t.X[0], &t.Inv[0], &lanes[0].Amp[0],
			cos.Stride, cos.N, each) {
			for j := range each {
				contractPlain(to[j*SumRows(t.Params.Q)*Lanes:], cos.Panel(i+j), sin.Panel(i+j), bar.Panel(i+j), quad, t.X, t.Inv, &lanes[j])
			}
		}
		if quad == nil {
			continue
		}
		for q := range t.Params.Q {
			t.Params.Slice(i, i+1).centers("Contract", lanes, q)
			to := to[(SumThetaD+3*q)*Lanes:]
			if !contractInputVector(&to[0], bar.row(i, 0), &quad[0], &t.X[q], &lanes[0].Amp[0], t.Params.Q, cos.Stride, cos.N, 1) {
				contractInputPlain(to, bar.Panel(i), quad, t.X[q:], t.Params.Q, &lanes[0])
			}
		}
	}
}

// centers sets the lanes' centers for input q.
func (p FeatureParams) centers(what string, lanes []Lane, q int) {
	if len(lanes) != p.Count {
		panic(fmt.Sprintf("simd: %s: %d lanes, must be %d", what, len(lanes), p.Count))
	}
	for i := range lanes {
		copy(lanes[i].Center[:], p.Panel(i)[(1+3*q)*Lanes:])
	}
}

// contractPlain is Contract's plain loop for one input. If quad is not nil, it computes only the sums that do not depend on the inputs,
// and sets bar to −θ̄ and quad to −q̄.
func contractPlain(sums, cos, sin, bar, quad, x, inv []float64, lane *Lane) {
	for l := range Lanes {
		var amp, ripple, theta, thetaD, quadD, quadD2 float64
		a1, a2 := lane.Amp[l], lane.Ripple[l]
		for n, i2 := range inv {
			k := n*Lanes + l
			u, c, s := bar[k], cos[k], sin[k]
			e2, diff := (c*c+s*s)*i2, c*c-s*s
			amp += u * c
			ripple += e2 * diff
			th := (a1*u + a2*e2*c) * s
			qu := a1*u*c + a2*e2*diff
			theta -= th
			if quad != nil {
				bar[k], quad[k] = th, qu
				continue
			}
			d := x[n] - lane.Center[l]
			thetaD -= th * d
			quadD -= qu * d
			quadD2 -= qu * d * d
		}
		sums[SumAmp*Lanes+l] += amp
		sums[SumRipple*Lanes+l] += ripple
		sums[SumTheta*Lanes+l] += theta
		if quad == nil {
			sums[SumThetaD*Lanes+l] += thetaD
			sums[SumQuadD*Lanes+l] += quadD
			sums[SumQuadD2*Lanes+l] += quadD2
		}
	}
}

// contractInputPlain adds the three sums of one input, computed from −θ̄ and −q̄.
func contractInputPlain(sums, theta, quad, x []float64, q int, lane *Lane) {
	for n := range len(theta) / Lanes {
		for l := range Lanes {
			d := x[n*q] - lane.Center[l]
			th, qu := theta[n*Lanes+l], quad[n*Lanes+l]
			sums[l] -= th * d
			sums[Lanes+l] -= qu * d
			sums[2*Lanes+l] -= qu * d * d
		}
	}
}
