package backend

import "math"

// Mean returns E[φ_k(x)] for one input x [Q] (eq. exp_Phi): the formula that the
// backends' tiles compute many at a time.
func (f *Features) Mean(k int, x []float64) float64 {
	turns, quad := f.Phase[k]/(2*math.Pi), 0.0
	for q := range f.Q {
		i := k*f.Q + q
		d := x[q] - f.Center[i]
		turns += f.Freq[i] / (2 * math.Pi) * d
		quad += f.Decay[i] * d * d
	}
	return f.gate(k, x) * f.Amp[k] * math.Exp(-0.5*quad) * math.Cos(2*math.Pi*reduced(turns))
}

// Pair returns E[φ_k(x)·φ_k(y)] for two inputs x, y [Q], one and the same random
// feature at both: with d = x − z, d' = y − z and the product of two cosines
// split into their difference and their sum,
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
		(f.Power[k]*math.Exp(-0.5*quadMinus)*math.Cos(2*math.Pi*reduced(minus)) +
			f.Ripple[k]*math.Exp(-0.5*quadPlus)*math.Cos(2*math.Pi*reduced(plus)))
}

// gate is the gate of feature k's window at x.
func (f *Features) gate(k int, x []float64) float64 {
	if f.Window == nil {
		return 1
	}
	return f.Windows.Gate(f.Window[k], x[f.Windows.Dim])
}

// reduced is a phase counted in turns, in [−½, ½]: phases are reduced before the
// cosine is taken, in float64, because x may run to 10⁶ periods and more.
func reduced(turns float64) float64 { return turns - math.RoundToEven(turns) }
