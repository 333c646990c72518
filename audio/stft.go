package audio

import (
	"math"

	"github.com/vssgp/vssgp/internal/ar"
)

// frameSeconds and hopSeconds are the length of a frame of the short-time Fourier transform and the time from one frame to
// the next, in seconds, as in the paper.
const (
	frameSeconds = 0.025
	hopSeconds   = 0.012
)

// stftSum sums |X_tk|² of a channel over all frames and all F bins, from parts of it that rise; the samples in between are
// zero. Frames in which no part has a sample are not transformed.
type stftSum struct {
	n                  int // samples of the channel
	length, hop, count int // samples in a frame (400 at 16 kHz), samples from one frame to the next (192), frames
	next               int // the first frame not summed yet
	spectrum           *ar.Spectrum
	power              []float64 // summed, of each bin up to the middle
	held               []float64 // samples of that frame and beyond; empty: they are zero as far as parts were added
}

// newSTFT takes as many frames as reach the last of n samples.
func newSTFT(n, rate int) *stftSum {
	s := &stftSum{n: n, length: SamplesIn(frameSeconds, rate), hop: SamplesIn(hopSeconds, rate), count: 1}
	if n > s.length {
		s.count += (n - s.length + s.hop - 1) / s.hop
	}
	s.spectrum, s.power = ar.NewSpectrum(s.length, hamming(s.length)), make([]float64, s.length/2+1)
	return s
}

// hamming returns w_i = 0.54 - 0.46 cos(2π i/(F-1)).
func hamming(length int) []float64 {
	w := make([]float64, length)
	for i := range w {
		w[i] = 0.54 - 0.46*math.Cos(2*math.Pi*float64(i)/float64(max(1, length-1)))
	}
	return w
}

// add takes in the samples from start on.
func (s *stftSum) add(start int, samples []float64) {
	end := start + len(samples)
	s.upTo(start)
	zeros := start - s.next*s.hop - len(s.held)
	if zeros < 0 || end > s.n {
		panic("audio: the parts of a residual must rise and lie inside its channel")
	}
	s.held = append(append(s.held, make([]float64, zeros)...), samples...)
	s.upTo(end)
}

// upTo sums the frames that end there or before.
func (s *stftSum) upTo(end int) {
	for ; s.next < s.count && s.next*s.hop+s.length <= end; s.next++ {
		if len(s.held) > 0 {
			s.spectrum.Add(s.power, s.held[:min(s.length, len(s.held))])
			s.held = s.held[min(s.hop, len(s.held)):]
		}
	}
}

// meanSquare includes the frames that reach beyond the last part.
func (s *stftSum) meanSquare() (sum float64) {
	all := *s
	all.power = append([]float64(nil), s.power...)
	all.upTo(s.count*s.hop + s.length)
	for k, v := range all.power {
		if k > 0 && 2*k < s.length { // stands for its mirror image too
			v *= 2
		}
		sum += v
	}
	return sum / float64(s.count) / float64(s.length)
}
