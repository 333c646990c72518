package spectral

import "fmt"

// Data are N rows of Q inputs and D outputs, and the windows that the
// features over them will have. D is 0 and Y nil where there is nothing to
// learn from, only to predict.
type Data struct {
	N, Q, D int
	X       []float64 // [N,Q]
	Y       []float64 // [N,D]
	Windows Windows   // of the features over them; the zero value: none

	// Stop, if not nil, is asked now and then by passes that take long, from any
	// of their goroutines. An error from it ends them, and is what they wrap.
	Stop func() error
}

// Stopped is what Stop says, nil where there is none.
func (d *Data) Stopped() error {
	if d.Stop == nil {
		return nil
	}
	return d.Stop()
}

// Check reports lengths that do not fit, values that are not finite and
// windows that cannot be.
func (d *Data) Check() error {
	if d.N < 1 || d.Q < 1 || d.D < 0 {
		return fmt.Errorf("spectral: %d rows of %d inputs and %d outputs, want at least one row and one input: %w", d.N, d.Q, d.D, ErrShape)
	}
	if len(d.X) != d.N*d.Q {
		return shapeError("X", len(d.X), d.N*d.Q, "N·Q")
	}
	if len(d.Y) != d.N*d.D {
		return shapeError("Y", len(d.Y), d.N*d.D, "N·D")
	}
	if err := checkFinite("X", d.X); err != nil {
		return err
	}
	if err := checkFinite("Y", d.Y); err != nil {
		return err
	}
	return d.Windows.Check(d.Q)
}

// CheckFeatures reports features that cannot be laid over the data: wrong
// shapes, other inputs, other windows.
func (d *Data) CheckFeatures(f *Features) error {
	if err := f.CheckShape(); err != nil {
		return err
	}
	if f.Q != d.Q {
		return fmt.Errorf("spectral: features have %d inputs, the data %d: %w", f.Q, d.Q, ErrShape)
	}
	if !f.Windows.Equal(&d.Windows) {
		return fmt.Errorf("spectral: the features' windows are not the data's: %w", ErrShape)
	}
	return nil
}

// CheckRows reports row numbers outside [0, N).
func (d *Data) CheckRows(rows []int) error {
	for i, n := range rows {
		if n < 0 || n >= d.N {
			return fmt.Errorf("spectral: rows[%d] is %d, want 0 to %d: %w", i, n, d.N-1, ErrValue)
		}
	}
	return nil
}

// A Backend computes sums over rows somewhere: on the processor (package
// cpu), on a GPU (package gpu). It keeps no model.
type Backend interface {
	// Name says what computes, for logs and results: "cpu", "cuda:0 NVIDIA H200".
	Name() string
	// Open checks the data and brings them to where they are summed. The
	// backend may keep d's slices; the caller must not change them until the
	// Rows are closed.
	Open(d Data) (Rows, error)
	// Close gives back what the backend holds. Rows must be closed before.
	Close() error
}

// Rows are data that a backend holds. Each method is one streaming pass over
// the rows: host values in, host values out, dst overwritten, inputs
// untouched, no array of size N·M. Sums are taken in float64 and in a fixed
// order: a repeat gives the same bits, whatever the number of threads. Methods
// are not to be called at the same time on the same Rows.
type Rows interface {
	// Moments fills dst with C = Φ̄ᵀY and G = E[ΦᵀΦ]: 2·N·M·D + N·M² flops
	// (with windows M is what overlaps).
	Moments(dst *Moments, f *Features) error
	// Pullback fills dst with the gradient by the features of any number
	// whose gradient by the moments is bar: 2·N·M² flops.
	Pullback(dst, f *Features, bar *Moments) error
	// Factorised fills dst with the expected squared error and its gradient
	// over the given rows (nil: all; a row named twice counts twice), in
	// O(rows·M·(Q+D)).
	Factorised(dst *FactorisedSums, f *Features, w *Weights, rows []int) error
	// Predict fills dst, in the order of the rows given to Open.
	Predict(dst *Prediction, f *Features, p *Posterior) error

	// CanSolve says whether the algebra that the exact bound needs of the moments
	// can be done where they are summed, so that G, A⁻¹ and their adjoint, each
	// O(M·M_v) with M_v features a window, never come to the host: a matter of f's
	// shapes and of the kind of device, never of the memory that is free.
	CanSolve(f *Features) bool
	// Solve sums the moments G and C and fills dst with what follows from
	// A = G + λI. Where A has no Cholesky factor the error wraps ErrNotPositive,
	// and of dst TraceGram alone is filled in. CanSolve has to hold for f.
	Solve(dst *Solution, f *Features, lambda float64) error
	// PullbackSolved is Pullback of an adjoint made of what the last Solve has
	// left, which it uses up: nothing else may have been asked of the Rows in
	// between, but for CanSolve, and f has to be the same.
	PullbackSolved(dst, f *Features, bar SolvedAdjoint) error

	// Close gives the rows' memory back.
	Close() error
}
