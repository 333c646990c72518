package ar

import (
	"math"

	"github.com/vssgp/vssgp/internal/initialize/autoregression"
)

// A Mean computes geometric means of the spectra of models with FFT length n. It must not be used concurrently.
type Mean struct {
	n              int
	spectrum       *autoregression.Spectrum
	product, power []float64
}

// NewMean returns a Mean with FFT length n, which must resolve the sharpest peak of the spectra.
func NewMean(n int) *Mean {
	return &Mean{n, autoregression.NewSpectrum(n, nil), make([]float64, n/2+1), make([]float64, n/2+1)}
}

// Model returns the Yule–Walker model of the given order for the geometric mean of the models' spectra. The mean is geometric because
// the errors of log spectra are similar at all frequencies.
func (m *Mean) Model(models []Model, order int) Model {
	innovations := 0.0 // mean log variance
	for i := range m.product {
		m.product[i] = 1
	}
	for _, a := range models {
		if !(a.E > 0) {
			return Model{A: []float64{1}}
		}
		innovations += math.Log(a.E) / float64(len(models))
		clear(m.power)
		m.spectrum.Add(m.power, a.A)
		for i, v := range m.power {
			m.product[i] *= v
		}
	}
	scale := math.Exp(innovations)
	for i, v := range m.product {
		m.product[i] = scale * math.Pow(v, -1/float64(len(models)))
	}
	return YuleWalker(m.spectrum.Lags(m.product)[:min(order, m.n/2)+1])
}
