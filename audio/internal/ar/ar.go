// Package ar implements autoregressive models of sounds: estimation by Burg's method, prediction errors, and the distribution of missing
// samples. It extends package autoregression, which estimates models from autocorrelations.
package ar

import (
	"slices"

	"github.com/vssgp/vssgp/internal/initialize/autoregression"
	"github.com/vssgp/vssgp/internal/simd"
)

// A Model is an autoregressive model, e_n = Σ_j A_j x_{n−j}, A_0 = 1, with innovations e of variance E.
type Model autoregression.Model

// YuleWalker returns the model of order len(r)−1 with autocorrelation r (autoregression.YuleWalker).
func YuleWalker(r []float64) Model { return Model(autoregression.YuleWalker(r)) }

// Errors returns the prediction errors Σ_j a_j x_{n−j} for a [p+1] at n = p, …, len(x)−1.
func Errors(a, x []float64) []float64 {
	reversed := slices.Clone(a)
	slices.Reverse(reversed)
	e := make([]float64, max(0, len(x)-len(a)+1))
	for n := range e {
		e[n] = simd.Dot(reversed, x[n:n+len(a)])
	}
	return e
}
