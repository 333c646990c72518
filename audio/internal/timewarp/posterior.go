package timewarp

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"

	"github.com/vssgp/vssgp/audio/internal/ar"
)

// A weighted is a warp with its log posterior probability or, in results of posterior, its probability.
type weighted struct {
	Warp
	weight float64
	e      *evidence
}

// posterior returns the likely warps of an excerpt with an initial fill and their probabilities, in decreasing order. It evaluates
// all warps at constant level, then the best ones at all levels, and sets β to its posterior mean. If all is false, it ignores bends
// and returns only the most likely warp.
func (c *Candidate) posterior(x *excerpt, all bool) []weighted {
	if _, end := x.gap(); len(x.z)-end < samples(c.Evidence.Context/4, x.rate) || len(c.Glide.Values)+len(c.Level.Values) == 0 {
		return []weighted{{weight: 1}} // too few samples after the gap
	}
	_, half := x.middle()
	reach := 1.5*c.Evidence.Context*x.rate + half
	by := max(1, int(x.rate/lowRate))
	low := x.near(int(reach) + decimateReach*by).slower(by)
	bends, least := c.Bend, minWarp
	if !all {
		bends, least = Grid{}, 1
	}
	var warps []weighted
	for k, bend := range bends.values() {
		for i, glide := range c.Glide.values() {
			w := Warp{Glide: glide / low.rate, Bend: bend / (low.rate * low.rate)}
			if w.straight() || w.monotonic(reach*low.rate/x.rate) {
				e := newEvidence(c, low, w)
				warps = append(warps, weighted{w, c.Glide.logPrior(i) + bends.logPrior(k) + temper*e.even, e})
			}
		}
	}
	warps = likeliest(warps, least)
	for i := range warps {
		warps[i].refine(c.Level, low.rate)
	}
	warps = likeliest(warps, least)
	for i, w := range warps {
		warps[i].Warp, warps[i].weight = w.at(x.rate/low.rate), math.Exp(w.weight)
	}
	return warps
}

// refine sets the level of a warp to its posterior mean, and adds the evidence of all levels to its log posterior.
func (w *weighted) refine(levels Grid, rate float64) {
	values := levels.values()
	logs := make([]float64, len(values))
	for j, level := range values {
		logs[j] = levels.logPrior(j) + temper*(w.e.at(level/rate)-w.e.even)
	}
	total := floats.LogSumExp(logs)
	w.weight += total
	for j, level := range values {
		w.Level += math.Exp(logs[j]-total) * level / rate
	}
}

// likeliest returns the warps with at least the given probability, and always the most likely warp, in decreasing order. It
// normalizes their weights to log probabilities.
func likeliest(all []weighted, least float64) []weighted {
	slices.SortStableFunc(all, func(a, b weighted) int { return cmp.Compare(b.weight, a.weight) })
	logs := make([]float64, len(all))
	for i, w := range all {
		logs[i] = w.weight
	}
	total := floats.LogSumExp(logs)
	for i := range all {
		all[i].weight -= total
		if i > 0 && all[i].weight < math.Log(least) {
			return all[:i]
		}
	}
	return all
}

// whiteNoise returns the same noise for every warp.
var whiteNoise = sync.OnceValue(func() []float64 {
	rng := rand.New(rand.NewPCG(0, 0))
	v := make([]float64, 1<<13)
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	return v
})

// An evidence contains the signal on both sides of a gap in warped time, and white noise to be added after the level correction.
// Without it, stationary noise in the signal would favor β = 0.
type evidence struct {
	y, t, weights, noise [2][]float64
	sd                   float64 // of the noise
	order                int
	even                 float64 // log-likelihood at constant level
}

func newEvidence(c *Candidate, x *excerpt, w Warp) *evidence {
	reach := samples(c.Evidence.Context, x.rate)
	s := x.warped(w, reach)
	g := s.gaps[s.which]
	e := &evidence{y: [2][]float64{s.y[:g[0]], s.y[g[1]:]}, t: [2][]float64{s.t[:g[0]], s.t[g[1]:]}}
	e.order = min(samples(c.Evidence.Order, x.rate), 4*max(len(e.y[0]), len(e.y[1]))/5)
	power := floats.Dot(e.y[0], e.y[0]) + floats.Dot(e.y[1], e.y[1])
	e.sd = math.Sqrt(power/float64(max(1, len(e.y[0])+len(e.y[1])))) * math.Pow(10, -noiseDB/20)
	noise := whiteNoise()
	for k, y := range e.y {
		e.weights[k] = make([]float64, len(y))
		for i := range y {
			d := i // distance from the gap
			if k == 0 {
				d = len(y) - 1 - i
			}
			e.weights[k][i] = square(taper(d, reach))
			e.noise[k] = append(e.noise[k], e.sd*noise[(2*d+k)%len(noise)])
		}
	}
	e.even = e.at(0)
	return e
}

// at returns the log-likelihood of Burg's model of both sides for a level change β per sample. With weights w, it is
//
//	−½ Σw log(E/σ²) − β Σ w t,
//
// where the noise power σ² makes it independent of the scale. It is −∞ if the level is out of range.
func (e *evidence) at(level float64) float64 {
	if !(e.sd > 0) {
		return 0
	}
	jacobian, total := 0.0, 0.0
	var segments []ar.Segment
	for k, y := range e.y {
		w := e.weights[k]
		even := make([]float64, len(y))
		for i, t := range e.t[k] {
			even[i] = y[i]*math.Exp(-level*t) + e.noise[k][i]
		}
		jacobian -= level * floats.Dot(w, e.t[k])
		total += floats.Sum(w)
		segments = append(segments, ar.Segment{X: even, Weights: w})
	}
	switch v := ar.Burg(segments, e.order).E; {
	case math.IsInf(v, 0) || math.IsNaN(v):
		return math.Inf(-1)
	case v > 0:
		return jacobian - 0.5*total*math.Log(v/(e.sd*e.sd))
	}
	return 0 // too few samples
}
