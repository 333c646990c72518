package main

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/dsp/fourier"

	"github.com/vssgp/vssgp/internal/score"
)

// signalStats gathers statistics of one or more evenly sampled runs of rows.
type signalStats struct {
	band float64 // the highest, in cycles a sample

	variance           float64 // Σ of the squares about a straight line
	square, pair, edge float64 // Σ e², Σ e_n·e_{n+1}, and Σ (e_n² + e_{n+1}²)/2 beside it
}

// leastDetrended is the least share of its variance that a series counts as having
// once its trend is removed: a straight line would keep nothing but rounding errors.
const leastDetrended = 1e-9

// residuals adds those of a fit to neighbouring samples.
func (s *signalStats) residuals(y, fit []float64) {
	if len(y) == 0 {
		return
	}
	_, all := score.MeanSD(y, 0, 1)
	_, sd := score.MeanSD(detrended(y), 0, 1)
	s.variance += max(sd*sd, leastDetrended*all*all) * float64(len(y))
	for i := range y {
		e := y[i] - fit[i]
		s.square += e * e
		if i > 0 {
			before := y[i-1] - fit[i-1]
			s.pair += before * e
			s.edge += (before*before + e*e) / 2
		}
	}
}

// left is the residuals' share of the variance and their correlation from one
// sample to the next.
func (s *signalStats) left() (share, correlation float64) {
	if s.variance == 0 || s.edge == 0 {
		return 0, 0
	}
	return s.square / s.variance, s.pair / s.edge
}

// evenRun is the longest run of rows [lo, hi) of one input that rise by the
// same step, but for a tenth of it, and the step: the median one of all rows.
func evenRun(x []float64) (lo, hi int, step float64) {
	if len(x) < 2 {
		return 0, 0, 0
	}
	steps := make([]float64, len(x)-1)
	for i := range steps {
		steps[i] = x[i+1] - x[i]
	}
	sorted := slices.Clone(steps)
	slices.Sort(sorted)
	step = sorted[len(sorted)/2]
	if !(step > 0) {
		return 0, 0, 0
	}
	from := 0
	for i := 0; i <= len(steps); i++ {
		if i < len(steps) && math.Abs(steps[i]-step) < step/10 {
			continue
		}
		if i+1-from > hi-lo {
			lo, hi = from, i+1
		}
		from = i + 1
	}
	return lo, hi, step
}

const (
	// bandShare of the power may lie above the band.
	bandShare = 1e-5
	// bandLeast is how many samples tell a band.
	bandLeast = 64
)

// bandMost is how many samples are used to estimate a band.
const bandMost = 1 << 15

// bandOf is the frequency in cycles a sample above which y has at most
// bandShare of its power. Its mean and trend are removed, and a Hann window
// keeps low frequencies from leaking upwards. It is 0 for too few samples.
func bandOf(y []float64) float64 {
	y = y[:min(len(y), bandMost)]
	n := len(y)
	if n < bandLeast {
		return 0
	}
	x := detrended(y)
	for i := range x {
		x[i] *= math.Pow(math.Sin(math.Pi*(float64(i)+0.5)/float64(n)), 2)
	}
	power, all := make([]float64, 0, n/2+1), 0.0
	for _, c := range fourier.NewFFT(n).Coefficients(nil, x) {
		p := real(c)*real(c) + imag(c)*imag(c)
		power, all = append(power, p), all+p
	}
	above, k := 0.0, len(power)-1
	for ; k > 0 && above+power[k] <= bandShare*all; k-- {
		above += power[k]
	}
	return float64(k+1) / float64(n)
}

// rounding is the step that all differences in y are multiples of, 0 where there is
// none, or where fewer than half of the values occur more than once.
func rounding(y []float64) float64 {
	s := slices.Clone(y)
	slices.Sort(s)
	s = slices.Compact(s)
	if len(s) < 3 || 2*len(s) > len(y) { // rounding shows where values come again
		return 0
	}
	step := math.Inf(1)
	for i := 1; i < len(s); i++ {
		step = min(step, s[i]-s[i-1])
	}
	for i := 1; i < len(s); i++ {
		if k := (s[i] - s[i-1]) / step; math.Abs(k-math.Round(k)) > 0.01 {
			return 0
		}
	}
	return step
}

// detrended is y without its straight line of least squares.
func detrended(y []float64) []float64 {
	mean, _ := score.MeanSD(y, 0, 1)
	middle, slope, moment := float64(len(y)-1)/2, 0.0, 0.0
	for i, v := range y {
		t := float64(i) - middle
		slope += t * (v - mean)
		moment += t * t
	}
	if moment > 0 {
		slope /= moment
	}
	out := make([]float64, len(y))
	for i, v := range y {
		out[i] = v - mean - slope*(float64(i)-middle)
	}
	return out
}
