package warp

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/vssgp/vssgp/internal/ar"
)

// mostOthers is how many samples of gaps close by are solved for together with a gap; those further away keep their guesses.
const mostOthers = 400

// A levelled series is a part of a place's signal in warped time with its level evened: a stationary process with gaps.
type levelled struct {
	clock Clock
	y     []float64 // sample i stands at u = first + i
	first float64
	gaps  [][2]int // in y, as the place's
	which int
}

// levelled returns the signal up to a reach in samples on either side of the gap.
func (p *place) levelled(c Clock, reach int) *levelled {
	center, half := p.middle()
	lo, hi := -min(float64(reach)+half, center), min(float64(reach)+half, float64(len(p.z)-1)-center)
	if c.straight() {
		lo, hi = math.Ceil(lo+center-1e-9)-center, math.Floor(hi+center+1e-9)-center
	} else {
		lo, hi = math.Ceil(c.tau(lo)), math.Floor(c.tau(hi))
	}
	s := &levelled{clock: c, y: make([]float64, int(math.Round(hi-lo))+1), first: lo, which: -1}
	var gap int
	inGap := -1 // the gap that the sample before lies in
	for i := range s.y {
		t := lo + float64(i)
		if c.straight() {
			s.y[i] = p.z[int(math.Round(t+center))]
		} else {
			t = c.inverse(t)
			s.y[i] = at(p.z, t+center)
		}
		if c.Level != 0 {
			s.y[i] /= c.gain(t)
		}
		margin := 0.75 // a resampled value so near to a gap would look into it
		if c.straight() {
			margin = 0.25
		}
		for gap < len(p.gaps) && t+center >= float64(p.gaps[gap][1]-1)+margin {
			gap++
		}
		if gap == len(p.gaps) || t+center <= float64(p.gaps[gap][0])-margin {
			inGap = -1
			continue
		}
		if gap == p.which && inGap != gap {
			s.which = len(s.gaps)
		}
		if inGap == gap {
			s.gaps[len(s.gaps)-1][1] = i + 1
		} else {
			s.gaps = append(s.gaps, [2]int{i, i + 1})
		}
		inGap = gap
	}
	return s
}

// estimate returns an estimate's model.
func (s *levelled) estimate(e Estimate, rate float64) ar.Model {
	start, end := s.gaps[s.which][0], s.gaps[s.which][1]
	c := samples(e.Context, rate)
	left, right := s.y[max(0, start-c):start], s.y[end:min(len(s.y), end+c)]
	order := min(samples(e.Order, rate), 4*max(len(left), len(right))/5)
	before, behind := e.weights(len(left), c), e.weights(len(right), c)
	for i, j := 0, len(before)-1; i < j; i, j = i+1, j-1 {
		before[i], before[j] = before[j], before[i]
	}
	return ar.Burg([]ar.Segment{{X: left, Weights: before}, {X: right, Weights: behind}}, order)
}

// conditional returns the distribution of the samples of the gap given the others; gaps close by are solved for with it.
func (s *levelled) conditional(m ar.Model, rngs []*rand.Rand) (c ar.Conditional, ok bool) {
	p := len(m.A) - 1
	from, to := s.which, s.which+1
	left := mostOthers
	for from > 0 && s.gaps[from-1][1] > s.gaps[s.which][0]-p && left >= s.gaps[from-1][1]-s.gaps[from-1][0] {
		from--
		left -= s.gaps[from][1] - s.gaps[from][0]
	}
	for to < len(s.gaps) && s.gaps[to][0] < s.gaps[s.which][1]+p && left >= s.gaps[to][1]-s.gaps[to][0] {
		left -= s.gaps[to][1] - s.gaps[to][0]
		to++
	}
	missing := 0
	for _, g := range s.gaps[from:to] {
		missing += g[1] - g[0]
	}
	normal := make([][]float64, len(rngs))
	for i, rng := range rngs {
		normal[i] = make([]float64, missing)
		for j := range normal[i] {
			normal[i][j] = rng.NormFloat64()
		}
	}
	if c, ok = m.Conditional(s.y, s.gaps[from:to], normal); !ok {
		return c, false
	}
	skip, n := 0, s.gaps[s.which][1]-s.gaps[s.which][0]
	for _, g := range s.gaps[from:s.which] {
		skip += g[1] - g[0]
	}
	c.Mean, c.Variance = c.Mean[skip:skip+n], c.Variance[skip:skip+n]
	for i := range c.Draws {
		c.Draws[i] = c.Draws[i][skip : skip+n]
	}
	return c, true
}

// back returns a fill of the gap in its own time and level, n samples; what is given are the gap's levelled values.
func (s *levelled) back(v []float64, n int) []float64 {
	half := float64(n-1) / 2
	start := s.gaps[s.which][0]
	out := make([]float64, n)
	y := s.y
	if !s.clock.straight() {
		lo, hi := max(0, start-2*taps), min(len(s.y), start+len(v)+2*taps)
		y = make([]float64, hi-lo)
		copy(y, s.y[lo:hi])
		copy(y[start-lo:], v)
		for i := range out {
			t := float64(i) - half
			out[i] = at(y, s.clock.tau(t)-s.first-float64(lo))
		}
	} else {
		copy(out, v)
	}
	if s.clock.Level != 0 {
		for i := range out {
			out[i] *= s.clock.gain(float64(i) - half)
		}
	}
	return out
}

// variances returns variances of the gap's levelled values in its own time and level.
func (s *levelled) variances(v []float64, n int) []float64 {
	half := float64(n-1) / 2
	out := make([]float64, n)
	for i := range out {
		t := float64(i) - half
		g := s.clock.gain(t)
		place := float64(i)
		if !s.clock.straight() {
			place = min(max(s.clock.tau(t)-s.first-float64(s.gaps[s.which][0]), 0), float64(len(v)-1))
		}
		j := min(int(place), len(v)-1)
		right := place - float64(j)
		out[i] = g * g * ((1-right)*v[j] + right*v[min(j+1, len(v)-1)])
	}
	return out
}

// prefilled returns the place with its gap filled by one model.
func (p *place) prefilled(e Estimate) *place {
	s := p.levelled(Clock{}, samples(e.Context, p.rate))
	q := *p
	q.z = slices.Clone(p.z)
	start, end := p.gap()
	if c, ok := s.conditional(s.estimate(e, p.rate), nil); ok {
		copy(q.z[start:end], c.Mean)
	} else {
		clear(q.z[start:end])
	}
	return &q
}
