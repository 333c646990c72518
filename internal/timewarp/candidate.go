package timewarp

import (
	"math"
	"math/bits"
	"slices"

	"github.com/vssgp/vssgp/internal/ar"
)

// An Estimate is an autoregressive model of the samples about a gap. Times are in seconds.
type Estimate struct {
	// Tapered weights the samples by cos² of their distance from the gap on both sides; the model is Yule's and Walker's, of the
	// samples with an initial fill in the gap. Otherwise it is Burg's of both sides.
	Tapered bool
	Context float64 // on either side
	Order   float64
}

// A Grid is a prior of a number of a warp on some values, in 1/s (1/s² for a bend): normal about 0, weighted by their spacing.
// The zero Grid is the value 0.
type Grid struct {
	Values []float64 // rising, evenly spaced or not
	SD     float64
}

// A Candidate is a model of the sound around a gap: a mixture over warps, in each of which the spectrum is the geometric mean of
// some estimates.
type Candidate struct {
	From float64 // seconds: shorter gaps are filled without this candidate
	// Refill estimates the spectra with a fill by the likeliest warp in the gap in place of the initial fill.
	Refill             bool
	Glide, Bend, Level Grid
	Evidence           Estimate // of the warps
	Estimates          []Estimate
	Order              float64 // of the model of the mean spectrum, seconds
}

// Candidates are models that are weighted by their errors in trial gaps.
type Candidates struct {
	All []Candidate
	// Short fills gaps of less than shortGap alone, without trials, if it is not nil.
	Short *Candidate
	// Onsets adds a part for the onset of a louder sound in the gap.
	Onsets bool
	// Distances of the trial gaps from the gap, in seconds. Without any, all candidates have the same weight.
	Distances []float64
	// Widen multiplies the variances: models chosen by the samples around a gap underestimate its error.
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

// reach returns the samples on either side of a gap that the estimates look at.
func (c *Candidate) reach(rate float64) int {
	reach := 0
	for _, e := range c.Estimates {
		reach = max(reach, samples(e.Context, rate))
	}
	return reach
}

// taper returns the root of the weight of a sample at a distance from a gap, for a context of c samples.
func taper(distance, c int) float64 {
	return math.Cos(math.Pi / 2 * min(1, float64(distance)/float64(c)))
}

func square(x float64) float64 { return x * x }

// values returns the grid's values.
func (g Grid) values() []float64 {
	if len(g.Values) == 0 {
		return []float64{0}
	}
	return g.Values
}

// logPrior returns the logarithm of the prior mass of value i, up to a constant.
func (g Grid) logPrior(i int) float64 {
	if len(g.Values) < 2 {
		return 0
	}
	lo, hi := max(0, i-1), min(len(g.Values)-1, i+1)
	return math.Log((g.Values[hi]-g.Values[lo])/float64(hi-lo)) - square(g.Values[i]/g.SD)/2
}

// estimate returns an estimate's model.
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
	r := ar.Autocorrelation(y, order)
	m := ar.YuleWalker(r)
	if r[0] > 0 && total > 0 { // the initial fill is quieter than the signal was
		m.E *= power / total / r[0]
	}
	return m
}

// model returns the model of the geometric mean of a candidate's estimates.
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
