package bayes

import (
	"math"
	"slices"
	"testing"
)

// near reports whether two numbers agree, with a tolerance relative to max(1, |want|).
func near(got, want, tolerance float64) bool {
	return math.Abs(got-want) <= tolerance*max(1, math.Abs(want))
}

// TestScores compares scores with values computed by hand, including NaiveError with a missing value.
func TestScores(t *testing.T) {
	mean, sd, y := []float64{0, 1, 2, 3}, []float64{1, 1, 2, 0.5}, []float64{1.9, 1, 6, 3.98}
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"RMS", RMS([]float64{3, -4}), math.Sqrt(12.5)},
		{"RMSE", RMSE(mean, y), math.Sqrt((1.9*1.9 + 16 + 0.98*0.98) / 4)},
		// Errors of 1.9, 0, 2 and 1.96 standard deviations; the last is just outside.
		{"coverage", Coverage(mean, sd, y), 0.5},
		{"NLPD", NLPD(mean, sd, y), (0.5*(1.9*1.9+4+1.96*1.96) + math.Log(2) + math.Log(0.5) + 2*math.Log(2*math.Pi)) / 4},
		{"MAE", MAE([]float64{0, 1, 2}, []float64{3, 1, -4}), 3},
		{"SMAPE", SMAPE([]float64{1, 0, -2}, []float64{3, 0, 2}), (200*0.5 + 0 + 200) / 3},
		{"lag 1", NaiveError([]float64{1, 3, 0, 1}, 1), 2},
		{"lag 2", NaiveError([]float64{1, 3, 0, 1}, 2), 1.5},
		{"a hole", NaiveError([]float64{1, 3, math.NaN(), 1, 2}, 2), 2}, // of 3 and 1 alone
	} {
		if !near(c.got, c.want, 1e-14) {
			t.Errorf("%s %v, want %v", c.name, c.got, c.want)
		}
	}
	if got := NaiveError([]float64{1, 2}, 2); !math.IsNaN(got) {
		t.Errorf("no pair: %v, want NaN", got)
	}
}

// TestMeanSD checks MeanSD for numbers of any magnitude, in columns, and that equal numbers have no rounding error.
func TestMeanSD(t *testing.T) {
	for _, unit := range []float64{1, 0x1p-1000, 0x1p-450, 0x1p450, 0x1p1000} {
		a := []float64{9 * unit, 1 * unit, 9 * unit, 2 * unit, 9 * unit, 6 * unit}
		if mean, sd := MeanSD(a, 1, 2); !(math.Abs(mean/unit-3) <= 1e-15) || !(math.Abs(sd/unit-math.Sqrt(14./3)) <= 1e-15) {
			t.Errorf("unit %g: %v ± %v, want 3 ± %v", unit, mean/unit, sd/unit, math.Sqrt(14./3))
		}
	}
	for _, v := range []float64{3, 0.1, -1e300, 3e-300, 0} {
		if mean, sd := MeanSD(slices.Repeat([]float64{v}, 60), 0, 1); mean != v || sd != 0 {
			t.Errorf("%v sixty times: %v ± %v", v, mean, sd)
		}
	}
}

// mixtures contains mixtures of one to three narrow and wide components.
var mixtures = []Mixture{
	{Means: []float64{0}, SDs: []float64{1}},
	{Means: []float64{3}, SDs: []float64{0.05}},
	{Means: []float64{-1, 1}, SDs: []float64{0.5, 0.5}},
	{Means: []float64{-1, 1, 4}, SDs: []float64{0.2, 2, 0.7}},
	{Means: []float64{2, 2, 2}, SDs: []float64{0.1, 1, 3}},
	{Means: []float64{1}, SDs: []float64{0.2}, Log: true},
	{Means: []float64{-0.5, 1, 0}, SDs: []float64{0.5, 0.1, 0.3}, Log: true},
}

// density returns the density of a mixture, by definition.
func density(m Mixture, x float64) (p float64) {
	if m.Log {
		if x <= 0 {
			return 0
		}
		return density(m.plain(), math.Log(x)) / x
	}
	for i, mean := range m.Means {
		z := (x - mean) / m.SDs[i]
		p += math.Exp(-z*z/2) / (m.SDs[i] * math.Sqrt(2*math.Pi)) / float64(len(m.Means))
	}
	return p
}

