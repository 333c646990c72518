package bayes

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/integrate/quad"
)

// MAE returns the mean absolute error of mean as a prediction of y.
func MAE(mean, y []float64) float64 {
	s := 0.0
	for i, v := range y {
		s += math.Abs(v-mean[i]) / float64(len(y))
	}
	return s
}

// SMAPE returns the symmetric mean absolute percentage error as defined by the M4 competition, 0 to 200. If both numbers are 0, the
// error is 0.
func SMAPE(mean, y []float64) float64 {
	s := 0.0
	for i, v := range y {
		if d := math.Abs(v) + math.Abs(mean[i]); d > 0 {
			s += 200 * math.Abs(v-mean[i]) / d / float64(len(y))
		}
	}
	return s
}

// NaiveError returns the mean absolute difference of values of y at distance lag: the in-sample error of the seasonal naive forecast,
// which is the denominator of MASE (Hyndman & Koehler 2006; the M4 competition). Pairs with a missing value (NaN) are skipped.
// Without pairs the result is NaN.
func NaiveError(y []float64, lag int) float64 {
	sum, n := 0.0, 0
	for i := lag; i < len(y); i++ {
		if d := math.Abs(y[i] - y[i-lag]); !math.IsNaN(d) {
			sum, n = sum+d, n+1
		}
	}
	return sum / float64(n)
}

// A Mixture is the predictive distribution of one value: a mixture of equally weighted Gaussians, one for each draw of the
// hyper-parameters. SDs may be 0, so a sample is a mixture too. If Log, the mixture describes the logarithm, and the value has a
// log-normal mixture. If Positive, the value is max(0, X) with X from the mixture: a rectified Gaussian mixture with probability P(X
// < 0) at 0.
type Mixture struct {
	Means, SDs []float64
	Log        bool
	Median     bool // with log-normal components, Summary always returns the median
	Positive   bool
	// Count, if not nil, is the distribution of a count: the mixture then describes the logarithm of its mean.
	Count *Count

	// Other, if not nil, contains further components of another scale, such as log-normal ones and Gaussians. All components have
	// the same weight, so n components and k of Other have the shares n/(n+k) and k/(n+k).
	Other *Mixture
}

// both returns the two parts of a mixture with Other, and the weight of the first.
func (m Mixture) both() (own, other Mixture, share float64) {
	own, other = m, *m.Other
	own.Other = nil
	n := float64(len(m.Means))
	return own, other, n / (n + float64(len(other.Means)))
}

// plain returns the Gaussian mixture of the logarithm, or of X.
func (m Mixture) plain() Mixture { return Mixture{Means: m.Means, SDs: m.SDs} }

// CDF returns the probability of a value of at most y.
func (m Mixture) CDF(y float64) float64 {
	if m.Other != nil {
		own, other, share := m.both()
		return share*own.CDF(y) + (1-share)*other.CDF(y)
	}
	if m.Count != nil {
		return m.countCDF(y)
	}
	if m.Log {
		return m.plain().CDF(math.Log(max(y, 0)))
	}
	if m.Positive && y < 0 {
		return 0
	}
	p := 0.0
	for i, mean := range m.Means {
		p += below(y-mean, m.SDs[i]) / float64(len(m.Means))
	}
	return p
}

