package initialize

import (
	"math"
	"testing"
)

// TestWindowLayout checks that the squares of the window functions add up to 1 and that centers
// are within the data.
func TestWindowLayout(t *testing.T) {
	for _, c := range []struct {
		lo, hi, length float64
		want           int
	}{{0, 10, 4, 6}, {0, 10.9, 4, 6}, {-3e6, -3e6 + 100, 8, 26}, {0, 10, 20, 0}, {0, 10, 19, 2}, {0, 10, 0, 0}, {0, 10, 1e9, 0}, {0, 0, 1, 0}} {
		w := newWindows(c.lo, c.hi, c.length, 0.5, 0)
		if len(w.Center) != c.want {
			t.Errorf("%+v: %d windows", c, len(w.Center))
		}
		if err := w.Check(1); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
		if n := len(w.Center); n > 0 && (w.Center[0] < c.lo || w.Center[n-1] > c.hi) {
			t.Errorf("%+v: centers from %g to %g", c, w.Center[0], w.Center[n-1])
		}
		for x := c.lo - 1; c.want > 0 && x < c.hi+1; x += (c.hi - c.lo) / 173 {
			s := 0.0
			for v := range w.Center {
				s += w.Gate(v, x) * w.Gate(v, x)
			}
			if math.Abs(s-1) > 1e-6 {
				t.Errorf("%+v: Σ g² = %v at %v", c, s, x)
			}
		}
	}
}
