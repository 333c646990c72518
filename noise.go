package vssgp

import "math"

// A noiseFloor is the least noise variance that a fit can tell from none:
//
//	τ⁻¹ ≥ rounding + condition·max_v Σ_{i in v} σ²_i
//
// rounding is the variance that y has by its own last digits; the rest is how
// large the errors are that rounding makes in A, as A's smallest eigenvalue is
// τ⁻¹ (DESIGN.md, section 10). The zero value is no floor.
type noiseFloor struct{ rounding, condition float64 }

// conditionMargin is how many times the estimate of A's rounding errors the
// noise keeps away from them: predicted variances keep a digit.
const conditionMargin = 10

// floorReached is how many floors a noise may be and still count as at it.
const floorReached = 2

// noiseFloor is the floor for fits of the rows by windows whose features begin at
// offset, y the map that brought their outputs to the model's units. Factorised
// inference factors no A: its condition does not matter.
func (h *held) noiseFloor(offset []int, y Affine, exact bool) noiseFloor {
	square := h.square / float64(h.n*h.d)
	for d, scale := range y.Scale {
		mean := y.Offset[d] / scale
		square += mean * mean / float64(h.d)
	}
	if square == 0 {
		square = 1 // all of y is 0
	}
	floor := noiseFloor{rounding: unit * unit * square}
	if exact {
		rows, terms := float64(h.deep), float64(h.deep+3*widest(offset))
		floor.condition = conditionMargin * unit * math.Sqrt(terms) * rows
		if len(offset) > 2 {
			floor.condition *= 2 // as in spread
		}
	}
	return floor
}

// at is the floor for the given parameters.
func (n noiseFloor) at(p *Params) float64 {
	if n.condition == 0 {
		return n.rounding
	}
	_, _, most := p.heaviest()
	return n.rounding + n.condition*most
}

// heaviest is the components [lo, hi) of the window whose variances have the
// largest sum, and that sum.
func (p *Params) heaviest() (lo, hi int, most float64) {
	for first, end := 0, 0; first < p.L; first = end {
		sum := 0.0
		for end = first; end < p.L && (p.ComponentWindow == nil || p.ComponentWindow[end] == p.ComponentWindow[first]); end++ {
			sum += p.Variance[end]
		}
		if sum > most {
			lo, hi, most = first, end, sum
		}
	}
	return lo, hi, most
}

// through adds to the gradient by the variances what moves the floor under the
// noise, at p.
func (n noiseFloor) through(p, grad *Params) {
	if n.condition == 0 {
		return
	}
	lo, hi, _ := p.heaviest()
	tau := p.NoisePrecision[0]
	for i := lo; i < hi; i++ {
		grad.Variance[i] -= grad.NoisePrecision[0] * tau * tau * n.condition
	}
}
