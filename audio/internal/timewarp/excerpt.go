package timewarp

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/vssgp/vssgp/internal/initialize/autoregression"
)

// An excerpt contains a gap and the samples around it.
type excerpt struct {
	z        []float64 // with an initial fill in every gap
	gaps     [][2]int  // sorted and disjoint, including nearby gaps
	which    int       // index of the gap to fill
	rate     float64
	backward bool // time is reversed
}

// gap returns the gap to fill.
func (x *excerpt) gap() (start, end int) { return x.gaps[x.which][0], x.gaps[x.which][1] }

// middle returns the center of the gap and half, (length − 1)/2: the samples of the gap are at |t| ≤ half from the center.
func (x *excerpt) middle() (center, half float64) {
	start, end := x.gap()
	half = float64(end-start-1) / 2
	return float64(start) + half, half
}

// reversed returns the time-reversed excerpt.
func (x *excerpt) reversed() *excerpt {
	n := len(x.z)
	y := &excerpt{slices.Clone(x.z), make([][2]int, len(x.gaps)), len(x.gaps) - 1 - x.which, x.rate, !x.backward}
	slices.Reverse(y.z)
	for i, g := range x.gaps {
		y.gaps[len(x.gaps)-1-i] = [2]int{n - g[1], n - g[0]}
	}
	return y
}

// near returns the part of the excerpt up to reach samples on each side of the gap.
func (x *excerpt) near(reach int) *excerpt {
	start, end := x.gap()
	lo, hi := max(0, start-reach), min(len(x.z), end+reach)
	before := len(autoregression.GapsIn(x.gaps[:x.which], lo, hi))
	return &excerpt{x.z[lo:hi], autoregression.GapsIn(x.gaps, lo, hi), before, x.rate, x.backward}
}

// slower returns the excerpt decimated by an integer factor.
func (x *excerpt) slower(by int) *excerpt {
	if by == 1 {
		return x
	}
	y := &excerpt{decimate(x.z, by), nil, x.which, x.rate / float64(by), x.backward}
	for _, g := range x.gaps {
		start := min(int(math.Round(float64(g[0])/float64(by))), len(y.z)-1)
		end := min(max(int(math.Round(float64(g[1])/float64(by))), start+1), len(y.z))
		y.gaps = append(y.gaps, [2]int{start, end}) // two may become adjacent
	}
	return y
}

// sides returns the samples on each side of the gap, oriented toward the gap: the samples after it are time-reversed.
func (x *excerpt) sides() [2]*excerpt {
	start, end := x.gap()
	after := &excerpt{x.z[end:], autoregression.GapsIn(x.gaps, end, len(x.z)), 0, x.rate, x.backward}
	return [2]*excerpt{{x.z[:start], x.gaps[:x.which], 0, x.rate, x.backward}, after.reversed()}
}

// filled returns the excerpt with values in its gap, or zeros if values is nil.
func (x *excerpt) filled(values []float64) *excerpt {
	y := *x
	y.z = slices.Clone(x.z)
	start, end := x.gap()
	clear(y.z[start:end])
	copy(y.z[start:end], values)
	return &y
}

// prefilled returns the excerpt with its gap filled by one autoregressive model without a warp, or by zeros if the model fails.
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

// samples converts a duration to samples, at least 1.
func samples(seconds, rate float64) int { return max(1, int(math.Round(seconds*rate))) }