// TestMixture compares the closed forms with sums of the density over a fine grid.
func TestMixture(t *testing.T) {
	const low, high, cells = -30., 30., 240_000
	const h = (high - low) / cells
	for _, m := range mixtures {
		cdf, wrong, first, second := 0.0, 0, 0.0, 0.0
		for i := range cells {
			x := low + (float64(i)+0.5)*h
			cdf += density(m, x) * h
			first, second = first+x*density(m, x)*h, second+x*x*density(m, x)*h
			clear := min(math.Abs(cdf-0.025), math.Abs(cdf-0.975)) > 0.002
			if clear && i%60 == 0 && m.Covers95(x) != (cdf > 0.025 && cdf < 0.975) {
				wrong++
			}
		}
		if wrong > 0 {
			t.Errorf("%v: the interval is wrong at %d points", m, wrong)
		}
		if mean, sd := m.Moments(); !near(mean, first, 1e-6) || !near(sd, math.Sqrt(second-first*first), 1e-6) {
			t.Errorf("%v: moments %v, %v, want %v, %v", m, mean, sd, first, math.Sqrt(second-first*first))
		}
		for _, y := range []float64{-5, -0.3, 0, 1.1, 2.9, 7} {
			cdf, crps, at := 0.0, 0.0, 0.0
			for i := range cells {
				x := low + (float64(i)+0.5)*h
				p := density(m, x) * h
				step := 0.0
				if x >= y {
					step = 1
				} else {
					at = cdf + p
				}
				middle := cdf + p/2
				crps += (middle - step) * (middle - step) * h
				cdf += p
			}
			if got := m.CDF(y); !near(got, at, 2e-4) {
				t.Errorf("%v: CDF(%v) %v, want %v", m, y, got, at)
			}
			if got := m.CRPS(y); !near(got, crps, 2e-4) {
				t.Errorf("%v: CRPS(%v) %v, want %v", m, y, got, crps)
			}
			if p := density(m, y); p > 1e-300 && !near(m.LogDensity(y), math.Log(p), 1e-12) {
				t.Errorf("%v: log density at %v %v, want %v", m, y, m.LogDensity(y), math.Log(p))
			}
		}
	}
}

// TestGaussian compares the CRPS of one Gaussian with the closed form of Gneiting & Raftery (2007), and with a mixture of equal
// components.
func TestGaussian(t *testing.T) {
	for _, c := range [][3]float64{{0, 1, 0.4}, {5, 0.1, -2}, {1e3, 30, 1100}} {
		mean, sd, y := c[0], c[1], c[2]
		z := (y - mean) / sd
		want := sd * (z*math.Erf(z/math.Sqrt2) + 2*math.Exp(-z*z/2)/math.Sqrt(2*math.Pi) - 1/math.Sqrt(math.Pi))
		one, three := Mixture{Means: []float64{mean}, SDs: []float64{sd}}, Mixture{Means: []float64{mean, mean, mean}, SDs: []float64{sd, sd, sd}}
		if !near(one.CRPS(y), want, 1e-13) || !near(three.CRPS(y), want, 1e-13) {
			t.Errorf("%v: CRPS %v and %v, want %v", c, one.CRPS(y), three.CRPS(y), want)
		}
		if got := one.LogDensity(y); !near(got, -NLPD([]float64{mean}, []float64{sd}, []float64{y}), 1e-13) {
			t.Errorf("%v: log density %v", c, got)
		}
	}
}

// TestSample checks that components with standard deviation 0 are scored by their empirical distribution.
func TestSample(t *testing.T) {
	m := Mixture{Means: []float64{0, 1, 5}, SDs: make([]float64, 3)}
	// The distances to 2 are 2, 1 and 3; the pairwise distances are 1, 5 and 4.
	if got, want := m.CRPS(2), 2-10./9; !near(got, want, 1e-15) {
		t.Errorf("CRPS %v, want %v", got, want)
	}
	for y, want := range map[float64]float64{-1: 0, 0: 1. / 3, 2: 2. / 3, 5: 1} {
		if got := m.CDF(y); !near(got, want, 1e-15) {
			t.Errorf("CDF(%v) %v, want %v", y, got, want)
		}
	}
	if got := (Mixture{Means: []float64{4}, SDs: []float64{0}}).CRPS(1); got != 3 {
		t.Errorf("a point: CRPS %v, want the absolute error, 3", got)
	}
}

