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
// The usual way in:
//
//	data, err := vssgp.NewData(n, x, y)                       // [N,Q], [N,D]
//	model, result, err := vssgp.Fit(ctx, data, vssgp.Options{})
//	p, err := model.Predict(ctx, xNew)                        // [N,Q]; p.Mean, p.SD(true)
//	err = model.Save("model.safetensors")
//
// Data, a Model, a Predictor, a Posterior and a Prediction may be used by several
// goroutines at a time, as long as none changes them: everything reads them but
// Model.Condition, which sets the model's posterior, and assignments to their
// fields. Draws are for one goroutine; each may take its own from Model.Draws. Fits
// share nothing but the cores, and Options.From is only read.
package vssgp

import (
	"errors"

	"github.com/vssgp/vssgp/internal/fileio/safetensors"
	"github.com/vssgp/vssgp/internal/optimize/checkpoint"
	"github.com/vssgp/vssgp/variational"
)

// The errors that others wrap: errors.Is tells them apart.
var (
	// ErrData is wrapped by every error about data that cannot be modeled: wrong
	// shapes, no rows, values that are not finite.
	ErrData = errors.New("unusable data")
	// ErrOptions is wrapped by every error about options that cannot be met.
	ErrOptions = errors.New("unusable options")
	// ErrParams is wrapped by every error about parameters that no model can have.
	ErrParams = variational.ErrParams
	// ErrBound is wrapped where a bound is not a number or its matrix has no
	// Cholesky factor even with jitter.
	ErrBound = variational.ErrBound
	// ErrUnfitted is wrapped where a prediction needs a posterior that the model
	// does not have yet.
	ErrUnfitted = variational.ErrUnfitted
	// ErrMemory is wrapped where a fit would take more than Options.MemoryLimit.
	ErrMemory = errors.New("more memory than there is")
	// ErrCheckpoint is wrapped by every error about a checkpoint that a fit cannot go
	// on from, which stays as it is: damaged, of other data, options or another
	// build, no checkpoint at all, or in use by another process; or that cannot be
	// written, as its folder is missing.
	ErrCheckpoint = checkpoint.Err
	// ErrFile is wrapped by every error about the contents of a model file that is
	// damaged or no safetensors file at all; one that is whole and contains no model
	// wraps ErrParams.
	ErrFile = safetensors.ErrFormat
)
