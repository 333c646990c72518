package audio

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/dsp/fourier"
)

// FrameSeconds and HopSeconds are the length and the distance of the frames of
// the short-time Fourier transform, in seconds: the paper's.
const (
	FrameSeconds = 0.025
	HopSeconds   = 0.012
)

// stft is the transform of a channel frame by frame.
type stft struct {
	length, hop, count int // samples a frame, from one frame to the next; frames
	fft                *fourier.FFT
	window, frame      []float64
	spectrum           []complex128 // of the frame transformed last
}

func newSTFT(n, rate int) *stft {
	s := &stft{}
	s.length, s.hop, s.count = frames(n, rate)
	s.fft, s.window, s.frame = fourier.NewFFT(s.length), hamming(s.length), make([]float64, s.length)
	return s
}

// frames gives the frame's and the hop's length in samples (400 and 192 at 16 kHz) and the number of frames that n
// samples take: as many as reach the last sample, the last frame padded with zeros.
func frames(n, rate int) (length, hop, count int) {
	length, hop, count = SamplesIn(FrameSeconds, rate), SamplesIn(HopSeconds, rate), 1
	if n > length {
		count += (n - length + hop - 1) / hop
	}
	return length, hop, count
}

// hamming is w_i = 0.54 - 0.46 cos(2π i/(F-1)).
func hamming(length int) []float64 {
	w := make([]float64, length)
	for i := range w {
		w[i] = 0.54 - 0.46*math.Cos(2*math.Pi*float64(i)/float64(max(1, length-1)))
	}
	return w
}

// transform takes the windowed frame from a sample on, which is zero outside the excerpts, to its spectrum.
func (s *stft) transform(from int, excerpts ...excerpt) {
	clear(s.frame)
	for _, e := range excerpts {
		if lo, hi := max(e.start, from), min(e.end(), from+s.length); lo < hi {
			copy(s.frame[lo-from:], e.samples[lo-e.start:hi-e.start])
		}
	}
	for i := range s.frame {
		s.frame[i] *= s.window[i]
	}
	s.spectrum = s.fft.Coefficients(s.spectrum, s.frame)
}

// excerpt is some samples of a channel, from start on.
type excerpt struct {
	start   int
	samples []float64
}

func (e excerpt) end() int { return e.start + len(e.samples) }

// STFT is the short-time Fourier transform [frames][F/2+1] of x: frames of F = 25 ms every 12 ms from sample 0 on, the
// last one padded with zeros, under a Hamming window, with no scaling:
//
//	X_tk = Σ_{i<F} w_i x_{tH+i} exp(-2πi·ik/F)
//
// Bin k is the frequency k·rate/F; the other half of the bins is the mirror image.
func STFT(x []float64, rate int) [][]complex128 {
	s := newSTFT(len(x), rate)
	spectra := make([][]complex128, s.count)
	for t := range spectra {
		s.transform(t*s.hop, excerpt{0, x})
		spectra[t] = slices.Clone(s.spectrum)
	}
	return spectra
}

// stftSum sums |X_tk|² of a channel over all frames and all F bins, from excerpts that rise; the samples in between are
// zero. A frame is transformed once no later excerpt can reach it; frames that no excerpt reaches are not transformed.
type stftSum struct {
	*stft
	n        int // samples
	next     int // frame
	excerpts []excerpt
	sum      float64
}

// add takes in the samples from start on, and keeps them as long as frames need them.
func (s *stftSum) add(start int, samples []float64) {
	e := excerpt{start, samples}
	if k := len(s.excerpts); start < 0 || e.end() > s.n || k > 0 && start < s.excerpts[k-1].end() {
		panic("audio: the excerpts of a residual must rise and lie inside its channel")
	}
	s.excerpts = append(s.excerpts, e)
	s.upTo(e.end())
}

// upTo transforms the frames that end there or before.
func (s *stftSum) upTo(end int) {
	for ; s.next < s.count && s.next*s.hop+s.length <= end; s.next++ {
		from := s.next * s.hop
		for len(s.excerpts) > 0 && s.excerpts[0].end() <= from {
			s.excerpts = s.excerpts[1:]
		}
		if len(s.excerpts) == 0 {
			return
		}
		if start := s.excerpts[0].start; start >= from+s.length { // to the frame before the first that reaches it
			s.next = (start - s.length) / s.hop
			continue
		}
		s.transform(from, s.excerpts...)
		for k, v := range s.spectrum {
			square := real(v)*real(v) + imag(v)*imag(v)
			if k > 0 && 2*k < s.length { // stands for its mirror image too
				square *= 2
			}
			s.sum += square
		}
	}
}

// meanSquare takes in the frames that reach beyond the last excerpt.
func (s *stftSum) meanSquare() float64 {
	end := *s
	end.upTo(s.count*s.hop + s.length)
	return end.sum / float64(s.count) / float64(s.length)
}
