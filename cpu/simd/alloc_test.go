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
		sums, res := make([]float64, 3*FactorisedRows*Lanes), make([]float64, s.n)
		d := NewDense(1)
		bank, steps, x, gate := evenProblem(3, s.n)
		var starts Starts
		FitEven(&starts, s.cos, s.sin, acc, bank, steps, x, gate, s.w)
		for name, f := range map[string]func(){
			"Features":     func() { Features(s.cos, s.sin, s.bank, s.x, s.gate) },
			"FeaturesFit":  func() { FeaturesFit(s.cos, s.sin, acc, s.bank, s.x, s.gate, s.w) },
			"Step":         func() { bank.Step(steps) },
			"FeaturesEven": func() { FeaturesEven(s.cos, s.sin, bank, steps, x, gate) },
			"FitEven":      func() { FitEven(&starts, s.cos, s.sin, acc, bank, steps, x, gate, s.w) },
			"FactorisedEven": func() {
				FactorisedEven(sums, &starts, s.cos, s.sin, res, x, gate, gate, s.lanes, bank, steps)
			},
			"Gram":    func() { Gram(c, m, s.cos, 0, 3) },
			"Product": func() { Product(s.bar, s.cos, g, 0, 3) },
			"Contract": func() {
				Contract(sums[:3*SumRows(1)*Lanes], s.cos, s.sin, s.bar, nil, s.x, s.inv, s.lanes, s.bank)
			},
			"Factorised": func() { Factorised(sums, s.cos, s.sin, res, s.x, s.inv, s.lanes, s.bank) },
			"Second":     func() { Second(sums[:3*2*Lanes], s.cos, s.sin, s.inv) },
			"Along":      func() { Along(sums[:3*Lanes], s.cos, s.y, s.d) },
			"AddOutput":  func() { AddOutput(s.bar, s.y, s.d, s.w) },
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
