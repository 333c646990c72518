package spectral

import "slices"

// Evenly spaced rows: where x_{n+i} = x_n + i·Δ holds without rounding, a
// feature at the next row is that at this one, turned and damped by numbers
// that are the same for every row, and backends step along instead of taking
// sines and exponentials.

// commonStep is the step from one row to the next of one input x [N] that is
// met most often within runs, the smallest of several; 0 where no step is
// exact.
func commonStep(x []float64, runs []Run) (delta float64) {
	var steps []float64
	for _, r := range runs {
		for n := r.Lo + 1; n < r.Hi; n++ {
			if step, exact := exactStep(x[n-1], x[n]); exact {
				steps = append(steps, step)
			}
		}
	}
	slices.Sort(steps)
	most := 0
	for lo := 0; lo < len(steps); {
		hi := lo + 1
		for hi < len(steps) && steps[hi] == steps[lo] {
			hi++
		}
		if hi-lo > most {
			most, delta = hi-lo, steps[lo]
		}
		lo = hi
	}
	return delta
}

// evenRows counts, for each row, the rows from it on, itself included, that lie
// exactly delta apart within its run.
func evenRows(x []float64, runs []Run, delta float64) []int32 {
	const most = 1 << 30
	even := make([]int32, len(x))
	for _, r := range runs {
		for n := r.Hi - 1; n >= r.Lo; n-- {
			even[n] = 1
			if n+1 == r.Hi {
				continue
			}
			if step, exact := exactStep(x[n], x[n+1]); exact && step == delta {
				even[n] = min(most, even[n+1]+1)
			}
		}
	}
	return even
}

// exactStep is b − a, and whether it is so without rounding: the difference's
// error is a number too (Knuth's two-sum), and has to be 0.
func exactStep(a, b float64) (step float64, exact bool) {
	step = b - a
	back := step + a
	err := (b - back) + ((back - step) - a)
	return step, err == 0 && step != 0
}
