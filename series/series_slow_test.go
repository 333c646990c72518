//go:build slow

package series

import (
	"math"
	"testing"
)

// TestCoverage checks the coverage of 95 % intervals on synthetic series.
func TestCoverage(t *testing.T) {
	const count = 40
	in, all := 0, 0
	for i := range count {
		s := made(150+i, i%2 == 1)
		known := s.rows(0, len(s.X)-24)
		m := fit(t, known, Options{})
		p := predict(t, m, s.X[len(known.X):])
		in, all = in+inside(p, s.Y[0][len(known.X):]), all+24
	}
	if share := float64(in) / float64(all); share < 0.88 || share > 0.995 {
		t.Errorf("%d of %d inside 95 %% intervals", in, all)
	}
}

// TestHMC compares the Laplace approximation with HMC. Means agree. Standard deviations are up to 2.2 times as large, because the
// Gaussian in the log amplitude overestimates the upper tail of the posterior.
func TestHMC(t *testing.T) {
	s := made(90, false)
	a, b := fit(t, s, Options{Draws: 60}), fit(t, s, Options{Draws: 60, HMC: true})
	p, q := predict(t, a, a.Next(24)), predict(t, b, b.Next(24))
	for i := range p.X {
		if math.Abs(p.Mean[0][i]-q.Mean[0][i]) > 0.4*q.SD[0][i] || !(p.SD[0][i] > 0.85*q.SD[0][i] && p.SD[0][i] < 2.2*q.SD[0][i]) {
			t.Errorf("step %d: %v ± %v, by HMC %v ± %v", i+1, p.Mean[0][i], p.SD[0][i], q.Mean[0][i], q.SD[0][i])
		}
	}
}
