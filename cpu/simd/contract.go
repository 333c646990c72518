package simd

import "fmt"

// A Lane holds what the sums over rows need to know of a panel's features.
type Lane struct {
	Amp    [Lanes]float64 // A1; not for Factorised
	Ripple [Lanes]float64 // 4·A2·b̄, b̄ = ∂/∂E[φ_n²], the same for every row
	Center [Lanes]float64 // z; Contract and Factorised fill it in
	Square [Lanes]float64 // α, for Factorised: A1·∂/∂E[φ_n] = α·cos + β·r_n
	Weight [Lanes]float64 // β
}

// Rows of a panel's sums; each row has eight numbers, one a lane. An input's
// three follow those of the input before.
const (
	SumAmp    = iota // Σ u·cos, u = ∂/∂E[φ_n]
	SumRipple        // Σ e²·(cos² − sin²)
	SumTheta         // Σ θ̄
	SumThetaD        // Σ θ̄·d
	SumQuadD         // Σ q̄·d
	SumQuadD2        // Σ q̄·d²
)

// SumRows is how many rows of sums features of q inputs have.
func SumRows(q int) int { return SumThetaD + 3*q }

// InverseSquares writes 1/g² for each gate, from which Contract, Factorised and
// Second get e² = (cos² + sin²)/g²; 0 where g² vanishes and all terms with it.
func InverseSquares(inv, gate []float64) {
	const least = 1e-290 // above it, 1/g² and its products stay finite
	for n, g := range gate {
		inv[n] = 0
		if s := g * g; !(s < least) {
			inv[n] = 1 / s
		}
	}
}

// Contract adds to sums [Count,SumRows(Q),8] what the rows give, for u =
// ∂/∂E[φ] in bar, with d = x − z:
//
//	θ̄ = −A1·u·sin − 4·A2·b̄·e²·cos·sin
//	q̄ = −A1·u·cos − 4·A2·b̄·e²·(cos² − sin²)
//
// inv [n] are the gates' inverse squares, lanes [Count] the features' numbers.
// It uses up bar, and for Q > 1 the scratch [n,8].
func Contract(sums []float64, cos, sin, bar Panels, scratch, x, inv []float64, lanes []Lane, b Bank) {
	b.check("Contract", len(inv), x, cos, sin, bar)
	checkSums("Contract", sums, cos.Count*SumRows(b.Q))
	b.centers("Contract", lanes, 0)
	if cos.empty() {
		return
	}
	if b.Q > 1 {
		checkScratch("Contract", scratch, cos.N)
		for i := range cos.Count {
			to := sums[i*SumRows(b.Q)*Lanes:][:SumRows(b.Q)*Lanes]
			contractMany(to, cos.Slice(i, i+1), sin.Slice(i, i+1), bar.Slice(i, i+1), scratch, x, inv, lanes[i:i+1], b.Slice(i, i+1))
		}
		return
	}
	if !contractVector(&sums[0], cos.row(0, 0), sin.row(0, 0), bar.row(0, 0), &x[0], &inv[0], &lanes[0].Amp[0], cos.Stride, cos.N, cos.Count) {
		for i := range cos.Count {
			contractRowsPlain(sums[i*SumRows(1)*Lanes:], cos.Panel(i), sin.Panel(i), bar.Panel(i), nil, inv, &lanes[i], x)
		}
	}
}

// contractMany is Contract for one panel of several inputs.
func contractMany(sums []float64, cos, sin, bar Panels, scratch, x, inv []float64, lanes []Lane, b Bank) {
	n := cos.N
	if !contractRowsVector(&sums[0], cos.row(0, 0), sin.row(0, 0), bar.row(0, 0), &scratch[0], &inv[0], &lanes[0].Amp[0], n, n, 1) {
		contractRowsPlain(sums, cos.Panel(0), sin.Panel(0), bar.Panel(0), scratch, inv, &lanes[0], nil)
	}
	for q := range b.Q {
		b.centers("Contract", lanes, q)
		to := sums[(SumThetaD+3*q)*Lanes:]
		if !contractInputVector(&to[0], bar.row(0, 0), &scratch[0], &x[q], &lanes[0].Amp[0], b.Q, n, n, 1) {
			contractInputPlain(to, bar.Panel(0), scratch, x[q:], b.Q, &lanes[0])
		}
	}
}

// centers gives the lanes their features' centres in input q.
func (b Bank) centers(what string, lanes []Lane, q int) {
	if len(lanes) != b.Count {
		panic(fmt.Sprintf("simd: %s: lanes of %d panels, want %d", what, len(lanes), b.Count))
	}
	for i := range lanes {
		copy(lanes[i].Center[:], b.Panel(i)[(1+3*q)*Lanes:])
	}
}

// contractRowsPlain is Contract's plain loop: of one input if x is given, else
// of what does not depend on the inputs, with −θ̄ left in bar and −q̄ in quad.
func contractRowsPlain(sums, cos, sin, bar, quad, inv []float64, lane *Lane, x []float64) {
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
			if x == nil {
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
		if x != nil {
			sums[SumThetaD*Lanes+l] += thetaD
			sums[SumQuadD*Lanes+l] += quadD
			sums[SumQuadD2*Lanes+l] += quadD2
		}
	}
}

// contractInputPlain adds one input's three sums from −θ̄ and −q̄.
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

// checkScratch panics if scratch is no panel of n rows.
func checkScratch(what string, scratch []float64, n int) {
	if len(scratch) < n*Lanes {
		panic(fmt.Sprintf("simd: %s: scratch of %d numbers for %d rows", what, len(scratch), n))
	}
}

// checkSums panics if sums do not have as many rows.
