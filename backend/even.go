package backend

import (
	"slices"

	"github.com/vssgp/vssgp/internal/double"
)

// If rows are evenly spaced, that is x_{n+i} = x_n + i·Δ without rounding, a feature's value at
// the next row is its value at this row, rotated and damped by factors that are the same for
// every row. Backends then need no sine and exponential per row.

// commonStep returns the most frequent exact step between neighboring rows of one input x [N]
// within runs, the smallest one if there are several, or 0 if no step is exact.
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
	most, alike := 0, 0
	for i, step := range steps {
		if alike++; i > 0 && step != steps[i-1] {
			alike = 1
		}
		if alike > most {
			most, delta = alike, step
		}
	}
	return delta
}

// evenRows returns for each row the number of consecutive rows of its run, starting with it,
// that are exactly delta apart.
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

// exactStep returns b − a and reports whether it is exact and not 0.
func exactStep(a, b float64) (step float64, exact bool) {
	d := double.Sum(b, -a)
	return d.Hi, d.Lo == 0 && d.Hi != 0
}
