package oracle

import "math"

// Derivative returns f'(0) by central differences with steps h, h/2, h/4, …, extrapolated to step
// 0 (Richardson, in Ridders' tableau), and an estimate of the error from the tableau. f must be
// smooth over the length h, which is rounded down to a power of two, so that adding it is exact.
func Derivative(f func(step float64) float64, h float64) (value, err float64) {
	const levels = 6
	h = math.Exp2(math.Floor(math.Log2(h)))
	var last, row [levels]float64
	err = math.Inf(1)
	for i := range levels {
		row[0] = (f(h) - f(-h)) / (2 * h)
		weight := 1.0
		for j := 1; j <= i; j++ {
			weight *= 4 // the error is a series in h²
			row[j] = row[j-1] + (row[j-1]-last[j-1])/(weight-1)
			worst := max(math.Abs(row[j]-row[j-1]), math.Abs(row[j]-last[j-1]))
			if worst < err {
				value, err = row[j], worst
			}
		}
		last = row
		h /= 2
	}
	return value, err
}
