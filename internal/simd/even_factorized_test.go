package simd

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

// TestFactorizedEven: features stepped through twice give the sums of features
// that were written, panels that cannot be stepped among them.
func TestFactorizedEven(t *testing.T) {
	for _, count := range []int{1, 2, 5} {
		for _, n := range []int{1, 2, 3, 7, 8, 9, 10, 31, 32, 33, 63, 64, 65, 100} {
			for _, delta := range []float64{1, -0.25, 1024} {
				for _, most := range []int{easy, len(kinds)} {
					eachSet(t, func(t *testing.T) { testFactorizedEven(t, newEvenScene(t, uint64(n), count, n, most, delta)) })
				}
			}
		}
	}
}

func testFactorizedEven(t *testing.T, s *evenScene) {
	r := rand.New(rand.NewPCG(17, 1))
	n := len(s.x)
	lanes := make([]Lane, s.b.Count)
	for i := range lanes {
		for k := range Lanes {
			lanes[i].Ripple[k], lanes[i].Square[k], lanes[i].Weight[k] = r.Float64()-0.5, r.Float64()-0.5, r.Float64()
		}
	}
	s.gate[0] = 0
	inv := s.floats(n, 1)
	InverseSquares(inv, s.gate)
	res := s.random(r, n, 1)
	for _, c := range [][2][]float64{{s.gate, inv}, {nil, nil}} {
		gate, inv := c[0], c[1]
		cos, sin, acc := s.room(1), s.room(2), s.floats(n*Lanes, 0)
		(&Tile{Cos: cos, Sin: sin, Bank: s.b, Steps: s.s, X: s.x, Gate: gate, Acc: acc, W: s.w}).Features()
		want := s.floats(s.b.Count*FactorizedRows*Lanes, 0)
		for i := range s.b.Count {
			factorizedPlain(want[i*FactorizedRows*Lanes:], cos.Panel(i), sin.Panel(i), res, s.x, inv, centered(&lanes[i], s.b.Panel(i)))
		}
		cos2, sin2, acc2, got := s.room(3), s.room(4), s.floats(n*Lanes, 0), s.floats(len(want), 0)
		for i := range got {
			got[i] = 1
		}
		var starts Starts
		(&Tile{Cos: cos2, Sin: sin2, Bank: s.b, Steps: s.s, X: s.x, Gate: gate, Acc: acc2, W: s.w, Starts: &starts}).Features()
		testkit.Within(t, "the fit, without and with the features written", acc2, acc, 0)
		(&Tile{Cos: cos2, Sin: sin2, Bank: s.b, Steps: s.s, X: s.x, Gate: gate, Inv: inv, Starts: &starts}).Factorized(got, res, lanes)
		for i, v := range want {
			row, panel, lane := i/Lanes%FactorizedRows, i/Lanes/FactorizedRows, i%Lanes
			scale := s.reach(panel, lane)
			near(t, fmt.Sprintf("%d rows, step %v, panel %d, lane %d, sum %d", n, s.s.Delta, panel, lane, row), got[i]-1, v, 1+float64(n)*scale[row], 3e-14)
		}
		s.check()
		s.between(cos2)
		s.between(sin2)
	}
}

// reach is how large a row's share in each sum can be, up to a small factor.
func (s *evenScene) reach(panel, lane int) [FactorizedRows]float64 {
	p := s.b.Panel(panel)[lane:]
	d := 0.0
	for _, x := range s.x { // where the feature lives, or the rows reach
		if dx := x - p[Lanes]; p[2*Lanes]*dx*dx < 40 {
			d = max(d, dx, -dx)
		}
	}
	return [FactorizedRows]float64{1, 1, 1, 1, d, d, d * d}
}

// centered is a lane that knows its features' centers.
func centered(l *Lane, par []float64) *Lane {
	copy(l.Center[:], par[Lanes:2*Lanes])
	return l
}