// TestQuantile checks that the CDF inverts the quantile, and a quantile of a Gaussian.
func TestQuantile(t *testing.T) {
	for _, m := range []Mixture{
		{Means: []float64{3}, SDs: []float64{2}}, {Means: []float64{-1, 0, 4}, SDs: []float64{0.5, 2, 0.1}}, {Means: []float64{0, 1e3}, SDs: []float64{1, 1}},
		{Means: []float64{5, 5, 5}, SDs: []float64{1e-9, 1, 1e9}},
	} {
		for _, p := range []float64{0.001, 0.025, 0.3, 0.5, 0.9, 0.975, 0.999} {
			y := m.Quantile(p)
			if got := m.CDF(y); math.Abs(got-p) > 1e-9 {
				t.Errorf("%v: quantile %v is %v, which has %v below it", m, p, y, got)
			}
		}
	}
	if got, want := (Mixture{Means: []float64{3}, SDs: []float64{2}}).Quantile(0.975), 3+2*SD95; math.Abs(got-want) > 1e-9 {
		t.Errorf("a Gaussian's quantile is %v, want %v", got, want)
	}
	if mean, sd := (Mixture{Means: []float64{1, 5}, SDs: []float64{1, 3}}).Moments(); mean != 3 || math.Abs(sd-3) > 1e-15 {
		t.Errorf("mean %v and deviation %v, want 3 and 3", mean, sd)
	}
}

// TestSummary checks moments of very small and large numbers, and the median for log-normal distributions with a heavy tail.
func TestSummary(t *testing.T) {
	for _, scale := range []float64{1e-300, 1e-160, 1, 1e150, 1e300} {
		mean, sd := Mixture{Means: []float64{-scale, scale, 4 * scale}, SDs: []float64{0.2 * scale, 2 * scale, 0.7 * scale}}.Moments()
		if want := math.Sqrt((0.04+4+0.49)/3 + 38./9); !near(mean/scale, 4./3, 1e-12) || !near(sd/scale, want, 1e-12) {
			t.Errorf("in units of %v: %v ± %v, want %v ± %v", scale, mean/scale, sd/scale, 4./3, want)
		}
	}
	for sd, want := range map[float64]bool{0.5: false, 1.5: false, 2.5: true, 14: true, 400: true} {
		m := Mixture{Means: []float64{1, 1}, SDs: []float64{sd, sd}, Log: true}
		mean, dev, low, high, median := m.Summary()
		if median != want || !(low < mean && mean < high && dev > 0) || math.IsInf(high, 0) || math.IsInf(dev, 0) {
			t.Errorf("log-normal with %v: %v ± %v in [%v, %v], median: %v, want %v", sd, mean, dev, low, high, median, want)
		}
	}
}

// TestRectified checks the moments of max(0, X) for the X that Rectified returns. A mean far above 0 does not change, and a value above 0
// remains possible however far f is below.
func TestRectified(t *testing.T) {
	of := func(mean, sd float64) (float64, float64) {
		return Mixture{Means: []float64{mean}, SDs: []float64{sd}, Positive: true}.Moments()
	}
	for _, c := range []struct {
		f, latent, noise float64
		few              bool // more than half of the observations are 0
	}{
		{1, 0.1, 1, false}, {1, 0, 1, false}, {0.8, 0.3, 1, false}, {3, 2, 1, false}, {50, 1, 1, false}, {1, 0, 0, false},
		{0.5, 0.3, 1, true}, {0.01, 0, 1, true}, {-0.2, 0.5, 1, true},
	} {
		mean, sd := Rectified(c.f, c.latent, c.noise)
		want, spread := of(c.f, c.latent)
		spread = math.Hypot(spread, c.noise)
		got, dev := of(mean, sd)
		if !near(got, want, 1e-9*spread) || c.few != (mean < 0) || !c.few && !near(dev, spread, 1e-9*spread) || !(dev <= 1.000001*spread) {
			t.Errorf("%+v: max(0, X) is %v ± %v, want %v ± %v", c, got, dev, want, spread)
		}
		if c.f > 10 && (mean != c.f || sd != math.Hypot(c.latent, c.noise)) {
			t.Errorf("%+v: X is %v ± %v", c, mean, sd)
		}
	}
	for _, f := range []float64{-3, -1e9} {
		mean, sd := Rectified(f, 0.5, 2)
		if got, _ := of(mean, sd); !(got < 0.002 && mean > -3.1*sd) {
			t.Errorf("f = %v: max(0, X) has the mean %v, X is %v ± %v", f, got, mean, sd)
		}
	}
}

