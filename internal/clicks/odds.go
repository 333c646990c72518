package clicks

import "github.com/vssgp/vssgp/internal/simd"

// Terms is the number of terms of the log-odds: 1, the features, and the products of two of them.
const Terms = 1 + Features + Features*(Features+1)/2

// Weights make log-odds of features v: a quadratic form of z = (2v − Low − High)/(High − Low), each kept within ±1.
type Weights struct {
	Low, High [Features]float64
	Of        [Terms]float64
}

// Fitted returns a copy of the weights of New.
func Fitted() *Weights {
	w := fitted
	return &w
}

// Terms returns 1, and then z_i, z_i·z_0 … z_i·z_i of each feature i.
func (w *Weights) Terms(v *[Features]float64) (t [Terms]float64) {
	var z [Features]float64
	t[0] = 1
	at := 1
	for i, low := range w.Low {
		z[i] = max(-1, min((2*v[i]-low-w.High[i])/(w.High[i]-low), 1))
		t[at] = z[i]
		for j, other := range z[:i+1] {
			t[at+1+j] = z[i] * other
		}
		at += i + 2
	}
	return t
}

// LogOdds returns the log-odds of a click.
func (w *Weights) LogOdds(v *[Features]float64) float64 {
	t := w.Terms(v)
	return simd.Dot(w.Of[:], t[:])
}
