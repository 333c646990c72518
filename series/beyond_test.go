package series

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp/internal/testkit"
)

// wideKernel returns the covariance function of a model at its mode, computed from features that cover its maximum horizon.
func wideKernel(m *Model) func(u, v float64) float64 {
	reach := (MaxHorizon + 1) * m.frame.Range
	l := newLayout(m.frame, m.layout.parts, reach, m.layout.sides, 0, func(float64) float64 { return 1 })
	lambda, _ := l.variance(m.at.Mode)
	at := l.stateSpaceAt(m.at.Mode)
	weighted, known := l.weighted(m.at.Mode), map[float64][]float64{}
	row := func(u float64) []float64 {
		if known[u] == nil {
			known[u] = weighted(u)
		}
		return known[u]
	}
	return func(u, v float64) float64 { return dot(row(u), row(v)) + lambda*at.covariance(u, v) }
}

// TestForecastBeyondLayout compares predictions up to ten data ranges ahead with a dense Gaussian process whose features cover this
// range, and components and draws with the predictions.
func TestForecastBeyondLayout(t *testing.T) {
	random, level := rand.New(rand.NewPCG(6, 6)), 0.0
	s := seriesOf(96, func(i float64) float64 {
		level += 0.1 * random.NormFloat64()
		return level + 0.01*i + math.Sin(2*math.Pi*i/12) + 0.2*random.NormFloat64()
	})
	parts := []Part{Constant{}, Slope{}, SmoothTrend{}, RandomWalk{}, ShortMemory{Length: Prior{Median: 4, SD: 0.1}}, Season{Period: 12, Harmonics: 2, Length: Prior{Median: 15, SD: 0.1}}}
	m := fit(t, s, Options{Parts: parts, Known: true, Draws: AtMode, Log: LogNever})
	var at []float64
	for _, ahead := range []float64{0.2, 0.49, 0.501, 0.6, 1, 2.5, 6, 10} {
		at = append(at, m.frame.x(m.frame.Range*(1+ahead)))
	}
	p, kernel := predict(t, m, at), wideKernel(m)
	noise := m.NoiseSD(0) / m.frame.Scale[0]
	exact := newGaussian(t, m.frame.y[0], func(i, j int) float64 {
		k := kernel(m.frame.u[i], m.frame.u[j])
		if i == j {
			k += noise * noise
		}
		return k
	})
	cross := func(i, j int) float64 { return kernel(m.frame.steps(at[i]), m.frame.u[j]) }
	own := func(i int) float64 { return kernel(m.frame.steps(at[i]), m.frame.steps(at[i])) + noise*noise }
	checkDense(t, m, p, 0, exact, cross, own, 0.03)
	componentsOf(t, m, p)
	checkDraws(t, m, predict(t, m, []float64{at[6], at[3], at[7], at[1], at[5]}), 4000, 3, 0.06, 0.05)
}

// TestTransition checks the covariance over a time step against closed forms and an integral of the spectrum, and that two
// consecutive transitions equal one over both time steps.
func TestTransition(t *testing.T) {
	l := &layout{frame: &frame{Range: 50}}
	v := []float64{math.Log(2), math.Log(7), 0}
	oscillating := func(q float64) func(tau float64) float64 { // Σ 2·S·cos over frequencies, S as in ShortMemory
		return func(tau float64) (sum float64) {
			const step = 2e-5
			for f := step / 2; f < 4; f += step {
				w := 2 * math.Pi * f * 7
				sum += step * 2 * 2 * 7 / (1 + (1-2*q*q)*w*w + math.Pow(q*w, 4)) * math.Cos(2*math.Pi*f*tau)
			}
			return sum
		}
	}
	matern := func(tau float64) float64 {
		z := math.Sqrt(3) * tau / 7
		return (1 + z) * math.Exp(-z)
	}
	season := block{amp: amplitude{sd: 0, length: 1, factor: 1, shape: func(float64, float64) (float64, slope) { return 0, 0 }}}
	of := func(b block) func(tau float64) transition {
		return func(tau float64) transition {
			t, sd := l.transition(&b, v, tau)
			if sd != 2 {
				panic(sd)
			}
			return t
		}
	}
	process := func(q float64) func(tau float64) transition {
		return func(tau float64) (t transition) {
			f, w := stateSpace{Ratio: 1, Length: 7, Quality: q}.transition(tau)
			for i := range 2 {
				for j := range 2 {
					t.f[i][j], t.q[i][j] = f[i][j], w[i][j]
				}
			}
			return t
		}
	}
	for name, c := range map[string]struct {
		of   func(tau float64) transition
		q    float64
		want func(tau float64) float64 // the covariance over tau at variance 1; nil: not stationary
	}{
		"Ornstein-Uhlenbeck": {process(0), 0, func(tau float64) float64 { return math.Exp(-tau / 7) }},
		"overdamped":         {process(0.3), 0.3, oscillating(0.3)},
		"critical":           {process(0.5), 0.5, oscillating(0.5)},
		"oscillating":        {process(2), 2, oscillating(2)},
		"season":             {of(season), 0, matern},
		"smooth trend":       {of(block{start: true, amp: amplitude{sd: 0, factor: 1}}), 0, nil},
		"constant":           {of(block{amp: fixed(2)}), 0, nil},
	} {
		const a, b = 3., 5.5
		one, two, both := c.of(a), c.of(b), c.of(a+b)
		if c.want != nil && (math.Abs(one.f[0][0]-c.want(a)) > 2e-5 || math.Abs(one.q[0][0]-1+c.want(a)*c.want(a)+one.f[0][1]*one.f[0][1]*(1./49)*slopeVariance(name, c.q)) > 5e-5) {
			t.Errorf("%s: F %v, Q %v, want the covariance %v", name, one.f, one.q, c.want(a))
		}
		var f, q mat.Dense
		f.Mul(matrix(two.f), matrix(one.f))
		q.Product(matrix(two.f), matrix(one.q), matrix(two.f).T())
		q.Add(&q, matrix(two.q))
		if !mat.EqualApprox(&f, matrix(both.f), 1e-12) || !mat.EqualApprox(&q, matrix(both.q), 1e-12) {
			t.Errorf("%s: two transitions %v, %v, one over both times %v", name, f, q, both)
		}
	}
	trend, _ := l.transition(&block{start: true, amp: amplitude{sd: 0, factor: 1}}, v, 50)
	testkit.Near(t, trend.q[0][0], 1, 1e-15, "the variance over the data's range")
}

func matrix(a [2][2]float64) *mat.Dense { return mat.NewDense(2, 2, slices.Concat(a[0][:], a[1][:])) }

// slopeVariance returns the variance of the derivative divided by the variance of the process, times the squared length.
func slopeVariance(name string, q float64) float64 {
	switch {
	case name == "season":
		return 3
	case q > 0:
		return 1 / (q * q)
	}
	return 0
}

// TestForecastHorizonIndependent checks that a longer horizon does not change earlier predictions.
func TestForecastHorizonIndependent(t *testing.T) {
	s := made(60, false)
	m := fit(t, s, Options{})
	near, far := predict(t, m, m.Next(12)), predict(t, m, m.Next(400))
	for d := range near.Mean {
		if !slices.Equal(near.Mean[d], far.Mean[d][:12]) || !slices.Equal(near.Upper[d], far.Upper[d][:12]) {
			t.Errorf("12 steps ahead %v, in 400 %v", near.Mean[d], far.Mean[d][:12])
		}
	}
}
