package timewarp

import (
	"math"
	"math/rand/v2"
	"slices"

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
	guessed, clocks := f.prepare(p, r)
	families := familiesOf(clocks)
	for i, rng := range rngs {
		sow(families, rng, i)
	}
	return f.mixture(guessed, r, families, len(rngs))
}

// prepare returns a recipe's clocks and the place with a guess in its gap. If there is to be a mixture, the spectra are estimated with
// what the likeliest clock's model says of the gap in it, not with the first guess.
func (f *Filler) prepare(p *place, r *Recipe) (guessed *place, clocks []weighted) {
	guessed = p.prefilled(r.Prefill)
	clocks = r.clocks(guessed)
	if r.Most > 1 {
		if q, ok := f.mixture(guessed, r, familiesOf(clocks[:1]), 0); ok {
			start, end := p.gap()
			copy(guessed.z[start:end], q.Mean)
		}
	}
	return guessed, clocks
}

// mixture fills a place that holds a guess by the clocks of some families.
func (f *Filler) mixture(p *place, r *Recipe, families []*family, draws int) (*Filling, bool) {
	start, end := p.gap()
	n := end - start
	var parts []part
	out := &Filling{Draws: make([][]float64, draws)}
	for _, g := range families {
		base := p.warped(g.warp, r.reach(p.rate))
		model := f.model(base.even(g.meanLevel()), r, p.rate)
		series := make([]*leveled, len(g.levels))
		for i, level := range g.levels {
			series[i] = base.even(level)
		}
		c, ok := conditional(series, model, g.rngs)
		if !ok {
			continue
		}
		for i, s := range series {
			parts = append(parts, part{g.weights[i], s.back(c.Means[i], n), s.variances(c.Variance, n)})
		}
		for i, d := range c.Deviations {
			k := g.picks[i]
			floats.Add(d, c.Means[k])
			out.Draws[g.draws[i]] = series[k].back(d, n)
		}
	}
	if len(parts) == 0 {
		return nil, false
	}
	out.Mean, out.Variance = mix(parts, n)
	return out, finite(out.Mean) && finite(out.Variance)
}

// finite reports whether all numbers are.
func finite(v []float64) bool {
	s := floats.Sum(v)
	return !math.IsNaN(s) && !math.IsInf(s, 0)
}

// A family are the clocks of one warp: they share a model, which is estimated at their mean level.
type family struct {
	warp            Clock
	levels, weights []float64
	rngs            []*rand.Rand // of draws
	draws, picks    []int        // their numbers, and the levels that they take
}

func familiesOf(clocks []weighted) (all []*family) {
	for _, c := range clocks {
		i := slices.IndexFunc(all, func(g *family) bool { return g.warp == c.warp() })
		if i < 0 {
			i, all = len(all), append(all, &family{warp: c.warp()})
		}
		all[i].levels, all[i].weights = append(all[i].levels, c.Level), append(all[i].weights, c.weight)
	}
	return all
}

// meanLevel returns the mean of the levels.
func (g *family) meanLevel() float64 { return floats.Dot(g.levels, g.weights) / floats.Sum(g.weights) }

// sow has a draw take one of the clocks.
func sow(families []*family, rng *rand.Rand, draw int) {
	total := 0.0
	for _, g := range families {
		total += floats.Sum(g.weights)
	}
	u := rng.Float64() * total
	for i, g := range families {
		for k, w := range g.weights {
			if u -= w; u < 0 || i == len(families)-1 && k == len(g.weights)-1 {
				g.rngs, g.draws, g.picks = append(g.rngs, rng), append(g.draws, draw), append(g.picks, k)
				return
			}
		}
	}
}

// model is a recipe's of a leveled series.
func (f *Filler) model(s *leveled, r *Recipe, rate float64) ar.Model {
	if len(r.Estimates) == 1 {
		return s.estimate(r.Estimates[0], rate)
	}
	models := make([]ar.Model, len(r.Estimates))
	for i, e := range r.Estimates {
		models[i] = s.estimate(e, rate)
	}
	order := min(samples(r.Order, rate), max(1, s.gaps[s.which][0]-1))
	return f.mean(resolution*order).Model(models, order)
}
