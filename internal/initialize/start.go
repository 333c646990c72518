// Package initialize proposes where a fit begins: first windows, components and features
// (a variational.Shape) and then, once the caller has seen that they fit its
// memory, the parameters. There are three starts: the random draw of the paper
// (Paper), components along the spectrum of the data (Series.Spectrum), and a
// Brownian motion for rough series (Series.Rough).
//
// Everything here is in the model's units. A Judge says what parameters are worth,
// so that nothing here knows how models are fitted.
package initialize

import (
	"context"
	"math"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/variational"
)

// Settings are what a start is asked for.
type Settings struct {
	Method        variational.Method
	Components    int // of a window; 0: chosen
	Features      int // K; 0: chosen
	UniformPhases bool
	// Optimized says that the parameters will be optimized: the start then lays
	// fewer components, and leaves the noise to the optimizer.
	Optimized bool
	Noise     float64 // starting τ; 0: chosen
	Seed      uint64

	Window float64 // length of the windows; 0: none
	Dim    int     // the input along which they lie

	// For the spectrum start only.
	Auto       bool      // choose the length of the windows, and what is open of Components and Features
	Candidates []float64 // lengths to choose from; nil: the defaults
	Shared     bool      // every window has the bins of the windows' mean spectrum

	// For the paper's start only: the length-scale and the frequency of each
	// component of a window, [L][Q], and the starting Σ; 0: the default.
	Lengthscales, Frequencies [][]float64
	FrequencyVariance         float64

	most int // components of a window at most if Components leaves them open; 0: the start's limit
}

// points reports whether the method's frequencies are points (Σ = 0).
func (s *Settings) points() bool {
	return s.Method == variational.SSGP || s.Method == variational.RP
}

// shape is the shape of so many components [V] of k features under windows w.
func (s *Settings) shape(w backend.Windows, components []int, k int, data *backend.Data) variational.Shape {
	return variational.Shape{
		Windows: w, Components: components, K: k, Q: data.Q, D: data.D,
		PointFrequencies: s.points(), FixedPhases: !s.UniformPhases,
	}
}

// A Judge says what parameters are worth on data, and what shapes are too large.
type Judge interface {
	// Bound is the exact bound at p.
	Bound(ctx context.Context, data backend.Data, p *variational.Params) (*variational.Evaluation, error)
	// Optimized is the exact bound after some iterations from p, less one nat for
	// each point estimate.
	Optimized(ctx context.Context, data backend.Data, p *variational.Params, iterations int) (float64, error)
	// Predicted conditions on the known rows and predicts the ones asked for: the
	// squared errors and the predicted variances there, summed.
	Predicted(ctx context.Context, known, asked backend.Data, p *variational.Params) (square, variance float64, err error)
	// Fits refuses a shape that needs more memory than there is, and FitsStart a start
	// that needs so many bytes besides the rows.
	Fits(shape variational.Shape) error
	FitsStart(bytes float64) error
}

// layWindows lays windows of the given length over [lo, hi], with the first and the
// last center inside: the gates stay at 1 beyond them. share, in [0, 1], is how
// much of the remainder lies before the first center.
func layWindows(lo, hi, length, share float64, dim int) backend.Windows {
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
