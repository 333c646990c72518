// Package ar holds autoregressive models of evenly sampled series: estimates, spectra, and the least-squares fill of missing
// samples. A model of order p is e_n = Σ_j a_j x_{n−j}, a_0 = 1, with innovations e of variance E.
package ar

import (
	"slices"

	"github.com/vssgp/vssgp/internal/simd"
)

// Model is an autoregressive model.
type Model struct {
	A []float64 // [p+1], A[0] = 1
	E float64   // variance of the innovations
}

// directProducts is the most products that Autocorrelation sums one by one, 2 ms of work; from there on transforms are faster.
const directProducts = 1 << 22

// Autocorrelation returns r_j = Σ_n x_n x_{n+j} / N for lags 0 … order, in min(N·order, N log N) time.
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

// transformed is Autocorrelation by way of the power spectrum. Zeros after x keep the lags from wrapping around.
func transformed(x []float64, order int) []float64 {
	n := smooth(len(x) + min(order, len(x)-1))
	s, power, r := NewSpectrum(n, nil), make([]float64, n/2+1), make([]float64, order+1)
	s.Add(power, x)
	for j, v := range s.Lags(power)[:min(order+1, len(x))] {
		r[j] = v / float64(len(x))
	}
	return r
}

// ridge is added to r_0, relative to it, so that the model of a pure tone is stable.
const ridge = 1e-9

// YuleWalker returns the model of order len(r)−1 with autocorrelation r, by Levinson's recursion. It is stable, and smoother
// than a least-squares estimate, as the spectrum start needs.
func YuleWalker(r []float64) Model {
	r = slices.Clone(r)
	r[0] *= 1 + ridge
	l := newRecursion(r)
	for len(l.a) < len(r) && l.e > 0 && l.step() {
	}
	return Model{A: append(l.a, make([]float64, len(r)-len(l.a))...), E: max(l.e, 0)}
}
