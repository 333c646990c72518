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

// A weighted is a warp and the logarithm of its posterior probability or, at the end, that probability.
type weighted struct {
	Warp
	weight float64
	e      *evidence
}

// posterior returns the likely warps of an excerpt whose gap has an initial fill, the likeliest first, with their probabilities.
// All warps are evaluated at an even level. The best of them are evaluated at every level and get the posterior mean of β. If all is
// false, bends are left out and only the likeliest warp is returned.
func (c *Candidate) posterior(x *excerpt, all bool) []weighted {
	if _, end := x.gap(); len(x.z)-end < samples(c.Evidence.Context/4, x.rate) || len(c.Glide.Values)+len(c.Level.Values) == 0 {
		return []weighted{{weight: 1}} // too little sound follows the gap to show that a glide or a change of level goes on
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

// refine gives a warp the posterior mean of its level, and adds the evidence of all levels to its log-posterior.
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

// likeliest returns the warps of at least a probability, the likeliest first and in any case. Their weights become the logarithms of the
// probabilities among all.
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

// whiteNoise is the same for every warp, so that it favors none.
var whiteNoise = sync.OnceValue(func() []float64 {
	rng := rand.New(rand.NewPCG(0, 0))
	v := make([]float64, 1<<13)
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	return v
})

// An evidence has the signal on both sides of a gap in warped time, and white noise, which is added to the leveled signal: noise of an even
// level in the signal itself would favor β = 0.
type evidence struct {
	y, t, weights, noise [2][]float64
	sd                   float64 // of the noise
	order                int
	even                 float64 // at an even level
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
			d := i // from the gap
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

// at returns the log-likelihood of Burg's model of both sides if the level changes by β per sample: with weights w,
//
//	−½ Σw log(E/σ²) − β Σ w t,
//
// where σ² is the power of the noise, so that it is the same for sounds of any level. It is −∞ if the level is out of range.
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
