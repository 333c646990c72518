package backend

import "math"

// Mean returns E[φ_k(x)] for one input x [Q] (eq. exp_Phi). It is the scalar reference for the
// backends' tiles.
func (f *Features) Mean(k int, x []float64) float64 {
	turns, quad := f.Phase[k]/(2*math.Pi), 0.0
	for q := range f.Q {
		i := k*f.Q + q
		d := x[q] - f.Center[i]
		turns += f.Freq[i] / (2 * math.Pi) * d
		quad += f.Decay[i] * d * d
	}
	return f.gate(k, x) * f.Amp[k] * damping(quad) * math.Cos(2*math.Pi*reduced(turns))
}

// Pair returns E[φ_k(x)·φ_k(y)] for the same random feature at two inputs x, y [Q]. With
// d = x − z, d' = y − z, and the product of two cosines written as a sum,
//
//	g(x) g(y) [A0·exp(−½ Σ P (d−d')²)·cos(ω·(d−d')) + A2·exp(−½ Σ P (d+d')²)·cos(ω·(d+d') + 2c)]
//
// At x = y it is E[φ_k(x)²].
func (f *Features) Pair(k int, x, y []float64) float64 {
	minus, plus := 0.0, f.Phase[k]/math.Pi
	quadMinus, quadPlus := 0.0, 0.0
	for q := range f.Q {
		i := k*f.Q + q
		d, e := x[q]-f.Center[i], y[q]-f.Center[i]
		turns := f.Freq[i] / (2 * math.Pi)
		minus += turns * (x[q] - y[q])
		plus += turns * (d + e)
		quadMinus += f.Decay[i] * (x[q] - y[q]) * (x[q] - y[q])
		quadPlus += f.Decay[i] * (d + e) * (d + e)
	}
	return f.gate(k, x) * f.gate(k, y) *
		(f.Power[k]*damping(quadMinus)*math.Cos(2*math.Pi*reduced(minus)) +
			f.Ripple[k]*damping(quadPlus)*math.Cos(2*math.Pi*reduced(plus)))
}

// damping returns exp(−½quad). It is 1 for point frequencies, where the exponential would take longer than
// the cosine.
func damping(quad float64) float64 {
	if quad == 0 {
		return 1
	}
	return math.Exp(-0.5 * quad)
}

// gate returns the gate of feature k's window at x.
func (f *Features) gate(k int, x []float64) float64 {
	if f.Window == nil {
		return 1
	}
	return f.Windows.Gate(f.Window[k], x[f.Windows.Dim])
}

// reduced returns a phase in turns, reduced to [−½, ½]. The reduction in float64 before the
// cosine keeps precision if x spans 10⁶ or more periods.
func reduced(turns float64) float64 { return turns - math.RoundToEven(turns) }
