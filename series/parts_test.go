package series

import (
	"math"
	"math/cmplx"
	"testing"
)

// TestCovariances: each part's features have the covariance of the process that it is called after. A smooth trend counts from its first
// value. Lines are as far apart as what repeats after 1.6 reaches; the short memory's lack frequency 0, and an Ornstein–Uhlenbeck process's the hundredth above half a cycle a step.
func TestCovariances(t *testing.T) {
	const reach, sd = 150.0, 0.8
	f := frameOf(t, longSeries(101), false)
	oscillator := func(length, quality float64) func(u, v float64) float64 {
		first := complex(1/(length*quality), 0)
		decay := first / complex(2*quality, 0)
		swing := first * cmplx.Sqrt(complex(1-1/(4*quality*quality), 0))
		return func(u, v float64) float64 {
			lag := complex(math.Abs(u-v), 0)
			c := real(cmplx.Exp(-decay*lag) * (cmplx.Cos(swing*lag) + decay/swing*cmplx.Sin(swing*lag)))
			return sd*sd*c - 2*length*sd*sd/(1.6*reach)
		}
	}
	for name, c := range map[string]struct {
		part      Part
		hyper     []float64
		from      bool // counts from its first value
		want      func(u, v float64) float64
		tolerance float64
	}{
		"random walk": {part: RandomWalk{}, hyper: []float64{sd}, tolerance: 0.01,
			want: func(u, v float64) float64 { return sd * sd * min(u, v) / f.Range }},
		"smooth trend": {part: SmoothTrend{}, hyper: []float64{sd}, from: true, tolerance: 1e-3,
			want: func(u, v float64) float64 {
				u, v = min(u, v), max(u, v)
				return 3 * sd * sd * u * u * (3*v - u) / 6 / math.Pow(f.Range, 3)
			}},
		"memory": {part: ShortMemory{}, hyper: []float64{sd, 20}, tolerance: 0.02,
			want: func(u, v float64) float64 { return sd * sd * (math.Exp(-math.Abs(u-v)/20) - 40/(1.6*reach)) }},
		"delayed":  {part: ShortMemory{Quality: usualQuality}, hyper: []float64{sd, 12, 0.4}, tolerance: 2e-3, want: oscillator(12, 0.4)},
		"swinging": {part: ShortMemory{Quality: usualQuality}, hyper: []float64{sd, 3, 1.5}, tolerance: 2e-3, want: oscillator(3, 1.5)},
		"season": {part: Season{Period: 8, Harmonics: 1}, hyper: []float64{30, sd}, tolerance: 0.01,
			want: func(u, v float64) float64 {
				z := math.Sqrt(3) * math.Abs(u-v) / 30
				return sd * sd * (1 + z) * math.Exp(-z) * math.Cos(2*math.Pi*(u-v)/8)
			}},
	} {
		l := newLayout(f, []Part{c.part}, reach, 120, walkSines, 0, func(float64) float64 { return 1 })
		v := make([]float64, len(c.hyper))
		for i, h := range c.hyper {
			v[i] = math.Log(h)
		}
		weighted := l.weighted(v)
		row := func(u float64) []float64 {
			at := weighted(u)
			if zero := weighted(0); c.from {
				for k := range at {
					at[k] -= zero[k]
				}
			}
			return at
		}
		for _, pair := range [][2]float64{{0, 0}, {3, 3}, {40, 41}, {40, 43.5}, {20, 60}, {10, 95}, {90, 149}} {
			got, want := dot(row(pair[0]), row(pair[1])), c.want(pair[0], pair[1])
			if math.Abs(got-want) > c.tolerance*sd*sd {
				t.Errorf("%s at %v: covariance %.5f, want %.5f", name, pair, got, want)
			}
		}
	}
}
