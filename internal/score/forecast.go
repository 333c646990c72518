package score

import "math"

// MAE returns the mean absolute error of mean as a prediction of y.
func MAE(mean, y []float64) float64 {
	s := 0.0
	for i, v := range y {
		s += math.Abs(v-mean[i]) / float64(len(y))
	}
	return s
}

// SMAPE returns the symmetric mean absolute percentage error as the M4 competition defines it, 0 to 200. Where both are 0 the error is 0.
func SMAPE(mean, y []float64) float64 {
	s := 0.0
	for i, v := range y {
		if d := math.Abs(v) + math.Abs(mean[i]); d > 0 {
			s += 200 * math.Abs(v-mean[i]) / d / float64(len(y))
		}
	}
	return s
}

// NaiveError returns the mean absolute difference of numbers of y that are lag apart: the in-sample error of a naive forecast by the
// number one season before, by which MASE divides the mean absolute error (Hyndman & Koehler 2006; the M4 competition). NaN in y is a
// missing number, and its pairs are left out. Without a pair the result is NaN.
func NaiveError(y []float64, lag int) float64 {
	sum, n := 0.0, 0
	for i := lag; i < len(y); i++ {
		if d := math.Abs(y[i] - y[i-lag]); !math.IsNaN(d) {
			sum, n = sum+d, n+1
		}
	}
	return sum / float64(n)
}

// A Mixture is an equal mixture of Gaussians, one for each draw of a model's hyper-parameters: the distribution that a forecast gives to
// one number. One Gaussian is a mixture of one, and a sample is a mixture with deviations of 0.
type Mixture struct {
	Means, SDs []float64
}

// CDF returns the probability of a number up to y.
func (m Mixture) CDF(y float64) float64 {
	p := 0.0
	for i, mean := range m.Means {
		p += below(y-mean, m.SDs[i]) / float64(len(m.Means))
	}
	return p
}

// Moments returns the mean and the standard deviation: the mean variance, and the variance of the means.
func (m Mixture) Moments() (mean, sd float64) {
	n := float64(len(m.Means))
	for _, v := range m.Means {
		mean += v / n
	}
	variance := 0.0
	for i, v := range m.Means {
		variance += (m.SDs[i]*m.SDs[i] + (v-mean)*(v-mean)) / n
	}
	return mean, math.Sqrt(variance)
}

// Quantile returns the y with CDF p, 0 < p < 1, to 1e-10 of the smallest deviation: by the secant within a bracket that halves at worst.
func (m Mixture) Quantile(p float64) float64 {
	z := -math.Sqrt2 * math.Erfcinv(2*p)
	low, high, least := math.Inf(1), math.Inf(-1), math.Inf(1)
	for i, v := range m.Means {
		low, high = min(low, v+z*m.SDs[i]), max(high, v+z*m.SDs[i])
		least = min(least, m.SDs[i])
	}
	at, above := m.CDF(low)-p, m.CDF(high)-p // of the ends, from below and from above
	for n := 0; high-low > 1e-10*least && n < 200; n++ {
		y := low + (high-low)/2
		if s := low - at*(high-low)/(above-at); n%2 == 0 && s > low && s < high {
			y = s
		}
		if y == low || y == high {
			break
		}
		if d := m.CDF(y) - p; d < 0 {
			low, at = y, d
		} else {
			high, above = y, d
		}
	}
	return low + (high-low)/2
}

// Covers95 reports whether y is inside the central 95 % interval.
func (m Mixture) Covers95(y float64) bool {
	if len(m.Means) == 1 { // by the bounds of Coverage, for those of a CDF round otherwise
		return math.Abs(y-m.Means[0]) <= SD95*m.SDs[0]
	}
	p := m.CDF(y)
	return p >= 0.025 && p <= 0.975
}

// LogDensity returns the log of the density at y.
func (m Mixture) LogDensity(y float64) float64 {
	largest := math.Inf(-1)
	terms := make([]float64, len(m.Means))
	for i, mean := range m.Means {
		z := (y - mean) / m.SDs[i]
		terms[i] = -0.5*z*z - math.Log(m.SDs[i]) - 0.5*math.Log(2*math.Pi)
		largest = max(largest, terms[i])
	}
	sum := 0.0
	for _, t := range terms {
		sum += math.Exp(t - largest)
	}
	return largest + math.Log(sum/float64(len(terms)))
}

// CRPS returns the continuous ranked probability score, ∫ (CDF(x) − 1[x ≥ y])² dx, in the unit of y: E|X − y| − ½E|X − X'| for
// independent X and X' from the mixture (Grimit, Gneiting, Berrocal & Johnson 2006).
func (m Mixture) CRPS(y float64) float64 {
	n := float64(len(m.Means))
	off, apart := 0.0, 0.0
	for i, a := range m.Means {
		off += absolute(y-a, m.SDs[i]) / n
		apart += absolute(0, math.Sqrt2*m.SDs[i]) / (n * n)
		for j, b := range m.Means[:i] {
			apart += 2 * absolute(a-b, math.Hypot(m.SDs[i], m.SDs[j])) / (n * n)
		}
	}
	return off - 0.5*apart
}

// absolute returns E|X| of a Gaussian X.
func absolute(mean, sd float64) float64 {
	if sd == 0 {
		return math.Abs(mean)
	}
	z := mean / sd
	return mean*math.Erf(z/math.Sqrt2) + sd*math.Sqrt(2/math.Pi)*math.Exp(-0.5*z*z)
}

// below returns the probability that a Gaussian with mean 0 is at most d.
func below(d, sd float64) float64 {
	switch {
	case sd > 0:
		return 0.5 * math.Erfc(-d/sd/math.Sqrt2)
	case d >= 0:
		return 1
	}
	return 0
}
