package bayes

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"
)

// A Count is the distribution of a count with a given mean μ: negative binomial with variance μ + μ²/Dispersion or, with
// probability Zero, 0. A large dispersion gives the Poisson distribution.
type Count struct {
	Dispersion float64 `json:"dispersion"`
	Zero       float64 `json:"zero,omitempty"`
}

// A hermite contains the nodes and weights that integrate a function of a standard normal variable.
type hermite struct{ x, w []float64 }

func newHermite(nodes int) hermite {
	h := hermite{make([]float64, nodes), make([]float64, nodes)}
	quad.Hermite{}.FixedLocations(h.x, h.w, math.Inf(-1), math.Inf(1))
	for i := range h.x {
		h.x[i] *= math.Sqrt2
		h.w[i] /= math.Sqrt(math.Pi)
	}
	return h
}

// smooth integrates smooth functions. fine integrates the probability of a count, which is narrow in f if the count is large.
var smooth, fine = newHermite(9), newHermite(21)

// GaussianMean returns E g(f) for a Gaussian f and a smooth function by Gauss–Hermite quadrature.
func GaussianMean(mean, sd float64, g func(f float64) float64) (sum float64) {
	for i, x := range smooth.x {
		sum += smooth.w[i] * g(mean+sd*x)
	}
	return sum
}

// LogMass returns the log probability of the count k if the logarithm of the mean is f, without Zero.
func (c Count) LogMass(k, f float64) float64 { return c.MeanLogMass(k, f, 0) }

// MeanLogMass returns E LogMass(k, f) for a Gaussian f.
func (c Count) MeanLogMass(k, mean, sd float64) float64 {
	r, unit := c.Dispersion, math.Log(c.Dispersion)
	a, _ := math.Lgamma(k + r)
	b, _ := math.Lgamma(r)
	d, _ := math.Lgamma(k + 1)
	log := log1pExp(mean - unit)
	if sd > 0 {
		log = GaussianMean(mean-unit, sd, log1pExp)
	}
	return a - b - d + k*(mean-unit) - (k+r)*log
}

// log1pExp returns log(1 + eˣ) without overflow.
func log1pExp(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }

// masses calls visit with the probabilities of 0, 1, 2, … until it returns false, at most up to mostCounts.
func (m Mixture) masses(visit func(k int, p float64) bool) {
	r := m.Count.Dispersion
	var logs, masses, ratios []float64 // of each component and node; logs is used until the mass exceeds underflow
	for i, mean := range m.Means {
		for j, x := range fine.x {
			f := min(mean+m.SDs[i]*x, maxLogMean) - math.Log(r) // log μ/r
			weight := math.Log(fine.w[j] * (1 - m.Count.Zero) / float64(len(m.Means)))
			logs, ratios = append(logs, weight-r*log1pExp(f)), append(ratios, 1/(1+math.Exp(-f)))
		}
	}
	masses = make([]float64, len(logs))
	for i, log := range logs {
		masses[i] = math.Exp(log)
	}
	for k := 0; k <= mostCounts; k++ {
		p := 0.0
		if k == 0 {
			p = m.Count.Zero
		}
		for i, mass := range masses {
			p += mass
			ratio := ratios[i] * (float64(k) + r) / float64(k+1)
			if mass > underflow {
				masses[i], logs[i] = mass*ratio, math.Inf(-1)
			} else {
				logs[i] += math.Log(ratio)
				if masses[i] = 0; logs[i] > math.Log(underflow) {
					masses[i] = math.Exp(logs[i])
				}
			}
		}
		if !visit(k, p) {
			return
		}
	}
}

const (
	mostCounts = 1 << 16 // larger counts have the quantiles of their mean
	maxLogMean = 300
	underflow  = 1e-300
)

// countCDF returns the probability of a count of at most y.
func (m Mixture) countCDF(y float64) (sum float64) {
	if y < 0 {
		return 0
	}
	if y >= mostCounts {
		return m.means().CDF(y)
	}
	m.masses(func(k int, p float64) bool {
		sum += p
		return float64(k+1) <= y
	})
	return min(sum, 1)
}

// means returns the log-normal mixture of the mean of a count.
func (m Mixture) means() Mixture { return Mixture{Means: m.Means, SDs: m.SDs, Log: true} }

// countQuantile returns the smallest count with a CDF of at least q.
func (m Mixture) countQuantile(q float64) float64 {
	at, sum := -1, 0.0
	m.masses(func(k int, p float64) bool {
		if sum += p; sum >= q {
			at = k
		}
		return at < 0
	})
	if at < 0 {
		return max(mostCounts, math.Round(m.means().Quantile(q)))
	}
	return float64(at)
}

// countMoments returns the mean and the standard deviation. The tail of the log-normal mean μ could dominate them, so μ is limited
// to its 97.5 % quantile. With r the dispersion, E X² given μ is μ + μ²(1 + 1/r).
func (m Mixture) countMoments() (mean, sd float64) {
	share, top := 1-m.Count.Zero, m.plain().Quantile(0.975)
	square := 0.0
	for i := range m.Means {
		for power, sum := range []*float64{&mean, &square} {
			*sum += share / float64(len(m.Means)) * GaussianMean(m.Means[i], m.SDs[i], func(f float64) float64 {
				return math.Exp(float64(power+1) * min(f, top, maxLogMean))
			})
		}
	}
	return mean, math.Sqrt(max(0, mean+(1+1/m.Count.Dispersion)*square-mean*mean))
}

// countLogDensity returns the log probability of the count next to y; −Inf if it is negative.
func (m Mixture) countLogDensity(y float64) float64 {
	largest, n := math.Inf(-1), math.Round(y)
	if n < 0 {
		return largest
	}
	var terms []float64
	add := func(log float64) { terms, largest = append(terms, log), max(largest, log) }
	if n == 0 && m.Count.Zero > 0 {
		add(math.Log(m.Count.Zero))
	}
	for i, mean := range m.Means {
		for j, x := range fine.x {
			weight := fine.w[j] * (1 - m.Count.Zero) / float64(len(m.Means))
			add(math.Log(weight) + m.Count.LogMass(n, min(mean+m.SDs[i]*x, maxLogMean)))
		}
	}
	sum := 0.0
	for _, t := range terms {
		sum += math.Exp(t - largest)
	}
	return largest + math.Log(sum)
}

// countCRPS returns the sum of (F(k) − 1[k ≥ y])² over intervals between integers.
func (m Mixture) countCRPS(y float64) float64 {
	sum, below := max(0, -y), 0.0
	m.masses(func(k int, p float64) bool {
		below += p
		at := float64(k)
		before := min(max(y-at, 0), 1) // share of [k, k+1] below y
		sum += before*below*below + (1-before)*(1-below)*(1-below)
		return at < y || below < 1-1e-9
	})
	return sum
}
