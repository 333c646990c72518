package precise

import (
	"math"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

// TestRealsMatchKnownValues compares the 192-bit functions with known values and identities.
func TestRealsMatchKnownValues(t *testing.T) {
	close := func(what string, a, b Real) {
		t.Helper()
		if d := math.Abs(a.Minus(b).Float()); d > 1e-45*max(1, math.Abs(b.Float())) {
			t.Errorf("%s: %v and %v differ by %g", what, a.Float(), b.Float(), d)
		}
	}
	for _, x := range []float64{1e-9, 0.3, 1, 2.5, 40, 1e7} {
		a := Of(x)
		c, s := a.Cos(), a.Sinc().Times(a)
		close("cos² + sin²", c.Times(c).Plus(s.Times(s)), Of(1))
		testkit.Near(t, c.Float(), math.Cos(x), 1e-9*max(1e-6, 1e-7*x), "cos ", x)
		close("log exp", Of(-x/1e6).Exp().Log(), Of(-x/1e6))
		close("exp log", a.Log().Exp(), a)
		close("exp(a)·exp(−a)", Of(x/1e6).Exp().Times(Of(-x/1e6).Exp()), Of(1))
		close("√²", a.Root().Times(a.Root()), a)
		testkit.Near(t, a.Log().Float(), math.Log(x), 1e-14*math.Abs(math.Log(x)), "log ", x)
	}
	close("sinc(π/2)", TwoPi.Scaled(-2).Sinc(), Of(4).Over(TwoPi))
}
