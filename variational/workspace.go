package variational

import (
	"sync"

	"github.com/vssgp/vssgp/spectral"
)

// A workspace holds the arrays of one evaluation for the next one: a steady fit
// allocates nothing that grows with N, and next to nothing that grows with M. An
// Evaluation's gradient lies in it and is valid until the next evaluation.
type workspace struct {
	features, adjoint *spectral.Features
	sums              *spectral.FactorisedSums
	gradient          *Params
	moments           *spectral.Moments
	solution          *spectral.Solution
	zero              []float64 // all 0
}

// featuresOf are p's effective features.
func (w *workspace) featuresOf(p *Params) *spectral.Features {
	if f := w.features; f == nil || f.M != p.M() || f.Q != p.Q {
		w.features = spectral.NewFeatures(p.M(), p.Q)
	}
	p.effective(w.features)
	return w.features
}

// adjointOf holds a gradient with respect to f's arrays; its values are arbitrary.
func (w *workspace) adjointOf(f *spectral.Features) *spectral.Features {
	if a := w.adjoint; a == nil || a.CheckRoom(f) != nil {
		w.adjoint = spectral.NewFeatures(f.M, f.Q)
	}
	return w.adjoint
}

// sumsOf holds f's sums with d outputs; their values are arbitrary.
func (w *workspace) sumsOf(f *spectral.Features, d int) *spectral.FactorisedSums {
	if s := w.sums; s == nil || s.Weights.D != d || s.Check(f, d) != nil {
		w.sums = spectral.NewFactorisedSums(f, d)
	}
	return w.sums
}

// solutionOf holds a solution for f and d outputs; its values are arbitrary.
func (w *workspace) solutionOf(f *spectral.Features, d int) *spectral.Solution {
	if s := w.solution; s == nil || s.Check(f, d) != nil {
		w.solution = spectral.NewSolution(f.M, d)
	}
	return w.solution
}

// zeroGradient is a zero Params of p's shape that shares p's windows.
func (w *workspace) zeroGradient(p *Params) *Params {
	g := w.gradient
	if g == nil || g.L != p.L || g.K != p.K || g.Q != p.Q || g.D != p.D {
		g = NewParams(p.L, p.K, p.Q, p.D)
		w.gradient = g
	} else {
		for _, t := range g.Tensors() {
			clear(*t.Data)
		}
	}
	g.Windows, g.ComponentWindow = p.Windows, p.ComponentWindow
	return g
}

// zeros are n zeros, for reading.
func (w *workspace) zeros(n int) []float64 {
	if len(w.zero) != n {
		w.zero = make([]float64, n)
	}
	return w.zero
}

// spareMoments are *spectral.Moments that the models before have released:
// matrices as large as A.
var spareMoments sync.Pool

// momentsOf holds moments of f and d outputs; their values are arbitrary.
func (w *workspace) momentsOf(f *spectral.Features, d int) *spectral.Moments {
	if w.moments == nil {
		w.moments, _ = spareMoments.Get().(*spectral.Moments)
	}
	if m := w.moments; m == nil || m.Check(f, d) != nil {
		w.moments = spectral.NewMoments(f, d)
	}
	return w.moments
}

// release leaves the moments to the next model.
func (w *workspace) release() {
	if w.moments != nil {
		spareMoments.Put(w.moments)
		w.moments = nil
	}
}
