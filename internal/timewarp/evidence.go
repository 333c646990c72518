package timewarp

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/vssgp/vssgp/internal/ar"
	"gonum.org/v1/gonum/floats"
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

// A weighted is a clock, the logarithm of its posterior probability or, in the end, that itself, and the logarithm of its prior.
type weighted struct {
	Clock
	weight, prior float64
}

// clocks returns the likely clocks about a gap that is filled by a guess, the likeliest first, with their posterior probabilities.
// All warps are judged at an even level, the best of them at every level.
func (r *Recipe) clocks(p *place) []weighted {
	if _, end := p.gap(); len(p.z)-end < samples(r.Evidence.Context/4, p.rate) {
		return []weighted{{weight: 1}} // nothing beyond the gap would hold a glide or a change of level that goes on
	}
	low := p.slower(max(1, int(math.Round(p.rate/evidenceRate))))
	warps := r.warps(p, low)
	levels := r.Level.values()
	if len(levels) == 1 && levels[0] == 0 {
		return likeliest(warps, r.Most, r.Least)
	}
	var all []weighted
	for _, w := range best(warps, min(refined, 2+r.Most)) {
		s := r.sides(low, w.at(low.rate/p.rate))
		for j, level := range levels {
			c := w.Clock
			c.Level = level / p.rate
			prior := w.prior + r.Level.logPrior(j)
			all = append(all, weighted{c, prior + r.Temper*r.evidence(s, level/low.rate), prior})
		}
	}
	return likeliest(all, r.Most, r.Least)
}

// refined is the most warps that are judged at every level.
const refined = 6

// warps returns the recipe's warps, each with its log-posterior up to a constant if the level is even.
func (r *Recipe) warps(p, low *place) (all []weighted) {
	glides, bends := r.Glide.values(), r.Bend.values()
	_, half := p.middle()
	reach := 1.5*r.Evidence.Context*p.rate + half
	for k, bend := range bends {
		for i, glide := range glides {
			c := Clock{Glide: glide / p.rate, Bend: bend / (p.rate * p.rate)}
			if !c.straight() && !c.runs(reach) {
				continue
			}
			w := weighted{c, 0, r.Glide.logPrior(i) + r.Bend.logPrior(k)}
			if len(glides)*len(bends) > 1 {
				w.weight = w.prior + r.Temper*r.evidence(r.sides(low, c.at(low.rate/p.rate)), 0)
			}
			all = append(all, w)
		}
	}
	return all
}

// best returns the n of most weight, which is a logarithm, best first.
func best(all []weighted, n int) []weighted {
	slices.SortStableFunc(all, func(a, b weighted) int { return cmp.Compare(b.weight, a.weight) })
	return all[:min(n, len(all))]
}

// likeliest returns the likeliest clocks, at most so many and of the least probability but for the first. Their weights are
// probabilities among all, made of logarithms.
func likeliest(all []weighted, most int, least float64) []weighted {
	all = best(all, len(all))
	top, total := all[0].weight, 0.0
	for i := range all {
		all[i].weight = math.Exp(all[i].weight - top)
		total += all[i].weight
	}
	for i := range all {
		all[i].weight /= total
		if i > 0 && (i >= most || all[i].weight < least) {
			return all[:i]
		}
	}
	return all
}

// sides are the signal on both sides of a gap in warped time, with white noise below it, and what the evidence needs besides.
type sides struct {
	y, t, weights [2][]float64
	sd            float64 // of the noise
	order         int
}

// sides warps the samples of a place within reach of the evidence.
func (r *Recipe) sides(p *place, c Clock) *sides {
	reach := samples(r.Evidence.Context, p.rate)
	s := &sides{}
	s.y[0], s.t[0] = p.side(c, -1, reach)
	s.y[1], s.t[1] = p.side(c, 1, reach)
	longest := 0
	power := 0.0
	for k, y := range s.y {
		longest = max(longest, len(y))
		s.weights[k] = r.Evidence.weights(len(y), reach)
		for _, v := range y {
			power += v * v
		}
	}
	slices.Reverse(s.weights[0])
	s.order = min(samples(r.Evidence.Order, p.rate), 4*longest/5)
	s.sd = math.Sqrt(power/float64(max(1, len(s.y[0])+len(s.y[1])))) * math.Pow(10, -r.Noise/20)
	noise := whiteNoise()
	for k, y := range s.y {
		for i := range y {
			n := i % len(noise)
			if k == 1 { // from its end
				n = len(noise) - 1 - (len(y)-1-i)%len(noise)
			}
			y[i] += s.sd * noise[n]
		}
	}
	return s
}

// evidence returns the log-likelihood of Burg's model of both sides with a level's change β: for weights w,
//
//	−½ Σw log(E/σ²) − β Σ w t,
//
// with σ² the noise's power, which keeps it the same for sounds of any level.
func (r *Recipe) evidence(s *sides, level float64) float64 {
	if !(s.sd > 0) {
		return 0
	}
	jacobian, total := 0.0, 0.0
	var segments []ar.Segment
	for k, y := range s.y {
		w := s.weights[k]
		if level != 0 {
			y = slices.Clone(y)
			for i, t := range s.t[k] {
				y[i] *= math.Exp(-level * t)
				jacobian -= w[i] * level * t
			}
		}
		total += floats.Sum(w)
		segments = append(segments, ar.Segment{X: y, Weights: w})
	}
	e := ar.Burg(segments, s.order).E
	switch {
	case math.IsInf(e, 0) || math.IsNaN(e): // such a level is out of the question
		return math.Inf(-1)
	case e == 0: // too few samples
		return 0
	}
	return jacobian - 0.5*total*math.Log(e/(s.sd*s.sd))
}

// side returns the signal on one side of the gap in warped time, and its times.
func (p *place) side(c Clock, sign float64, reach int) (y, t []float64) {
	center, half := p.middle()
	near := half + 1.5 // clear of the gap
	far := near + float64(reach)
	if sign < 0 {
		far = min(far, center-1)
	} else {
		far = min(far, float64(len(p.z)-1)-center-1)
	}
	if far <= near {
		return nil, nil
	}
	from, to := math.Ceil(c.tau(near)), math.Floor(c.tau(far))
	if sign < 0 {
		from, to = math.Ceil(c.tau(-far)), math.Floor(c.tau(-near))
	}
	for u := from; u <= to; u++ {
		v := c.inverse(u)
		t = append(t, v)
		y = append(y, at(p.z, v+center))
	}
	return y, t
}