// TestPositive compares moments, quantiles and scores of a rectified mixture with integrals over X.
func TestPositive(t *testing.T) {
	for _, m := range mixtures {
		if m.Log {
			continue
		}
		r := m
		r.Positive = true
		over := func(f func(x float64) float64) (sum float64) {
			const step = 1e-3
			for x := -30 + step/2; x < 30; x += step {
				sum += step * f(x)
			}
			return sum
		}
		mean := over(func(x float64) float64 { return max(0, x) * density(m, x) })
		square := over(func(x float64) float64 { return max(0, x) * max(0, x) * density(m, x) })
		if got, sd := r.Moments(); !near(got, mean, 1e-6) || !near(sd, math.Sqrt(square-mean*mean), 1e-6) {
			t.Errorf("%v: %v ± %v, want %v ± %v", m, got, sd, mean, math.Sqrt(square-mean*mean))
		}
		for _, p := range []float64{0.01, 0.3, 0.9} {
			if got, want := r.Quantile(p), max(0, m.Quantile(p)); got != want {
				t.Errorf("%v: the quantile of %v is %v, want %v", m, p, got, want)
			}
		}
		for _, y := range []float64{-0.5, 0, 0.7, 3} {
			want := over(func(x float64) float64 {
				below := r.CDF(x)
				if x >= y {
					below--
				}
				return below * below
			})
			if got := r.CRPS(y); !near(got, want, 1e-3) {
				t.Errorf("%v: CRPS of %v is %v, want %v", m, y, got, want)
			}
		}
		if r.LogDensity(0) != math.Log(m.CDF(0)) || !math.IsInf(r.LogDensity(-1), -1) || r.LogDensity(2) != m.LogDensity(2) {
			t.Errorf("%v: log densities %v, %v, %v", m, r.LogDensity(-1), r.LogDensity(0), r.LogDensity(2))
		}
	}
}

// scales contains mixtures of components of two scales: unequal numbers, narrow and wide ones, and heavy tails.
var scales = []Mixture{
	{Means: []float64{2}, SDs: []float64{1}, Other: &Mixture{Means: []float64{0.5}, SDs: []float64{0.4}, Log: true}},
	{Means: []float64{-1, 1, 4}, SDs: []float64{0.2, 2, 0.7}, Other: &Mixture{Means: []float64{1}, SDs: []float64{0.2}, Log: true}},
	{Means: []float64{1}, SDs: []float64{0.5}, Log: true, Other: &Mixture{Means: []float64{3, 2, 3, 5}, SDs: []float64{0.05, 1, 1, 3}}},
	{Means: []float64{2}, SDs: []float64{1}, Other: &Mixture{Means: []float64{0, 1, 0.5}, SDs: []float64{1, 0.9, 0.1}, Log: true}},
	{Means: []float64{2}, SDs: []float64{1}, Positive: true, Other: &Mixture{Means: []float64{0.5}, SDs: []float64{0.4}, Log: true, Positive: true}},
	{Means: []float64{0}, SDs: []float64{0.8}, Log: true, Positive: true, Other: &Mixture{Means: []float64{-0.5, 1}, SDs: []float64{1, 2}, Positive: true}},
}

// parts returns the components of both scales, each as a mixture of one component.
func (m Mixture) parts() (all []Mixture) {
	for i := range m.Means {
		all = append(all, Mixture{Means: m.Means[i : i+1], SDs: m.SDs[i : i+1], Log: m.Log, Positive: m.Positive})
	}
	if m.Other != nil {
		all = append(all, m.Other.parts()...)
	}
	return all
}

