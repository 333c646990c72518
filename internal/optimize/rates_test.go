package optimize

import (
	"math"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit/modeltest"
)

// TestRMSProp checks that RMSProp maximizes a quadratic function, adapts its rates to the signs
// of steps, and ignores gradients that are not finite.
func TestRMSProp(t *testing.T) {
	r := newRMSProp(3)
	v, g := []float64{2, -1, 5}, make([]float64, 3)
	for step := range 2000 {
		g[0], g[1], g[2] = -2*v[0], -200*(v[1]-1), math.NaN()
		r.step(v, g, 0, 3, CoolDown(step, 2000))
	}
	modeltest.Near(t, "maximum", v[:2], []float64{0, 1}, 1e-3)
	if v[2] != 5 {
		t.Errorf("a NaN gradient moved its coordinate to %v", v[2])
	}
	r = newRMSProp(2)
	v = make([]float64, 2)
	for step := range 10 {
		sign := float64(1 - 2*(step%2))
		r.step(v, []float64{1, sign}, 0, 2, 1)
	}
	if !(r.Rate[0] > rmsRate && r.Rate[1] < rmsRate) {
		t.Errorf("rates %v after steps that agree and steps that differ, from %v", r.Rate, rmsRate)
	}
}
