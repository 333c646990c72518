package backend

import (
	"errors"
	"fmt"
	"math"

	"github.com/vssgp/vssgp/internal/fileio/fault"
)

// ErrShape is wrapped by every error about shapes that do not match.
var ErrShape = fault.New("shapes do not match")

// ErrValue is wrapped by every error about a value outside its domain, such as a value that
// is not finite.
var ErrValue = fault.New("value outside its domain")

// ErrNotPositive is wrapped if a matrix has no Cholesky factor.
var ErrNotPositive = errors.New("matrix is not positive definite")

// errNil is returned if an argument, or an array of it, is a nil pointer.
var errNil = fmt.Errorf("an argument is nil: %w", ErrShape)

// checkLength returns an error if an array does not have the required length.
func checkLength(what string, have, want int, shape string) error {
	if have == want {
		return nil
	}
	return fmt.Errorf("%s has %d numbers, must have %s = %d: %w", what, have, shape, want, ErrShape)
}

// checkOutputs returns an error if the number of outputs is wrong.
func checkOutputs(have, want int) error {
	if have == want {
		return nil
	}
	return fmt.Errorf("arrays for %d outputs, must be for %d: %w", have, want, ErrShape)
}

// checkFinite returns an error naming the first entry of a that is not finite.
func checkFinite(what string, a []float64) error {
	for i, v := range a {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("%s[%d] is %v, must be finite: %w", what, i, v, ErrValue)
		}
	}
	return nil
}
