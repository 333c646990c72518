package oracle

import (
	"math"
	"testing"
)

const (
	standardErrors = 5     // the estimates' distance at which a closed form is refused
	noise          = 1e-12 // entries that do not vary are compared to rounding
)

var sampled = []struct {
	name string
	shape
}{
	{"one input", shape{l: 2, k: 2, q: 1, d: 1, n: 5}},
	{"two inputs, two outputs", shape{l: 1, k: 3, q: 2, d: 2, n: 5}},
	{"windows", shape{l: 3, k: 2, q: 1, d: 1, n: 8, windows: true}},
}

func TestMonteCarloFeatures(t *testing.T) {
	for i, c := range sampled {
		t.Run(c.name, func(t *testing.T) {
			rng := newRNG(uint64(i))
			p, xs, _ := random(c.shape, rng)
			phi := SampleFeatures(p, xs, 100_000, rng)
			if w := phi.Worst(flatten(MeanMatrix(p, xs)), noise); w > standardErrors {
				t.Errorf("E[Φ] is %.1f standard errors away", w)
			}
			gram := SampleGram(p, xs, 100_000, rng)
			if w := gram.Worst(flatten(Gram(p, xs)), noise); w > standardErrors {
				t.Errorf("E[ΦᵀΦ] is %.1f standard errors away", w)
			}
			cross := SampleCross(p, xs[0], xs[1], 100_000, rng)
			if w := cross.Worst(each(p, func(k int) float64 { return Cross(p, xs[0], xs[1], k) }), noise); w > standardErrors {
				t.Errorf("E[φ(x)φ(y)] is %.1f standard errors away", w)
			}
		})
	}
}

func each(p *Params, f func(k int) float64) (v []float64) {
	for k := range p.Location {
		v = append(v, f(k))
	}
	return v
}

// TestMonteCarloBites shows that the estimates tell the closed forms from
// their likely slips.
func TestMonteCarloBites(t *testing.T) {
	rng := newRNG(7)
	p, xs, _ := random(shape{l: 2, k: 2, q: 1, d: 1, n: 2}, rng)
	x, y := xs[0], xs[1]
	decay := func(p *Params, factor float64) *Params {
		c := p.Clone()
		for k := range c.FreqVar {
			c.FreqVar[k][0] *= factor
		}
		return c
	}
	phase := func(p *Params, width float64) *Params {
		c := p.Clone()
		for k := range c.PhaseLower {
			mid, h := (p.PhaseLower[k]+p.PhaseUpper[k])/2, (p.PhaseUpper[k]-p.PhaseLower[k])/2
			c.PhaseLower[k], c.PhaseUpper[k] = mid-width*h, mid+width*h
		}
		return c
	}
	mean := SampleFeatures(p, [][]float64{x}, 100_000, rng)
	second := SampleCross(p, x, x, 100_000, rng)
	cross := SampleCross(p, x, y, 100_000, rng)
	for _, slip := range []struct {
		name     string
		estimate Estimate
		wrong    func(k int) float64
	}{
		{"mean: decay without ½", mean, func(k int) float64 { return Mean(decay(p, 2), x, k) }},
		{"mean: no attenuation by the phase", mean, func(k int) float64 { return Mean(phase(p, 0), x, k) }},
		{"mean: sinc(2h)", mean, func(k int) float64 { return Mean(phase(p, 2), x, k) }},
		{"mean: σ²/K for 2σ²/K", mean, func(k int) float64 { return Mean(p, x, k) / math.Sqrt2 }},
		{"second: decay exp(−q) for exp(−4q)", second, func(k int) float64 { return Second(decay(p, 0.25), x, k) }},
		{"second: sinc(h) for sinc(2h)", second, func(k int) float64 { return Second(phase(p, 0.5), x, k) }},
		{"second: the mean squared", second, func(k int) float64 { return Mean(p, x, k) * Mean(p, x, k) }},
		{"cross: the means' product", cross, func(k int) float64 { return Mean(p, x, k) * Mean(p, y, k) }},
		{"cross: second at one input", cross, func(k int) float64 { return Second(p, x, k) }},
	} {
		if w := slip.estimate.Worst(each(p, slip.wrong), noise); w < 2*standardErrors {
			t.Errorf("%s: only %.1f standard errors away, the test would pass it", slip.name, w)
		}
	}
}

func TestMonteCarloPredictions(t *testing.T) {
	for i, c := range sampled {
		t.Run(c.name, func(t *testing.T) {
			rng := newRNG(uint64(20 + i))
			p, xs, ys := random(c.shape, rng)
			at := xs[:2] // the first two rows stand for new inputs
			for name, post := range map[string]*Posterior{
				"exact":      ExactPosterior(p, xs, ys),
				"factorised": FactorizedPosterior(p),
			} {
				rng := newRNG(uint64(40 + i))
				mean, cov := PredictJoint(p, post, at)
				m := flatten(mean)
				second := array(len(m), len(m))
				var diagonal []float64
				for i := range m {
					for j := range m {
						second[i][j] = cov[i][j] + m[i]*m[j]
						if i != j { // a joint covariance that forgot the correlations
							diagonal = append(diagonal, m[i]*m[j])
						} else {
							diagonal = append(diagonal, second[i][j])
						}
					}
				}
				sampleMean, sampleSecond := SamplePredictive(p, post, at, 200_000, rng)
				if w := sampleMean.Worst(m, noise); w > standardErrors {
					t.Errorf("%s: predictive mean is %.1f standard errors away", name, w)
				}
				if w := sampleSecond.Worst(flatten(second), noise); w > standardErrors {
					t.Errorf("%s: predictive second moment is %.1f standard errors away", name, w)
				}
				if w := sampleSecond.Worst(diagonal, noise); w < standardErrors {
					t.Errorf("%s: independent outputs pass too (%.1f standard errors)", name, w)
				}
			}
		})
	}
}
