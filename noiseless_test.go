package vssgp

import (
	"testing"

	"github.com/vssgp/vssgp/internal/testkit/modeltest"
	"github.com/vssgp/vssgp/internal/testkit/slow"
)

// TestNoiseless: without priors, which keep the noise of a few rows away from nothing, where noise is small to nothing the bound's terms are numbers,
// fit is never above 0, the noise ends at its floor and no lower, and what is
// fitted is the data.
func TestNoiseless(t *testing.T) {
	for i, s := range modeltest.Noiseless() {
		if !slow.Tests && i%2 == 1 {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			o := Options{Raw: s.Raw, Priors: NoPriors()}
			if s.Paper {
				o.Init = InitPaper
			}
			data := &Data{N: len(s.X), Q: 1, D: 1, X: s.X, Y: s.Y}
			m, r := mustFit(t, data, o)
			modeltest.CheckTerms(t, r.Terms)
			if (r.NoiseFloor > 0) == s.Rich {
				t.Errorf("the noise's floor is said to be %g where the noise is %g", r.NoiseFloor, m.NoiseSD()[0])
			}
			p, err := m.Predict(t.Context(), data.X)
			if err != nil {
				t.Fatal(err)
			}
			s.Check(t, p.Mean, p.SD(true))
		})
	}
}
