package timewarp

import (
	"math"
	"slices"
)

// An Estimate is an autoregressive model of the samples about a gap. Times are in seconds.
type Estimate struct {
	// Hann has the squares of the samples fall off from the gap as cos² on both sides; the model is Yule's and Walker's, of the
	// samples with a guess in the gap. Otherwise it is Burg's, of both sides apart.
	Hann    bool
	Context float64 // on either side
	Order   float64
}

// A Grid is a prior of a clock's number on some values, in 1/s (a bend's in 1/s²), normal about 0 but for their spacing. The zero
// Grid is the value 0.
type Grid struct {
	Values []float64 // rising, evenly or not
	SD     float64
}

// A Recipe is how a gap is filled, by a mixture over clocks.
type Recipe struct {
	Prefill            Estimate // for what looks across the gap before it is filled
	Glide, Bend, Level Grid
	Evidence           Estimate // of the clocks
	Noise              float64  // dB below the signal, added for the evidence
	Temper             float64  // the power that the likelihood is taken to
	Most               int      // clocks to keep
	Least              float64  // their least probability
	Estimates          []Estimate
	Order              float64 // of the model of their mean spectrum, seconds
}

// voice is for speech: the last tens of milliseconds count, and pitch glides.
func voice() Recipe {
	return Recipe{
		Prefill:  Estimate{Context: 0.020, Order: 0.009},
		Glide:    Grid{[]float64{-4, -2.8, -2, -1.4, -1, -.7, -.45, -.2, 0, .2, .45, .7, 1, 1.4, 2, 2.8, 4}, 1.5},
		Level:    Grid{[]float64{-40, -20, 0, 20, 40}, 20},
		Evidence: Estimate{Hann: true, Context: 0.040, Order: 0.0125},
		Noise:    18, Temper: 0.3, Most: 6, Least: 0.02,
		Estimates: []Estimate{{false, 0.020, 0.009}, {true, 0.040, 0.016}, {true, 0.060, 0.016}},
		Order:     0.016,
	}
}

// bentVoice is voice with glides that change, for the gap itself.
func bentVoice() Recipe {
	r := voice()
	r.Glide = Grid{[]float64{-4, -2, -1, -.45, 0, .45, 1, 2, 4}, 1.5}
	r.Bend = Grid{[]float64{-80, -40, 0, 40, 80}, 40}
	r.Most, r.Least = 10, 0.015
	return r
}

// steady is for music: tones that last.
func steady() Recipe {
	return Recipe{
		Prefill:  Estimate{Context: 0.060, Order: 0.022676},
		Level:    Grid{[]float64{-12, 0, 12}, 10},
		Evidence: Estimate{Hann: true, Context: 0.100, Order: 0.020},
		Noise:    20, Temper: 0.1, Most: 6, Least: 0.02,
		Estimates: []Estimate{{true, 0.100, 0.040}, {true, 0.180, 0.040}, {true, 0.350, 0.040}},
		Order:     0.040,
	}
}

// reach returns the samples on either side of a gap that the estimates look at.
func (r *Recipe) reach(rate float64) int {
	reach := 0
	for _, e := range r.Estimates {
		reach = max(reach, samples(e.Context, rate))
	}
	return reach
}

// likeliest returns the recipe with its likeliest clock alone, which is enough to compare recipes.
func (r Recipe) likeliest() *Recipe {
	r.Most = 1
	return &r
}

// evidenceRate is about the rate that the evidence is judged at, in hertz: above it lies mostly quiet treble, whose error any
// interpolation raises, so that no glide would ever win.
const evidenceRate = 5400

// samples returns a time in samples, one at least.
func samples(seconds, rate float64) int { return max(1, int(math.Round(seconds*rate))) }

// weights are an estimate's at distances 0 … n−1 from the gap, within a context of c samples.
func (e Estimate) weights(n, c int) []float64 {
	if !e.Hann {
		return nil
	}
	w := make([]float64, n)
	for d := range min(n, c) {
		s := math.Cos(math.Pi * float64(d) / 2 / float64(c))
		w[d] = s * s
	}
	return w
}

// taper returns the samples y, of which so many lie before the gap and so many behind it: as they are in the gap, where they are a
// guess, and under the roots of the weights outside. power is the weighted mean square there.
func (e Estimate) taper(y []float64, before, behind, c int) (tapered []float64, power float64) {
	tapered = slices.Clone(y)
	total := 0.0
	for d := range max(before, behind) {
		w := math.Cos(math.Pi * float64(d) / 2 / float64(c))
		for _, i := range []int{before - 1 - d, len(y) - behind + d} {
			if i >= 0 && i < before || i < len(y) && i >= len(y)-behind {
				tapered[i] *= w
				power += tapered[i] * tapered[i]
				total += w * w
			}
		}
	}
	return tapered, power / max(total, 1e-300)
}

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
	z := g.Values[i] / g.SD
	return math.Log((g.Values[hi]-g.Values[lo])/float64(hi-lo)) - z*z/2
}
