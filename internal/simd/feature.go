package simd

import "math"

// FeatureParams contains the parameters of features by panel: for each panel the phases of its eight
// lanes, then for each input their centers, decays and frequencies. In a lane that was never set, the
// cosine is the gate.
type FeatureParams struct {
	Q, Count int       // inputs, panels
	Data     []float64 // [Count][1+3Q][8]
}

// Set sets the centers z, decays P ≥ 0, angular frequencies ω [Q] and the phase c in radians of
// feature k, counted through the panels. Decays above 1e36 are replaced by 1e36, and frequencies
// and phases above 1e100 by NaN, so that the kernels need not check for overflow.
func (p FeatureParams) Set(k int, center, decay, freq []float64, phase float64) {
	panel, lane := p.Panel(k/Lanes), k%Lanes
	panel[lane] = turns(phase)
	for q := range p.Q {
		in := panel[(1+3*q)*Lanes+lane:]
		in[0], in[Lanes], in[2*Lanes] = center[q], min(decay[q], 1e36), turns(freq[q])
	}
}

// turns converts an angle to turns.
func turns(angle float64) float64 {
	if !(math.Abs(angle) <= 1e100) {
		return math.NaN()
	}
	return angle / (2 * math.Pi)
}

// Panel returns the parameters of panel i.
func (p FeatureParams) Panel(i int) []float64 {
	size := (1 + 3*p.Q) * Lanes
	return p.Data[i*size:][:size]
}

// Slice returns the panels [lo, hi).
func (p FeatureParams) Slice(lo, hi int) FeatureParams {
	size := (1 + 3*p.Q) * Lanes
	return FeatureParams{Q: p.Q, Count: hi - lo, Data: p.Data[lo*size : hi*size]}
}

// far is the value of quad above which exp(−quad/2), 1e-76, is set to 0, so that sums of products
// of features never contain subnormal numbers, which take a hundred cycles each.
const far = 350

// featurePlain is Features' plain loop. If gate is nil, all gates are 1.
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
				turns = math.FMA(in[2*Lanes], d, turns) // rounded as in the kernels, because large phases would differ otherwise
				quad += in[Lanes] * d * d
			}
			sn, cs := math.Sincos(2 * math.Pi * (turns - math.RoundToEven(turns)))
			e := 0.0
			if !(quad > far) { // also true for NaN
				e = math.Exp(-0.5 * quad)
			}
			c[lane], s[lane] = g*e*cs, g*e*sn
		}
	}
}
