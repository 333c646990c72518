// Package linalg holds operations on matrices that several packages share.
package linalg

import (
	"fmt"
)

// MostCovariances bounds what one prediction holds, 16 GiB of numbers.
const MostCovariances = 1 << 31

// CheckJoint reports rows and outputs whose joint covariance [N·D,N·D] has more than MostCovariances entries.
func CheckJoint(rows, outputs int) error {
	if n := float64(rows) * float64(outputs); n*n > MostCovariances {
		return fmt.Errorf("%d rows of %d outputs have more than %d joint covariances; want fewer rows", rows, outputs, MostCovariances)
	}
	return nil
}
