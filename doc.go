// Package vssgp fits variational sparse spectrum Gaussian processes
// (Gal & Turner 2015, "Improving the Gaussian Process Sparse Spectrum
// Approximation by Representing Uncertainty in Frequency Inputs") and predicts
// with them.
//
//	data x [N,Q]        features Φ [N,M]         sums over the rows        bound, posterior
//	     y [N,D]  ───>  of random cosines  ───>  C = Φ̄ᵀY [M,D]       ───>  of the coefficients
//	                         ^                   G = E[ΦᵀΦ] [M,M]          A [M,D]
//	                         │                                               │     │
//	                         └─── gradient: frequencies, length-scales, …  ──┘     │
//	                                                                               v
//	new  x [N',Q]  ──────────────────────────────────────────────>  mean [N',D], covariance [N',D,D]
//
// The covariance is a sum of L spectral-mixture components,
//
//	k(x, x') = Σ_i σ²_i exp(−½ Σ_q (x_q−x'_q)²/l_iq²) cos(2π Σ_q p_iq (x_q−x'_q)),
//
// each approximated by K random Fourier features whose frequencies and phases
// have a variational posterior. The model has M = L·K features. Windows make the
// components local along one input, so that the exact bound costs O(N) (see
// backend.Windows).
//
// Notation: N rows of data, Q inputs, D outputs, L components of K features each,
// M = L·K, V windows. Matrices are row-major. Feature k belongs to component k/K.
//
// A typical program:
//
//	data, err := vssgp.NewData(n, x, y)                       // [N,Q], [N,D]
//	model, result, err := vssgp.Fit(ctx, data, vssgp.Options{})
//	p, err := model.Predict(ctx, xNew)                        // [N,Q]; p.Mean, p.SD(true)
//	err = model.Save("model.safetensors")
//
// Data, a Model, a Predictor, a Posterior and a Prediction may be used by several
// goroutines at a time as long as no goroutine changes them. Only Model.Condition,
// which sets the model's posterior, and assignments to their fields change them. A
// Draws value must be used by one goroutine at a time; each goroutine may call
// Model.Draws. Fits may run concurrently and do not change Options.From.
package vssgp

import (
	"github.com/vssgp/vssgp/internal/fileio/fault"
	"github.com/vssgp/vssgp/internal/fileio/safetensors"
	"github.com/vssgp/vssgp/internal/optimize/checkpoint"
	"github.com/vssgp/vssgp/variational"
)

// Errors that other errors wrap, for errors.Is.
var (
	// ErrData is wrapped by every error about data that cannot be modeled, such as
	// wrong shapes, no rows, or values that are not finite.
	ErrData = fault.New("unusable data")
	// ErrOptions is wrapped by every error about options that are invalid or contradict each other.
	ErrOptions = fault.New("unusable options")
	// ErrParams is wrapped by every error about invalid parameters of a model.
	ErrParams = variational.ErrParams
	// ErrBound is wrapped if a bound is not a number or its matrix has no
	// Cholesky factor even with jitter.
	ErrBound = variational.ErrBound
	// ErrUnfitted is wrapped if a prediction needs a posterior that the model
	// does not have yet.
	ErrUnfitted = variational.ErrUnfitted
	// ErrMemory is wrapped if a fit needs more memory than Options.MemoryLimit.
	ErrMemory = fault.New("not enough memory")
	// ErrCheckpoint is wrapped by every error about a checkpoint that a fit cannot
	// resume from: the file is damaged, is not a checkpoint, is used by another process,
	// or was written with other data, options or another build. The file is then not
	// changed. It is also wrapped if a checkpoint cannot be written because its folder
	// is missing.
	ErrCheckpoint = checkpoint.Err
	// ErrFile is wrapped by every error about a model file that is damaged or not a
	// safetensors file. The error for an undamaged file without a model wraps ErrParams.
	ErrFile = safetensors.ErrFormat
)
