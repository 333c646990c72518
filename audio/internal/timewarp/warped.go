package timewarp

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/vssgp/vssgp/audio/internal/ar"
)

// A warped is the signal of an excerpt after time warping and level correction: a stationary process with gaps.
type warped struct {
	warp  Warp
	y, t  []float64 // sample i is at u = first + i; t[i] is its time in the signal
	first float64
	gaps  [][2]int // gaps within reach, in indices of y
	which int      // index of the gap to fill
}

// warped returns the signal up to reach samples on each side of the gap after time warping and level correction.
func (x *excerpt) warped(w Warp, reach int) *warped {
	center, half := x.middle()
	lo, hi := -min(float64(reach)+half, center), min(float64(reach)+half, float64(len(x.z)-1)-center)
	if w.straight() {
		lo, hi = math.Ceil(lo+center-1e-9)-center, math.Floor(hi+center+1e-9)-center
	} else {
		lo, hi = math.Ceil(w.tau(lo)), math.Floor(w.tau(hi))
	}
	n := int(math.Round(hi-lo)) + 1
	s := &warped{warp: w, y: make([]float64, n), t: make([]float64, n), first: lo}
	for i := range s.y {
		s.t[i] = w.inverse(lo + float64(i))
		if w.straight() {
			s.y[i] = x.z[int(math.Round(s.t[i]+center))]
		} else {
			s.y[i] = at(x.z, s.t[i]+center)
		}
		if w.Level != 0 {
			s.y[i] /= w.gain(s.t[i])
		}
	}
	s.findGaps(x, center)
	return s
}

// findGaps sets gaps to the samples in gaps of the excerpt, including samples interpolated across an edge of a gap.
func (s *warped) findGaps(x *excerpt, center float64) {
	margin := 0.75 // samples
	if s.warp.straight() {
		margin = 0.25
	}
	for i, g := range x.gaps {
		start := sort.SearchFloat64s(s.t, float64(g[0])-margin-center)
		end := sort.SearchFloat64s(s.t, float64(g[1]-1)+margin-center)
		if start == end {
			continue
		}
		if i == x.which {
			s.which = len(s.gaps)
		}
		if last := len(s.gaps) - 1; last >= 0 && start <= s.gaps[last][1] { // adjacent
			start = s.gaps[last][1]
		}
		s.gaps = append(s.gaps, [2]int{start, end})
	}
}

// conditional returns the distribution of the samples of the gap given the other samples, with one draw of deviations from the mean
// per random source. Nearby gaps are filled jointly. ok is false if the model is not positive definite.
func (s *warped) conditional(m ar.Model, rngs []*rand.Rand) (c ar.Conditional, ok bool) {
	gaps, before := s.joint(len(m.A) - 1)
	missing, n := 0, s.gaps[s.which][1]-s.gaps[s.which][0]
	for _, g := range gaps {
		missing += g[1] - g[0]
	}
	normal := make([][]float64, len(rngs))
	for i, rng := range rngs {
		normal[i] = make([]float64, missing)
		for j := range normal[i] {
			normal[i][j] = rng.NormFloat64()
		}
	}
	y := s.y
	if end := gaps[0][1]; len(gaps) == 1 && end < len(y) {
		y = m.Continued(y, max(len(y), end+len(m.A)-1)) // extend by p samples to get a Toeplitz matrix
	}
	if c, ok = m.Conditional(y, gaps, normal); !ok {
		return c, false
	}
	c.Mean, c.Variance = c.Mean[before:before+n], c.Variance[before:before+n]
	for i, d := range c.Deviations {
		c.Deviations[i] = d[before : before+n]
	}
	return c, true
}

// joint returns the gaps to fill jointly: gaps within p samples of the gap to fill, up to maxJoint missing samples. before is the
// number of missing samples in the gaps before it.
func (s *warped) joint(p int) (gaps [][2]int, before int) {
	length := func(i int) int { return s.gaps[i][1] - s.gaps[i][0] }
	from, to := s.which, s.which+1
	space := maxJoint - length(s.which)
	for ; from > 0 && s.gaps[from-1][1] > s.gaps[s.which][0]-p && space >= length(from-1); from-- {
		space -= length(from - 1)
		before += length(from - 1)
	}
	for ; to < len(s.gaps) && s.gaps[to][0] < s.gaps[s.which][1]+p && space >= length(to); to++ {
		space -= length(to)
	}
	return s.gaps[from:to], before
}

// back converts a fill v in warped time to n samples in the time and level of the signal.
func (s *warped) back(v []float64, n int) []float64 {
	half := float64(n-1) / 2
	start := s.gaps[s.which][0]
	lo, hi := max(0, start-2*taps), min(len(s.y), start+len(v)+2*taps)
	y := slices.Concat(s.y[lo:start], v, s.y[start+len(v):hi])
	out := make([]float64, n)
	for i := range out {
		t := float64(i) - half
		if s.warp.straight() {
			out[i] = v[i]
		} else {
			out[i] = at(y, s.warp.tau(t)-s.first-float64(lo))
		}
		out[i] *= s.warp.gain(t)
	}
	return out
}

// variances converts variances v in warped time to n variances in the time and level of the signal.
func (s *warped) variances(v []float64, n int) []float64 {
	half := float64(n-1) / 2
	out := make([]float64, n)
	for i := range out {
		t := float64(i) - half
		u := float64(i)
		if !s.warp.straight() {
			u = min(max(s.warp.tau(t)-s.first-float64(s.gaps[s.which][0]), 0), float64(len(v)-1))
		}
		j := min(int(u), len(v)-1)
		right := u - float64(j)
		out[i] = square(s.warp.gain(t)) * ((1-right)*v[j] + right*v[min(j+1, len(v)-1)])
	}
	return out
}
