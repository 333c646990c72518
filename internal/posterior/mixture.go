package posterior

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// A Mixture is the mean of S Gaussians, one for each draw of θ.
type Mixture struct{ Mean, SD []float64 } // [S]

// Moments are the mixture's mean and standard deviation: the mean variance, plus the variance of the means.
func (m Mixture) Moments() (mean, sd float64) {
	n := float64(len(m.Mean))
	for _, v := range m.Mean {
		mean += v / n
	}
	variance := 0.0
	for i, v := range m.Mean {
		variance += (m.SD[i]*m.SD[i] + (v-mean)*(v-mean)) / n
	}
	return mean, math.Sqrt(variance)
}

// CDF is the probability of a value up to x, and the density there.
func (m Mixture) CDF(x float64) (below, density float64) {
	n := float64(len(m.Mean))
	for i, v := range m.Mean {
		z := (x - v) / m.SD[i]
		below += 0.5 * math.Erfc(-z/math.Sqrt2) / n
		density += math.Exp(-0.5*z*z) / (math.Sqrt(2*math.Pi) * m.SD[i] * n)
	}
	return below, density
}

// Quantile is the x with CDF p, 0 < p < 1, to 1e-10 of the narrowest Gaussian: by Newton's method inside a bracket that halves.
func (m Mixture) Quantile(p float64) float64 {
	z := distuv.UnitNormal.Quantile(p)
	low, high, narrow := math.Inf(1), math.Inf(-1), math.Inf(1)
	for i, v := range m.Mean {
		low, high = min(low, v+z*m.SD[i]), max(high, v+z*m.SD[i])
		narrow = min(narrow, m.SD[i])
	}
	x := 0.5 * (low + high)
	for range 200 {
		below, density := m.CDF(x)
		if below < p {
			low = x
		} else {
			high = x
		}
		next := x + (p-below)/density
		if !(next > low && next < high) {
			next = 0.5 * (low + high)
		}
		if math.Abs(next-x) <= 1e-10*narrow {
			return next
		}
		x = next
	}
	return x
}

// CRPS is the continuous ranked probability score of y: the integral over x of (CDF(x) − 1[x ≥ y])², in y's units. For a mixture it is
// E|X−y| − ½E|X−X'| with E|N(m,s²)| = 2s·φ(m/s) + m·(2Φ(m/s) − 1) (Grimit et al. 2006).
func (m Mixture) CRPS(y float64) float64 {
	n, c := float64(len(m.Mean)), 0.0
	for i, v := range m.Mean {
		c += meanAbs(v-y, m.SD[i]) / n
		for j, w := range m.Mean {
			c -= 0.5 * meanAbs(v-w, math.Hypot(m.SD[i], m.SD[j])) / (n * n)
		}
	}
	return c
}

// meanAbs is E|X| of a Gaussian.
func meanAbs(mean, sd float64) float64 {
	z := mean / sd
	return 2*sd*math.Exp(-0.5*z*z)/math.Sqrt(2*math.Pi) + mean*math.Erf(z/math.Sqrt2)
}
