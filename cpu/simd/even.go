package simd

import (
	"fmt"
	"math"
)

// Evenly spaced rows, one input: from one row to that two rows on, δ being the
// step between rows, a damped wave z = e·exp(iθ) turns by 2ωδ and is damped by
//
//	ρ_n = exp(−2Pδ·d_{n+1}),   ρ_{n+2} = ρ_n·κ,   κ = exp(−4Pδ²)
//
// so that with w_n = ρ_n·exp(2iωδ) two products make a row: z_{n+2} = z_n·w_n,
// w_{n+2} = w_n·κ. Two chains, of the even rows and of the odd, hide each
// other's latency. κ − 1 is kept rather than κ: its own last place is far below
// κ's, whose error would be multiplied by the square of the steps. What is left,
// roundings of w that all fall alike, is 3e-14 at most over EvenMost rows.

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
	// EvenLeast is from how many rows on stepping is worth its start.
	EvenLeast = 8
	// narrow bounds P·(x_last − x_first)² of a feature that is stepped: a walk
	// from the tail of a narrower one to its centre would take the tail's
	// relative error along, 350 units in the last place.
	narrow = 100
)

// A Stepped is what a bank's features need to know of rows that lie Delta
// apart.
type Stepped struct {
	Delta float64
	Data  []float64 // [Count][5][8]
}

// SteppedRoom is how many numbers a Stepped of so many panels has.
func SteppedRoom(count int) int { return count * stepRows * Lanes }

// Slice is the steps of panels [lo, hi).
func (s Stepped) Slice(lo, hi int) Stepped {
	s.Data = s.Data[SteppedRoom(lo):SteppedRoom(hi)]
	return s
}

