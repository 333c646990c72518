package bayes

import (
	"math"
	"slices"
)

// SD95 is the 0.975 quantile of the standard normal distribution: the half width of the 95 % interval.
const SD95 = 1.959963984540054

// RMS returns the root mean square of x.
func RMS(x []float64) float64 {
	return rms(len(x), func(i int) float64 { return x[i] })
}

// RMSE returns the root mean squared error of mean as a prediction of y.
func RMSE(mean, y []float64) float64 {
	return rms(len(y), func(i int) float64 { return y[i] - mean[i] })
}

// MeanSD returns the mean and the standard deviation of every step-th number of a, starting at index first. If all numbers are equal,
// the result is exact, without rounding.
func MeanSD(a []float64, first, step int) (mean, sd float64) {
	n := (len(a) - first + step - 1) / step
	at := func(i int) float64 { return a[first+i*step] }
	if constant(n, at) {
		return at(0), 0
	}
	f := factor(n, at)
	for i := range n {
		mean += at(i) * f / float64(n)
	}
	square := 0.0
	for i := range n {
		square += (at(i)*f - mean) * (at(i)*f - mean) / float64(n)
	}
	return mean / f, math.Sqrt(square) / f
}

// constant reports whether n numbers are equal.
func constant(n int, at func(i int) float64) bool {
	for i := range n {
		if at(i) != at(0) {
			return false
		}
	}
	return n > 0
}

// rms returns the root mean square of n numbers.
func rms(n int, at func(i int) float64) float64 {
	s, f := 0.0, factor(n, at)
	for i := range n {
		s += (at(i) * f) * (at(i) * f)
	}
	return math.Sqrt(s/float64(n)) / f
}

// factor returns a power of two that scales n numbers so that the sum of their squares does not overflow or underflow. It is 1 for
// magnitudes between 10^−120 and 10^120.
func factor(n int, at func(i int) float64) float64 {
	largest := 0.0
	for i := range n {
		largest = max(largest, math.Abs(at(i)))
	}
	switch {
	case largest > 0x1p400:
		return 0x1p-600
	case largest < 0x1p-400 && largest > 0:
		return 0x1p600
	}
	return 1
}

// Coverage returns the fraction of y inside the 95 % intervals of independent Gaussians.
func Coverage(mean, sd, y []float64) float64 {
	in := 0
	for i, v := range y {
		if math.Abs(v-mean[i]) <= SD95*sd[i] {
			in++
		}
	}
	return float64(in) / float64(len(y))
}

// NLPD returns the mean negative log density of y under independent Gaussians.
func NLPD(mean, sd, y []float64) float64 {
	s := 0.0
	for i, v := range y {
		z := (v - mean[i]) / sd[i]
		s += 0.5*z*z + math.Log(sd[i]) + 0.5*math.Log(2*math.Pi)
	}
	return s / float64(len(y))
}

// Median returns the median. It is the mean of the middle two for an even count, so that the median of −a is −median(a).
func Median(a []float64) float64 {
	sorted, n := slices.Sorted(slices.Values(a)), len(a)
	return sorted[(n-1)/2]/2 + sorted[n/2]/2
}

// PerMedian is the ratio of standard deviation to median absolute deviation of a Gaussian.
const PerMedian = 1.482602218505602
