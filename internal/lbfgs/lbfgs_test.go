package lbfgs

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"testing"
)

// rosenbrock is minus the n-dimensional Rosenbrock function: maximum 0 at 1.
func rosenbrock(x, g []float64) (float64, error) {
	clear(g)
	s := 0.0
	for i := 0; i+1 < len(x); i++ {
		a, b := x[i+1]-x[i]*x[i], 1-x[i]
		s -= 100*a*a + b*b
		g[i] += 400*a*x[i] + 2*b
		g[i+1] -= 200 * a
	}
	return s, nil
}

func TestRosenbrock(t *testing.T) {
	for _, n := range []int{2, 10, 101} {
		x := make([]float64, n)
		for i := range x {
			x[i] = -1.2
		}
		s, err := Start(rosenbrock, x)
		if err != nil {
			t.Fatal(err)
		}
		why, err := Maximise(rosenbrock, s, Settings{Iterations: 2000, Gain: 1e-18})
		if err != nil || s.F < -1e-10 {
			t.Errorf("n=%d: %v after %d iterations (%s, %v), want 0", n, s.F, s.Iterations, why, err)
		}
	}
}

// TestFailedEvaluations: a wall of NaN, infinities and errors beside the path
// only shortens steps.
func TestFailedEvaluations(t *testing.T) {
	calls := 0
	walled := func(x, g []float64) (float64, error) {
		v, _ := rosenbrock(x, g)
		if calls++; x[0] > 1.05 || x[1] > 1.3 {
			switch calls % 3 {
			case 0:
				return 0, errors.New("no value")
			case 1:
				return math.NaN(), nil
			default:
				g[0] = math.Inf(1)
			}
		}
		return v, nil
	}
	s, err := Start(walled, []float64{-1.2, 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Maximise(walled, s, Settings{Iterations: 500, Gain: 1e-18}); err != nil || s.F < -1e-8 {
		t.Errorf("value %v, error %v, want 0", s.F, err)
	}
}

func TestStopKeepsBest(t *testing.T) {
	stop := errors.New("enough")
	s, _ := Start(rosenbrock, []float64{-1.2, 1})
	first := s.F
	why, err := Maximise(rosenbrock, s, Settings{Iterations: 100, Each: func(s *State) error {
		if s.Iterations == 5 {
			return stop
		}
		return nil
	}})
	if why != Stopped || !errors.Is(err, stop) || s.F <= first || s.Iterations != 5 {
		t.Errorf("%s, %v, value %v after %d iterations", why, err, s.F, s.Iterations)
	}
}

// TestResume: going on from a state that went through a file gives the same
// bits and the same end as not having stopped, after whichever step it was cut:
// in Each or by an evaluation that stops.
func TestResume(t *testing.T) {
	set := Settings{Iterations: 200, Gain: 1e-5, Patience: 4, Memory: 3}
	for _, most := range []int{20, 200} {
		set.Iterations = most
		var cuts [][]byte
		set.Each = func(s *State) error { cuts = append(cuts, saved(t, s)); return nil }
		whole, _ := Start(rosenbrock, []float64{-1.2, 1, 0.5})
		ended, err := Maximise(rosenbrock, whole, set)
		if err != nil {
			t.Fatal(err)
		}
		set.Each = nil
		evaluations := 0
		for n := 1; ; n++ { // cut by the n-th evaluation
			part, _ := Start(rosenbrock, []float64{-1.2, 1, 0.5})
			left := n
			if _, err := Maximise(func(x, g []float64) (float64, error) {
				if left--; left == 0 {
					return 0, ErrStop
				}
				return rosenbrock(x, g)
			}, part, set); err == nil {
				break
			}
			evaluations = n
			cuts = append(cuts, saved(t, part))
		}
		if evaluations < len(whole.S) {
			t.Fatalf("cut by %d evaluations", evaluations)
		}
		for i, cut := range cuts {
			s := &State{}
			if err := json.Unmarshal(cut, s); err != nil {
				t.Fatal(err)
			}
			why, err := Maximise(rosenbrock, s, set)
			if err != nil || why != ended || whole.F != s.F || !slices.Equal(whole.X, s.X) || whole.Turns != s.Turns {
				t.Errorf("cut %d of %d: %s at %v after %d turns, uninterrupted %s at %v after %d", i, len(cuts), why, s.F, s.Turns, ended, whole.F, whole.Turns)
			}
		}
	}
}

func saved(t *testing.T, s *State) []byte {
	t.Helper()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestBadStart(t *testing.T) {
	if _, err := Start(func(x, g []float64) (float64, error) { return math.NaN(), nil }, []float64{1}); err == nil {
		t.Error("a starting point without a value was accepted")
	}
}
