package variational_test

import (
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/slow"
)

// TestSegmentsAgainstTruth compares the bound and the gradients in segments of windows with the
// truth, in cases that are hard for block algorithms.
func TestSegmentsAgainstTruth(t *testing.T) {
	slow.Race(t)
	for _, c := range []kind{
		{Name: "segments", N: 24, L: 6, K: 1, Q: 1, D: 2, Windows: 6},
		{Name: "segments and little noise", N: 24, L: 6, K: 2, Q: 1, D: 1, Windows: 5, Tau: 1e8},
		{Name: "segments with nearly the same feature twice", N: 24, L: 5, K: 2, Q: 1, D: 1, Windows: 5, Tau: 1e4, Twins: true},
		{Name: "segments of windows without components", N: 24, L: 4, K: 2, Q: 1, D: 1, Windows: 8, Skip: 2},
		{Name: "segments with silence", N: 24, L: 5, K: 2, Q: 1, D: 1, Windows: 5, Tau: 1e6, Silent: true},
	} {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			p, data := c.Make()
			last := p.Windows.Center[c.Windows-1] + 1
			for n := range data.X { // over all windows
				data.X[n] = last * (float64(n) + 0.5) / float64(len(data.X))
			}
			for k := range p.M() {
				p.Location[k] += p.Windows.Center[p.ComponentWindow[k/p.K]] - 3
			}
			r := open(t, data)
			r.Segments = 3
			e := testkit.Must(r.Exact(p, true))(t)
			tr := newTruth(p, data)
			checkEvaluation(t, c, "exact", e, tr, tr.exact)
		})
	}
}
