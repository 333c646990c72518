package timewarp

import (
	"math"
	"math/rand/v2"
	"slices"
)

// rise returns the level after the gap relative to the level before it, in dB, each over onsetLevel seconds. It returns 0 if either
// side is too short or silent.
func (x *excerpt) rise() float64 {
	n := samples(onsetLevel, x.rate)
	start, end := x.gap()
	if start < n || end+n > len(x.z) {
		return 0
	}
	ratio := meanSquare(x.z[end:end+n]) / meanSquare(x.z[start-n:start])
	if x.backward {
		ratio = 1 / ratio
	}
	if !(ratio > 0) || math.IsInf(ratio, 0) {
		return 0
	}
	return 10 * math.Log10(ratio)
}

// onset returns a mixture component for the onset of a louder sound in the gap, or none if the level does not rise enough. Each side
// k predicts the gap with a separate model, with means m_k and variances v_k that grow with the distance. The mean m is the average
// of the m_k weighted by 1/v_k. The variance is the expected squared error of m if the process changes from the first to the second
// model at a uniformly distributed sample:
//
//	(1 − F)(v_1 + (m_1 − m)²) + F(v_2 + (m_2 − m)²),       F increasing linearly from 0 to 1.
//
// Draws change at such a sample and are scaled to these moments. The relative weight increases with the rise, up to maxOnset.
func (x *excerpt) onset(others []part) []part {
	share := min(maxOnset, (x.rise()-minRise)/risePerWeight)
	if share <= 0 {
		return nil
	}
	start, end := x.gap()
	n := end - start
	p := part{mean: make([]float64, n), variance: make([]float64, n)}
	var sides [2]*part
	for k, s := range x.sides() {
		if sides[k] = s.forecast(n); sides[k] == nil {
			return nil
		}
	}
	a, b := sides[0], sides[1]
	slices.Reverse(b.mean)
	slices.Reverse(b.variance)
	center, scale := make([]float64, n), make([]float64, n) // of draws
	for i := range n {
		v, w, f := a.variance[i], b.variance[i], float64(i+1)/float64(n+1)
		about := func(m float64) float64 { return (1-f)*(v+square(a.mean[i]-m)) + f*(w+square(b.mean[i]-m)) }
		p.mean[i] = (a.mean[i]*w + b.mean[i]*v) / max(v+w, math.SmallestNonzeroFloat64)
		p.variance[i] = about(p.mean[i])
		center[i] = (1-f)*a.mean[i] + f*b.mean[i]
		scale[i] = math.Sqrt(p.variance[i] / max(about(center[i]), math.SmallestNonzeroFloat64))
	}
	p.draws = func(rngs []*rand.Rand) [][]float64 {
		first, second := a.draws(rngs), b.draws(rngs)
		for k, rng := range rngs {
			slices.Reverse(second[k])
			change := rng.IntN(n + 1)
			copy(first[k][change:], second[k][change:])
			for i, d := range first[k] {
				first[k][i] = p.mean[i] + scale[i]*(d-center[i])
			}
		}
		return first
	}
	for _, o := range others {
		p.weight += o.weight * share / (1 - share)
	}
	return []part{p}
}

// forecast returns a prediction of the n samples after an excerpt, or nil if the model fails.
func (x *excerpt) forecast(n int) *part {
	end := len(x.z)
	y := &excerpt{slices.Concat(x.z, make([]float64, n)), append(slices.Clone(x.gaps), [2]int{end, end + n}), len(x.gaps), x.rate, false}
	s := y.warped(Warp{}, samples(mediumEstimate.Context, x.rate))
	return s.part(s.estimate(mediumEstimate, x.rate), n)
}
