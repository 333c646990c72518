package autoregression

import (
	"math"
	"math/cmplx"

	"gonum.org/v1/gonum/dsp/fourier"
)

// A Transform computes the spectral densities of models at n frequencies, for any n. It must not be used concurrently.
//
// With (2k+1)·j = k² + j + j² − (k−j)², the sum over the coefficients is, up to a factor of modulus 1, a convolution with a chirp
// (Bluestein):
//
//	|Σ_j a_j exp(−iπ j(2k+1)/2n)| = |Σ_j b_j c_{k−j}|,   b_j = a_j exp(−iπ(j+j²)/2n),   c_m = exp(iπ m²/2n)
type Transform struct {
	n, order int
	fft      *fourier.CmplxFFT
	chirp    []complex128 // Fourier transform of c
	work     []complex128
}

// NewTransform returns a Transform for n frequencies and models up to the given order. It grows for models of higher order.
func NewTransform(n, order int) *Transform {
	length := smooth(n + order)
	t := &Transform{n, order, fourier.NewCmplxFFT(length), make([]complex128, length), make([]complex128, length)}
	for m := -order; m < n; m++ {
		t.chirp[(m+length)%length] = t.turn(m * m)
	}
	t.fft.Coefficients(t.chirp, t.chirp)
	return t
}

// turn returns exp(iπk/2n).
func (t *Transform) turn(k int) complex128 {
	return cmplx.Rect(1, math.Pi*float64(k%(4*t.n))/float64(2*t.n))
}

// Densities returns the two-sided power spectral densities of the model at (k+½)/(2n) cycles per sample, k < n, the centers of equal
// parts of [0, ½]. Their integral over [−½, ½] is the variance of the series.
func (t *Transform) Densities(m Model) []float64 {
	if len(m.A)-1 > t.order {
		*t = *NewTransform(t.n, len(m.A)-1)
	}
	clear(t.work)
	for j, a := range m.A {
		t.work[j] = complex(a, 0) * cmplx.Conj(t.turn(j+j*j))
	}
	t.fft.Coefficients(t.work, t.work)
	for i, c := range t.chirp {
		t.work[i] *= c
	}
	t.fft.Sequence(t.work, t.work)
	d := make([]float64, t.n)
	scale := 1 / float64(len(t.work))
	for k := range d {
		re, im := scale*real(t.work[k]), scale*imag(t.work[k])
		d[k] = m.E / (re*re + im*im)
	}
	return d
}
