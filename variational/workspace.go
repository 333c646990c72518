package variational

import (
	"sync"

	"github.com/vssgp/vssgp/backend"
)

// A workspace contains the arrays that evaluations reuse. After the first evaluation a fit
// allocates nothing that grows with N and almost nothing that grows with M. With a gradient,
// an Evaluation's gradient and posterior mean are part of the workspace and valid until the
// next evaluation.
type workspace struct {
	features, adjoint *backend.Features
	sums              *backend.FactorizedSums
	gradient          *Params
	moments           *backend.Moments
	solution          *backend.Solution
	diagonal          []float64 // of G, from the last factor
	terms             int       // Terms of G, from the last factor
	spread            float64   // upper bound of |m|ᵀ|R||Rᵀ||m|, if terms > 0
	columns           []float64 // |Rᵀ||m|
	zero              []float64
}

// featuresOf returns p's effective features.
func (w *workspace) featuresOf(p *Params) *backend.Features {
	if f := w.features; f == nil || f.M != p.M() || f.Q != p.Q {
		w.features = backend.NewFeatures(p.M(), p.Q)
	}
	p.effective(w.features)
	return w.features
}

// adjointOf returns uninitialized memory for a gradient with respect to f's arrays.
func (w *workspace) adjointOf(f *backend.Features) *backend.Features {
	if a := w.adjoint; a == nil || a.CheckRoom(f) != nil {
		w.adjoint = backend.NewFeatures(f.M, f.Q)
	}
	return w.adjoint
}

// sumsOf returns uninitialized sums for f and d outputs.
func (w *workspace) sumsOf(f *backend.Features, d int) *backend.FactorizedSums {
	if s := w.sums; s == nil || s.Check(f, d) != nil {
		w.sums = backend.NewFactorizedSums(f, d)
	}
	return w.sums
}

// solutionOf returns an uninitialized solution for f and d outputs.
func (w *workspace) solutionOf(f *backend.Features, d int) *backend.Solution {
	if s := w.solution; s == nil || s.Check(f, d) != nil {
		w.solution = backend.NewSolution(f.M, d)
	}
	return w.solution
}

// gradientOf returns uninitialized memory for a gradient with respect to p. It shares p's windows.
func (w *workspace) gradientOf(p *Params) *Params {
	g := w.gradient
	if g == nil || g.L != p.L || g.K != p.K || g.Q != p.Q || g.D != p.D {
		g = NewParams(p.L, p.K, p.Q, p.D)
		w.gradient = g
	}
	g.Windows, g.ComponentWindow = p.Windows, p.ComponentWindow
	return g
}

// zeros returns n zeros, which must not be modified.
func (w *workspace) zeros(n int) []float64 {
	if len(w.zero) != n {
		w.zero = make([]float64, n)
	}
	return w.zero
}

// spareMoments contains *backend.Moments that earlier models have released. They have
// matrices of the size of A.
var spareMoments sync.Pool

// momentsOf returns uninitialized moments for f and d outputs.
func (w *workspace) momentsOf(f *backend.Features, d int) *backend.Moments {
	if w.moments == nil {
		w.moments, _ = spareMoments.Get().(*backend.Moments)
	}
	if m := w.moments; m == nil || m.Check(f, d) != nil {
		w.moments = backend.NewMoments(f, d)
	}
	return w.moments
}

// release makes the moments available to the next model.
func (w *workspace) release() {
	if w.moments != nil {
		spareMoments.Put(w.moments)
		w.moments = nil
	}
}
