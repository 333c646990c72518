package linalg

import (
	"errors"
	"math"
)

// JitterFirst is the first jitter, as a share of the diagonal's mean. JitterGrow is the factor from one attempt to the next.
const (
	JitterFirst = 1e-10
	JitterGrow  = 10
)

// Jittered calls factor to factorize a matrix with jitter added to its diagonal: none at first, then more and more while factor
// fails with an error that wraps notPositive, up to the given number of times. factor also returns the mean of the diagonal without
// jitter. It must expect that the attempt before has overwritten the matrix. Jittered returns the jitter that was enough, or factor's
// last error.
func Jittered(notPositive error, times int, factor func(jitter float64) (mean float64, err error)) (jitter float64, err error) {
	for try := 0; ; try++ {
		mean, err := factor(jitter)
		if !errors.Is(err, notPositive) || try == times || math.IsNaN(mean) || math.IsInf(mean, 0) {
			return jitter, err
		}
		if jitter *= JitterGrow; try == 0 {
			jitter = JitterFirst * mean
		}
	}
}
