package backend

import (
	"errors"
	"fmt"
	"math"
)

// ErrShape is wrapped by every error about shapes that do not match.
var ErrShape = errors.New("shapes do not fit")

// ErrValue is wrapped by every error about a value outside its domain (not
// finite, negative where it must not be).
var ErrValue = errors.New("value outside its domain")

// ErrNotPositive is wrapped if a matrix has no Cholesky factor.
var ErrNotPositive = errors.New("matrix is not positive definite")

// checkLength reports an array of another length than it should have.
func checkLength(what string, have, want int, shape string) error {
	if have == want {
		return nil
	}
	return fmt.Errorf("backend: %s has %d numbers, want %s = %d: %w", what, have, shape, want, ErrShape)
}

// checkOutputs reports another number of outputs than it should be.
func checkOutputs(have, want int) error {
	if have == want {
		return nil
	}
	return fmt.Errorf("backend: arrays for %d outputs, want %d: %w", have, want, ErrShape)
}

// checkFinite returns an error naming the first entry of a that is not finite.
func checkFinite(what string, a []float64) error {
	for i, v := range a {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("backend: %s[%d] is %v, want a finite number: %w", what, i, v, ErrValue)
		}
	}
	return nil
}
