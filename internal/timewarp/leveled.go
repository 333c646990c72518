package timewarp

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/vssgp/vssgp/internal/ar"
)

// mostJoint is how many missing samples are solved for together where gaps are close by or the recording ends close by: the cost
// is their number's cube.
const mostJoint = 600

// A leveled series is a part of a place's signal in warped time with its level evened: a stationary process with gaps.
type leveled struct {
	clock Clock
	y, t  []float64 // sample i stands at u = first + i, t in the signal's own time
	first float64
	gaps  [][2]int // in y, of the place's those within reach
	which int      // the one to fill
}

// warped returns the signal up to a reach in samples on either side of the gap in a clock's time, with its level as it is.
func (p *place) warped(c Clock, reach int) *leveled {
	center, half := p.middle()
	lo, hi := -min(float64(reach)+half, center), min(float64(reach)+half, float64(len(p.z)-1)-center)
	if c.straight() {
		lo, hi = math.Ceil(lo+center-1e-9)-center, math.Floor(hi+center+1e-9)-center
	} else {
		lo, hi = math.Ceil(c.tau(lo)), math.Floor(c.tau(hi))
	}
	n := int(math.Round(hi-lo)) + 1
	s := &leveled{clock: c.warp(), y: make([]float64, n), t: make([]float64, n), first: lo}
	for i := range s.y {
		s.t[i] = lo + float64(i)
		if c.straight() {
			s.y[i] = p.z[int(math.Round(s.t[i]+center))]
		} else {
			s.t[i] = c.inverse(s.t[i])
			s.y[i] = at(p.z, s.t[i]+center)
		}
	}
	s.findGaps(p, center)
	return s
}

// findGaps finds the samples that lie in the place's gaps, or so near to one that they were interpolated across its edge.
func (s *leveled) findGaps(p *place, center float64) {
	margin := 0.75
	if s.clock.straight() {
		margin = 0.25
	}
	for i, g := range p.gaps {
		start := sort.SearchFloat64s(s.t, float64(g[0])-margin-center)
		end := sort.SearchFloat64s(s.t, float64(g[1]-1)+margin-center)
		if start == end {
			continue
		}
		if i == p.which {
			s.which = len(s.gaps)
		}
		if last := len(s.gaps) - 1; last >= 0 && start <= s.gaps[last][1] { // they touch
			start = s.gaps[last][1]
		}
		s.gaps = append(s.gaps, [2]int{start, end})
	}
}

// even returns the series with a change of level evened.
func (s *leveled) even(level float64) *leveled {
	if level == 0 {
		return s
	}
	e := *s
	e.clock.Level = level
	e.y = make([]float64, len(s.y))
	for i, v := range s.y {
		e.y[i] = v / e.clock.gain(s.t[i])
	}
	return &e
}

// estimate returns an estimate's model.
func (s *leveled) estimate(e Estimate, rate float64) ar.Model {
	start, end := s.gaps[s.which][0], s.gaps[s.which][1]
	c := samples(e.Context, rate)
	left, right := s.y[max(0, start-c):start], s.y[end:min(len(s.y), end+c)]
	order := min(samples(e.Order, rate), 4*max(len(left), len(right))/5)
	if e.Hann {
		y, power := e.taper(s.y[start-len(left):end+len(right)], len(left), len(right), c)
		r := ar.Autocorrelation(y, order)
		m := ar.YuleWalker(r)
		if r[0] > 0 { // the guess is quieter than what was there
			m.E *= power / r[0]
		}
		return m
	}
	return ar.Burg([]ar.Segment{{X: left}, {X: right}}, order)
}

// conditional returns the distribution of the samples of the gap, given the others, of series that differ in their levels; gaps close
// by are solved for with it.
func conditional(of []*leveled, m ar.Model, rngs []*rand.Rand) (c ar.Conditional, ok bool) {
	s := of[0]
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
	series := make([][]float64, len(of))
	for i, s := range of {
		series[i] = s.y
	}
	if missing > mostJoint { // only a gap alone may be so long
		series = longer(series, m, gaps[0][1]+len(m.A)-1)
	}
	if c, ok = m.Conditional(series, gaps, normal); !ok {
		return c, false
	}
	own := func(all [][]float64) {
		for i, v := range all {
			all[i] = v[before : before+n]
		}
	}
	own(c.Means)
	own(c.Deviations)
	c.Variance = c.Variance[before : before+n]
	return c, true
}

// longer returns the series with at least n samples each, if they do not end in the gap: what is not there is predicted, by the guess
// in the gap, too.
func longer(series [][]float64, m ar.Model, n int) [][]float64 {
	out := slices.Clone(series)
	for i, y := range out {
		if len(y) >= n || len(y) <= n-len(m.A)+1 {
			continue
		}
		y = slices.Clone(y)
		for len(y) < n {
			v := 0.0
			for j := 1; j < min(len(m.A), len(y)+1); j++ {
				v -= m.A[j] * y[len(y)-j]
			}
			y = append(y, v)
		}
		out[i] = y
	}
	return out
}

// joint returns the gaps that are solved for with the one to fill: those within p samples of the next, nearest first, as long as
// they are not many samples. before is how many of these come before it.
func (s *leveled) joint(p int) (gaps [][2]int, before int) {
	from, to := s.which, s.which+1
	space := mostJoint - (s.gaps[s.which][1] - s.gaps[s.which][0])
	for from > 0 && s.gaps[from-1][1] > s.gaps[s.which][0]-p && space >= s.gaps[from-1][1]-s.gaps[from-1][0] {
		from--
		space -= s.gaps[from][1] - s.gaps[from][0]
		before += s.gaps[from][1] - s.gaps[from][0]
	}
	for to < len(s.gaps) && s.gaps[to][0] < s.gaps[s.which][1]+p && space >= s.gaps[to][1]-s.gaps[to][0] {
		space -= s.gaps[to][1] - s.gaps[to][0]
		to++
	}
	return s.gaps[from:to], before
}

// back returns a fill of the gap in its own time and level, n samples; what is given are the gap's leveled values.
func (s *leveled) back(v []float64, n int) []float64 {
	half := float64(n-1) / 2
	start := s.gaps[s.which][0]
	out := make([]float64, n)
	if !s.clock.straight() {
		lo, hi := max(0, start-2*taps), min(len(s.y), start+len(v)+2*taps)
		y := slices.Clone(s.y[lo:hi])
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

// variances returns variances of the gap's leveled values in its own time and level.
func (s *leveled) variances(v []float64, n int) []float64 {
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
	s := p.warped(Clock{}, samples(e.Context, p.rate))
	q := *p
	q.z = slices.Clone(p.z)
	start, end := p.gap()
	if c, ok := conditional([]*leveled{s}, s.estimate(e, p.rate), nil); ok {
		copy(q.z[start:end], c.Means[0])
	} else {
		clear(q.z[start:end])
	}
	return &q
}
