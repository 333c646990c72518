package warp

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/vssgp/vssgp/internal/ar"
)

// whiteNoise is the same for every clock, so that it tells none apart.
var whiteNoise = sync.OnceValue(func() []float64 {
	rng := rand.New(rand.NewPCG(0, 0))
	v := make([]float64, 1<<13)
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	return v
})

// A weighted is a clock and its probability.
type weighted struct {
	Clock
	weight float64
}

// clocks returns the likely clocks about a gap that is filled by a guess, the likeliest first.
func (r *Recipe) clocks(p *place) []weighted {
	glides, bends, levels := r.Glide.values(), r.Bend.values(), r.Level.values()
	if len(glides)*len(bends)*len(levels) == 1 {
		return []weighted{{Clock{glides[0] / p.rate, bends[0] / (p.rate * p.rate), levels[0] / p.rate}, 1}}
	}
	low := p.slower(max(1, int(math.Round(p.rate/evidenceRate))))
	_, half := p.middle()
	reach := 1.5*r.Evidence.Context*p.rate + half
	var all []weighted
	best := math.Inf(-1)
	for k, bend := range bends {
		for i, glide := range glides {
			c := Clock{glide / p.rate, bend / (p.rate * p.rate), 0}
			if !c.straight() && !c.runs(reach) {
				continue
			}
			for j, ll := range r.evidence(low, Clock{glide / low.rate, bend / (low.rate * low.rate), 0}) {
				c.Level = levels[j] / p.rate
				v := r.Temper*ll + r.Glide.logPrior(i) + r.Bend.logPrior(k) + r.Level.logPrior(j)
				all = append(all, weighted{c, v})
				best = max(best, v)
			}
		}
	}
	total := 0.0
	for i := range all {
		all[i].weight = math.Exp(all[i].weight - best)
		total += all[i].weight
	}
	slices.SortStableFunc(all, func(a, b weighted) int { return cmp.Compare(b.weight, a.weight) })
	for i := range all {
		all[i].weight /= total
		if i == r.Most || all[i].weight < r.Least && i > 0 {
			return all[:i]
		}
	}
	return all
}

// evidence returns the log-likelihood of a warp for each of the recipe's levels, of Burg's model of the samples to either side: with
// Jacobian and weights w, −½ Σw (log E − 2 Σ w log e^{−βt} / Σw).
func (r *Recipe) evidence(p *place, c Clock) []float64 {
	reach := samples(r.Evidence.Context, p.rate)
	center, half := p.middle()
	half += 1.5
	left, right := p.side(c, -1, reach, center, half), p.side(c, 1, reach, center, half)
	power := 0.0
	for _, s := range []side{left, right} {
		for _, v := range s.y {
			power += v * v
		}
	}
	sd := math.Sqrt(power/float64(len(left.y)+len(right.y))) * math.Pow(10, -r.Noise/20)
	out := make([]float64, len(r.Level.values()))
	if !(sd > 0) {
		return out
	}
	noise := whiteNoise()
	order := min(samples(r.Evidence.Order, p.rate), 4*max(len(left.y), len(right.y))/5)
	wl, wr := r.Evidence.weights(len(left.y), reach), r.Evidence.weights(len(right.y), reach)
	slices.Reverse(wl)
	for j, level := range r.Level.values() {
		level /= p.rate
		jacobian, total := 0.0, 0.0
		segments := make([]ar.Segment, 2)
		for k, s := range []side{left, right} {
			w := [][]float64{wl, wr}[k]
			y := make([]float64, len(s.y))
			for i, v := range s.y {
				n := noise[i%len(noise)]
				if k == 1 {
					n = noise[len(noise)-1-(len(s.y)-1-i)%len(noise)]
				}
				y[i] = (v + sd*n) * math.Exp(-level*s.t[i])
				jacobian -= w[i] * level * s.t[i]
				total += w[i]
			}
			segments[k] = ar.Segment{X: y, Weights: w}
		}
		e := ar.Burg(segments, order).E
		out[j] = -0.5*total*math.Log(e/(sd*sd)) + jacobian
	}
	return out
}

// side is the signal on one side of the gap in warped time, and its times.
type side struct{ y, t []float64 }

func (p *place) side(c Clock, sign float64, reach int, center, half float64) side {
	near, far := half, half+float64(reach)
	if sign < 0 {
		far = min(far, center-1)
	} else {
		far = min(far, float64(len(p.z)-1)-center-1)
	}
	if far <= near {
		return side{}
	}
	from, to := math.Ceil(c.tau(near)), math.Floor(c.tau(far))
	if sign < 0 {
		from, to = math.Ceil(c.tau(-far)), math.Floor(c.tau(-near))
	}
	var s side
	for u := from; u <= to; u++ {
		t := c.inverse(u)
		s.t = append(s.t, t)
		s.y = append(s.y, at(p.z, t+center))
	}
	return s
}
