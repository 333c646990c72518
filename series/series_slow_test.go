//go:build slow

package series

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/hmc"
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

// TestLaplaceAgreesWithHMC compares the Laplace approximation with HMC. Means agree. Standard deviations are up to 2.2
// times as large, because the Gaussian in the log amplitude overestimates the upper tail of the posterior.
func TestLaplaceAgreesWithHMC(t *testing.T) {
	s := made(90, false)
	m := fit(t, s, Options{Parts: defaultParts, Draws: 1000}) // 60 draws would make the sd a fifth larger by chance
	f := bayes.Scored(newObjective(t.Context(), m.layout, m.tracks).evaluate).WithPriors(m.layout.priors)
	posterior := func(v, gradient []float64) (float64, error) {
		var e bayes.Evaluation
		err := f(&e, v)
		copy(gradient, e.Gradient)
		return e.Value, err
	}
	p := predict(t, m, m.Next(24))
	random := rand.New(rand.NewPCG(1, 2))
	m.draws, m.mode = testkit.Must(hmc.Sample(posterior, m.at.Along, len(m.at.Mode), 180, random))(t), nil
	testkit.OK(t, m.condition(t.Context()))
	q := predict(t, m, m.Next(24))
	for i := range p.X {
		if math.Abs(p.Mean[0][i]-q.Mean[0][i]) > 0.4*q.SD[0][i] || !(p.SD[0][i] > 0.85*q.SD[0][i] && p.SD[0][i] < 2.2*q.SD[0][i]) {
			t.Errorf("step %d: %v ± %v, by HMC %v ± %v", i+1, p.Mean[0][i], p.SD[0][i], q.Mean[0][i], q.SD[0][i])
		}
	}
}

// TestLengths checks that two more observations change forecasts only slightly at lengths where the algorithm changes.
func TestLengths(t *testing.T) {
	lengths := []int{1000, coarseRows, averagedRows, searchedRows, 50_000}
	const ahead = 48
	whole := longSeries(slices.Max(lengths) + 1 + ahead)
	for _, n := range lengths {
		var both [2]*Prediction
		for i, rows := range []int{n - 1, n + 1} {
			end := len(whole.X) - ahead
			m := fit(t, whole.rows(end-rows, end), Options{})
			both[i] = predict(t, m, m.Next(ahead))
		}
		for i := range ahead {
			a, b, sd := both[0].Mean[0][i], both[1].Mean[0][i], both[0].SD[0][i]
			if math.Abs(a-b) > 0.15*sd || math.Abs(math.Log(both[1].SD[0][i]/sd)) > 0.05 {
				t.Errorf("%d rows, step %d: %v ± %v, of two more %v ± %v", n-1, i+1, a, sd, b, both[1].SD[0][i])
			}
		}
	}
}
