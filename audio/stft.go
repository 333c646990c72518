package audio

import (
	"math"

	"gonum.org/v1/gonum/dsp/fourier"
)

// FrameSeconds and HopSeconds are the length and the distance of the frames of
// the short-time Fourier transform, in seconds: the paper's.
const (
	FrameSeconds = 0.025
	HopSeconds   = 0.012
)

// frames gives the frame's and the hop's length in samples (400 and 192 at 16 kHz) and the number of frames that n
// samples take: as many as reach the last sample, the last frame padded with zeros.
func frames(n, rate int) (length, hop, count int) {
	length = max(1, int(math.Round(FrameSeconds*float64(rate))))
	hop = max(1, int(math.Round(HopSeconds*float64(rate))))
	count = 1
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

// STFT is the short-time Fourier transform [frames][F/2+1] of x: frames of F = 25 ms every 12 ms from sample 0 on, the
// last one padded with zeros, under a Hamming window, with no scaling:
//
//	X_tk = Σ_{i<F} w_i x_{tH+i} exp(-2πi·ik/F)
//
// Bin k is the frequency k·rate/F; the other half of the bins is the mirror image.
func STFT(x []float64, rate int) [][]complex128 {
	length, hop, count := frames(len(x), rate)
	fft := fourier.NewFFT(length)
	w := hamming(length)
	spectra := make([][]complex128, count)
	frame := make([]float64, length)
	for t := range spectra {
		clear(frame)
		n := copy(frame, x[min(t*hop, len(x)):])
		for i := range n {
			frame[i] *= w[i]
		}
		spectra[t] = fft.Coefficients(nil, frame)
	}
	return spectra
}

// stftSum takes the mean of |X_tk|² of a channel over all frames and all F bins, from stretches that rise; what is in none is
// zero. A frame is transformed once nothing more can reach it; frames that no stretch reaches into are not transformed.
type stftSum struct {
	n, length, hop, count int
	next                  int // frame
	parts                 []part
	sum                   float64
	fft                   *fourier.FFT
	window, frame         []float64
	spectrum              []complex128
}

// part is a stretch from a sample on.
type part struct {
	start   int
	samples []float64
}

func (p part) end() int { return p.start + len(p.samples) }

func newSTFTSum(n, rate int) *stftSum {
	s := &stftSum{n: n}
	s.length, s.hop, s.count = frames(n, rate)
	s.fft, s.window, s.frame = fourier.NewFFT(s.length), hamming(s.length), make([]float64, s.length)
	return s
}

// add takes in the samples from start on, and keeps them as long as frames need them.
func (s *stftSum) add(start int, samples []float64) {
	p := part{start, samples}
	if k := len(s.parts); start < 0 || p.end() > s.n || k > 0 && start < s.parts[k-1].end() {
		panic("audio: a residual's stretches must rise and lie inside its channel")
	}
	s.parts = append(s.parts, p)
	s.upTo(p.end())
}

// upTo transforms the frames that end there or before.
func (s *stftSum) upTo(end int) {
	for ; s.next < s.count && s.next*s.hop+s.length <= end; s.next++ {
		from := s.next * s.hop
		for len(s.parts) > 0 && s.parts[0].end() <= from {
			s.parts = s.parts[1:]
		}
		if len(s.parts) == 0 {
			return
		}
		if start := s.parts[0].start; start >= from+s.length { // to the frame before the first that reaches it
			s.next = (start - s.length) / s.hop
			continue
		}
		s.transform(from)
	}
}

// transform adds the frame from a sample on to the sum.
func (s *stftSum) transform(from int) {
	clear(s.frame)
	for _, p := range s.parts {
		if lo, hi := max(p.start, from), min(p.end(), from+s.length); lo < hi {
			copy(s.frame[lo-from:], p.samples[lo-p.start:hi-p.start])
		}
	}
	for i := range s.frame {
		s.frame[i] *= s.window[i]
	}
	s.spectrum = s.fft.Coefficients(s.spectrum, s.frame)
	for k, v := range s.spectrum {
		square := real(v)*real(v) + imag(v)*imag(v)
		if k > 0 && 2*k < s.length { // stands for its mirror image too
			square *= 2
		}
		s.sum += square
	}
}

// meanSquare ends with the frames that reach beyond the last stretch.
func (s *stftSum) meanSquare() float64 {
	end := *s
	end.upTo(s.count*s.hop + s.length)
	return end.sum / float64(s.count) / float64(s.length)
}
