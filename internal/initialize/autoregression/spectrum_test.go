package autoregression

import (
	"math"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

// TestPeriodogram compares Periodogram with its definition and checks that it adds to its argument.
func TestPeriodogram(t *testing.T) {
	x := process(processes[1].model, 23, 12)
	n := PeriodogramSize(len(x))
	power := make([]float64, n/2+1)
	Periodogram(power, x)
	Periodogram(power, x)
	want := testkit.Numbers(len(power), func(k int) float64 {
		re, im := 0.0, 0.0
		for i, v := range x {
			s, c := math.Sincos(2 * math.Pi * float64(k*i) / float64(n))
			re, im = re+v*c, im+v*s
		}
		return 2 * (re*re + im*im)
	})
	testkit.Within(t, "powers", power, want, 1e-10*(1+slices.Min(want)))
}
