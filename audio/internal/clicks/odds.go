package clicks

import (
	"math"

	"github.com/vssgp/vssgp/internal/simd"
)

// Terms is the number of terms of the log-odds: 1, the features, and products of two features.
const Terms = 1 + Features + Features*(Features+1)/2

// Weights contains the coefficients of the log-odds: a quadratic form of z = (2v − Low − High)/(High − Low) for features v, with z
// clipped to [−1, 1].
type Weights struct {
	Low, High [Features]float64
	Of        [Terms]float64
	Context   [Contexts]float64 // of the terms of Context
}

// Contexts is the number of terms of the log-odds that depend on the recording around a candidate.
const Contexts = 4

// Context returns the terms of a candidate with log-odds v in its window: 1, v, log(sure + cleanRate) and
// log(1 + unsure), for the rates per second of candidates with log-odds above countedLogOdds, and of those within
// ±unsureLogOdds.
func Context(v, sure, unsure float64) [Contexts]float64 {
	return [Contexts]float64{1, v, math.Log(min(sure, maxRate) + cleanRate), math.Log1p(unsure)}
}

// Fitted returns a copy of the weights that New uses.
func Fitted() *Weights {
	w := fitted
	return &w
}

// Vinyl returns a copy of the weights for noise of records.
func Vinyl() *Weights {
	w := vinyl
	return &w
}

// Terms returns 1, followed by z_i, z_i·z_0, …, z_i·z_i for each feature i.
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

// LogOdds returns the log-odds of a click with features v.
func (w *Weights) LogOdds(v *[Features]float64) float64 {
	t := w.Terms(v)
	return simd.Dot(w.Of[:], t[:])
}
