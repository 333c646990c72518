package variational

import (
	"math"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/fileio/fault"
)

// ErrParams is wrapped by every error about invalid parameters.
var ErrParams = fault.New("not a model")

// Params contains the parameters of a model in the model's units. A gradient with respect to
// Params also has type Params.
type Params struct {
	L, K, Q, D int // components, features of each, inputs, outputs; M = L·K

	Variance    []float64 // σ² [L], units of y², > 0
	Lengthscale []float64 // l [L,Q], units of x, > 0
	Frequency   []float64 // p [L,Q], cycles per unit of x; 0 if not periodic

	Location   []float64 // z [M,Q], units of x: the inducing inputs
	FreqMean   []float64 // μ [M,Q], of w in units of 1/l
	FreqVar    []float64 // diag Σ [M,Q], ≥ 0; 0: a point frequency
	PhaseLower []float64 // α [M], radians
	PhaseUpper []float64 // β [M], radians, α ≤ β ≤ α + 2π; equal: a fixed phase

	NoisePrecision []float64 // τ [1], units of 1/y², > 0

	CoefMean []float64 // m [M,D], of the factorized posterior; empty before a fit
	CoefVar  []float64 // diag s [M,D], > 0; empty for the exact posterior

	Windows         backend.Windows // in the model's units; the zero value means no windows
	ComponentWindow []int           // [L] window of each component, not decreasing; nil without windows
}

// M returns the number of features, L·K, or 0 if p is nil.
func (p *Params) M() int {
	if p == nil {
		return 0
	}
	return p.L * p.K
}

// EachWindow calls do with each window that has components and with their range [lo, hi).
// Without windows it calls do once, with window 0 and all components.
func (p *Params) EachWindow(do func(v, lo, hi int)) { p.eachWindow(0, p.L, do) }

// eachWindow implements EachWindow for the components [lo, end).
func (p *Params) eachWindow(lo, end int, do func(v, lo, hi int)) {
	if p.ComponentWindow == nil {
		do(0, lo, end)
		return
	}
	for hi := lo; lo < end; lo = hi {
		v := p.ComponentWindow[lo]
		for hi = lo + 1; hi < end && p.ComponentWindow[hi] == v; hi++ {
		}
		do(v, lo, hi)
	}
}

// WrapPhases shifts uniform phases by whole turns so that 0 ≤ α < 2π.
func (p *Params) WrapPhases() {
	for k, a := range p.PhaseLower {
		if turns := math.Floor(a / (2 * math.Pi)); turns != 0 && p.PhaseUpper[k] > a {
			p.PhaseLower[k] -= 2 * math.Pi * turns
			p.PhaseUpper[k] -= 2 * math.Pi * turns
		}
	}
}