// Moments returns the mean and the standard deviation. With Other, for the share s of the components, their moments a and σ, and the
// moments b and τ of the components of Other, they are sa + (1−s)b and √(sσ² + (1−s)τ² + s(1−s)(a − b)²).
func (m Mixture) Moments() (mean, sd float64) {
	if m.Other != nil {
		own, other, share := m.both()
		a, s := own.Moments()
		b, t := other.Moments()
		mean = share*a + (1-share)*b
		return mean, math.Hypot(math.Hypot(math.Sqrt(share)*s, math.Sqrt(1-share)*t), math.Sqrt(share*(1-share))*(a-b))
	}
	if m.Count != nil {
		return m.countMoments()
	}
	n := float64(len(m.Means))
	for i := range m.Means {
		v, _ := m.moments(i)
		mean += v / n
	}
	largest := math.SmallestNonzeroFloat64
	for i := range m.Means {
		v, sd := m.moments(i)
		largest = max(largest, sd, math.Abs(v-mean))
	}
	_, exponent := math.Frexp(largest)
	scale, variance := math.Ldexp(1, -max(exponent, -1000)), 0.0 // avoids overflow and underflow of squares
	for i := range m.Means {
		v, sd := m.moments(i)
		v, sd = (v-mean)*scale, sd*scale
		variance += (sd*sd + v*v) / n
	}
	return mean, math.Sqrt(variance) / scale
}

// Summary returns the mean, the standard deviation and the central 95 % interval. The tail of log-normal components can dominate the
// moments, even of a few components of a mixture with Gaussians. If the mean is above the interval, the standard deviation exceeds its
// width, or Median is set, Summary instead returns the median and half of the central 68 % interval, and median is true.
func (m Mixture) Summary() (mean, sd, low, high float64, median bool) {
	mean, sd = m.Moments()
	low, high = m.Quantile(0.025), m.Quantile(0.975)
	logs := m.Log && m.Count == nil || m.Other != nil && m.Other.Log
	if logs && (m.Median || !(mean < high && sd < high-low)) {
		return m.Quantile(0.5), (m.Quantile(belowSD) - m.Quantile(1-belowSD)) / 2, low, high, true
	}
	return mean, sd, low, high, false
}

// belowSD is the probability that a Gaussian is less than one standard deviation above its mean.
const belowSD = 0.841344746068543

// moments returns the mean and standard deviation of component i. For a rectified Gaussian with z = mean/sd, E X = mean Φ(z) + sd
// φ(z) and E X² = (mean² + sd²) Φ(z) + mean sd φ(z).
func (m Mixture) moments(i int) (mean, sd float64) {
	mean, sd = m.Means[i], m.SDs[i]
	if m.Positive && !m.Log {
		above, density := below(mean, sd), 0.0
		if sd > 0 {
			density = sd * math.Exp(-0.5*mean*mean/(sd*sd)) / math.Sqrt(2*math.Pi)
		}
		first := mean*above + density
		return first, math.Sqrt(max(0, (mean*mean+sd*sd)*above+mean*density-first*first))
	}
	if m.Log {
		mean, sd = math.Exp(mean+0.5*sd*sd), math.Sqrt(math.Expm1(sd*sd))
		sd *= mean
	}
	return mean, sd
}

// Rectified returns the mean and the standard deviation of the Gaussian X for which max(0, X) is a non-negative observation of a latent
// Gaussian f. Its mean is E max(0, f), since E max(0, f + noise) would exceed the mean of data with zeros, and its variance is the variance
// of max(0, f) plus the noise. If more than half of the observations would be 0, the standard deviation of X has an upper limit instead, so
// that the variance decreases with the mean.
func Rectified(f, latent, noise float64) (mean, sd float64) {
	target, above := Mixture{Means: []float64{f}, SDs: []float64{latent}, Positive: true}.moments(0)
	total := math.Hypot(above, noise)
	if total == 0 || target >= unrectified*total {
		return target, total
	}
	unit := Mixture{Means: []float64{0}, SDs: []float64{1}, Positive: true}
	_, half := unit.moments(0)
	most := total / half // matches total if half of the observations are 0
	low, high := allZero, unrectified
	for high-low > 1e-12 { // bisection for mean/sd of X, with which the mean of max(0, X) increases
		unit.Means[0] = low + (high-low)/2
		first, spread := unit.moments(0)
		sd = min(most, total/spread)
		if first*sd < target {
			low = unit.Means[0]
		} else {
			high = unit.Means[0]
		}
	}
	return low * sd, sd
}

