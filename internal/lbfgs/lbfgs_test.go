package lbfgs

import (
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

// TestResume: going on from a copied state gives the same bits as not having
// stopped.
func TestResume(t *testing.T) {
	whole, _ := Start(rosenbrock, []float64{-1.2, 1, 0.5})
	if _, err := Maximise(rosenbrock, whole, Settings{Iterations: 20}); err != nil {
		t.Fatal(err)
	}
	part, _ := Start(rosenbrock, []float64{-1.2, 1, 0.5})
	if _, err := Maximise(rosenbrock, part, Settings{Iterations: 8}); err != nil {
		t.Fatal(err)
	}
	saved := *part
	if _, err := Maximise(rosenbrock, &saved, Settings{Iterations: 12}); err != nil {
		t.Fatal(err)
	}
	if whole.F != saved.F || !slices.Equal(whole.X, saved.X) {
		t.Errorf("resumed to %v at %v, uninterrupted %v at %v", saved.F, saved.X, whole.F, whole.X)
	}
}

func TestBadStart(t *testing.T) {
	if _, err := Start(func(x, g []float64) (float64, error) { return math.NaN(), nil }, []float64{1}); err == nil {
		t.Error("a starting point without a value was accepted")
	}
}