// Step fills to, whose Data has SteppedRoom(b.Count) numbers, for rows to.Delta
// apart; b has one input.
func (b Bank) Step(to Stepped) {
	if b.Q != 1 || len(to.Data) != SteppedRoom(b.Count) {
		panic(fmt.Sprintf("simd: Step: %d inputs, want one; %d numbers for %d panels", b.Q, len(to.Data), b.Count))
	}
	turn := Bank{Q: 1, Count: 1, Data: make([]float64, 4*Lanes)}
	cos, sin := Panels{N: 1, Stride: 1, Count: 1}, Panels{N: 1, Stride: 1, Count: 1}
	for i := range b.Count {
		par, out := b.Panel(i), to.Data[i*stepRows*Lanes:][:stepRows*Lanes]
		for lane := range Lanes {
			decay, freq := par[2*Lanes+lane], par[3*Lanes+lane]
			turn.Data[lane] = reduced(freq, 2*to.Delta)
			out[stepBend*Lanes+lane] = expm1(-4 * decay * to.Delta * to.Delta)
			out[stepHalf*Lanes+lane] = expm1(-2 * decay * to.Delta * to.Delta)
			out[stepSlope*Lanes+lane] = 4 * decay * to.Delta
		}
		cos.Data, sin.Data = out[stepCos*Lanes:][:Lanes], out[stepSin*Lanes:][:Lanes]
		Features(cos, sin, turn, []float64{0}, []float64{1})
	}
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

// FeaturesEven is Features over rows of one input that lie s.Delta apart,
// exactly: x_n = x_0 + n·Delta without rounding. It differs from Features by
// some units in the last place of e.
func FeaturesEven(cos, sin Panels, b Bank, s Stepped, x, gate []float64) {
	b.check("FeaturesEven", len(gate), x, cos, sin)
	b.checkSteps("FeaturesEven", s, gate, cos.N)
	b.even(cos, sin, nil, s, x, gate, nil)
}

// FeaturesFitEven is FeaturesEven and Fit in one pass; gate may be nil where
// all gates are 1.
func FeaturesFitEven(cos, sin Panels, acc []float64, b Bank, s Stepped, x, gate, w []float64) {
	b.check("FeaturesFitEven", cos.N, x, cos, sin)
	checkFit("FeaturesFitEven", acc, cos, w)
	b.checkSteps("FeaturesFitEven", s, gate, cos.N)
	b.even(cos, sin, acc, s, x, gate, w)
}

// checkSteps panics if the steps are not the bank's, or gates that are there not
// n rows'.
func (b Bank) checkSteps(what string, s Stepped, gate []float64, n int) {
	if b.Q != 1 || len(s.Data) != SteppedRoom(b.Count) || gate != nil && len(gate) != n {
		panic(fmt.Sprintf("simd: %s: %d inputs, want one; %d numbers of steps for %d panels; %d gates for %d rows", what, b.Q, len(s.Data), b.Count, len(gate), n))
	}
}

// even steps through pieces of the rows; without w there is no fit.
func (b Bank) even(cos, sin Panels, acc []float64, s Stepped, x, gate, w []float64) {
	if cos.empty() {
		return
	}
	pieces := (cos.N + EvenMost - 1) / EvenMost
	for i := range pieces {
		lo, hi := i*cos.N/pieces, (i+1)*cos.N/pieces
		p := piece{cos: cos.Rows(lo, hi), sin: sin.Rows(lo, hi), b: b, s: s, x: x[lo:hi], w: w}
		if gate != nil {
			p.gate = gate[lo:hi]
		}
		if w != nil {
			p.acc = acc[lo*Lanes : hi*Lanes]
		}
		p.write()
	}
}

// A piece is rows that are stepped through from one start.
type piece struct {
	cos, sin   Panels
	acc        []float64
	b          Bank
	s          Stepped
	x, gate, w []float64
}

// write steps through the panels; those that cannot be stepped are made by the
// formula.
func (p *piece) write() {
	if p.cos.N < EvenLeast {
		p.formula(0, p.cos.Count)
		return
	}
	for at := 0; at < p.cos.Count; at++ {
		at += p.step(at)
		if at < p.cos.Count {
			p.formula(at, at+1)
		}
	}
}

// formula makes panels [lo, hi) by the formula.
func (p *piece) formula(lo, hi int) {
	cos, sin, b := p.cos.Slice(lo, hi), p.sin.Slice(lo, hi), p.b.Slice(lo, hi)
	if p.w == nil {
		Features(cos, sin, b, p.x, p.gate)
		return
	}
	FeaturesFit(cos, sin, p.acc, b, p.x, p.gate, p.w[lo*Lanes:hi*Lanes])
}

// step makes panels from the first on until one cannot be stepped, and returns
// how many.
func (p *piece) step(first int) int {
	cos, sin, b := p.cos.Slice(first, p.cos.Count), p.sin.Slice(first, p.cos.Count), p.b.Slice(first, p.cos.Count)
	steps := p.s.Data[first*stepRows*Lanes:]
	if done, ok := p.vector(cos, sin, b, steps, first); ok {
		return done
	}
	for i := range b.Count {
		if !evenPlain(cos.Panel(i), sin.Panel(i), p.x, p.gate, b.Panel(i), steps[i*stepRows*Lanes:][:stepRows*Lanes]) {
			return i
		}
		if p.w != nil {
			fitPlain(p.acc, cos.Panel(i), p.w[(first+i)*Lanes:][:Lanes])
		}
	}
	return b.Count
}

// vector is step with the set in use, if it has kernels.
func (p *piece) vector(cos, sin Panels, b Bank, steps []float64, at int) (done int, ok bool) {
	if p.w == nil {
		return evenVector(cos.row(0, 0), sin.row(0, 0), &p.x[0], &p.gate[0], &b.Data[0], &steps[0], cos.Stride, cos.N, cos.Count)
	}
	return evenFitVector(cos.row(0, 0), sin.row(0, 0), &p.x[0], first(p.gate), &p.acc[0], &p.w[at*Lanes], &b.Data[0], &steps[0], cos.Stride, cos.N, cos.Count)
}

// evenPlain is FeaturesEven's plain loop for two rows or more of one panel. It
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
