package paper

import (
	"math"
	"testing"

	"github.com/vssgp/vssgp/bench/internal/baselines"
)

// TestQuantities checks that a ratio of scores requires both scores and a positive divisor, and that lines are sorted
// by a number.
func TestQuantities(t *testing.T) {
	at := func(k int, below float64) Line {
		return lineOf("vssgp", "paper", "a", 0, k, map[Score]float64{TestRMSE: 1, ZeroRMSE: below})
	}
	lines := []Line{at(2, 0.5), at(1, 0), lineOf("vssgp", "paper", "a", 0, 3, nil), at(0, math.Inf(1))}
	got := values(rising(lines, countOf), scoreOf(TestRMSE).by(scoreOf(ZeroRMSE)))
	if len(got) != 2 || got[0] != 0 || got[1] != 2 {
		t.Errorf("ratios %v, want 0 and 2, for the lines with K = 0 and 2", got)
	}
}

// TestDeterministicTrialHasOneFit checks that a deterministic trial has one fit if there is a curve, and one fit per seed otherwise.
func TestDeterministicTrialHasOneFit(t *testing.T) {
	s := &series{Trace: Trace{X: []float64{1, 2}, Y: []float64{1, 2}}}
	left := [][]bool{make([]bool, 2), make([]bool, 2), make([]bool, 2)}
	var asked []uint64
	method := func(seed uint64) baselines.Method { asked = append(asked, seed); return fixedMethod{} }
	for _, draws := range []bool{false, true} {
		for _, curve := range [][]float64{nil, {1}} {
			asked = nil
			fits := s.fits(Key{}, []trial{{"m", "s", draws, method}}, left, curve)
			want := 3
			if !draws && curve != nil {
				want = 1
			}
			if len(fits) != want || len(asked) != want || asked[want-1] != uint64(want-1) || fits[want-1].line.Seed != uint64(want-1) {
				t.Errorf("draws %v, curve %v: %d fits of seeds %v, want %d", draws, curve, len(fits), asked, want)
			}
		}
	}
}
