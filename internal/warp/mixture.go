package warp

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/vssgp/vssgp/internal/ar"
)

// A part of a mixture has a weight and moments.
type part struct {
	weight         float64
	mean, variance []float64
}

// mix returns the moments of a mixture, n samples; the parts' weights need not sum to 1, and without parts it is zeros.
func mix(parts []part, n int) (mean, variance []float64) {
	total := 0.0
	mean, variance = make([]float64, n), make([]float64, n)
	for _, p := range parts {
		total += p.weight
	}
	for _, p := range parts {
		for i, v := range p.mean {
			mean[i] += p.weight / total * v
		}
	}
	for _, p := range parts {
		for i, v := range p.mean {
			d := v - mean[i]
			variance[i] += p.weight / total * (p.variance[i] + d*d)
		}
	}
	return mean, variance
}

// pick returns the index that u, even on [0, 1), falls on by the weights, which sum to 1.
func pick(u float64, weights []float64) int {
	for k, w := range weights {
		if u -= w; u < 0 {
			return k
		}
	}
	return len(weights) - 1
}

// fill fills a place by a recipe. Each draw is from one of its clocks; rngs are the draws' own sources of chance.
func (f *Filler) fill(p *place, r *Recipe, rngs []*rand.Rand) (*Filling, bool) {
	guessed := p.prefilled(r.Prefill)
	clocks := r.clocks(guessed)
	reach := 0
	for _, e := range r.Estimates {
		reach = max(reach, samples(e.Context, p.rate))
	}
	start, end := p.gap()
	n := end - start
	weights := make([]float64, len(clocks))
	for k, c := range clocks {
		weights[k] = c.weight
	}
	total := floats.Sum(weights)
	picks := make([][]int, len(clocks)) // of the draws
	for i, rng := range rngs {
		k := pick(total*rng.Float64(), weights)
		picks[k] = append(picks[k], i)
	}
	var parts []part
	out := &Filling{Draws: make([][]float64, len(rngs))}
	for k, c := range clocks {
		s := guessed.levelled(c.Clock, reach)
		normal := make([]*rand.Rand, len(picks[k]))
		for i, d := range picks[k] {
			normal[i] = rngs[d]
		}
		q, ok := s.conditional(f.model(s, r, p.rate), normal)
		if !ok {
			continue
		}
		parts = append(parts, part{c.weight, s.back(q.Mean, n), s.variances(q.Variance, n)})
		for i, d := range picks[k] {
			out.Draws[d] = s.back(q.Draws[i], n)
		}
	}
	if len(parts) == 0 {
		return nil, false
	}
	out.Mean, out.Variance = mix(parts, n)
	return out, true
}

// model is a recipe's of a levelled series.
func (f *Filler) model(s *levelled, r *Recipe, rate float64) ar.Model {
	if len(r.Estimates) == 1 {
		return s.estimate(r.Estimates[0], rate)
	}
	models := make([]ar.Model, len(r.Estimates))
	for i, e := range r.Estimates {
		models[i] = s.estimate(e, rate)
	}
	return f.mean(rate).Model(models, min(samples(r.Order, rate), max(1, s.gaps[s.which][0]-1)))
}
