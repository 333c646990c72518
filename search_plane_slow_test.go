//go:build slow

package vssgp

import (
	"math"
	"testing"

	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/modeltest"
)

// TestRoughSurface checks the intervals in holes of a field whose details the components cannot resolve: many rows of
// an even grid, with waves of all lengths whose amplitudes are proportional to the length. The details are part of the
// noise.
func TestRoughSurface(t *testing.T) {
	const side, waves = 120, 600
	rng := modeltest.NewRNG(31)
	type wave struct{ u, v, phase, size float64 }
	var all []wave
	for range waves {
		f, angle := math.Exp(math.Log(60)*rng.Float64()), 2*math.Pi*rng.Float64() // cycles per range
		w := 2 * math.Pi * f
		all = append(all, wave{w * math.Cos(angle), w * math.Sin(angle), 2 * math.Pi * rng.Float64(), 1 / f})
	}
	known := &Data{Q: 2, D: 1}
	var x, f []float64
	for i := range side {
		for j := range side {
			u, v, y := float64(i)/side, float64(j)/side, 0.0
			for _, w := range all {
				y += w.size * math.Cos(w.u*u+w.v*v+w.phase)
			}
			if i/10%4 == 2 && j/10%4 == 1 { // holes of 10 × 10 rows
				x, f = append(x, u, v), append(f, y)
				continue
			}
			known.N++
			known.X, known.Y = append(known.X, u, v), append(known.Y, y)
		}
	}
	m, _ := mustFit(t, known, Options{})
	p := testkit.Must(m.Predict(t.Context(), x))(t)
	covered := bayes.Coverage(p.Mean, p.SD(true), f) // the details count as noise
	t.Logf("the intervals contain %.3f, inflation %.3g", covered, m.kernel.Inflation)
	if !(covered >= 0.88 && covered <= 0.99) || !(m.kernel.Inflation > 1.5) {
		t.Errorf("the intervals contain %.3f, want about 0.95; inflation %.3g, want more than 1.5",
			covered, m.kernel.Inflation)
	}
}
