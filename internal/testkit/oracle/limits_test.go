package oracle

import (
	"math"
	"testing"
)

// rounding bounds what should agree but for the order of operations.
const rounding = 1e-12

func TestGatesSumToOne(t *testing.T) {
	center := []float64{1, 3, 5, 7}
	for x := -2.0; x < 12; x += 0.037 {
		var sum float64
		for v := range center {
			g := gate(center, 4, v, x)
			if g < 0 || (math.Abs(x-center[v]) >= 2 && v > 0 && v < 3 && g != 0) {
				t.Fatalf("gate %d at %g is %g", v, x, g)
			}
			sum += g * g
		}
		if math.Abs(sum-1) > rounding {
			t.Fatalf("Σ g² = %g at %g, want 1", sum, x)
		}
	}
}

// TestAngle: whole turns are taken off without loss.
func TestAngle(t *testing.T) {
	if got := Angle([]float64{1}, []float64{1e6}, []float64{0}, 0); math.Abs(math.Sin(got)-math.Sin(1e6)) > 1e-15 {
		t.Errorf("sine of the reduced angle 10⁶ is %g, want %g", math.Sin(got), math.Sin(1e6))
	}
}
