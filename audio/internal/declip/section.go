package declip

import (
	"math"
	"sort"

	"github.com/vssgp/vssgp/audio/internal/ar"
	"github.com/vssgp/vssgp/internal/initialize/autoregression"
	"github.com/vssgp/vssgp/internal/linalg/blocktri"
)

// A section is a range of samples that are restored together.
type section struct {
	mean   []float64 // samples, with the posterior means of missing ones
	at     []int     // increasing positions of the missing samples
	sites  []site    // [missing]
	order  int       // model order
	wide   int       // number of samples from which a model is estimated
	window []float64 // [wide] Hann window
	grain  int       // number of errors with the same weight
	tiles  []tile

	sums      autoregression.LagSums // of the current tile
	precision *blocktri.Band         // [missing,missing] without limits
	pull      []float64              // [missing] precision times mean, without limits
	// The posterior with sites instead of limits, set by sweep:
	posterior  []float64        // [missing] mean
	factor     *blocktri.Factor // factor of the precision, set by the last sweep
	covariance *blocktri.Band   // entries with the sparsity pattern of precision
}

// A site contains the limit of a missing sample and the Gaussian factor exp(−½·precision·u² + product·u) that approximates it.
type site struct {
	side               float64 // 1 or −1: side·sample ≥ limit; 0: no limit
	limit              float64
	weak               float64 // precision of the weak prior around the limit
	precision, product float64
	sd                 float64 // posterior standard deviation of the sample
	moved              float64 // change of the mean in the last sweep, in standard deviations
	against            float64 // (limit − mean given the other samples)/sd
}

// A tile contains the prediction errors at [lo, hi), which share a model.
type tile struct {
	lo, hi int
	order  int
	model  ar.Model
	weight []float64 // [grain]; the variance of its errors is E/weight
}

// newSection returns a section of samples z that are missing at the increasing positions at.
func newSection(z []float64, at []int, sites []site, order int, rate float64) *section {
	s := &section{mean: z, at: at, sites: sites, order: order, sums: autoregression.NewLagSums(make([]float64, order+1)),
		precision: blocktri.NewBand(at, order), pull: make([]float64, len(at)), posterior: make([]float64, len(at))}
	s.wide, s.grain = min(max(2, int(windowSeconds*rate)), len(z)), max(1, int(grainSeconds*rate))
	s.window = autoregression.Hann(s.wide)
	s.cut(max(1, int(windowSeconds/6*rate)))
	return s
}

// index returns the number of missing samples before a position.
func (s *section) index(position int) int { return sort.SearchInts(s.at, position) }

// cut creates the tiles whose errors depend on missing samples. The first samples are predicted by tiles of increasing order, as in the
// exact likelihood.
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

// order returns the model order for n samples of which some are missing. It decreases proportionally if more than a third is missing.
func order(rate float64, n, missing int) int {
	p := orderSeconds * rate * min(1, float64(n)/float64(3*missing))
	return max(1, min(int(p), (n-missing)/3))
}

// newSite returns the site of a sample of a clipped run. A weak prior is centered at the limit. Without it, if most samples are clipped,
// the estimates of the lowest frequencies and of the samples would diverge together. The samples of a run share the prior, each with
// weight 1/length.
func newSite(z float64, length int) *site {
	c := &site{}
	if z != 0 {
		c.side, c.limit = math.Copysign(1, z), math.Abs(z)
		c.weak = 1 / (weakLimit * weakLimit * c.limit * c.limit * float64(length))
	}
	return c
}

// Bytes returns an estimate of the maximum memory of a section for n samples of which some are missing.
func Bytes(n, missing int, rate float64) float64 {
	long := min(float64(n), (Tile+2*windowSeconds)*rate)
	p := float64(order(rate, n, missing))
	missed := float64(missing) / float64(n)
	u := long * missed
	return 8 * (6*u*min(u, p*missed) + p*p/2 + 8*long)
}
