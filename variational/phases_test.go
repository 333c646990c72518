package variational_test

import (
	"math"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit/modeltest"
	"github.com/vssgp/vssgp/internal/testkit/precise"
	"github.com/vssgp/vssgp/variational"
)

func TestWrapPhases(t *testing.T) {
	p, _ := kind{Name: "wrap", N: 1, L: 1, K: 4, Q: 1, D: 1}.Make()
	turn := 2 * math.Pi
	p.PhaseLower = []float64{-0.5, 7, 1, -20}
	p.PhaseUpper = []float64{0.5, 7.5, 1.5, -20} // the last is fixed
	p.WrapPhases()
	modeltest.Near(t, "α", p.PhaseLower, []float64{turn - 0.5, 7 - turn, 1, -20}, 1e-14)
	modeltest.Near(t, "β", p.PhaseUpper, []float64{turn + 0.5, 7.5 - turn, 1.5, -20}, 1e-14)
}

// TestSincMatches192Bits compares sin(h)/h and its slope at h and 2h with 192-bit values, on both sides of the
// limit of the series.
func TestSincMatches192Bits(t *testing.T) {
	step := precise.Of(math.Ldexp(1, -60))
	for _, h := range []float64{0, 1e-9, 5e-7, 1e-3, 0.0199, 0.02, 0.0201, 0.5, math.Pi / 2, 3, math.Pi} {
		one, two := variational.Sincs(h)
		one2, two2, slope, slope2 := variational.SincSlopes(h)
		for _, c := range []struct{ h, got, again, slope float64 }{{h, one, one2, slope}, {2 * h, two, two2, slope2}} {
			a := precise.Of(c.h)
			want := a.Sinc().Float()
			if math.Abs(c.got-want) > 4e-16 || math.Abs(c.again-want) > 4e-16 {
				t.Errorf("sinc(%v) = %.17g and %.17g, want %.17g", c.h, c.got, c.again, want)
			}
			want = a.Plus(step).Sinc().Minus(a.Minus(step).Sinc()).Over(step.Scaled(1)).Float()
			if math.Abs(c.slope-want) > 3e-12*math.Abs(want) {
				t.Errorf("slope of sinc at %v = %.17g, want %.17g", c.h, c.slope, want)
			}
		}
	}
}
