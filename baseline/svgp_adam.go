package baseline

import "math"

// adam is the state of Adam (Kingma & Ba 2015), which here ascends.
type adam struct {
	mean, square []float64
	steps        int
}

const (
	adamMean   = 0.9   // decay of the gradient's running mean
	adamSquare = 0.999 // and of its square's
	adamFlat   = 1e-12
)

func newAdam(n int) *adam { return &adam{mean: make([]float64, n), square: make([]float64, n)} }

// step moves v up the gradient g.
func (a *adam) step(v, g []float64, rate float64) {
	a.steps++
	mean, square := 1-math.Pow(adamMean, float64(a.steps)), 1-math.Pow(adamSquare, float64(a.steps))
	for i, x := range g {
		a.mean[i] += (1 - adamMean) * (x - a.mean[i])
		a.square[i] += (1 - adamSquare) * (x*x - a.square[i])
		v[i] += rate * a.mean[i] / mean / (math.Sqrt(a.square[i]/square) + adamFlat)
	}
}
