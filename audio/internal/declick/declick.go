// Package declick restores samples with clicks. The sound around a group of clicks is one autoregressive Gaussian process. The observed
// samples of a click are data, too: the sound plus a disturbance of unknown extent and variance. So faint clicks are weighed against the
// errors of a fill, and intact samples at the ends of a click remain.
package declick

import (
	"math"
	"slices"

	"github.com/vssgp/vssgp/audio/internal/ar"
	"github.com/vssgp/vssgp/internal/initialize/autoregression"
)

// Reach returns the number of samples on each side of a group of clicks that Restore needs.
func Reach(rate float64) int { return samples(reachSeconds, rate) }

// Longest returns the maximum number of samples of a click.
func Longest(rate float64) int { return samples(longestSeconds, rate) }

// Group returns the maximum number of samples from the first to the last start of a group of clicks.
func Group(rate float64) int { return samples(groupSeconds, rate) }

// samples converts a duration to samples, at least 1.
func samples(seconds, rate float64) int { return max(1, int(math.Round(seconds*rate))) }

// A Fill is the posterior of the sound in a click.
type Fill struct {
	Mean, SD []float64
	Draws    [][]float64 // [draw][sample] from the joint posterior
	Variance float64     // mean variance of the samples if they were missing
}

// Restore returns the fills of the gaps [start, end) of z with the increasing indices which. They contain clicks, are at most Longest samples
// long, and are neither at the beginning nor at the end of z. The gaps must be sorted and disjoint. The samples of the other gaps are
// ignored. rate is in samples per second. The draws are deterministic for a seed. ok is false if there are too few samples or if they are
// silent.
func Restore(z []float64, gaps [][2]int, which []int, rate float64, draws int, seed uint64) (fills []Fill, ok bool) {
	if backward := gaps[which[0]][0] < len(z)-gaps[which[len(which)-1]][1]; backward {
		mirror := make([]int, len(which))
		for i, k := range which {
			mirror[len(which)-1-i] = len(gaps) - 1 - k
		}
		fills, ok = restore(reversed(z), mirrored(gaps, len(z)), mirror, rate, draws, seed)
		slices.Reverse(fills)
		for _, f := range fills {
			for _, v := range append(f.Draws[:draws:draws], f.Mean, f.SD) {
				slices.Reverse(v)
			}
		}
		return fills, ok
	}
	return restore(z, gaps, which, rate, draws, seed)
}

// reversed returns z in reversed time.
func reversed(z []float64) []float64 {
	z = slices.Clone(z)
	slices.Reverse(z)
	return z
}

// mirrored returns the gaps of n samples in reversed time.
func mirrored(gaps [][2]int, n int) [][2]int {
	out := make([][2]int, len(gaps))
	for i, g := range gaps {
		out[len(gaps)-1-i] = [2]int{n - g[1], n - g[0]}
	}
	return out
}

// restore implements Restore. The model assumes zeros before z, so it is more accurate if more samples precede the gaps than follow them.
func restore(z []float64, gaps [][2]int, which []int, rate float64, draws int, seed uint64) (fills []Fill, ok bool) {
	s := &section{z: z, gaps: gaps, rate: rate}
	if !s.learn() {
		return nil, false
	}
	c, first, ok := s.condition(which[0], which[len(which)-1]+1)
	if !ok {
		return nil, false
	}
	at := which[0] // the gap that begins at first
	for _, k := range which {
		for ; at < k; at++ {
			first += gaps[at][1] - gaps[at][0]
		}
		g := gaps[k]
		n := g[1] - g[0]
		mean, covariance := c.Mean[first:first+n], newMatrix(n)
		for _, d := range c.Deviations {
			covariance.addSquare(d[first : first+n])
		}
		p := newPosterior(z[g[0]:g[1]], mean, covariance, widen*s.variance(g)/s.model.E)
		if p == nil {
			return nil, false
		}
		fills = append(fills, p.fill(draws, seed+uint64(len(fills))))
	}
	return fills, true
}

// A section contains the samples around a group of clicks.
type section struct {
	z     []float64 // observed
	y     []float64 // with fills in the gaps
	gaps  [][2]int
	rate  float64
	model ar.Model // of y
}

// learn fills the gaps by a small model of the samples between them, and then estimates the model of the filled samples. It returns false
// if there are too few samples or if they are silent.
func (s *section) learn() bool {
	var between []ar.Segment
	at, n := 0, 0
	for _, g := range s.gaps {
		between = append(between, ar.Segment{X: s.z[at:g[0]]})
		n, at = n+g[0]-at, g[1]
	}
	between, n = append(between, ar.Segment{X: s.z[at:]}), n+len(s.z)-at
	if n < minKnown {
		return false
	}
	first := ar.Burg(between, min(firstOrder, n/3))
	c, ok := first.Conditional(s.z, s.gaps, nil)
	if !ok || !(first.E > 0) {
		return false
	}
	s.fill(c.Mean, s.gaps)
	s.model = ar.Burg([]ar.Segment{{X: s.y}}, min(samples(orderSeconds, s.rate), n/3))
	return s.model.E > 0 && !math.IsInf(s.model.E, 1)
}

// fill sets y to the samples with fills in the gaps.
func (s *section) fill(values []float64, gaps [][2]int) {
	if s.y == nil {
		s.y = slices.Clone(s.z)
	}
	for k, u := range autoregression.Positions(gaps) {
		s.y[u] = values[k]
	}
}

// condition returns the distribution of the samples in gaps given the samples outside, with the factor of its covariance as deviations,
// and the index of the first sample of gap from. It includes the gaps from to to−1 and those that the model couples with them. More
// distant gaps contain their first fills.
func (s *section) condition(from, to int) (c ar.Conditional, first int, ok bool) {
	p := len(s.model.A) - 1
	start, end := s.gaps[from][0]-p, s.gaps[to-1][1]+p
	lo, hi := from, to
	for ; lo > 0 && s.gaps[lo-1][1] > start; lo-- {
		first += s.gaps[lo-1][1] - s.gaps[lo-1][0]
	}
	for ; hi < len(s.gaps) && s.gaps[hi][0] < end; hi++ {
	}
	joint := s.gaps[lo:hi]
	units := make([][]float64, len(autoregression.Positions(joint)))
	for k := range units {
		units[k] = make([]float64, len(units))
		units[k][k] = 1
	}
	if c, ok = s.model.Conditional(s.y, joint, units); ok {
		s.fill(c.Mean, joint)
	}
	return c, first, ok
}

// variance returns the variance of the prediction errors near a gap, which can be far from the model's, for example at the beginning of a
// note. The errors of filled samples are too small: each filled sample counts as one error less.
func (s *section) variance(g [2]int) float64 {
	p, reach := len(s.model.A)-1, samples(nearSeconds, s.rate)
	lo, hi := max(p, g[0]-reach), min(len(s.y), g[1]+reach)
	squares, n := priorErrors*s.model.E, float64(priorErrors)
	if lo >= hi {
		return s.model.E
	}
	for _, e := range ar.Errors(s.model.A, s.y[lo-p:hi]) {
		squares += e * e
		n++
	}
	for _, h := range s.gaps {
		n -= float64(max(0, min(h[1], hi)-max(h[0], lo)))
	}
	return squares / n
}
