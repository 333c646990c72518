package backendtest

import (
	"fmt"
	"math"
)

// fence is how many NaN stand on either side of an array.
const fence = 16

// fences hands out arrays between fences and knows them all.
type fences struct{ all [][]float64 }

// make returns n numbers, NaN at first, that end in capacity where they end
// in length.
func (f *fences) make(n int) []float64 {
	whole := make([]float64, n+2*fence)
	for i := range whole {
		whole[i] = math.NaN()
	}
	f.all = append(f.all, whole)
	return whole[fence : fence+n : fence+n]
}

// check reports a fence that was written to.
func (f *fences) check() error {
	for i, whole := range f.all {
		for j := range fence {
			for _, at := range []int{j, len(whole) - 1 - j} {
				if !math.IsNaN(whole[at]) {
					return fmt.Errorf("array %d of %d numbers: %g written at index %d", i, len(whole)-2*fence, whole[at], at-fence)
				}
			}
		}
	}
	return nil
}

// bits are the numbers of all arrays, for comparing before with after.
func (f *fences) bits() (b []uint64) {
	for _, whole := range f.all {
		for _, v := range whole {
			b = append(b, math.Float64bits(v))
		}
	}
	return b
}
