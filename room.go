package vssgp

import (
	"sync"

	"github.com/vssgp/vssgp/spectral"
)

// A room holds what evaluations of one model on one set of rows need besides
// the moments, from one to the next: a steady fit allocates nothing that grows
// with N, and next to nothing that grows with M. An Evaluation's gradient lies
// in it, and is good until the next evaluation.
type room struct {
	features, adjoint *spectral.Features
	sums              *spectral.FactorisedSums
	gradient          *Params
	moments           *spectral.Moments
	solution          *spectral.Solution
	zero              []float64 // all 0
}

// featuresOf are p's effective features.
func (r *room) featuresOf(p *Params) *spectral.Features {
	if f := r.features; f == nil || f.M != p.M() || f.Q != p.Q {
		r.features = spectral.NewFeatures(p.M(), p.Q)
	}
	p.effective(r.features)
	return r.features
}

// adjointOf is room for the gradient by f's arrays, of any value.
func (r *room) adjointOf(f *spectral.Features) *spectral.Features {
	if a := r.adjoint; a == nil || a.CheckRoom(f) != nil {
		r.adjoint = spectral.NewFeatures(f.M, f.Q)
	}
	return r.adjoint
}

// sumsOf is room for f's sums with d outputs, of any value.
func (r *room) sumsOf(f *spectral.Features, d int) *spectral.FactorisedSums {
	if s := r.sums; s == nil || s.Weights.D != d || s.Check(f, d) != nil {
		r.sums = spectral.NewFactorisedSums(f, d)
	}
	return r.sums
}

// solutionOf is room for a solution for f and d outputs, of any value.
func (r *room) solutionOf(f *spectral.Features, d int) *spectral.Solution {
	if s := r.solution; s == nil || s.Check(f, d) != nil {
		r.solution = spectral.NewSolution(f.M, d)
	}
	return r.solution
}

// zeroGradient is a zero Params of p's shape that shares p's windows.
func (r *room) zeroGradient(p *Params) *Params {
	g := r.gradient
	if g == nil || g.L != p.L || g.K != p.K || g.Q != p.Q || g.D != p.D {
		g = NewParams(p.L, p.K, p.Q, p.D)
		r.gradient = g
	} else {
		for _, t := range g.Tensors() {
			clear(*t.Data)
		}
	}
	g.Windows, g.ComponentWindow = p.Windows, p.ComponentWindow
	return g
}

// zeros are n numbers that are 0, for reading.
func (r *room) zeros(n int) []float64 {
	if len(r.zero) != n {
		r.zero = make([]float64, n)
	}
	return r.zero
}

// spareMoments are *spectral.Moments of models that are through: matrices as
// large as A, with as much for those who compute with them.
var spareMoments sync.Pool

// momentsOf is room for moments of f and d outputs, of any value.
func (r *room) momentsOf(f *spectral.Features, d int) *spectral.Moments {
	if r.moments == nil {
		r.moments, _ = spareMoments.Get().(*spectral.Moments)
	}
	if m := r.moments; m == nil || m.Check(f, d) != nil {
		r.moments = spectral.NewMoments(f, d)
	}
	return r.moments
}

// leave lends the moments to the next model.
func (r *room) leave() {
	if r.moments != nil {
		spareMoments.Put(r.moments)
		r.moments = nil
	}
}
