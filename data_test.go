package vssgp

import (
	"math"
	"testing"
)

// TestToModelGrid: times of samples are whole numbers of steps in the model's
// units, at every rate and from every start; numbers that are none stay.
func TestToModelGrid(t *testing.T) {
	for _, rate := range []float64{8000, 11025, 16000, 22050, 44100, 48000, 0.1, 12} {
		for _, first := range []int{0, 1, 3200, 58000000} {
			const n = 3000
			x := make([]float64, n)
			for i := range x {
				x[i] = float64(first+i) / rate
			}
			d := &Data{N: n, Q: 1, D: 1, X: x, Y: make([]float64, n)}
			a := Affine{Offset: []float64{x[0]}, Scale: []float64{d.evenStep()}}
			for i, u := range a.ToModel(x) {
				if u != float64(i) {
					t.Fatalf("rate %g from %d: sample %d is at %v in the model's units", rate, first, i, u)
				}
			}
		}
	}
	for _, x := range []float64{1 + 1e-12, 0.5, 3e9 + 0.25, -2 - 1e-13, math.Pi} {
		if got := (Affine{Offset: []float64{0}, Scale: []float64{1}}).ToModel([]float64{x})[0]; got != x {
			t.Errorf("%v becomes %v", x, got)
		}
	}
	// Rounding of a number far from the offset is no reason to take all of it.
	if got := (Affine{Offset: []float64{1e12}, Scale: []float64{1e-4}}).ToModel([]float64{1e12 + 0.00023})[0]; got == math.RoundToEven(got) {
		t.Errorf("a number whose rounding is beyond %g becomes %v", affineMost, got)
	}
}
