package audio

import (
	"math"

	"gonum.org/v1/gonum/dsp/fourier"
)

// The frames of the short-time Fourier transform, in seconds: the paper's.
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

// stftMeanSquare is the mean of |X_tk|² of the residual over all frames of the channel and all F bins. Frames that no part
// reaches into are zero and are not computed.
func (r *Residual) stftMeanSquare(rate int) float64 {
	length, hop, count := frames(r.n, rate)
	fft := fourier.NewFFT(length)
	w := hamming(length)
	frame := make([]float64, length)
	var spectrum []complex128
	var sum float64
	parts := r.parts
	for t := 0; t < count; t++ {
		for len(parts) > 0 && parts[0].start+len(parts[0].diff) <= t*hop {
			parts = parts[1:]
		}
		if len(parts) == 0 {
			break
		}
		if parts[0].start >= t*hop+length { // to the frame before the first that reaches it
			t = (parts[0].start - length) / hop
			continue
		}
		clear(frame)
		for _, p := range parts {
			if p.start >= t*hop+length {
				break
			}
			from, to := max(p.start, t*hop), min(p.start+len(p.diff), t*hop+length)
			copy(frame[from-t*hop:], p.diff[from-p.start:to-p.start])
		}
		for i := range frame {
			frame[i] *= w[i]
		}
		spectrum = fft.Coefficients(spectrum, frame)
		for k, v := range spectrum {
			square := real(v)*real(v) + imag(v)*imag(v)
			if k > 0 && 2*k < length { // stands for its mirror image too
				square *= 2
			}
			sum += square
		}
	}
	return sum / float64(count) / float64(length)
}
