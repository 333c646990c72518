package restore

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/dsp/fourier"
	"gonum.org/v1/gonum/floats"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/internal/initialize/autoregression"
)

// draws returns the number of draws that fills need. Natural uses the first draw.
func (f *filler) draws() int {
	if f.res.Method == Natural {
		return max(1, f.o.Draws)
	}
	return f.o.Draws
}

// natural sets the natural fill of the gap [start, end) of z, unless the gap is too short to need one.
func (g *gapFiller) natural(s *GapFill, z []float64, start, end int) {
	if g.res.Method != Natural {
		return
	}
	if end-start >= audio.SamplesIn(minNatural, g.res.rate) {
		side := audio.SamplesIn(naturalSide, g.res.rate)
		s.Natural = naturalFill(s.Mean, s.Draws[0], z[max(0, start-side):start], z[end:min(len(z), end+side)], g.rate)
	}
	s.Draws = s.Draws[:g.o.Draws]
}

// naturalFill returns the mean of a gap plus a part of the deviation of a draw from it, given the samples before and after the gap. The
// deviation is filtered by naturalGains and fades at both ends, where the mean is certain.
func naturalFill(mean, draw, before, after []float64, rate float64) []float64 {
	n := len(mean)
	deviation := slices.Clone(draw)
	floats.Sub(deviation, mean)

	size := autoregression.PeriodogramSize(max(n, len(before), len(after)))
	transform := fourier.NewFFT(size)
	modes := transform.Coefficients(nil, slices.Concat(deviation, make([]float64, size-n)))
	for k, c := range naturalGains(mean, deviation, before, after, size, rate) {
		modes[k] *= complex(c/float64(size), 0)
	}
	filtered := transform.Sequence(nil, modes)[:n]

	fade := min(audio.SamplesIn(naturalFade, int(rate)), n/2)
	for i, w := range autoregression.Hann(2 * fade)[:fade] {
		filtered[i] *= w
		filtered[n-1-i] *= w
	}
	floats.Add(filtered, mean)
	return filtered
}

// naturalGains returns the gains c of the deviation at the frequencies k/size, k ≤ size/2:
//
//	c = √min(1, max(0, T − M)/D) · max(0, (D − M)/(D + M)),
//
// where M and D are the power densities of the mean and of the deviation, and T is the geometric mean of the densities before and after
// the gap, all averaged over naturalBand. The first factor adds the power that the mean lacks, the second is 0 where the mean is more
// certain than not. If one side has no samples, T is the density of the other; if neither has, T is 0.
func naturalGains(mean, deviation, before, after []float64, size int, rate float64) []float64 {
	spectrum := autoregression.NewSpectrum(size, nil)
	density := func(x []float64, windowed bool) []float64 {
		x, scale := slices.Clone(x), float64(len(x))
		if windowed {
			w := autoregression.Hann(len(x))
			floats.Mul(x, w)
			scale = floats.Dot(w, w)
		}
		power := make([]float64, size/2+1)
		spectrum.Add(power, x)
		smooth(power, size, rate)
		floats.Scale(1/scale, power)
		return power
	}
	if len(before) == 0 {
		before = after
	}
	if len(after) == 0 {
		after = before
	}
	c := make([]float64, size/2+1)
	if len(before) == 0 {
		return c
	}
	m, d, a, b := density(mean, false), density(deviation, false), density(before, true), density(after, true)
	for k := range c {
		if lack := math.Sqrt(a[k]*b[k]) - m[k]; lack > 0 && d[k] > m[k] {
			c[k] = math.Sqrt(min(1, lack/d[k])) * (d[k] - m[k]) / (d[k] + m[k])
		}
	}
	return c
}

// smooth replaces the power at each frequency k/size by the mean over naturalBand around it.
func smooth(power []float64, size int, rate float64) {
	sums := make([]float64, len(power)+1)
	floats.CumSum(sums[1:], power)
	hertz := rate / float64(size)
	for k := range power {
		e := erb(float64(k) * hertz)
		lo := max(0, int(math.Ceil(hertzOf(e-naturalBand/2)/hertz)))
		hi := min(len(power), 1+int(hertzOf(e+naturalBand/2)/hertz))
		power[k] = (sums[hi] - sums[min(lo, k)]) / float64(hi-min(lo, k))
	}
}

// erb converts a frequency in Hz to the number of equivalent rectangular bandwidths (ERB) of the ear below it (Glasberg and Moore 1990).
func erb(hertz float64) float64 { return 21.4 * math.Log10(1+0.00437*hertz) }

// hertzOf is the inverse of erb.
func hertzOf(erb float64) float64 { return (math.Pow(10, erb/21.4) - 1) / 0.00437 }
