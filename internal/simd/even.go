package simd

import "math"

// Evenly spaced rows, one input: over two rows, with δ the step between rows, a damped wave z =
// e·exp(iθ) turns by 2ωδ and is damped by
//
//	ρ_n = exp(−2Pδ·d_{n+1}),   ρ_{n+2} = ρ_n·κ,   κ = exp(−4Pδ²)
//
// so that with w_n = ρ_n·exp(2iωδ) two products compute a row: z_{n+2} = z_n·w_n, w_{n+2} = w_n·κ.
// Two chains, for even and odd rows, hide each other's latency. κ − 1 is stored instead of κ
// because its rounding error is much smaller; the error of κ would be multiplied by the square of
// the number of steps. The remaining error, from roundings of w in one direction, is at most 3e-14
// over EvenMost rows.

// These are the rows of a panel's numbers for steps along evenly spaced rows.
const (
	stepCos   = iota // of 2ωδ
	stepSin          // of 2ωδ
	stepBend         // κ − 1
	stepHalf         // √κ − 1
	stepSlope        // 4Pδ: ρ_n = exp(−½·4Pδ·d_{n+1})
	stepRows
)

const (
	// EvenMost is the maximum number of rows stepped from one exact value, because errors grow
	// with each step.
	EvenMost = 64
	// EvenLeast is the minimum number of rows for which stepping is faster.
	EvenLeast = 8
	// narrow is the maximum P·(x_last − x_first)² of a feature that is stepped. Stepping from the tail of a narrower feature to its
	// center would keep the relative error of the tail, which is up to 350 units in the last place.
	narrow = 100
)

// A Stepped contains the step parameters of features for rows with spacing Delta.
type Stepped struct {
	Delta float64
	Data  []float64 // [Count][5][8]
}

// SteppedRoom returns the length of the data of a Stepped of count panels.
func SteppedRoom(count int) int { return count * stepRows * Lanes }

// Slice returns the steps of panels [lo, hi).
func (s Stepped) Slice(lo, hi int) Stepped {
	s.Data = s.Data[SteppedRoom(lo):SteppedRoom(hi)]
	return s
}

// reduced returns a·b minus its nearest integer, including the rounding error of the product.
func reduced(a, b float64) float64 {
	p := float64(a * b) // the conversion prevents fusing it with the next operation
	return p - math.RoundToEven(p) + math.FMA(a, b, -p)
}

// expm1 is math.Expm1, faster near 0.
func expm1(x float64) float64 {
	if !(math.Abs(x) < 1e-2) {
		return math.Expm1(x)
	}
	return x * (1 + x*(1./2+x*(1./6+x*(1./24+x*(1./120+x*(1./720+x*(1./5040)))))))
}

// evenPlain steps along at least two rows of one panel. It does nothing and returns false unless
// each lane is either within far at the first and the last row and not narrow, or beyond far at
// all rows.
func evenPlain(cos, sin, x, gate, par, steps []float64) bool {
	n := len(x)
	var live [Lanes]bool
	for l := range Lanes {
		center, decay := par[Lanes+l], par[2*Lanes+l]
		d0, d1, span := x[0]-center, x[n-1]-center, x[0]-x[n-1]
		q0, q1 := decay*d0*d0, decay*d1*d1
		live[l] = q0 <= far && q1 <= far && decay*(span*span) <= narrow
		if !live[l] && !(q0 > far && q1 > far && d0*d1 > 0) {
			return false
		}
	}
	featurePlain(cos[:2*Lanes], sin[:2*Lanes], x[:2], 1, nil, par)
	for l := range Lanes {
		at := func(i int) float64 { return steps[i*Lanes+l] }
		ratio, bend := 0.0, at(stepBend)
		if live[l] {
			ratio = math.Exp(-0.5 * (at(stepSlope) * (x[1] - par[Lanes+l])))
		}
		wc, ws := [2]float64{at(stepCos) * ratio}, [2]float64{at(stepSin) * ratio}
		wc[1], ws[1] = wc[0]+wc[0]*at(stepHalf), ws[0]+ws[0]*at(stepHalf)
		z := [2][2]float64{{cos[l], sin[l]}, {cos[Lanes+l], sin[Lanes+l]}}
		for row := range n {
			i, g := row%2, 1.0
			if gate != nil {
				g = gate[row]
			}
			c, s := z[i][0], z[i][1]
			cos[row*Lanes+l], sin[row*Lanes+l] = g*c, g*s
			z[i] = [2]float64{c*wc[i] - s*ws[i], s*wc[i] + c*ws[i]}
			wc[i] += wc[i] * bend
			ws[i] += ws[i] * bend
		}
	}
	return true
}
