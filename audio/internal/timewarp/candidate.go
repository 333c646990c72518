package timewarp

import (
	"math"
	"math/bits"
	"slices"

	"github.com/vssgp/vssgp/audio/internal/ar"
	"github.com/vssgp/vssgp/internal/initialize/autoregression"
)

// An Estimate configures an autoregressive model of the samples around a gap. Times are in seconds.
type Estimate struct {
	// Tapered selects the Yule–Walker estimate from the samples, including an initial fill of the gap, weighted by cos² of the
	// distance from the gap. Otherwise Burg's method estimates the model from both sides.
	Tapered bool
	Context float64 // on each side
	Order   float64
}

// A Grid is a discretized normal prior of a warp parameter with mean 0, in 1/s (1/s² for a bend). The zero Grid contains only the
// value 0.
type Grid struct {
	Values []float64 // increasing
	SD     float64
}

// A Candidate is a model of the signal around a gap: a mixture over warps. For each warp, the spectrum is the geometric mean of some
// estimates.
type Candidate struct {
	From float64 // minimum gap length in seconds
	// Refill estimates the spectra with a fill by the most likely warp instead of the initial fill.
	Refill             bool
	Glide, Bend, Level Grid
	Evidence           Estimate // for the evidence of the warps
	Estimates          []Estimate
	Order              float64 // order of the model of the mean spectrum, in seconds
}

// Candidates contains models that are weighted by their errors on artificial gaps (trials).
type Candidates struct {
	All []Candidate
	// Short, if not nil, is the only candidate for gaps shorter than shortGap. It needs no trials.
	Short *Candidate
	// Onsets adds a mixture component for the onset of a louder sound in the gap.
	Onsets bool
	// Distances contains the distances of the trial gaps from the gap, in seconds. Without distances, all candidates have the same
	// weight.
	Distances []float64
	// Widen multiplies the variances, because models selected by the surrounding samples underestimate the error in the gap.
	Widen float64
}

// of returns the candidates for gaps of n samples.
func (c Candidates) of(n int, rate float64) (out []*Candidate) {
	if c.Short != nil && n < samples(shortGap, rate) {
		return []*Candidate{c.Short}
	}
	for i := range c.All {
		if n >= samples(c.All[i].From, rate) {
			out = append(out, &c.All[i])
		}
	}
	return out
}

// reach returns the number of samples on each side of a gap that the estimates use.
func (c *Candidate) reach(rate float64) int {
	reach := 0
	for _, e := range c.Estimates {
		reach = max(reach, samples(e.Context, rate))
	}
	return reach
}

// taper returns the square root of the weight of a sample at a distance from a gap, for a context of c samples.
func taper(distance, c int) float64 {
	return math.Cos(math.Pi / 2 * min(1, float64(distance)/float64(c)))
}

func square(x float64) float64 { return x * x }

func (g Grid) values() []float64 {
	if len(g.Values) == 0 {
		return []float64{0}
	}
	return g.Values
}

// logPrior returns the log prior probability of value i, up to a constant.
func (g Grid) logPrior(i int) float64 {
	if len(g.Values) < 2 {
		return 0
	}
	lo, hi := max(0, i-1), min(len(g.Values)-1, i+1)
	return math.Log((g.Values[hi]-g.Values[lo])/float64(hi-lo)) - square(g.Values[i]/g.SD)/2
}

// estimate returns the model for an estimate.
func (s *warped) estimate(e Estimate, rate float64) ar.Model {
	start, end := s.gaps[s.which][0], s.gaps[s.which][1]
	c := samples(e.Context, rate)
	lo, hi := max(0, start-c), min(len(s.y), end+c)
	order := min(samples(e.Order, rate), 4*max(start-lo, hi-end)/5)
	if !e.Tapered {
		return ar.Burg([]ar.Segment{{X: s.y[lo:start]}, {X: s.y[end:hi]}}, order)
	}
	y := slices.Clone(s.y[lo:hi])
	power, total := 0.0, 0.0
	for i := range y {
		if d := max(start-1-lo-i, lo+i-end); d >= 0 {
			w := taper(d, c)
			y[i] *= w
			power, total = power+y[i]*y[i], total+w*w
		}
	}
	r := autoregression.Autocorrelation(y, order)
	m := ar.YuleWalker(r)
	if r[0] > 0 && total > 0 { // the initial fill has less power than the signal
		m.E *= power / total / r[0]
	}
	return m
}

// model returns the model whose spectrum is the geometric mean of a candidate's estimates.
func (f *Filler) model(s *warped, c *Candidate, rate float64) ar.Model {
	if len(c.Estimates) == 1 {
		return s.estimate(c.Estimates[0], rate)
	}
	models := make([]ar.Model, len(c.Estimates))
	for i, e := range c.Estimates {
		models[i] = s.estimate(e, rate)
	}
	order := min(samples(c.Order, rate), max(1, s.gaps[s.which][0]-1))
	size := 1 << bits.Len(uint(meanResolution*order-1))
	if f.means[size] == nil {
		f.means[size] = ar.NewMean(size)
	}
	return f.means[size].Model(models, order)
}
