package variational

import (
	"slices"

	"github.com/vssgp/vssgp/backend"
)

// A Shape contains the sizes of a model. An initialization checks the Shape against the
// memory limit before it allocates the arrays.
type Shape struct {
	Windows    backend.Windows // in the model's units; the zero value means no windows
	Components []int           // [V] number per window; one entry without windows
	K, Q, D    int             // features per component, inputs, outputs

	PointFrequencies bool // Σ = 0: SSGP and random projections
	FixedPhases      bool // α = β
}

// ShapeOf returns the shape of parameters.
func ShapeOf(p *Params) Shape {
	s := Shape{Windows: p.Windows, Components: make([]int, p.Windows.Count()), K: p.K, Q: p.Q, D: p.D, PointFrequencies: true,
		FixedPhases: true}
	p.EachWindow(func(v, lo, hi int) { s.Components[v] = hi - lo })
	for _, v := range p.FreqVar {
		s.PointFrequencies = s.PointFrequencies && v == 0
	}
	for k, a := range p.PhaseLower {
		s.FixedPhases = s.FixedPhases && a == p.PhaseUpper[k]
	}
	return s
}

// L returns the number of components in all windows.
func (s *Shape) L() (l int) {
	for _, n := range s.Components {
		l += n
	}
	return l
}

// M returns the number of features.
func (s *Shape) M() int { return s.L() * s.K }

// Most returns the largest number of components in a window.
func (s *Shape) Most() int { return slices.Max(s.Components) }

// Offsets returns the index at which each window's features begin (see
// backend.Features.Offsets).
func (s *Shape) Offsets() []int {
	o := make([]int, len(s.Components)+1)
	for v, n := range s.Components {
		o[v+1] = o[v] + n*s.K
	}
	return o
}

// Tensors returns the tensors of the shape, without data.
func (s *Shape) Tensors() []Tensor {
	return (&Params{L: s.L(), K: s.K, Q: s.Q, D: s.D}).Tensors()
}

// Constant reports whether all entries of a tensor are constant for this shape.
func (s *Shape) Constant(t Tensor) bool {
	switch t.Coordinate {
	case Phase, PhaseEnd:
		return s.FixedPhases
	}
	return t.Name == frequencyVariance && s.PointFrequencies
}

// Numbers returns the number of parameters, including the coefficients.
func (s *Shape) Numbers() (n int) {
	for _, t := range s.Tensors() {
		n += t.Size()
	}
	return n
}

// Params returns zero parameters of the shape, without coefficients.
func (s *Shape) Params() *Params {
	p := NewParams(s.L(), s.K, s.Q, s.D)
	p.CoefMean, p.CoefVar, p.Windows = nil, nil, s.Windows
	if len(s.Windows.Center) > 0 {
		for v, n := range s.Components {
			p.ComponentWindow = append(p.ComponentWindow, slices.Repeat([]int{v}, n)...)
		}
	}
	return p
}
