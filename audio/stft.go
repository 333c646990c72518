package audio

import (
	"math"

	"gonum.org/v1/gonum/dsp/fourier"
)

// frameSeconds and hopSeconds are the length of a frame of the short-time Fourier transform and the time from one frame to
// the next, in seconds, as in the paper.
const (
	frameSeconds = 0.025
	hopSeconds   = 0.012
)

// stft transforms a channel frame by frame.
type stft struct {
	length, hop, count int // samples in a frame (400 at 16 kHz), samples from one frame to the next (192), frames
	fft                *fourier.FFT
	window, frame      []float64
	spectrum           []complex128 // of the frame transformed last
}

// newSTFT takes as many frames as reach the last of n samples.
func newSTFT(n, rate int) *stft {
	s := &stft{length: SamplesIn(frameSeconds, rate), hop: SamplesIn(hopSeconds, rate), count: 1}
	if n > s.length {
		s.count += (n - s.length + s.hop - 1) / s.hop
	}
	s.fft, s.window, s.frame = fourier.NewFFT(s.length), hamming(s.length), make([]float64, s.length)
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

// transform returns the spectrum of the frame that begins with x, under the window. Zeros follow where x is shorter than a
// frame. The spectrum is good until the next call.
func (s *stft) transform(x []float64) []complex128 {
	clear(s.frame[copy(s.frame, x):])
	for i := range s.frame {
		s.frame[i] *= s.window[i]
	}
	s.spectrum = s.fft.Coefficients(s.spectrum, s.frame)
	return s.spectrum
}

// stftSum sums |X_tk|² of a channel over all frames and all F bins, from parts of it that rise; the samples in between are
// zero. Frames in which no part has a sample are not transformed.
type stftSum struct {
	*stft
	n    int       // samples of the channel
	next int       // the first frame not summed yet
	held []float64 // samples of that frame and beyond; empty: they are zero as far as parts were added
	sum  float64
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
		if len(s.held) == 0 {
			continue
		}
		for k, v := range s.transform(s.held) {
			square := real(v)*real(v) + imag(v)*imag(v)
			if k > 0 && 2*k < s.length { // stands for its mirror image too
				square *= 2
			}
			s.sum += square
		}
		s.held = s.held[min(s.hop, len(s.held)):]
	}
}

// meanSquare includes the frames that reach beyond the last part.
func (s *stftSum) meanSquare() float64 {
	all := *s
	all.upTo(s.count*s.hop + s.length)
	return all.sum / float64(s.count) / float64(s.length)
}
