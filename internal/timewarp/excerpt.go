package timewarp

import (
	"math"
	"slices"

	"github.com/vssgp/vssgp/internal/ar"
	"gonum.org/v1/gonum/floats"
)

// An excerpt is a gap and the samples around it.
type excerpt struct {
	z        []float64 // with an initial fill in every gap
	gaps     [][2]int  // rising and disjoint, those nearby among them
	which    int       // the gap to fill
	rate     float64
	backward bool // in time
}

// gap returns the gap to fill.
func (x *excerpt) gap() (start, end int) { return x.gaps[x.which][0], x.gaps[x.which][1] }

// middle returns the gap's middle and half of its length less one: its samples are those with |t| ≤ half about it.
func (x *excerpt) middle() (center, half float64) {
	start, end := x.gap()
	half = float64(end-start-1) / 2
	return float64(start) + half, half
}

// reversed returns the excerpt backward in time.
func (x *excerpt) reversed() *excerpt {
	n := len(x.z)
	y := &excerpt{slices.Clone(x.z), make([][2]int, len(x.gaps)), len(x.gaps) - 1 - x.which, x.rate, !x.backward}
	slices.Reverse(y.z)
	for i, g := range x.gaps {
		y.gaps[len(x.gaps)-1-i] = [2]int{n - g[1], n - g[0]}
	}
	return y
}

// near returns the part of the excerpt that reaches so many samples to either side of the gap.
func (x *excerpt) near(reach int) *excerpt {
	start, end := x.gap()
	lo, hi := max(0, start-reach), min(len(x.z), end+reach)
	before := len(ar.GapsIn(x.gaps[:x.which], lo, hi))
	return &excerpt{x.z[lo:hi], ar.GapsIn(x.gaps, lo, hi), before, x.rate, x.backward}
}

// slower returns the excerpt at a lower rate.
func (x *excerpt) slower(by int) *excerpt {
	if by == 1 {
		return x
	}
	y := &excerpt{decimate(x.z, by), nil, x.which, x.rate / float64(by), x.backward}
	for _, g := range x.gaps {
		start := min(int(math.Round(float64(g[0])/float64(by))), len(y.z)-1)
		end := min(max(int(math.Round(float64(g[1])/float64(by))), start+1), len(y.z))
		y.gaps = append(y.gaps, [2]int{start, end}) // two may now touch, which does no harm
	}
	return y
}

// sides returns the samples on either side of the gap, which come last; those after it backward.
func (x *excerpt) sides() [2]*excerpt {
	start, end := x.gap()
	after := &excerpt{x.z[end:], ar.GapsIn(x.gaps, end, len(x.z)), 0, x.rate, x.backward}
	return [2]*excerpt{{x.z[:start], x.gaps[:x.which], 0, x.rate, x.backward}, after.reversed()}
}

// filled returns the excerpt with values in its gap, and without any with zeros.
func (x *excerpt) filled(values []float64) *excerpt {
	y := *x
	y.z = slices.Clone(x.z)
	start, end := x.gap()
	clear(y.z[start:end])
	copy(y.z[start:end], values)
	return &y
}

// prefilled returns the excerpt with its gap filled by one autoregressive model without a warp, or by zeros if that fails.
func (x *excerpt) prefilled() *excerpt {
	e := x.initial()
	s := x.warped(Warp{}, samples(e.Context, x.rate))
	if c, ok := s.conditional(s.estimate(e, x.rate), nil); ok {
		return x.filled(c.Mean)
	}
	return x.filled(nil)
}

// initial returns the estimate for an initial fill of the gap.
func (x *excerpt) initial() Estimate {
	if start, end := x.gap(); end-start < samples(shortGap, x.rate) {
		return shortEstimate
	}
	return mediumEstimate
}

func meanSquare(z []float64) float64 { return floats.Dot(z, z) / float64(len(z)) }

// samples returns a time in samples, at least 1.
func samples(seconds, rate float64) int { return max(1, int(math.Round(seconds*rate))) }
