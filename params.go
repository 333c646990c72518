package vssgp

import (
	"errors"
	"fmt"
	"math"

	"github.com/vssgp/vssgp/spectral"
)

// ErrParams is wrapped by every error about parameters that no model can have.
var ErrParams = errors.New("not a model")

// Params are the parameters of a model in the model's units, under the names
// of the model file. The gradient of a number by Params is again a Params.
type Params struct {
	L, K, Q, D int // components, features of each, inputs, outputs; M = L·K

	Variance    []float64 // σ² [L], units of y², > 0
	Lengthscale []float64 // l [L,Q], units of x, > 0
	Frequency   []float64 // p [L,Q], cycles per unit of x; 0: none

	Location   []float64 // z [M,Q], units of x: the inducing inputs
	FreqMean   []float64 // μ [M,Q], of w in units of 1/l
	FreqVar    []float64 // diag Σ [M,Q], ≥ 0; 0: a point frequency
	PhaseLower []float64 // α [M], radians
	PhaseUpper []float64 // β [M], radians, α ≤ β ≤ α + 2π; equal: a fixed phase

	NoisePrecision []float64 // τ [1], units of 1/y², > 0

	CoefMean []float64 // m [M,D], of the factorised posterior; empty before a fit
	CoefVar  []float64 // diag s [M,D], > 0; empty for the exact posterior

	Windows         spectral.Windows // in the model's units; the zero value: none
	ComponentWindow []int            // [L] window of each component, not falling; nil without windows
}

// M is the number of features, L·K; of nil none.
func (p *Params) M() int {
	if p == nil {
		return 0
	}
	return p.L * p.K
}

// Tensor is one of a model's arrays under its name in the model file.
type Tensor struct {
	Name  string     // as in the file: "kernel.variance", …
	Shape []int      // [L], [L,Q], [M], [M,Q], [M,D] or [1]
	Data  *[]float64 // the field of Params itself, row-major, not a copy
}

// Tensors lists the real-valued arrays that a gradient has entries for, in a
// fixed order. It is the one place where names, shapes and fields meet.
func (p *Params) Tensors() []Tensor {
	if p == nil {
		return nil
	}
	l, m, q, d := p.L, p.M(), p.Q, p.D
	return []Tensor{
		{"kernel.variance", []int{l}, &p.Variance},
		{"kernel.lengthscale", []int{l, q}, &p.Lengthscale},
		{"kernel.frequency", []int{l, q}, &p.Frequency},
		{"inducing.location", []int{m, q}, &p.Location},
		{"frequency.mean", []int{m, q}, &p.FreqMean},
		{"frequency.variance", []int{m, q}, &p.FreqVar},
		{"phase.lower", []int{m}, &p.PhaseLower},
		{"phase.upper", []int{m}, &p.PhaseUpper},
		{"noise.precision", []int{1}, &p.NoisePrecision},
		{"coefficient.mean", []int{m, d}, &p.CoefMean},
		{"coefficient.variance", []int{m, d}, &p.CoefVar},
	}
}

// NewParams makes zero parameters of the given shape, the coefficients'
// included; windows and ComponentWindow are left empty.
func NewParams(l, k, q, d int) *Params {
	p := &Params{L: l, K: k, Q: q, D: d}
	for _, t := range p.Tensors() {
		*t.Data = make([]float64, size(t.Shape))
	}
	return p
}

func size(shape []int) int {
	n := 1
	for _, s := range shape {
		n *= s
	}
	return n
}

// Clone copies every array.
func (p *Params) Clone() *Params {
	if p == nil {
		return nil
	}
	c := *p
	for _, t := range c.Tensors() {
		*t.Data = append([]float64(nil), *t.Data...)
	}
	c.Windows.Center = append([]float64(nil), p.Windows.Center...)
	c.ComponentWindow = append([]int(nil), p.ComponentWindow...)
	return &c
}

// Fixed reports whether entry i of the named tensor is a constant of the model
// rather than a parameter: the variance of a point frequency, the ends of a
// fixed phase. No gradient is defined there.
func (p *Params) Fixed(name string, i int) bool {
	if p == nil {
		return false
	}
	switch name {
	case "frequency.variance":
		return p.FreqVar[i] == 0
	case "phase.lower", "phase.upper":
		return p.PhaseLower[i] == p.PhaseUpper[i]
	}
	return false
}

// Check reports arrays of the wrong length and values outside their domain,
// naming the tensor and the entry. The coefficients may be absent.
func (p *Params) Check() error {
	if p == nil {
		return fmt.Errorf("vssgp: the parameters are nil: %w", ErrParams)
	}
	if p.L < 1 || p.K < 1 || p.Q < 1 || p.D < 1 {
		return fmt.Errorf("vssgp: %d components of %d features, %d inputs, %d outputs, want at least one of each: %w", p.L, p.K, p.Q, p.D, ErrParams)
	}
	for _, t := range p.Tensors() {
		a := *t.Data
		if len(a) == 0 && (t.Name == "coefficient.mean" || t.Name == "coefficient.variance") {
			continue
		}
		if len(a) != size(t.Shape) {
			return fmt.Errorf("vssgp: %s has %d numbers, want %v: %w", t.Name, len(a), t.Shape, ErrParams)
		}
		for i, v := range a {
			if want := domain(t.Name, v); want != "" {
				return fmt.Errorf("vssgp: %s[%d] is %v, want %s: %w", t.Name, i, v, want, ErrParams)
			}
		}
	}
	for k := range p.PhaseLower {
		if a, b := p.PhaseLower[k], p.PhaseUpper[k]; b < a || b-a > 2*math.Pi*(1+1e-12) {
			return fmt.Errorf("vssgp: phase.upper[%d] is %v, want between phase.lower[%d] = %v and a turn more: %w", k, b, k, a, ErrParams)
		}
	}
	return p.checkWindows()
}

// domain says what a value of the named tensor should be, or nothing if it is.
func domain(name string, v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "a finite number"
	}
	switch name {
	case "kernel.variance", "kernel.lengthscale", "noise.precision", "coefficient.variance":
		if v <= 0 {
			return "a positive number"
		}
	case "frequency.variance":
		if v < 0 {
			return "zero or a positive number"
		}
	}
	return ""
}

func (p *Params) checkWindows() error {
	if err := p.Windows.Check(p.Q); err != nil {
		return fmt.Errorf("vssgp: %w: %w", err, ErrParams)
	}
	if len(p.Windows.Center) == 0 {
		if len(p.ComponentWindow) != 0 {
			return fmt.Errorf("vssgp: component.window is given but there are no windows: %w", ErrParams)
		}
		return nil
	}
	if len(p.ComponentWindow) != p.L {
		return fmt.Errorf("vssgp: component.window has %d entries, want one for each of the %d components: %w", len(p.ComponentWindow), p.L, ErrParams)
	}
	for i, v := range p.ComponentWindow {
		if v < 0 || v >= len(p.Windows.Center) || (i > 0 && v < p.ComponentWindow[i-1]) {
			return fmt.Errorf("vssgp: component.window[%d] is %d, want 0 to %d, not falling: %w", i, v, len(p.Windows.Center)-1, ErrParams)
		}
	}
	return nil
}
