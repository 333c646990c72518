package autoregression

import (
	"math"

	"gonum.org/v1/gonum/dsp/fourier"
)

// A Spectrum computes power spectra of zero-padded series at frequencies k/n cycles per sample, k ≤ n/2. It must not be used
// concurrently.
type Spectrum struct {
	window []float64
	fft    *fourier.FFT
	padded []float64
	coeff  []complex128
}

// NewSpectrum returns a Spectrum of FFT length n for series of at most n samples. If window [n] is not nil, series are multiplied by
// it.
func NewSpectrum(n int, window []float64) *Spectrum {
	return &Spectrum{window, fourier.NewFFT(n), make([]float64, n), make([]complex128, n/2+1)}
}

// Add adds |Σ_i w_i x_i exp(−2πi·ik/n)|² to power [n/2+1].
func (s *Spectrum) Add(power, x []float64) {
	clear(s.padded[copy(s.padded, x):])
	if s.window != nil {
		for i := range x {
			s.padded[i] *= s.window[i]
		}
	}
	for i, c := range s.fft.Coefficients(s.coeff, s.padded) {
		power[i] += real(c)*real(c) + imag(c)*imag(c)
	}
}

// Lags returns the circular autocorrelation Σ_i x_i x_{i+l}, l < n, of a power spectrum. The result is valid until the next call.
func (s *Spectrum) Lags(power []float64) []float64 {
	for i, v := range power {
		s.coeff[i] = complex(v/float64(len(s.padded)), 0)
	}
	return s.fft.Sequence(s.padded, s.coeff)
}

// Periodogram adds the power spectrum of x to power [n/2+1], where n is PeriodogramSize of its length.
func Periodogram(power, x []float64) { NewSpectrum(PeriodogramSize(len(x)), nil).Add(power, x) }

// PeriodogramSize returns an FFT length that determines the periodogram of a series at all frequencies: at least twice its length.
func PeriodogramSize(samples int) int { return smooth(2 * samples) }

// Hann returns the Hann window of n samples, sin²(π(i+½)/n).
func Hann(n int) []float64 {
	w := make([]float64, n)
	for i := range w {
		sine := math.Sin(math.Pi * (float64(i) + 0.5) / float64(n))
		w[i] = sine * sine
	}
	return w
}

// smooth returns the smallest integer ≥ n with no prime factors other than 2, 3 and 5.
func smooth(n int) int {
	for ; ; n++ {
		rest := n
		for _, p := range []int{2, 3, 5} {
			for rest%p == 0 {
				rest /= p
			}
		}
		if rest == 1 {
			return n
		}
	}
}
