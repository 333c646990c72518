package declip

import (
	"math"
	"sort"

	"github.com/vssgp/vssgp/internal/ar"
	"github.com/vssgp/vssgp/internal/linalg/blocktri"
)

// A section is a stretch of samples that are restored together.
type section struct {
	mean   []float64 // the samples, with the means of the missing ones
	at     []int     // the missing ones, rising
	sites  []site    // [missing]
	order  int       // of the models
	wide   int       // samples that a model is estimated from
	window []float64 // [wide] Hann's
	grain  int       // errors of the same weight
	tiles  []tile

	sums      ar.LagSums     // of the tile at work
	precision *blocktri.Band // [missing,missing] without limits
	pull      []float64      // [missing] precision times mean, without limits
	// The posterior with the sites in place of the limits, from the first sweep on:
	posterior  []float64        // [missing] mean
	factor     *blocktri.Factor // of the precision, if it was asked for
	covariance *blocktri.Band   // the entries at those of the precision
}

// A site is a missing sample's limit, and the Gaussian factor exp(−½·precision·u² + product·u) that approximates it.
type site struct {
	side               float64 // 1 or −1: side·sample ≥ limit; 0: there is no limit
	limit              float64
	weak               float64 // precision of the weak prior about the limit
	precision, product float64
	sd                 float64 // of the sample
	moved              float64 // by its mean in the last sweep, in standard deviations
	against            float64 // limit less the mean given the other samples, in standard deviations
}

// A tile is the prediction errors at [lo, hi), which are one model's.
type tile struct {
	lo, hi int
	order  int
	model  ar.Model
	weight []float64 // of every grain of errors, whose variance is E/weight
}

// newSection returns a section of the samples z with the missing ones at increasing positions.
func newSection(z []float64, at []int, sites []site, order int, rate float64) *section {
	s := &section{mean: z, at: at, sites: sites, order: order, sums: ar.NewLagSums(make([]float64, order+1)),
		precision: blocktri.NewBand(at, order), pull: make([]float64, len(at)), posterior: make([]float64, len(at))}
	s.wide, s.grain = min(max(2, int(windowSeconds*rate)), len(z)), max(1, int(grainSeconds*rate))
	s.window = ar.Hann(s.wide)
	s.cut(max(1, int(windowSeconds/6*rate)))
	return s
}

// index returns the number of missing samples before a position.
func (s *section) index(position int) int { return sort.SearchInts(s.at, position) }

// cut makes the tiles with errors that missing samples take part in. The first samples have none before them to be predicted from: they
// are predicted by tiles of rising orders, as in the exact likelihood.
func (s *section) cut(hop int) {
	for lo, hi, order := 0, 0, 0; lo < len(s.mean); lo = hi {
		if order, hi = s.order, lo+hop; lo < s.order {
			order, hi = lo, min(max(1, 2*lo), s.order)
		}
		hi = min(hi, len(s.mean))
		if s.index(lo-order) < s.index(hi) {
			t := tile{lo: lo, hi: hi, order: order, weight: make([]float64, (hi-lo+s.grain-1)/s.grain)}
			for i := range t.weight {
				t.weight[i] = 1
			}
			s.tiles = append(s.tiles, t)
		}
	}
}

// loudest returns the largest magnitude of the known samples of [lo, hi).
func (s *section) loudest(lo, hi int) (peak float64) {
	i := s.index(lo)
	for n := max(lo, 0); n < min(hi, len(s.mean)); n++ {
		if i < len(s.at) && s.at[i] == n {
			i++
			continue
		}
		peak = max(peak, math.Abs(s.mean[n]))
	}
	return peak
}

// order returns the order of the models of n samples of which some are missing. It falls in proportion if more than a third is missing.
func order(rate float64, n, missing int) int {
	p := orderSeconds * rate * min(1, float64(n)/float64(3*missing))
	return max(1, min(int(p), (n-missing)/3))
}

// newSite returns the site of a sample of a clipped run. The posterior tells how far a clipped sample is beyond its limit. But if most
// samples are clipped, nothing else bounds the sound's lowest frequencies from above, and the estimates of spectrum and samples would grow
// together without bound. So a weak prior expects the sample at its limit. Samples of a run share it, so their weights are 1/length.
func newSite(z float64, length int) *site {
	c := &site{}
	if z != 0 {
		c.side, c.limit = math.Copysign(1, z), math.Abs(z)
		c.weak = 1 / (weakLimit * weakLimit * c.limit * c.limit * float64(length))
	}
	return c
}

// Bytes is about the most memory that a section of a fill needs, of n samples of which so many are missing.
func Bytes(n, missing int, rate float64) float64 {
	long := min(float64(n), (Tile+2*windowSeconds)*rate)
	p := float64(order(rate, n, missing))
	missed := float64(missing) / float64(n)
	u := long * missed
	return 8 * (6*u*min(u, p*missed) + p*p/2 + 8*long)
}
