package simd

import "fmt"

// These are the rows of Factorized's sums, with eight numbers each.
const (
	FactorizedAlong  = iota // Σ r·cos
	FactorizedSquare        // Σ cos²
	FactorizedRipple        // other sums as in Contract
	FactorizedTheta
	FactorizedThetaD
	FactorizedQuadD
	FactorizedQuadD2
	FactorizedRows
)

// Factorized is Contract for one input and one output with A1·∂/∂E[φ_n] = α·cos + β·r_n, where r
// [n] are the residuals. Its sums [Count,FactorizedRows,8] have Σ r·cos and Σ cos² instead of Σ
// u·cos, which is (α·Σ cos² + β·Σ r·cos)/A1. With more inputs or outputs, use Fit (with weights α,
// added to zeros) and AddOutput to compute bar, and Along, Second and Contract for the sums.
func (t *Tile) Factorized(sums, res []float64, lanes []Lane) {
	t.check("Factorized", true, res)
	checkSums("Factorized", sums, t.Cos.Count*FactorizedRows)
	t.Params.centers("Factorized", lanes, 0)
	if t.Starts == nil {
		t.factorized(sums, res, lanes)
		return
	}
	if len(t.Starts.stepped) != t.Params.Count || len(t.Inv) != len(t.Gate) {
		panic(fmt.Sprintf("simd: Factorized: %d starts for %d panels, %d gates and %d inverse squares", len(t.Starts.stepped), t.Params.Count,
			len(t.Gate), len(t.Inv)))
	}
	for lo := 0; lo < t.Params.Count && t.Cos.N > 0; {
		lo = t.resume(sums, lo, res, lanes)
	}
}

// resume is Factorized for the panels from lo on until the panels change between stepped and
// stored. It returns the end of this range.
func (t *Tile) resume(sums []float64, lo int, res []float64, lanes []Lane) (hi int) {
	from, n := t.Starts, t.Cos.N
	for hi = lo + 1; hi < t.Params.Count && from.stepped[hi] == from.stepped[lo]; {
		hi++
	}
	to := sums[lo*FactorizedRows*Lanes : hi*FactorizedRows*Lanes]
	if !from.stepped[lo] {
		written := t.Slice(lo, hi)
		written.factorized(to, res, lanes[lo:hi])
		return hi
	}
	mid, starts, steps := n/2, &from.data[lo*startRows*Lanes], &t.Steps.Data[SteppedRoom(lo)]
	evenFactorizedVector(&to[0], starts, &res[0], first(t.Gate), first(t.Inv), &ramp[EvenMost-mid], &square[EvenMost-mid], steps,
		&lanes[lo].Amp[0], t.X[mid], t.Steps.Delta, n, hi-lo)
	return hi
}

// factorized is Factorized for stored features.
func (t *Tile) factorized(sums, res []float64, lanes []Lane) {
	cos, sin := t.Cos, t.Sin
	if cos.empty() {
		return
	}
	if !factorizedVector(&sums[0], cos.row(0, 0), sin.row(0, 0), &res[0], &t.X[0], first(t.Inv), &lanes[0].Amp[0], cos.Stride, cos.N,
		cos.Count) {
		for i := range cos.Count {
			factorizedPlain(sums[i*FactorizedRows*Lanes:], cos.Panel(i), sin.Panel(i), res, t.X, t.Inv, &lanes[i])
		}
	}
}

// factorizedPlain is Factorized's plain loop.
func factorizedPlain(sums, cos, sin, res, x, inv []float64, lane *Lane) {
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
		for i, v := range [FactorizedRows]float64{along, square, ripple, theta, thetaD, quadD, quadD2} {
			sums[i*Lanes+l] += v
		}
	}
}

// Second adds Σ_n e²·(cos² − sin²) and Σ_n cos² to the two rows of each panel's sums [Count,2,8],
// which give the second moments and the diagonals of products.
func (t *Tile) Second(sums []float64) {
	t.check("Second", false, t.Inv)
	checkSums("Second", sums, 2*t.Cos.Count)
	cos, sin := t.Cos, t.Sin
	if cos.empty() {
		return
	}
	if !secondVector(&sums[0], cos.row(0, 0), sin.row(0, 0), &t.Inv[0], cos.Stride, cos.N, cos.Count) {
		for i := range cos.Count {
			secondPlain(sums[2*i*Lanes:], cos.Panel(i), sin.Panel(i), t.Inv)
		}
	}
}

// secondPlain is Second's plain loop.
func secondPlain(sums, cos, sin, inv []float64) {
	for n, i2 := range inv {
		for l := range Lanes {
			c, s := cos[n*Lanes+l], sin[n*Lanes+l]
			sums[l] += (c*c + s*s) * i2 * (c*c - s*s)
			sums[Lanes+l] += c * c
		}
	}
}
