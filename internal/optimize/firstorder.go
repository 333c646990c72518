package optimize

import "math"

// Constants of RMSProp (Tieleman & Hinton 2012). The step rate of each coordinate adapts to the
// signs of successive steps.
const (
	rmsDecay  = 0.9   // of the running mean of squared gradients
	rmsRate   = 0.01  // initial rate, in units of the coordinates
	rmsLeast  = 1e-6  // minimum rate
	rmsMost   = 0.1   // maximum rate
	rmsAgree  = 1.05  // factor for the rate if two successive steps have the same sign
	rmsDiffer = 0.9   // factor if their signs differ
	rmsFlat   = 1e-12 // added to the mean square
)

// RMSProp is the state of the optimizer. Each slice has one number per coordinate.
type RMSProp struct {
	Square []float64 `json:"-"` // running mean of squared gradients
	Rate   []float64 `json:"-"` // step rate
	Last   []float64 `json:"-"` // last step
}

func newRMSProp(n int) RMSProp {
	r := RMSProp{make([]float64, n), make([]float64, n), make([]float64, n)}
	for i := range r.Rate {
		r.Rate[i] = rmsRate
	}
	return r
}

// step moves the coordinates [lo, hi) of v along the gradient g. Entries of g that are not finite
// are ignored.
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

// Constants of Adam (Kingma & Ba 2015).
const (
	adamMean   = 0.9   // decay of the running mean of gradients
	adamSquare = 0.999 // decay of the running mean of squared gradients
	adamFlat   = 1e-12
)

// Adam is the state of the optimizer, with two numbers per coordinate.
type Adam struct {
	mean, square []float64
	steps        int
}

// NewAdam returns the state of Adam for n coordinates.
func NewAdam(n int) *Adam { return &Adam{mean: make([]float64, n), square: make([]float64, n)} }

// Step adds one step along the gradient g to v.
func (a *Adam) Step(v, g []float64, rate float64) {
	a.steps++
	mean, square := 1-math.Pow(adamMean, float64(a.steps)), 1-math.Pow(adamSquare, float64(a.steps))
	for i, x := range g {
		a.mean[i] += (1 - adamMean) * (x - a.mean[i])
		a.square[i] += (1 - adamSquare) * (x*x - a.square[i])
		v[i] += rate * a.mean[i] / mean / (math.Sqrt(a.square[i]/square) + adamFlat)
	}
}

// coolTail is the fraction of the steps over which rates decrease to 0.
const coolTail = 0.5

// CoolDown returns the factor by which all rates are multiplied at a step: 1, then decreasing linearly.
func CoolDown(step, steps int) float64 {
	return min(1, float64(steps-step)/(coolTail*float64(steps)))
}
