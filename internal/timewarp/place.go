package timewarp

import (
	"math"
	"slices"
)

// A place is a gap and the samples around it.
type place struct {
	z     []float64 // with a guess in every gap
	gaps  [][2]int  // rising and apart, those close by among them
	which int       // the gap to fill
	rate  float64
}

// gap returns the gap to fill.
func (p *place) gap() (start, end int) { return p.gaps[p.which][0], p.gaps[p.which][1] }

// middle returns the gap's middle and half of its length less one: its samples are those of |t| ≤ half about it.
func (p *place) middle() (center, half float64) {
	start, end := p.gap()
	half = float64(end-start-1) / 2
	return float64(start) + half, half
}

// reversed returns the place backward in time.
func (p *place) reversed() *place {
	n := len(p.z)
	q := &place{slices.Clone(p.z), make([][2]int, len(p.gaps)), len(p.gaps) - 1 - p.which, p.rate}
	slices.Reverse(q.z)
	for i, g := range p.gaps {
		q.gaps[len(p.gaps)-1-i] = [2]int{n - g[1], n - g[0]}
	}
	return q
}

// slower returns the place at a lower rate.
func (p *place) slower(by int) *place {
	if by == 1 {
		return p
	}
	q := &place{decimate(p.z, by), nil, p.which, p.rate / float64(by)}
	for _, g := range p.gaps {
		start := min(int(math.Round(float64(g[0])/float64(by))), len(q.z)-1)
		end := min(max(int(math.Round(float64(g[1])/float64(by))), start+1), len(q.z))
		q.gaps = append(q.gaps, [2]int{start, end}) // two may now touch, which harms nothing
	}
	return q
}
