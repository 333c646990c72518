package optimise

import (
	"math"
)

// RMSPROP's constants (Tieleman & Hinton 2012), with each coordinate's step
// rate adapted by the agreement of successive steps.
const (
	rmsDecay  = 0.9   // of the running mean of squared gradients
	rmsRate   = 0.01  // first step, in units of the coordinates
	rmsLeast  = 1e-6  // smallest rate
	rmsMost   = 0.1   // largest rate
	rmsAgree  = 1.05  // the rate's growth where two steps agree in sign
	rmsDiffer = 0.9   // and its shrinking where they differ
	rmsFlat   = 1e-12 // added to the mean square
)

// RMSProp is the optimiser's state, one number a coordinate.
type RMSProp struct {
	Square []float64 `json:"-"` // running mean of squared gradients
	Rate   []float64 `json:"-"` // step rate
	Last   []float64 `json:"-"` // step before
}

func newRMSProp(n int) RMSProp {
	r := RMSProp{make([]float64, n), make([]float64, n), make([]float64, n)}
	for i := range r.Rate {
		r.Rate[i] = rmsRate
	}
	return r
}

// step moves the coordinates [lo, hi) of v up the gradient g. A gradient that
// is not a number moves nothing.
func (r *RMSProp) step(v, g []float64, lo, hi int, cool float64) {
	for i := lo; i < hi; i++ {
		x := g[i]
		if math.IsNaN(x) || math.IsInf(x, 0) {
			continue
		}
		if r.Square[i] == 0 {
			r.Square[i] = x * x
		}
		r.Square[i] = rmsDecay*r.Square[i] + (1-rmsDecay)*x*x
		to := x / math.Sqrt(r.Square[i]+rmsFlat)
		if to*r.Last[i] > 0 {
			r.Rate[i] = min(rmsMost, r.Rate[i]*rmsAgree)
		} else if to*r.Last[i] < 0 {
			r.Rate[i] = max(rmsLeast, r.Rate[i]*rmsDiffer)
		}
		r.Last[i] = to
		v[i] += cool * r.Rate[i] * to
	}
}
