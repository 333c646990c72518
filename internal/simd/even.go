package simd

import "math"

// Evenly spaced rows, one input: over two rows, δ being the step between rows, a
// damped wave z = e·exp(iθ) turns by 2ωδ and is damped by
//
//	ρ_n = exp(−2Pδ·d_{n+1}),   ρ_{n+2} = ρ_n·κ,   κ = exp(−4Pδ²)
//
// so that with w_n = ρ_n·exp(2iωδ) two products make a row: z_{n+2} = z_n·w_n,
// w_{n+2} = w_n·κ. Two chains, of the even rows and of the odd, hide each
// other's latency. κ − 1 is kept rather than κ: its own last place is far below
// κ's, whose error would be multiplied by the square of the steps. The remaining
// error, from roundings of w in one direction, is at most 3e-14 over EvenMost rows.

// Rows of a panel's numbers for steps along evenly spaced rows.
const (
	stepCos   = iota // of 2ωδ
	stepSin          // of 2ωδ
	stepBend         // κ − 1
	stepHalf         // √κ − 1
	stepSlope        // 4Pδ: ρ_n = exp(−½·4Pδ·d_{n+1})
	stepRows
)

const (
	// EvenMost is how many rows are stepped from one exact value: errors grow
	// with each.
	EvenMost = 64
	// EvenLeast is how many rows make stepping worth its start.
	EvenLeast = 8
	// narrow bounds P·(x_last − x_first)² of a feature that is stepped: a walk
	// from the tail of a narrower one to its center would take the tail's
	// relative error along, 350 units in the last place.
	narrow = 100
)

// A Stepped holds the numbers of a bank's features for rows that lie Delta apart.
type Stepped struct {
	Delta float64
	Data  []float64 // [Count][5][8]
}

// SteppedRoom returns how many numbers a Stepped of count panels has.
func SteppedRoom(count int) int { return count * stepRows * Lanes }

// Slice is the steps of panels [lo, hi).
func (s Stepped) Slice(lo, hi int) Stepped {
	s.Data = s.Data[SteppedRoom(lo):SteppedRoom(hi)]
	return s
}

// reduced is a·b less its nearest whole number, its rounding error put in.
func reduced(a, b float64) float64 {
	p := float64(a * b) // converted, so that no compiler fuses it with what follows
	return p - math.RoundToEven(p) + math.FMA(a, b, -p)
}

// expm1 is math.Expm1, faster near 0.
func expm1(x float64) float64 {
	if !(math.Abs(x) < 1e-2) {
		return math.Expm1(x)
	}
	return x * (1 + x*(1./2+x*(1./6+x*(1./24+x*(1./120+x*(1./720+x*(1./5040)))))))
}

// evenPlain steps along two rows or more of one panel. It
// does nothing and returns false unless every lane either lives from the first
// row to the last, and is not narrow, or is beyond far all the way.
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