// Limits of mean/sd of X in Rectified.
const (
	unrectified = 7.0  // max(0, X) is X for a float64
	allZero     = -3.0 // 99.9 % of the observations are 0
)

// Quantile returns y with CDF(y) = p, 0 < p < 1, to 1e-10 of the smallest standard deviation. It alternates secant and bisection steps.
func (m Mixture) Quantile(p float64) float64 {
	if m.Other != nil {
		own, other, _ := m.both()
		a, b := own.Quantile(p), other.Quantile(p)
		return m.quantile(p, min(a, b), max(a, b), middle)
	}
	if m.Count != nil {
		return m.countQuantile(p)
	}
	if m.Log {
		return min(math.Exp(m.plain().Quantile(p)), math.MaxFloat64)
	}
	if m.Positive {
		return max(0, m.plain().Quantile(p))
	}
	z := -math.Sqrt2 * math.Erfcinv(2*p)
	low, high, least := math.Inf(1), math.Inf(-1), math.Inf(1)
	for i, v := range m.Means {
		low, high = min(low, v+z*m.SDs[i]), max(high, v+z*m.SDs[i])
		least = min(least, m.SDs[i])
	}
	return m.quantile(p, low, high, func(low, high float64) float64 {
		if high-low <= 1e-10*least {
			return low
		}
		return low + (high-low)/2
	})
}

// quantile returns y in [low, high] with CDF(y) = p. It ends if half returns an end of the bracket, else a number inside it.
func (m Mixture) quantile(p, low, high float64, half func(low, high float64) float64) float64 {
	at, above := m.CDF(low)-p, m.CDF(high)-p // CDF − p at the ends of the bracket
	for n := range 200 {
		y := half(low, high)
		if y == low || y == high {
			break
		}
		if s := low - at*(high-low)/(above-at); n%2 == 0 && s > low && s < high {
			y = s
		}
		if d := m.CDF(y) - p; d < 0 {
			low, at = y, d
		} else {
			high, above = y, d
		}
	}
	return low + (high-low)/2
}

// middle returns the number with as many floating-point numbers between low and it as between it and high, so that bisection of
// two scales takes at most 64 steps, however different they are. It returns low if they agree to 1e-14.
func middle(low, high float64) float64 {
	if high-low <= 1e-14*max(math.Abs(low), math.Abs(high)) {
		return low
	}
	a, b := mirrored(int64(math.Float64bits(low))), mirrored(int64(math.Float64bits(high)))
	return math.Float64frombits(uint64(mirrored(a&b + (a^b)>>1)))
}

// mirrored maps the bits of floating-point numbers to integers in the order of the numbers, and these back to the bits.
func mirrored(bits int64) int64 {
	if bits < 0 {
		return math.MinInt64 - bits
	}
	return bits
}

// Covers95 reports whether y is inside the central 95 % interval.
func (m Mixture) Covers95(y float64) bool {
	if m.Other != nil {
		p := m.CDF(y)
		return p >= 0.025 && p <= 0.975
	}
	if m.Log && m.Count == nil {
		return y > 0 && m.plain().Covers95(math.Log(y))
	}
	if m.Positive || m.Count != nil {
		return y >= m.Quantile(0.025) && y <= m.Quantile(0.975)
	}
	if len(m.Means) == 1 { // consistent with Coverage; the CDF rounds differently
		return math.Abs(y-m.Means[0]) <= SD95*m.SDs[0]
	}
	p := m.CDF(y)
	return p >= 0.025 && p <= 0.975
}

