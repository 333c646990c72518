package optimise

import "math"

// Adam's constants (Kingma & Ba 2015).
const (
	adamMean   = 0.9   // decay of the gradient's running mean
	adamSquare = 0.999 // and of its square's
	adamFlat   = 1e-12
)

// Adam is the optimiser's state, two numbers a coordinate.
type Adam struct {
	mean, square []float64
	steps        int
}

// NewAdam is Adam of n coordinates.
func NewAdam(n int) *Adam { return &Adam{mean: make([]float64, n), square: make([]float64, n)} }

// Step moves v up the gradient g.
func (a *Adam) Step(v, g []float64, rate float64) {
	a.steps++
	mean, square := 1-math.Pow(adamMean, float64(a.steps)), 1-math.Pow(adamSquare, float64(a.steps))
	for i, x := range g {
		a.mean[i] += (1 - adamMean) * (x - a.mean[i])
		a.square[i] += (1 - adamSquare) * (x*x - a.square[i])
		v[i] += rate * a.mean[i] / mean / (math.Sqrt(a.square[i]/square) + adamFlat)
	}
}
