// Package score holds the figures by which predictions are judged.
package score

import "math"

// SD95 is how many standard deviations to either side a Gaussian's 95 %
// interval reaches: the quantile of the standard normal at 0.975.
const SD95 = 1.959963984540054

// RMS is the root of the mean square of x.
func RMS(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v * v
	}
	return math.Sqrt(s / float64(len(x)))
}

// RMSE is the root of the mean squared error of mean as a prediction of y.
func RMSE(mean, y []float64) float64 {
	s := 0.0
	for i, v := range y {
		s += (v - mean[i]) * (v - mean[i])
	}
	return math.Sqrt(s / float64(len(y)))
}

// Coverage is the share of y inside the 95 % intervals of Gaussians.
func Coverage(mean, sd, y []float64) float64 {
	in := 0
	for i, v := range y {
		if math.Abs(v-mean[i]) <= SD95*sd[i] {
			in++
		}
	}
	return float64(in) / float64(len(y))
}

// NLPD is the mean negative log density of y under independent Gaussians.
func NLPD(mean, sd, y []float64) float64 {
	s := 0.0
	for i, v := range y {
		z := (v - mean[i]) / sd[i]
		s += 0.5*z*z + math.Log(sd[i]) + 0.5*math.Log(2*math.Pi)
	}
	return s / float64(len(y))
}
