package crosschannel

import (
	"cmp"
	"math"
	"slices"

	"github.com/vssgp/vssgp/audio/internal/ar"
)

func lags(rate float64) int { return max(1, int(math.Round(lag*rate))) }

// A problem contains the data from which h is estimated.
type problem struct {
	z    [][]float64
	gaps [][][2]int // [channel], sorted and disjoint
	of   int        // the channel to predict
	gap  [2]int
	l    int
	rate float64
}

// missing returns the union of the gaps of the channel and the gaps of the predictors extended by the lags. Each gap is also extended by
// q samples at its end.
func (p *problem) missing(from []int, q int) (all [][2]int) {
	for _, g := range p.gaps[p.of] {
		all = append(all, [2]int{g[0], min(len(p.z[p.of]), g[1]+q)})
	}
	for _, c := range from {
		for _, g := range p.gaps[c] {
			all = append(all, [2]int{max(0, g[0]-p.l), min(len(p.z[c]), g[1]+q+p.l)})
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

// known returns the runs of [lo, hi) in which the errors, of order q, of the channel and of the predictors at all lags are known.
func (p *problem) known(from []int, q, lo, hi int) (runs [][2]int) {
	for _, g := range append(p.missing(from, q), [2]int{hi, hi}) {
		if end := min(g[0], hi); lo < end {
			runs = append(runs, [2]int{lo, end})
		}
		lo = max(lo, g[1])
	}
	return runs
}

// whitener returns the coefficients of an autoregressive model of the known samples around the gap, or nil if they are silent.
func (p *problem) whitener() []float64 {
	x, reach := p.z[p.of], Context(p.rate)
	var segments []ar.Segment
	known := 0
	for _, r := range p.known(nil, 0, max(0, p.gap[0]-reach), min(len(x), p.gap[1]+reach)) {
		segments = append(segments, ar.Segment{X: x[r[0]:r[1]]})
		known += r[1] - r[0]
	}
	m := ar.Burg(segments, min(2*p.l, known/8)) // as long as the taps
	if !(m.E > 0) {
		return nil
	}
	return m.A
}
