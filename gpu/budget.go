package gpu

import (
	"errors"
	"fmt"

	"github.com/vssgp/vssgp/cuda"
)

// A BudgetError is returned if an operation needs more device memory than is free.
type BudgetError struct {
	Needed, Free int64 // bytes
	Rows, Fit    int   // number of rows, and about how many would fit; 0: none fits
}

// Error reports the bytes needed and free, and how many rows would fit.
func (e *BudgetError) Error() string {
	advice := "too little even for one row; use fewer features or a GPU with more memory"
	if e.Fit > 0 {
		advice = fmt.Sprintf("which fits about %d of the %d rows; use fewer rows, or more ranks (mpirun) with one GPU each",
			e.Fit, e.Rows)
	}
	return fmt.Sprintf("needs %d bytes of device memory but only %d are free, %s: %v",
		e.Needed, e.Free, advice, cuda.ErrBudget)
}

// Unwrap returns cuda.ErrBudget.
func (e *BudgetError) Unwrap() error { return cuda.ErrBudget }

// An operation is a method of Rows or a variant of one. Each has separate tables on the device. The
// tables for a mini-batch (opPick) change from call to call.
type operation int

const (
	opMoments operation = iota
	opPullback
	opSolve
	opPullbackSolved
	opFactorized
	opPick
	opPredict
	opPredictShared
	operations
)

// The arrays of rows on the device. Each is one allocation, which later evaluations reuse. It is
// reallocated if it is too small.
type array int

const (
	arrayX array = iota
	arrayY
	arrayGate
	arrayEven
	arrayFeatures // the parameters of the features, in the layout of packFeatures
	arrayRot      // [M, kernels.Rotations] rotations
	arrayCoef     // adjoint of C, or means and variances of coefficients
	arrayGram     // in the order of backend.NewGram
	arraySums     // sums of each feature
	arrayPart     // partial sums
	arrayStore    // E[φ] of a slab of rows
	arrayRes      // residuals
	arrayValue    // squared residuals
	arrayLevels   // levels of a chain
	arraySolved   // [2,M,D] right-hand sides and then solutions; C and then its adjoint
	arrayStats    // [3,V] traces of G's blocks, logarithms of determinants, traces of A⁻¹
	arrayOut      // predictions
	arrayQuad     // their quadratic parts
	arrayTables   // of a row spectrum, with its vectors and positions
	arrayWaves    // the features' waves
	arrayPairs    // sums of pairs of them, and of each
	arrayIndex    // rows of a mini-batch
	arrayPickX
	arrayPickY
	arrayPickGate
	arrayTable // the first operation's tables; the others' follow
	arrays     = arrayTable + array(operations)
)

// arraySizes contains the number of bytes needed for each array.
type arraySizes [arrays]int64

func (w *arraySizes) total() (sum int64) {
	for _, n := range w {
		sum += n
	}
	return sum
}

// allocations contains the allocated arrays.
type allocations struct {
	mem  [arrays]*cuda.Memory
	size arraySizes
}

// address returns the address of an array, or 0 if it is not allocated.
func (h *allocations) address(a array) uint64 {
	if h.mem[a] == nil {
		return 0
	}
	return h.mem[a].Address()
}

// release frees an array.
func (h *allocations) release(a array) error {
	m := h.mem[a]
	if m == nil {
		return nil
	}
	h.mem[a], h.size[a] = nil, 0
	return m.Free()
}

// releaseAll frees every array.
func (h *allocations) releaseAll() (err error) {
	for a := range arrays {
		err = errors.Join(err, h.release(a))
	}
	return err
}

// fit allocates the arrays of w, using the memory that is free or already allocated here. An array
// keeps its contents if it is large enough and its memory is not needed.
func (h *allocations) fit(c *cuda.Context, w *arraySizes, free int64) (err error) {
	both := int64(0)
	for a := range arrays {
		both += max(h.size[a], w[a])
	}
	for a := range arrays {
		if h.size[a] < w[a] || both > free && h.size[a] > w[a] {
			if err := h.release(a); err != nil {
				return err
			}
		}
	}
	for a := range arrays {
		if w[a] == 0 || h.mem[a] != nil {
			continue
		}
		if h.mem[a], err = c.Alloc(w[a]); err != nil {
			return err
		}
		h.size[a] = w[a]
	}
	return nil
}
