package oracle

import (
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
