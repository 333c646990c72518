package timewarp

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/vssgp/vssgp/audio/internal/ar"
)

// A part is a mixture component with a weight, moments, and a function that returns one draw per random source.
type part struct {
	weight         float64
	mean, variance []float64
	draws          func(rngs []*rand.Rand) [][]float64
}

// parts returns the fills of an excerpt by a candidate: one for each likely warp, or only for the most likely warp if all is false.
// It returns nil if all models fail.
func (f *Filler) parts(x *excerpt, c *Candidate, all bool) (out []part) {
	start, end := x.gap()
	if all && c.Refill {
		if p := f.parts(x, c, false); p != nil {
			x = x.filled(p[0].mean)
		}
	}
	for _, w := range c.posterior(x, all) {
		s := x.warped(w.Warp, c.reach(x.rate))
		if p := s.part(f.model(s, c, x.rate), end-start); p != nil {
			p.weight = w.weight
			out = append(out, *p)
		}
	}
	return out
}

// part returns the fill of n samples by a model, or nil if the model fails.
func (s *warped) part(m ar.Model, n int) *part {
	q, ok := s.conditional(m, nil)
	if !ok {
		return nil
	}
	p := &part{mean: s.back(q.Mean, n), variance: s.variances(q.Variance, n)}
	p.draws = func(rngs []*rand.Rand) (out [][]float64) {
		if len(rngs) == 0 {
			return nil
		}
		q, _ := s.conditional(m, rngs) // succeeded for the mean
		for _, d := range q.Deviations {
			floats.Add(d, q.Mean)
			out = append(out, s.back(d, n))
		}
		return out
	}
	if sum := floats.Sum(p.mean) + floats.Sum(p.variance); math.IsNaN(sum) || math.IsInf(sum, 0) {
		return nil
	}
	return p
}

// levelOnly returns a fill of n samples by white noise with the given variance.
func levelOnly(variance float64, n int) part {
	draws := func(rngs []*rand.Rand) (out [][]float64) {
		for _, rng := range rngs {
			out = append(out, make([]float64, n))
			for i := range n {
				out[len(out)-1][i] = math.Sqrt(variance) * rng.NormFloat64()
			}
		}
		return out
	}
	return part{1, make([]float64, n), slices.Repeat([]float64{variance}, n), draws}
}

// mix returns the moments [n] of a mixture. The weights need not sum to 1.
func mix(parts []part, n int) (mean, variance []float64) {
	total := 0.0
	mean, variance = make([]float64, n), make([]float64, n)
	for _, p := range parts {
		total += p.weight
	}
	for _, p := range parts {
		floats.AddScaled(mean, p.weight/total, p.mean)
	}
	for _, p := range parts {
		for i, v := range p.mean {
			variance[i] += p.weight / total * (p.variance[i] + square(v-mean[i]))
		}
	}
	return mean, variance
}

// drawn returns draws from a mixture. Each draw depends only on the seed and its index.
func drawn(parts []part, draws int, seed uint64) [][]float64 {
	total := 0.0
	for _, p := range parts {
		total += p.weight
	}
	rngs, numbers := make([][]*rand.Rand, len(parts)), make([][]int, len(parts))
	for i := range draws {
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		k, u := 0, rng.Float64()*total
		for u -= parts[k].weight; u >= 0 && k+1 < len(parts); u -= parts[k].weight {
			k++
		}
		rngs[k], numbers[k] = append(rngs[k], rng), append(numbers[k], i)
	}
	out := make([][]float64, draws)
	for k, p := range parts {
		for i, d := range p.draws(rngs[k]) {
			out[numbers[k][i]] = d
		}
	}
	return out
}
