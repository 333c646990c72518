package backend

import (
	"cmp"
	"fmt"
)

// Data contains N rows of Q inputs and D outputs, and the windows of the features. For rows
// to predict, D is 0 and Y is nil.
type Data struct {
	N, Q, D int
	X       []float64 // [N,Q]
	Y       []float64 // [N,D]
	Windows Windows   // the zero value means no windows

	// Stop, if not nil, is called regularly by long passes, from any of their goroutines.
	// If it returns an error, the pass ends with an error that wraps it.
	Stop func() error
}

// Stopped returns the error of Stop, or nil if there is no Stop.
func (d *Data) Stopped() error {
	if d.Stop == nil {
		return nil
	}
	return d.Stop()
}

// Check returns an error if lengths do not match, values are not finite or windows are
// invalid.
func (d *Data) Check() error {
	if d == nil {
		return errNil
	}
	if d.N < 1 || d.Q < 1 || d.D < 0 {
		return fmt.Errorf("%d rows of %d inputs and %d outputs, must have at least one row and one input: %w", d.N, d.Q, d.D, ErrShape)
	}
	if most := max(len(d.X), len(d.Y)); max(d.N, d.Q, d.D) > most { // N·Q may overflow
		return fmt.Errorf("%d rows of %d inputs and %d outputs, but X and Y have at most %d numbers: %w", d.N,
			d.Q, d.D, most, ErrShape)
	}
	return cmp.Or(
		checkLength("X", len(d.X), d.N*d.Q, "N·Q"), checkLength("Y", len(d.Y), d.N*d.D, "N·D"),
		checkFinite("X", d.X), checkFinite("Y", d.Y), d.Windows.Check(d.Q),
	)
}

// CheckFeatures returns an error if the features have invalid shapes, or other inputs or
// windows than the data.
func (d *Data) CheckFeatures(f *Features) error {
	if err := f.checkShape(); err != nil {
		return err
	}
	if f.Q != d.Q {
		return fmt.Errorf("the features have %d inputs, but the data have %d: %w", f.Q, d.Q, ErrShape)
	}
	if !f.Windows.Equal(&d.Windows) {
		return fmt.Errorf("the features and the data have different windows: %w", ErrShape)
	}
	return nil
}

// CheckRows returns an error if a row number is outside [0, N).
func (d *Data) CheckRows(rows []int) error {
	for i, n := range rows {
		if n < 0 || n >= d.N {
			return fmt.Errorf("rows[%d] is %d, must be from 0 to %d: %w", i, n, d.N-1, ErrValue)
		}
	}
	return nil
}

// A Backend computes sums over rows on the CPU (package cpu), on a GPU (package gpu) or in
// several processes (package ranks). It stores no model.
type Backend interface {
	// Name returns the device's name for logs and results, such as "cpu" or "cuda:0 NVIDIA H200".
	Name() string
	// Open checks the data and copies them to the device. The backend may keep d's slices.
	// The caller must not change them until the Rows are closed.
	Open(d Data) (Rows, error)
	// Close frees the backend's resources. Its Rows must be closed first.
	Close() error
}

// Rows are data on a backend's device. Each method is one streaming pass over the rows. It
// takes and returns values on the host, overwrites dst, does not change its inputs and
// allocates no array of size N·M. Sums are computed in float64 and in a fixed order, so a
// repeated call gives the same bits for any number of threads. The methods of one Rows must
// not be called concurrently.
type Rows interface {
	// Moments sets dst to C = Φ̄ᵀY and G = E[ΦᵀΦ]. It takes 2·N·M·D + N·M² flops. With
	// windows, M here is the number of features in two neighboring windows.
	Moments(dst *Moments, f *Features) error
	// Pullback sets dst to the gradient with respect to the features of a function whose gradient
	// with respect to the moments is bar. It takes 2·N·M² flops.
	Pullback(dst, f *Features, bar *Moments) error
	// Factorized sets dst to the expected squared error and its gradient over the given
	// rows; nil means all rows, and duplicates count repeatedly. It takes O(rows·M·(Q+D)).
	Factorized(dst *FactorizedSums, f *Features, w *Weights, rows []int) error
	// Predict sets dst to the predictions, in the order of the rows given to Open.
	Predict(dst *Prediction, f *Features, p *Posterior) error

	// CanSolve reports whether the device can compute the exact bound's algebra, so that G,
	// A⁻¹ and their adjoint, each of size O(M·M_v) with M_v features per window, are not
	// copied to the host. It depends on f's shapes and on the kind of device, but not on
	// the free memory.
	CanSolve(f *Features) bool
	// Solve computes the moments G and C and sets dst to the Solution for A = G + λI. If A
	// has no Cholesky factor, the error wraps ErrNotPositive and only dst.TraceGram is set.
	// CanSolve must be true for f.
	Solve(dst *Solution, f *Features, lambda float64) error
	// PullbackSolved is Pullback for an adjoint computed from the results of the last Solve,
	// which it overwrites. No method except CanSolve may be called between the two, and f
	// must be the same.
	PullbackSolved(dst, f *Features, bar SolvedAdjoint) error

	// Close frees the rows' memory.
	Close() error
}
