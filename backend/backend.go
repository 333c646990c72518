package backend

import (
	"cmp"
	"fmt"
)

// Data are N rows of Q inputs and D outputs, and the windows that the
// features over them will have. For rows to predict, D is 0 and Y is nil.
type Data struct {
	N, Q, D int
	X       []float64 // [N,Q]
	Y       []float64 // [N,D]
	Windows Windows   // the zero value: none

	// Stop, if not nil, is called now and then by long passes, from any of their
	// goroutines. If it returns an error they end with an error that wraps it.
	Stop func() error
}

// Stopped returns the error of Stop; nil without Stop.
func (d *Data) Stopped() error {
	if d.Stop == nil {
		return nil
	}
	return d.Stop()
}

// Check reports lengths that do not fit, values that are not finite and
// impossible windows.
func (d *Data) Check() error {
	if d.N < 1 || d.Q < 1 || d.D < 0 {
		return fmt.Errorf("backend: %d rows of %d inputs and %d outputs, want at least one row and one input: %w", d.N, d.Q, d.D, ErrShape)
	}
	return cmp.Or(
		checkLength("X", len(d.X), d.N*d.Q, "N·Q"), checkLength("Y", len(d.Y), d.N*d.D, "N·D"),
		checkFinite("X", d.X), checkFinite("Y", d.Y), d.Windows.Check(d.Q),
	)
}

// CheckFeatures reports features that do not fit the data: wrong shapes, other
// inputs, other windows.
func (d *Data) CheckFeatures(f *Features) error {
	if err := f.checkShape(); err != nil {
		return err
	}
	if f.Q != d.Q {
		return fmt.Errorf("backend: features have %d inputs, the data %d: %w", f.Q, d.Q, ErrShape)
	}
	if !f.Windows.Equal(&d.Windows) {
		return fmt.Errorf("backend: the features' windows are not the data's: %w", ErrShape)
	}
	return nil
}

// CheckRows reports row numbers outside [0, N).
func (d *Data) CheckRows(rows []int) error {
	for i, n := range rows {
		if n < 0 || n >= d.N {
			return fmt.Errorf("backend: rows[%d] is %d, want 0 to %d: %w", i, n, d.N-1, ErrValue)
		}
	}
	return nil
}

// A Backend computes sums over rows: on the processor (package cpu), on a GPU
// (package gpu) or in several processes (package ranks). It keeps no model.
type Backend interface {
	// Name is the device's name, for logs and results: "cpu", "cuda:0 NVIDIA H200".
	Name() string
	// Open checks the data and brings them to the device. The backend may keep
	// d's slices; the caller must not change them until the Rows are closed.
	Open(d Data) (Rows, error)
	// Close frees what the backend holds. Its Rows must be closed first.
	Close() error
}

// Rows are data on a backend's device. Each method is one streaming pass over
// the rows: host values in, host values out, dst overwritten, inputs
// untouched, no array of size N·M. Sums are taken in float64 and in a fixed
// order: a repeat gives the same bits for any number of threads. The methods of
// one Rows must not be called at the same time.
type Rows interface {
	// Moments fills dst with C = Φ̄ᵀY and G = E[ΦᵀΦ]: 2·N·M·D + N·M² flops
	// (with windows M is what overlaps).
	Moments(dst *Moments, f *Features) error
	// Pullback fills dst with the gradient by the features of a number whose
	// gradient by the moments is bar: 2·N·M² flops.
	Pullback(dst, f *Features, bar *Moments) error
	// Factorized fills dst with the expected squared error and its gradient
	// over the given rows (nil: all; a row named twice counts twice), in
	// O(rows·M·(Q+D)).
	Factorized(dst *FactorizedSums, f *Features, w *Weights, rows []int) error
	// Predict fills dst, in the order of the rows given to Open.
	Predict(dst *Prediction, f *Features, p *Posterior) error

	// CanSolve reports whether the device can do the exact bound's algebra itself,
	// so that G, A⁻¹ and their adjoint, each O(M·M_v) with M_v features a window,
	// never come to the host. It depends on f's shapes and on the kind of device,
	// never on how much memory is free.
	CanSolve(f *Features) bool
	// Solve sums the moments G and C and fills dst with the Solution for
	// A = G + λI. If A has no Cholesky factor the error wraps ErrNotPositive, and
	// only dst.TraceGram is filled in. CanSolve has to hold for f.
	Solve(dst *Solution, f *Features, lambda float64) error
	// PullbackSolved is Pullback of an adjoint made of the last Solve's results,
	// which it uses up. No method but CanSolve may be called between the two, and f
	// has to be the same.
	PullbackSolved(dst, f *Features, bar SolvedAdjoint) error

	// Close frees the rows' memory.
	Close() error
}
