package variational

import (
	"math"
	"slices"

	"github.com/vssgp/vssgp/internal/parallel"
)

// A NoiseLevel is the least noise variance of a fit that float64 can tell from none:
//
//	τ⁻¹ ≥ Rounding + Condition·max_v Σ_{i in v} σ²_i
//
// Rounding is the variance of the last digits of y. The rest is the size of the
// rounding errors in A, whose smallest eigenvalue is τ⁻¹ (DESIGN.md, section 10).
// The zero value is no limit.
type NoiseLevel struct{ Rounding, Condition float64 }

// conditionMargin times the estimate of A's rounding errors is the least noise, so
// that predicted variances keep a digit.
const conditionMargin = 10

// NoiseLevel is the least noise for fits of the rows with p's windows. Factorized
// inference does not factor A, so the condition of A does not matter.
func (r *Rows) NoiseLevel(p *Params, exact bool) NoiseLevel {
	square := r.MeanSquare()
	for _, mean := range r.origin {
		square += mean * mean / float64(r.D)
	}
	if square == 0 {
		square = 1 // all of y is 0
	}
	level := NoiseLevel{Rounding: unit * unit * square}
	if exact {
		offset := p.Features().Offsets()
		rows, terms := float64(r.deep), float64(r.deep+3*widest(offset))
		level.Condition = conditionMargin * unit * math.Sqrt(terms) * rows
		if len(offset) > 2 {
			level.Condition *= 2 // as in spread
		}
	}
	return level
}

// At is the level for the given parameters.
func (n NoiseLevel) At(p *Params) float64 {
	if n.Condition == 0 {
		return n.Rounding
	}
	_, _, most := p.heaviest()
	return n.Rounding + n.Condition*most
}

// Pull adds to the gradient with respect to the variances, at p, the part that comes
// from the level: the level moves with them, and the noise with the level.
func (n NoiseLevel) Pull(p, grad *Params) {
	if n.Condition == 0 {
		return
	}
	lo, hi, _ := p.heaviest()
	tau := p.NoisePrecision[0]
	for i := lo; i < hi; i++ {
		grad.Variance[i] -= grad.NoisePrecision[0] * tau * tau * n.Condition
	}
}

// heaviest returns the components [lo, hi) of the window whose variances have the
// largest sum, and that sum.
func (p *Params) heaviest() (lo, hi int, most float64) {
	type part struct {
		lo, hi int
		sum    float64
	}
	windows := p.Windows.Count()
	parts := make([]part, (windows+blockWindows-1)/blockWindows)
	parallel.Blocks(windows, blockWindows, func(block, v, next int) {
		from, to := 0, p.L
		if p.ComponentWindow != nil {
			from, _ = slices.BinarySearch(p.ComponentWindow, v)
			to, _ = slices.BinarySearch(p.ComponentWindow, next)
		}
		p.eachWindow(from, to, func(_, lo, hi int) {
			sum := 0.0
			for _, s := range p.Variance[lo:hi] {
				sum += s
			}
			if sum > parts[block].sum {
				parts[block] = part{lo, hi, sum}
			}
		})
	})
	for _, b := range parts {
		if b.sum > most {
			lo, hi, most = b.lo, b.hi, b.sum
		}
	}
	return lo, hi, most
}
