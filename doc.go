// Package vssgp fits variational sparse spectrum Gaussian processes
// (Gal & Turner 2015, "Improving the Gaussian Process Sparse Spectrum
// Approximation by Representing Uncertainty in Frequency Inputs").
//
// The covariance is a sum of L spectral-mixture components,
//
//	k(x, x') = Σ_i σ²_i exp(−½ Σ_q (x_q−x'_q)²/l_iq²) cos(2π Σ_q p_iq (x_q−x'_q)),
//
// each approximated by K random Fourier features whose frequencies and phases
// have a variational posterior; M = L·K features in all. Windows make the sum
// local along one input, so that the exact bound costs O(N) (see
// backend.Windows).
//
// Letters: N rows of data, Q inputs, D outputs, L components, K features each,
// M = L·K, V windows. Matrices are row-major; component of feature k is k/K.
//
// A typical program:
//
//	data, err := vssgp.NewData(n, x, y)                       // [N,Q], [N,D]
//	model, result, err := vssgp.Fit(ctx, data, vssgp.Options{})
//	p, err := model.Predict(ctx, xNew)                        // [N,Q]; p.Mean, p.SD(true)
//	err = model.Save("model.safetensors")
//
// Data, a Model, a Predictor, a Posterior and a Prediction may be used by several
// goroutines at a time, as long as none changes them: everything reads them but
// Model.Condition, which sets the model's posterior, and assignments to their
// fields. Draws are for one goroutine; each goroutine may call Model.Draws. Fits share
// nothing but the cores, and Options.From is only read.
package vssgp

import (
	"errors"

	"github.com/vssgp/vssgp/internal/fileio/safetensors"
	"github.com/vssgp/vssgp/internal/optimize/checkpoint"
	"github.com/vssgp/vssgp/variational"
)

// Errors that other errors wrap, for errors.Is.
var (
	// ErrData is wrapped by every error about data that cannot be modeled: wrong
	// shapes, no rows, values that are not finite.
	ErrData = errors.New("unusable data")
	// ErrOptions is wrapped by every error about options that are invalid or contradict each other.
	ErrOptions = errors.New("unusable options")
	// ErrParams is wrapped by every error about invalid parameters of a model.
	ErrParams = variational.ErrParams
	// ErrBound is wrapped if a bound is not a number or its matrix has no
	// Cholesky factor even with jitter.
	ErrBound = variational.ErrBound
	// ErrUnfitted is wrapped if a prediction needs a posterior that the model
	// does not have yet.
	ErrUnfitted = variational.ErrUnfitted
	// ErrMemory is wrapped if a fit needs more memory than Options.MemoryLimit.
	ErrMemory = errors.New("more memory than there is")
	// ErrCheckpoint is wrapped by every error about a checkpoint that a fit cannot
	// resume from: it is damaged, of other data, options or another build, not a
	// checkpoint, or in use by another process. The file then stays unchanged. It is
	// also wrapped if a checkpoint cannot be written because its folder is missing.
	ErrCheckpoint = checkpoint.Err
	// ErrFile is wrapped by every error about a model file that is damaged or not a
	// safetensors file. The error for an undamaged file without a model wraps ErrParams.
	ErrFile = safetensors.ErrFormat
)