// TestScalesMixture compares mixtures of two scales with averages over their components and with sums over a fine grid.
func TestScalesMixture(t *testing.T) {
	const cells = 6000
	ys := []float64{-1, 0, 0.7, 2.5, 30}
	for i, m := range scales {
		parts := m.parts()
		average := func(f func(one Mixture) float64) (mean float64) {
			for _, one := range parts {
				mean += f(one) / float64(len(parts))
			}
			return mean
		}
		cdf := func(x float64) float64 { return average(func(one Mixture) float64 { return one.CDF(x) }) }
		// over returns the integral of f between low and high, on a grid that is finer near 0.
		over := func(low, high float64, f func(x float64) float64) (sum float64) {
			from, to := math.Asinh(low), math.Asinh(high)
			h := (to - from) / cells
			for c := range cells {
				u := from + (float64(c)+0.5)*h
				sum += f(math.Sinh(u)) * math.Cosh(u) * h
			}
			return sum
		}
		const low, high = -30., 1e4
		below := func(power float64) func(x float64) float64 {
			return func(x float64) float64 { return power * math.Pow(x, power-1) * cdf(x) }
		}
		above := func(power float64) func(x float64) float64 {
			return func(x float64) float64 { return power * math.Pow(x, power-1) * (1 - cdf(x)) }
		}
		first := over(0, high, above(1)) - over(low, 0, below(1))
		second := over(0, high, above(2)) - over(low, 0, below(2))
		if mean, sd := m.Moments(); !near(mean, first, 1e-6) || !near(sd, math.Sqrt(second-first*first), 1e-6) {
			t.Errorf("%d: moments %v, %v, want %v, %v", i, mean, sd, first, math.Sqrt(second-first*first))
		}
		for _, y := range ys {
			want := over(low, min(y, 0), func(x float64) float64 { return cdf(x) * cdf(x) }) +
				over(max(y, 0), high, func(x float64) float64 { return (1 - cdf(x)) * (1 - cdf(x)) })
			if y > 0 {
				want += over(0, y, func(x float64) float64 { return cdf(x) * cdf(x) })
			} else {
				want += over(y, 0, func(x float64) float64 { return (1 - cdf(x)) * (1 - cdf(x)) })
			}
			if got := m.CRPS(y); !near(got, want, 1e-6) {
				t.Errorf("%d: CRPS(%v) %v, want %v", i, y, got, want)
			}
			if got := m.CDF(y); !near(got, cdf(y), 1e-14) {
				t.Errorf("%d: CDF(%v) %v, want %v", i, y, got, cdf(y))
			}
			density := math.Log(average(func(one Mixture) float64 { return math.Exp(one.LogDensity(y)) }))
			if got := m.LogDensity(y); got != density && !near(got, density, 1e-12) {
				t.Errorf("%d: log density at %v %v, want %v", i, y, got, density)
			}
		}
		for _, p := range []float64{0.001, 0.03, 0.2, 0.5, 0.8, 0.97, 0.999} {
			y := m.Quantile(p)
			if y == 0 && m.Positive && cdf(0) >= p {
				continue
			}
			if got := cdf(y); !near(got, p, 1e-12) {
				t.Errorf("%d: quantile %v is %v, which has %v below it", i, p, y, got)
			}
			if inside := p > 0.025 && p < 0.975; m.Covers95(y) != inside {
				t.Errorf("%d: the quantile %v is inside the 95 %% interval: %v", i, p, !inside)
			}
		}
	}
}

// TestScalesApart compares ∫ (F − G)² with E|X − Y| − ½E|X − X'| − ½E|Y − Y'| for tails of any weight, where E|X − Y| of a Gaussian
// and a log-normal component is a mean of E|X − y| over quantiles of y.
func TestScalesApart(t *testing.T) {
	for _, sd := range []float64{0.01, 0.3, 1, 2, 3} {
		for _, width := range []float64{0.01, 1, 50} {
			f, g := Mixture{Means: []float64{3}, SDs: []float64{width}}, Mixture{Means: []float64{1}, SDs: []float64{sd}, Log: true}
			across := 0.0
			const step = 1e-3
			for z := -12 + step/2; z < 12; z += step { // of log y
				across += f.away(0, math.Exp(1+sd*z)) * math.Exp(-z*z/2) * step / math.Sqrt(2*math.Pi)
			}
			want := across - 0.5*f.between(0, 0) - 0.5*g.between(0, 0)
			f.Other = &g
			if got := f.apart(); !(math.Abs(got-want) <= 1e-5*want) {
				t.Errorf("N(3, %v²) and a log-normal with %v: %v, want %v", width, sd, got, want)
			}
		}
	}
}

// TestScalesQuantile checks quantiles of components whose scales differ by many orders of magnitude, and of an atom at 0.
func TestScalesQuantile(t *testing.T) {
	for _, m := range []Mixture{
		{Means: []float64{5}, SDs: []float64{1}, Other: &Mixture{Means: []float64{1}, SDs: []float64{400}, Log: true}},
		{Means: []float64{5e6}, SDs: []float64{1e-3}, Other: &Mixture{Means: []float64{15}, SDs: []float64{0.1}, Log: true}},
		{Means: []float64{-1e9}, SDs: []float64{1e8}, Other: &Mixture{Means: []float64{-20}, SDs: []float64{1}, Log: true}},
	} {
		for _, p := range []float64{0.025, 0.4, 0.6, 0.9, 0.975} {
			if y := m.Quantile(p); math.Abs(m.CDF(y)-p) > 1e-5 { // 5e6 has ten digits of a thousandth
				t.Errorf("%v and %v: quantile %v is %v, which has %v below it", m, *m.Other, p, y, m.CDF(y))
			}
		}
	}
	zero := Mixture{Means: []float64{-3}, SDs: []float64{1}, Positive: true,
		Other: &Mixture{Means: []float64{1}, SDs: []float64{0.1}, Log: true, Positive: true}}
	if got := zero.Quantile(0.3); got != 0 {
		t.Errorf("quantile 0.3 is %v, want 0, which has half of the probability", got)
	}
}
