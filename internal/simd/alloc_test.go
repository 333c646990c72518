package simd

import (
	"math/rand/v2"
	"testing"
)

// TestAllocations: no kernel allocates, nor does a Dense that has its room.
func TestAllocations(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		s := newScene(t, 1, 3, 20, 1)
		m := 3 * Lanes
		c, acc := make([]float64, m*m), make([]float64, s.n*Lanes)
		g := random(rand.New(rand.NewPCG(1, 1)), 3, m)
		sums, res := make([]float64, 3*FactorizedRows*Lanes), make([]float64, s.n)
		d := NewDense(1)
		bank, steps, x, gate := evenProblem(3, s.n)
		var starts Starts
		(&Tile{Cos: s.cos, Sin: s.sin, Bank: bank, Steps: steps, X: x, Gate: gate, Acc: acc, W: s.w, Starts: &starts}).Features()
		for name, f := range map[string]func(){
			"Features": func() { (&Tile{Cos: s.cos, Sin: s.sin, Bank: s.bank, X: s.x, Gate: s.gate}).Features() },
			"FeaturesFit": func() {
				(&Tile{Cos: s.cos, Sin: s.sin, Bank: s.bank, X: s.x, Gate: s.gate, Acc: acc, W: s.w}).Features()
			},
			"Step":         func() { bank.Step(steps) },
			"FeaturesEven": func() { (&Tile{Cos: s.cos, Sin: s.sin, Bank: bank, Steps: steps, X: x, Gate: gate}).Features() },
			"FitEven": func() {
				(&Tile{Cos: s.cos, Sin: s.sin, Bank: bank, Steps: steps, X: x, Gate: gate, Acc: acc, W: s.w, Starts: &starts}).Features()
			},
			"FactorisedEven": func() {
				(&Tile{Cos: s.cos, Sin: s.sin, Bank: bank, Steps: steps, X: x, Gate: gate, Inv: gate, Starts: &starts}).Factorized(sums, res, s.lanes)
			},
			"Gram":    func() { Gram(c, m, s.cos, 0, 3) },
			"Product": func() { Product(s.bar, s.cos, g, 0, 3) },
			"Contract": func() {
				(&Tile{Cos: s.cos, Sin: s.sin, Bank: s.bank, X: s.x, Inv: s.inv}).Contract(sums[:3*SumRows(1)*Lanes], s.bar, nil, s.lanes)
			},
			"Factorised": func() {
				(&Tile{Cos: s.cos, Sin: s.sin, Bank: s.bank, X: s.x, Inv: s.inv}).Factorized(sums, res, s.lanes)
			},
			"Second":    func() { (&Tile{Cos: s.cos, Sin: s.sin, Bank: s.bank, X: s.x, Inv: s.inv}).Second(sums[:3*2*Lanes]) },
			"Along":     func() { Along(sums[:3*Lanes], s.cos, s.y, s.d) },
			"AddOutput": func() { AddOutput(s.bar, s.y, s.d, s.w) },
			"Dense": func() {
				clear(c)
				for i := range m {
					c[i*m+i] = 2
				}
				d.Cholesky(c, m, m)
				d.Inverse(c, m, m)
			},
		} {
			most := 0.0
			if name == "Dense" { // what it hands to Parallel, a few words each
				most = 5
			}
			if n := testing.AllocsPerRun(10, f); n > most {
				t.Errorf("%s allocates %v times", name, n)
			}
		}
	})
}
