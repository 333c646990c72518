package simd

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

func BenchmarkFeaturesEven(b *testing.B) {
	const count = 8
	for _, n := range []int{32, 64} {
		for _, gated := range []bool{true, false} {
			b.Run(fmt.Sprintf("n=%d,gated=%v", n, gated), func(b *testing.B) {
				eachSet(b, func(b *testing.B) {
					bank, s, x, gate := evenProblem(count, n)
					cos, sin, acc, w := NewPanels(count, n), NewPanels(count, n), Aligned(n*Lanes), Aligned(count*Lanes)
					perFeature(b, n*count*Lanes, func() {
						if gated {
							(&Tile{Cos: cos, Sin: sin, Bank: bank, Steps: s, X: x, Gate: gate}).Features()
						} else {
							(&Tile{Cos: cos, Sin: sin, Bank: bank, Steps: s, X: x, Acc: acc, W: w}).Features()
						}
					})
				})
			})
		}
	}
}

// evenProblem is a random bank over n even rows.
func evenProblem(count, n int) (b Bank, s Stepped, x, gate []float64) {
	r := rand.New(rand.NewPCG(1, 2))
	b = randomBank(r, count, 1, n)
	x, gate = inputs(r, n, 1)
	for i := range x {
		x[i] = float64(i)
	}
	s = Stepped{Delta: 1, Data: Aligned(SteppedRoom(count))}
	b.Step(s)
	return b, s, x, gate
}

// BenchmarkFactorizedEven is BenchmarkFactorized over even rows.
func BenchmarkFactorizedEven(b *testing.B) {
	for _, m := range []int{80, 800, 2000} {
		for _, n := range []int{32, 64} {
			b.Run(fmt.Sprintf("M=%d,n=%d", m, n), func(b *testing.B) {
				eachSet(b, func(b *testing.B) {
					count := m / Lanes
					bank, s, x, _ := evenProblem(count, n)
					cos, sin := NewPanels(count, n), NewPanels(count, n)
					acc, res := Aligned(n*Lanes), make([]float64, n)
					sums := make([]float64, FactorizedRows*Lanes*count)
					lanes, w := make([]Lane, count), make([]float64, m)
					var starts Starts
					perFeature(b, n*m, func() {
						clear(acc)
						(&Tile{Cos: cos, Sin: sin, Bank: bank, Steps: s, X: x, Acc: acc, W: w, Starts: &starts}).Features()
						SumLanes(res, acc)
						(&Tile{Cos: cos, Sin: sin, Bank: bank, Steps: s, X: x, Starts: &starts}).Factorized(sums, res, lanes)
					})
				})
			})
		}
	}
}

// BenchmarkStep is what even rows cost once a call.
func BenchmarkStep(b *testing.B) {
	bank, s, _, _ := evenProblem(100, 64)
	perFeature(b, 100*Lanes, func() { bank.Step(s) })
}
