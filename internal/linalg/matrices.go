// Package linalg contains matrix operations that several packages share.
package linalg

import (
	"fmt"
)

// MaxCovariances is the maximum number of covariances of a prediction, 16 GiB.
const MaxCovariances = 1 << 31

// CheckJoint returns an error if the joint covariance [N·D,N·D] has more than MaxCovariances entries.
func CheckJoint(rows, outputs int) error {
	if n := float64(rows) * float64(outputs); n*n > MaxCovariances {
		return fmt.Errorf("%d rows of %d outputs have more than %d joint covariances; use fewer rows", rows, outputs, MaxCovariances)
	}
	return nil
}
