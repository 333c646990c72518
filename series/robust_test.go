package series

import (
	"math/rand/v2"
	"testing"

	"github.com/vssgp/vssgp/cpu"
)

// TestRobustAlone checks that a value far from all others is not taken for an outlier: a walk may have got there.
func TestRobustAlone(t *testing.T) {
	random, level := rand.New(rand.NewPCG(6, 6)), 0.0
	s := Series{Y: [][]float64{nil}}
	for i := range 60 {
		level += random.NormFloat64()
		s.X, s.Y[0] = append(s.X, float64(i)), append(s.Y[0], level+0.1*random.NormFloat64())
	}
	s.X, s.Y[0] = append(s.X, 90), append(s.Y[0], level+10)
	f, err := newFrame(&s, true)
	if err != nil {
		t.Fatal(err)
	}
	search, err := newSearch(t.Context(), f, &Options{Parts: []Part{Constant{}, RandomWalk{}}, Known: true, Robust: true, Backend: cpu.New()})
	if err != nil {
		t.Fatal(err)
	}
	best, err := search.run()
	if err != nil {
		t.Fatal(err)
	}
	p, _, err := search.odds(best)
	if err != nil || !(p[60] < 0.1) {
		t.Errorf("the value is an outlier with probability %v, %v", p[60], err)
	}
}
