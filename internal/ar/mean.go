package ar

import (
	"math"

	"gonum.org/v1/gonum/dsp/fourier"
)

// A Mean computes geometric means of models' spectra on n frequencies of the whole circle. One goroutine at a time may use it.
type Mean struct {
	fft    *fourier.FFT
	padded []float64
	power  []float64
	coeff  []complex128
}

// NewMean returns a Mean on n frequencies, which are to resolve the sharpest line of a spectrum.
func NewMean(n int) *Mean {
	return &Mean{fourier.NewFFT(n), make([]float64, n), make([]float64, n/2+1), make([]complex128, n/2+1)}
}

// Model returns the model of an order whose first autocorrelations are those of the geometric mean of the models' spectra:
// logarithms of spectra, unlike spectra, have errors of about the same size at every frequency.
func (m *Mean) Model(models []Model, order int) Model {
	n := len(m.padded)
	innovations := 0.0 // mean logarithm
	for i := range m.power {
		m.power[i] = 1
	}
	for _, a := range models {
		if !(a.E > 0) {
			return Model{A: []float64{1}}
		}
		innovations += math.Log(a.E) / float64(len(models))
		clear(m.padded)
		copy(m.padded, a.A)
		for i, c := range m.fft.Coefficients(m.coeff, m.padded) {
			m.power[i] *= real(c)*real(c) + imag(c)*imag(c)
		}
	}
	scale := math.Exp(innovations)
	for i, v := range m.power {
		m.coeff[i] = complex(scale*root(v, len(models)), 0)
	}
	r := m.fft.Sequence(m.padded, m.coeff)[:min(order, n/2)+1]
	for i := range r {
		r[i] /= float64(n)
	}
	return YuleWalker(r)
}

// root returns 1/v^(1/k).
func root(v float64, k int) float64 {
	switch k {
	case 1:
		return 1 / v
	case 3:
		return 1 / math.Cbrt(v)
	}
	return math.Pow(v, -1/float64(k))
}
