// Package initialize computes initial parameters of a fit: first windows, components and features
// (a variational.Shape) and then, after the caller has checked the memory, the parameters. There
// are three initializations: the paper's random draw (Paper), the same with the length-scales of an
// exact Gaussian process (Table), and components from the spectrum of the data (Series.Spectrum).
//
// All quantities are in the model's units. An Evaluator evaluates parameters, so this package
// does not depend on the optimizer.
package initialize

import (
	"context"
	"math"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/variational"
)

// Settings specify an initialization.
type Settings struct {
	Method        variational.Method
	Components    int // per window; 0: chosen
	Features      int // K; 0: chosen
	UniformPhases bool
	// Optimized reports whether the parameters will be optimized. If so, there are fewer
	// components, and the optimizer determines the noise.
	Optimized bool
	Noise     float64 // initial τ; 0: chosen
	Seed      uint64

	Window float64 // length of the windows; 0: none
	Dim    int     // the input that the windows divide

	// For Spectrum only.
	Auto       bool      // choose the window length, and Components and Features if they are 0
	Candidates []float64 // lengths to choose from; nil: the defaults
	Shared     bool      // every window uses the bins of the windows' mean spectrum

	// For Paper only: the length-scale and the frequency of each component of a window, [L][Q],
	// and the initial Σ (0: the default).
	Lengthscales, Frequencies [][]float64
	FrequencyVariance         float64

	Priors TablePriors // for Table only

	most int // maximum number of components per window if Components is 0; 0: the default limit
}

// TablePriors are the priors of a component's σ² and length-scales [Q], and of the noise variance.
// The zero value of a prior is flat.
type TablePriors struct {
	Variance    bayes.Prior
	Lengthscale []bayes.Prior
	Noise       bayes.Prior
}

// points reports whether the method's frequencies are points (Σ = 0).
func (s *Settings) points() bool {
	return s.Method == variational.SSGP || s.Method == variational.RP
}

// shape returns the shape of a model with windows w, the given numbers of components per window
// [V], and k features per component.
func (s *Settings) shape(w backend.Windows, components []int, k int, data *backend.Data) variational.Shape {
	return variational.Shape{
		Windows: w, Components: components, K: k, Q: data.Q, D: data.D,
		PointFrequencies: s.points(), FixedPhases: !s.UniformPhases,
	}
}

// An Evaluator evaluates parameters on data and checks the memory of shapes.
type Evaluator interface {
	// Bound returns the exact bound at p.
	Bound(ctx context.Context, data backend.Data, p *variational.Params) (*variational.Evaluation, error)
	// Optimized returns the exact bound after some iterations from p, minus one nat per point
	// estimate.
	Optimized(ctx context.Context, data backend.Data, p *variational.Params, iterations int) (float64, error)
	// Predicted conditions on the known rows, predicts the asked rows, and returns the sums of the
	// squared errors and of the predicted variances.
	Predicted(ctx context.Context, known, asked backend.Data, p *variational.Params) (square, variance float64, err error)
	// Fits returns an error if a shape needs more memory than available, and FitsInitialization if an
	// initialization needs more, in addition to the rows.
	Fits(shape variational.Shape) error
	FitsInitialization(bytes float64) error
}

// newWindows returns windows over [lo, hi] with all centers inside; the outer functions are 1 beyond
// the first and the last center. share, in [0, 1], is the part of the remainder before the first.
func newWindows(lo, hi, length, share float64, dim int) backend.Windows {
	if length <= 0 || hi-lo <= length/2 {
		return backend.Windows{}
	}
	n := int(math.Floor((hi-lo)/(length/2))) + 1
	first := lo + ((hi-lo)-float64(n-1)*length/2)*share
	w := backend.Windows{Center: make([]float64, n), Length: length, Dim: dim}
	for v := range w.Center {
		w.Center[v] = first + float64(v)*length/2
	}
	return w
}
