package bayes

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"
)

// countCases contains distributions of counts: Poisson, with a few or many zeros, with an uncertain mean, and large.
var countCases = []Mixture{
	{Means: []float64{math.Log(0.05)}, SDs: []float64{0}, Count: &Count{Dispersion: 1000}},
	{Means: []float64{math.Log(3)}, SDs: []float64{0}, Count: &Count{Dispersion: 0.7}},
	{Means: []float64{math.Log(8), math.Log(2)}, SDs: []float64{0, 0.1}, Count: &Count{Dispersion: 4, Zero: 0.3}},
	{Means: []float64{0, 0.3, 1}, SDs: []float64{0.8, 0.5, 0.2}, Log: true, Count: &Count{Dispersion: 2}},
	{Means: []float64{math.Log(6000)}, SDs: []float64{0.05}, Count: &Count{Dispersion: 900}}, // mass at 0: 0
}

// massOf returns the probability of k by numerical integration over f of the textbook formula.
func massOf(m Mixture, k float64) (p float64) {
	r := m.Count.Dispersion
	given := func(f float64) float64 {
		mean := math.Exp(f)
		a, _ := math.Lgamma(k + r)
		b, _ := math.Lgamma(r)
		c, _ := math.Lgamma(k + 1)
		return math.Exp(a - b - c + r*math.Log(r/(r+mean)) + k*math.Log(mean/(r+mean)))
	}
	for i, mean := range m.Means {
		own, sd := given(mean), m.SDs[i]
		if sd > 0 {
			own = quad.Fixed(func(z float64) float64 {
				return given(mean+sd*z) * math.Exp(-0.5*z*z) / math.Sqrt(2*math.Pi)
			}, -8, 8, 200, nil, 0)
		}
		p += own * (1 - m.Count.Zero) / float64(len(m.Means))
	}
	if k == 0 {
		p += m.Count.Zero
	}
	return p
}

// TestCounts compares the distribution of a count with sums of probabilities that are integrated numerically. Quadrature nodes limit
// the precision for an uncertain mean.
func TestCounts(t *testing.T) {
	const tolerance = 1e-4
	for _, m := range countCases {
		last := int(math.Exp(4*m.SDs[0]+m.Means[0])*1.3) + 200
		var below []float64 // CDF
		mean, square, sum := 0.0, 0.0, 0.0
		for k := range last {
			p := massOf(m, float64(k))
			sum += p
			mean, square, below = mean+float64(k)*p, square+float64(k*k)*p, append(below, sum)
		}
		if !near(sum, 1, 1e-6) {
			t.Fatalf("%v: the probabilities add up to %v", m, sum)
		}
		// The tail of an uncertain mean is limited, which the sums are not.
		widest := m.SDs[0]
		got, sd := m.Moments()
		want := math.Sqrt(square - mean*mean)
		if !near(got/mean, 1, 1e-9+0.05*widest) || !near(sd/want, 1, 1e-6+0.4*widest) {
			t.Errorf("%v: moments %v, %v, want %v, %v", m, got, sd, mean, want)
		}
		for k := 0; k < last; k += 1 + last/50 {
			y := float64(k)
			if got := m.CDF(y + 0.4); !near(got, below[k], tolerance) {
				t.Errorf("%v: CDF of %v is %v, want %v", m, y, got, below[k])
			}
			if p := massOf(m, y); p > 1e-3 && !near(m.LogDensity(y-0.3), math.Log(p), 20*tolerance) {
				t.Errorf("%v: log probability of %v is %v, want %v", m, y, m.LogDensity(y), math.Log(p))
			}
		}
		for _, p := range []float64{0.025, 0.3, 0.5, 0.9, 0.975} {
			q := int(m.Quantile(p))
			if below[q] < p-tolerance || q > 0 && below[q-1] > p+tolerance {
				t.Errorf("%v: the quantile of %v is %d, with CDF %v", m, p, q, below[q])
			}
		}
		for _, y := range []float64{-0.5, 0, 2.25, math.Round(mean)} {
			want := max(0, -y)
			for k, p := range below {
				left := min(max(y-float64(k), 0), 1)
				want += left*p*p + (1-left)*(1-p)*(1-p)
			}
			if got := m.CRPS(y); !near(got, want, 10*tolerance) {
				t.Errorf("%v: CRPS of %v is %v, want %v", m, y, got, want)
			}
		}
		low, high := m.Quantile(0.025), m.Quantile(0.975)
		covers := m.Covers95(low) && m.Covers95(high) && !m.Covers95(high+1)
		if m.CDF(-0.1) != 0 || !math.IsInf(m.LogDensity(-1), -1) || !covers {
			t.Errorf("%v: negative values, or the ends of the interval", m)
		}
	}
}

// TestCountTail checks that a very uncertain mean gives finite moments and quantiles beyond the largest summed count.
func TestCountTail(t *testing.T) {
	m := Mixture{Means: []float64{1, 5}, SDs: []float64{1, 30}, Log: true, Count: &Count{Dispersion: 2}}
	mean, sd, low, high, median := m.Summary()
	if median || low != 0 || !(high > mostCounts) || !(mean < high) || math.IsInf(sd, 0) || math.IsNaN(sd) {
		t.Errorf("%v ± %v, %v to %v, median %v", mean, sd, low, high, median)
	}
	if got := m.CRPS(3); !(got > 0) || math.IsInf(got, 0) {
		t.Errorf("CRPS %v", got)
	}
}
