// Package ar holds autoregressive models of evenly sampled series: their
// estimation, their spectrum, and the least-squares fill of missing samples
// that goes with them. A model of order p is e_n = Σ_j a_j x_{n−j}, a_0 = 1,
// with innovations e of variance E.
package ar

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// Model is an autoregressive model.
type Model struct {
	A []float64 // [p+1], A[0] = 1
	E float64   // variance of the innovations
}

// Autocorrelation is r_j = Σ_n x_n x_{n+j} / N for lags 0 … order.
func Autocorrelation(x []float64, order int) []float64 {
	r := make([]float64, order+1)
	for j := range r {
		if j < len(x) {
			r[j] = floats.Dot(x[:len(x)-j], x[j:]) / float64(len(x))
		}
	}
	return r
}

// ridge is added to r_0, relative to it, so that a pure tone's model stays
// stable.
const ridge = 1e-9

// YuleWalker is the model of order len(r)−1 with autocorrelation r, by
// Levinson's recursion. It is stable, and smoother than a least-squares
// estimate: what a covariance start wants.
func YuleWalker(r []float64) Model {
	p := len(r) - 1
	a := make([]float64, p+1)
	a[0] = 1
	e := r[0] * (1 + ridge)
	prev := make([]float64, p+1)
	for m := 1; m <= p && e > 0; m++ {
		s := r[m]
		for j := 1; j < m; j++ {
			s += a[j] * r[m-j]
		}
		k := -s / e
		copy(prev, a)
		for j := 1; j < m; j++ {
			a[j] += k * prev[m-j]
		}
		a[m] = k
		e *= 1 - k*k
	}
	return Model{A: a, E: max(e, 0)}
}

// Density is the model's power spectral density at a frequency in cycles per
// sample, two-sided: its integral over [−½, ½] is the series' variance.
func (m Model) Density(f float64) float64 {
	var re, im float64
	s1, c1 := math.Sincos(-2 * math.Pi * f)
	c, s := 1.0, 0.0
	for _, a := range m.A {
		re += a * c
		im += a * s
		c, s = c*c1-s*s1, c*s1+s*c1
	}
	return m.E / (re*re + im*im)
}
