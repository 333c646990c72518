package declip

import (
	"math"
	"testing"
)

// TestAbove: mean and variance of a normal number beyond a limit, against sums over its density, which far in the tail is scaled
// by its value at the limit.
func TestAbove(t *testing.T) {
	for _, a := range []float64{-30, -6, -2, -0.5, 0, 1, 2.9, 2.9999999, 3, 3.0000001, 3.1, 5, 10, 40, 300, 1e6} {
		excess, variance := above(a)
		step := 1e-3 / max(1, a)
		from := max(0, -a-12) // below, the density is nothing
		var mass, first, second float64
		for i := range 40_000 {
			x := from + (float64(i)+0.5)*step
			d := math.Exp(-x * (x/2 + a))
			if a < 0 {
				d = math.Exp(-(x + a) * (x + a) / 2)
			}
			mass, first, second = mass+d, first+x*d, second+x*x*d
		}
		mean := first / mass
		want := second/mass - mean*mean
		if a < -20 {
			mean, want = -a, 1
		}
		if math.Abs(excess-mean) > 2e-6*mean || math.Abs(variance-want) > 3e-6*want {
			t.Errorf("beyond %v: mean %v further, variance %v, want %v and %v", a, excess, variance, mean, want)
		}
	}
	// From 3 on the two ways meet.
	e1, v1 := above(math.Nextafter(hazardTail, 0))
	e2, v2 := above(hazardTail)
	if math.Abs(e1-e2) > 1e-12 || math.Abs(v1-v2) > 1e-12 {
		t.Errorf("at %v: %v, %v by erfc; %v, %v by the fraction", hazardTail, e1, v1, e2, v2)
	}
	if e, v := above(math.Inf(1)); !(e > 0 && v > 0) {
		t.Errorf("beyond ∞: %v, %v", e, v)
	}
}
