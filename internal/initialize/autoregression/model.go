// Package autoregression estimates the spectrum of an evenly sampled series, by a Fourier transform or by an autoregressive model, and
// interpolates its missing samples. A model of order p is e_n = Σ_j a_j x_{n−j}, a_0 = 1, with innovations e of variance E.
//
// It contains what the spectrum initialization needs. The models of sounds are in audio/internal/ar.
package autoregression

import "github.com/vssgp/vssgp/internal/simd"

// A Model is an autoregressive model.
type Model struct {
	A []float64 // [p+1], A[0] = 1
	E float64   // variance of the innovations
}

// Autocorrelation returns r_j = Σ_n x_n x_{n+j} / N for lags 0, …, order, in O(min(N·order, N log N)).
func Autocorrelation(x []float64, order int) []float64 {
	if byTransform(len(x), order) {
		return transformed(x, order)
	}
	r := make([]float64, order+1)
	for j := range r {
		if j < len(x) {
			r[j] = simd.Dot(x[:len(x)-j], x[j:]) / float64(len(x))
		}
	}
	return r
}

func byTransform(samples, order int) bool { return float64(samples)*float64(order+1) > directProducts }

// transformed implements Autocorrelation by the power spectrum. Zero padding avoids circular wrap-around.
func transformed(x []float64, order int) []float64 {
	n := smooth(len(x) + min(order, len(x)-1))
	s, power, r := NewSpectrum(n, nil), make([]float64, n/2+1), make([]float64, order+1)
	s.Add(power, x)
	for j, v := range s.Lags(power)[:min(order+1, len(x))] {
		r[j] = v / float64(len(x))
	}
	return r
}
