package simd

import (
	"fmt"
	"math"
)

// A Bank holds the parameters of features, panel by panel: for each panel the
// phases of its eight lanes, then for each input their centres, decays and
// frequencies. Lanes that were never set are cosines of 0: a gate.
type Bank struct {
	Q, Count int       // inputs, panels
	Data     []float64 // [Count][1+3Q][8]
}

// NewBank makes room for count panels of features of q inputs.
func NewBank(count, q int) Bank {
	return Bank{Q: q, Count: count, Data: Aligned(count * (1 + 3*q) * Lanes)}
}

// Set gives feature k, counted through the panels, its centres z, decays P ≥ 0
// and angular frequencies ω [Q] and its phase c in radians. Decays above 1e36
// are taken for 1e36, frequencies and phases above 1e100 for NaN, so that the
// kernels need not look for what would overflow.
func (b Bank) Set(k int, center, decay, freq []float64, phase float64) {
	panel, lane := b.Panel(k/Lanes), k%Lanes
	panel[lane] = turns(phase)
	for q := range b.Q {
		in := panel[(1+3*q)*Lanes+lane:]
		in[0], in[Lanes], in[2*Lanes] = center[q], min(decay[q], 1e36), turns(freq[q])
	}
}

// turns is an angle in turns.
func turns(angle float64) float64 {
	if !(math.Abs(angle) <= 1e100) {
		return math.NaN()
	}
	return angle / (2 * math.Pi)
}

// Panel is the parameters of panel i.
func (b Bank) Panel(i int) []float64 {
	size := (1 + 3*b.Q) * Lanes
	return b.Data[i*size:][:size]
}

// Slice is the panels [lo, hi) of the bank.
func (b Bank) Slice(lo, hi int) Bank {
	size := (1 + 3*b.Q) * Lanes
	return Bank{Q: b.Q, Count: hi - lo, Data: b.Data[lo*size : hi*size]}
}

// far is where exp(−quad/2) is cut off, at 1e-76, so that sums of products of
// features never meet the numbers below the normal ones, which cost a
// processor a hundred cycles each.
const far = 350

// Features writes the bank's damped cosines over n rows: with d = x − z,
//
//	cos = g·e·cos θ,  sin = g·e·sin θ   e = exp(−½ Σ_q P_q d_q²),  θ = ω·d + c
//
// for inputs x [n,Q] and gates g [n]; below 1e-76 e is 0. The phase is reduced in turns in float64
// and counts up to 2⁴⁷ turns. Inputs, centres and phases that are not finite
// give NaN, as may |d| > 1e14. e² needs no room of its own: it is (cos² +
// sin²)/g².
func Features(cos, sin Panels, b Bank, x, gate []float64) {
	b.check("Features", len(gate), x, cos, sin)
	if cos.empty() {
		return
	}
	if !featureVector(cos.row(0, 0), sin.row(0, 0), &x[0], &gate[0], &b.Data[0], b.Q, cos.Stride, cos.N, cos.Count) {
		for i := range b.Count {
			featurePlain(cos.Panel(i), sin.Panel(i), x, b.Q, gate, b.Panel(i))
		}
	}
}

// FeaturesFit is Features and Fit for one input, in one pass; gate may be nil
// where all gates are 1.
func FeaturesFit(cos, sin Panels, acc []float64, b Bank, x, gate, w []float64) {
	b.check("FeaturesFit", cos.N, x, cos, sin)
	checkFit("FeaturesFit", acc, cos, w)
	if b.Q != 1 || gate != nil && len(gate) != cos.N {
		panic(fmt.Sprintf("simd: FeaturesFit: %d inputs, want one; %d gates for %d rows", b.Q, len(gate), cos.N))
	}
	if cos.empty() {
		return
	}
	if !featureFitVector(cos.row(0, 0), sin.row(0, 0), &x[0], first(gate), &acc[0], &b.Data[0], &w[0], cos.Stride, cos.N, cos.Count) {
		for i := range b.Count {
			featurePlain(cos.Panel(i), sin.Panel(i), x, 1, gate, b.Panel(i))
			fitPlain(acc, cos.Panel(i), w[i*Lanes:][:Lanes])
		}
	}
}

// first is where a begins, nil if it is empty.
func first(a []float64) *float64 {
	if len(a) == 0 {
		return nil
	}
	return &a[0]
}

// check panics if the bank, n rows of inputs and the panels do not go together.
func (b Bank) check(what string, n int, x []float64, panels ...Panels) {
	same(what, panels...)
	if b.Q < 1 || b.Count != panels[0].Count || len(b.Data) < b.Count*(1+3*b.Q)*Lanes {
		panic(fmt.Sprintf("simd: %s: a bank of %d numbers for %d panels of %d inputs, %d panels of rows", what, len(b.Data), b.Count, b.Q, panels[0].Count))
	}
	if panels[0].N != n || len(x) != n*b.Q {
		panic(fmt.Sprintf("simd: %s: %d rows, %d gates, %d numbers of %d inputs", what, panels[0].N, n, len(x), b.Q))
	}
}

// featurePlain is Features' plain loop; all gates are 1 if they are nil.
func featurePlain(cos, sin, x []float64, q int, gate, par []float64) {
	for n := range len(cos) / Lanes {
		g := 1.0
		if gate != nil {
			g = gate[n]
		}
		c, s := cos[n*Lanes:][:Lanes], sin[n*Lanes:][:Lanes]
		for lane := range Lanes {
			turns, quad := par[lane], 0.0
			for i, xi := range x[n*q:][:q] {
				in := par[(1+3*i)*Lanes+lane:][:2*Lanes+1]
				d := xi - in[0]
				turns = math.FMA(in[2*Lanes], d, turns) // as the kernels round it, or far phases would differ
				quad += in[Lanes] * d * d
			}
			sn, cs := math.Sincos(2 * math.Pi * (turns - math.RoundToEven(turns)))
			e := 0.0
			if !(quad > far) { // NaN must not pass for far away
				e = math.Exp(-0.5 * quad)
			}
			c[lane], s[lane] = g*e*cs, g*e*sn
		}
	}
}
