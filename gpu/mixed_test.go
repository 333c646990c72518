package gpu

import (
	"strings"
	"testing"
)

// TestMixed: the mixed precision on evenly spaced rows too, near package cpu, in
// any budget and in several shares.
func TestMixed(t *testing.T) {
	onEach(t, func(t *testing.T, ordinal int) {
		o := Options{Ordinals: []int{ordinal}, Precision: Mixed}
		b := open(t, o)
		if !strings.HasSuffix(b.Name(), " mixed") {
			t.Errorf("name %q", b.Name())
		}
		for _, s := range []shape{
			{name: "dense, even", n: 600, m: 150, q: 1, d: 1, even: true},
			{name: "dense, uneven", n: 300, m: 65, q: 1, d: 5},
			{name: "two inputs", n: 300, m: 40, q: 2, d: 2},
			{name: "even but for a step, windows", n: 1800, m: 60, q: 1, d: 1, even: true, broken: 97, windows: 4},
			{name: "windows without features", n: 300, m: 30, q: 1, d: 2, windows: 6, first: 3},
		} {
			t.Run(s.name, func(t *testing.T) {
				p := newProblem(s)
				// Sums of up to 1800 rows of either sign: twice those of mixedTolerance
				// at the root of it. Measured 3.1e-6.
				p.asCPU(t, b, func(string) float64 { return 1e-5 })
				for _, m := range p.methods()[:4] {
					p.budgets(t, m, o)
				}
			})
		}
	})
}
