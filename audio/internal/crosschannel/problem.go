package crosschannel

import (
	"cmp"
	"math"
	"slices"

	"github.com/vssgp/vssgp/internal/ar"
)

const (
	lag     = 0.001 // seconds: L
	context = 0.500 // seconds on either side of a gap that h is estimated from
	block   = 0.025 // seconds whose samples have the same weight in it
	order   = 0.002 // seconds, of the autoregressive model
	most    = 3     // channels to predict from
)

func lags(rate float64) int { return max(1, int(math.Round(lag*rate))) }

// A problem is what h is estimated from.
type problem struct {
	z    [][]float64
	gaps [][][2]int // rising and apart, [channel]
	of   int        // the channel to predict
	gap  [2]int
	l    int
	rate float64
}

// missing returns the gaps of the channel and those of the others, wider by the lags, without overlaps.
func (p *problem) missing(from []int) (all [][2]int) {
	all = slices.Clone(p.gaps[p.of])
	for _, c := range from {
		for _, g := range p.gaps[c] {
			all = append(all, [2]int{max(0, g[0]-p.l), min(len(p.z[c]), g[1]+p.l)})
		}
	}
	slices.SortFunc(all, func(a, b [2]int) int { return cmp.Compare(a[0], b[0]) })
	n := 0
	for _, g := range all {
		if n > 0 && g[0] < all[n-1][1] {
			all[n-1][1] = max(all[n-1][1], g[1])
			continue
		}
		all[n] = g
		n++
	}
	return all[:n]
}

// whitener returns the coefficients of an autoregressive model of what is known about the gap, last first; nil of silence.
func (p *problem) whitener() []float64 {
	x, reach := p.z[p.of], int(context*p.rate)
	lo, hi := max(0, p.gap[0]-reach), min(len(x), p.gap[1]+reach)
	var segments []ar.Segment
	known := 0
	add := func(end int) {
		if end > lo {
			segments = append(segments, ar.Segment{X: x[lo:end]})
			known += end - lo
		}
	}
	for _, g := range p.gaps[p.of] {
		if g[1] > lo && g[0] < hi {
			add(g[0])
			lo = g[1]
		}
	}
	add(hi)
	m := ar.Burg(segments, min(max(1, int(order*p.rate)), known/8))
	if !(m.E > 0) {
		return nil
	}
	slices.Reverse(m.A)
	return m.A
}

// usable returns the runs of [lo, hi) where the errors of x, of order q, and of the others at all lags are of known samples.
func (p *problem) usable(from []int, q, lo, hi int) (runs [][2]int) {
	if lo >= hi {
		return nil
	}
	bad := make([]bool, hi-lo)
	mark := func(start, end int) {
		for i := max(start, lo); i < min(end, hi); i++ {
			bad[i-lo] = true
		}
	}
	for _, g := range p.gaps[p.of] {
		mark(g[0], g[1]+q)
	}
	for _, c := range from {
		for _, g := range p.gaps[c] {
			mark(g[0]-p.l, g[1]+q+p.l)
		}
	}
	for i := lo; i < hi; i++ {
		switch {
		case bad[i-lo]:
		case len(runs) > 0 && runs[len(runs)-1][1] == i:
			runs[len(runs)-1][1]++
		default:
			runs = append(runs, [2]int{i, i + 1})
		}
	}
	return runs
}