// LogDensity returns the log density at y. If Positive and y ≤ 0, it returns log CDF(y).
func (m Mixture) LogDensity(y float64) float64 {
	if m.Other != nil {
		own, other, share := m.both()
		a, b := math.Log(share)+own.LogDensity(y), math.Log(1-share)+other.LogDensity(y)
		if a == b { // also if both are −∞, whose difference is NaN
			return a + math.Ln2
		}
		return max(a, b) + math.Log1p(math.Exp(-math.Abs(a-b)))
	}
	if m.Count != nil {
		return m.countLogDensity(y)
	}
	if m.Log {
		if y <= 0 {
			return math.Inf(-1)
		}
		return m.plain().LogDensity(math.Log(y)) - math.Log(y)
	}
	if m.Positive && y <= 0 {
		return math.Log(m.CDF(y))
	}
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

// CRPS returns the continuous ranked probability score ∫ (CDF(x) − 1[x ≥ y])² dx = E|X − y| − ½E|X − X'| for independent X and X'
// from the mixture (Grimit, Gneiting, Berrocal & Johnson 2006), in units of y. With Other, the CDF is sF + (1−s)G with the share s of
// the components. Since (sf + (1−s)g)² = sf² + (1−s)g² − s(1−s)(f − g)², the score is s CRPS(F) + (1−s) CRPS(G) − s(1−s) ∫ (F − G)² dx.
func (m Mixture) CRPS(y float64) float64 {
	if m.Other != nil {
		own, other, share := m.both()
		return share*own.CRPS(y) + (1-share)*other.CRPS(y) - share*(1-share)*m.apart()
	}
	if m.Count != nil {
		return m.countCRPS(y)
	}
	if m.Positive && !m.Log { // excludes x < 0 from the integral
		lowest, plain := 0.0, m.plain()
		for i, mean := range m.Means {
			lowest = min(lowest, mean-10*m.SDs[i])
		}
		return plain.CRPS(max(y, 0)) - quad.Fixed(func(x float64) float64 { p := plain.CDF(x); return p * p }, lowest, 0, 100, nil, 0) -
			min(y, 0)
	}
	n := float64(len(m.Means))
	off, apart := 0.0, 0.0
	for i := range m.Means {
		off += m.away(i, y) / n
		apart += m.between(i, i) / (n * n)
		for j := range i {
			apart += 2 * m.between(i, j) / (n * n)
		}
	}
	return off - 0.5*apart
}

// apart returns ∫ (F − G)² dx for the CDFs F of the components and G of the components of Other. Quantiles of both divide the
// integral, so that narrow components and heavy tails are integrated as well.
func (m Mixture) apart() (sum float64) {
	own, other, _ := m.both()
	square := func(x float64) float64 { d := own.CDF(x) - other.CDF(x); return d * d }
	ends := []float64{0} // F or G may have an atom at 0
	for _, p := range breaks {
		ends = append(ends, own.Quantile(p), other.Quantile(p))
	}
	slices.Sort(ends)
	for i, low := range ends[:len(ends)-1] {
		if high := ends[i+1]; high > low {
			sum += quad.Fixed(square, low, high, 12, nil, 0)
		}
	}
	return sum
}

// breaks are the probabilities of the quantiles that divide the integral.
var breaks = []float64{1e-9, 1e-6, 1e-4, 1e-3, 0.01, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 0.99, 0.999, 1 - 1e-4, 1 - 1e-6, 1 - 1e-9}

// away returns E|X − y| for X from component i.
func (m Mixture) away(i int, y float64) float64 {
	if !m.Log {
		return absolute(y-m.Means[i], m.SDs[i])
	}
	mean, _ := m.moments(i)
	if y <= 0 {
		return mean - y
	}
	d := math.Log(y) - m.Means[i]
	return y*(2*below(d, m.SDs[i])-1) + mean*(1-2*below(d-m.SDs[i]*m.SDs[i], m.SDs[i]))
}

// between returns E|X − X'| for independent X from component i and X' from component j.
func (m Mixture) between(i, j int) float64 {
	d, s, t := m.Means[i]-m.Means[j], m.SDs[i], m.SDs[j]
	both := math.Hypot(s, t)
	if !m.Log {
		return absolute(d, both)
	}
	a, _ := m.moments(i)
	b, _ := m.moments(j)
	return a*(2*below(d+s*s, both)-1) + b*(2*below(t*t-d, both)-1)
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
