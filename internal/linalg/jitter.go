package linalg

import (
	"errors"
	"math"
)

// JitterFirst is the first jitter relative to the mean of the diagonal. JitterGrow is the factor from one attempt to the next.
const (
	JitterFirst = 1e-10
	JitterGrow  = 10
)

// Jittered calls factor to factorize a matrix with jitter added to its diagonal. The first attempt has no jitter. While factor returns an
// error that wraps notPositive, Jittered repeats it with increasing jitter, up to the given number of times. factor also returns the mean
// of the diagonal without jitter. It must restore the matrix if the previous attempt has overwritten it. Jittered returns the successful
// jitter or factor's last error.
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
