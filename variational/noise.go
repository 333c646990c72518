package variational

import (
	"math"
	"slices"

	"github.com/vssgp/vssgp/internal/parallel"
)

// A NoiseLevel is the smallest noise variance that float64 can resolve in a fit:
//
//	τ⁻¹ ≥ Rounding + Condition·max_v Σ_{i in v} σ²_i
//
// Rounding is the variance of y's rounding errors. The second term is the size of the
// rounding errors in A, whose smallest eigenvalue is τ⁻¹ (DESIGN.md, section 10). The zero
// value means no limit.
type NoiseLevel struct{ Rounding, Condition float64 }

// conditionMargin is the ratio of the smallest noise to the estimate of A's rounding
// errors, so that predicted variances have at least one correct digit.
const conditionMargin = 10

// NoiseLevel returns the noise level for fits of the rows with p's windows. Factorized
// inference does not factor A, so its level does not depend on the condition of A.
func (r *Rows) NoiseLevel(p *Params, exact bool) NoiseLevel {
	square := r.MeanSquare()
	for _, mean := range r.origin {
		square += mean * mean / float64(r.D)
	}
	if square == 0 {
		square = 1 // y is 0 everywhere
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

// At returns the smallest noise variance for the given parameters.
func (n NoiseLevel) At(p *Params) float64 {
	if n.Condition == 0 {
		return n.Rounding
	}
	_, _, most := p.heaviest()
	return n.Rounding + n.Condition*most
}

// Pull adds to grad the dependence of the noise level at p on the variances, for a noise
// precision that is parametrized relative to the level.
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

// heaviest returns the components [lo, hi) of the window with the largest sum of variances,
// and this sum.
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
