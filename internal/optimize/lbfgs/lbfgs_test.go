package lbfgs

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

// rosenbrock is the negative n-dimensional Rosenbrock function, with its maximum 0 at (1, …, 1).
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
		x := slices.Repeat([]float64{-1.2}, n)
		s := testkit.Must(Start(rosenbrock, x))(t)
		why, err := Maximize(rosenbrock, s, Settings{Iterations: 2000, Gain: 1e-18})
		if err != nil || s.F < -1e-10 {
			t.Errorf("n=%d: %v after %d iterations (%s, %v), want 0", n, s.F, s.Iterations, why, err)
		}
	}
}

// TestFailedEvaluations checks that NaN, infinities and errors near the path only shorten steps.
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
	s := testkit.Must(Start(walled, []float64{-1.2, 1}))(t)
	if _, err := Maximize(walled, s, Settings{Iterations: 500, Gain: 1e-18}); err != nil || s.F < -1e-8 {
		t.Errorf("value %v, error %v, want 0", s.F, err)
	}
}

func TestStopKeepsBest(t *testing.T) {
	stop := errors.New("enough")
	s, _ := Start(rosenbrock, []float64{-1.2, 1})
	first := s.F
	why, err := Maximize(rosenbrock, s, Settings{Iterations: 100, Each: func(s *State) error {
		if s.Iterations == 5 {
			return stop
		}
		return nil
	}})
	if why != Stopped || !errors.Is(err, stop) || s.F <= first || s.Iterations != 5 {
		t.Errorf("%s, %v, value %v after %d iterations", why, err, s.F, s.Iterations)
	}
}

// TestResume checks that a maximization resumed from a saved state ends at the same bits as an
// uninterrupted one, whether Each or an evaluation stopped it, after any number of steps.
func TestResume(t *testing.T) {
	set := Settings{Iterations: 200, Gain: 1e-5}
	for _, most := range []int{20, 200} {
		set.Iterations = most
		var cuts []record
		set.Each = func(s *State) error { cuts = append(cuts, save(t, s)); return nil }
		whole, _ := Start(rosenbrock, []float64{-1.2, 1, 0.5})
		ended := testkit.Must(Maximize(rosenbrock, whole, set))(t)
		set.Each = nil
		evaluations := 0
		for n := 1; ; n++ { // stopped by the n-th evaluation
			part, _ := Start(rosenbrock, []float64{-1.2, 1, 0.5})
			left := n
			if _, err := Maximize(func(x, g []float64) (float64, error) {
				if left--; left == 0 {
					return 0, ErrStop
				}
				return rosenbrock(x, g)
			}, part, set); err == nil {
				break
			}
			evaluations = n
			cuts = append(cuts, save(t, part))
		}
		if evaluations < len(whole.S) {
			t.Fatalf("cut by %d evaluations", evaluations)
		}
		for i, cut := range cuts {
			s := cut.restore(t)
			why, err := Maximize(rosenbrock, s, set)
			if err != nil || why != ended || whole.F != s.F || !slices.Equal(whole.X, s.X) || whole.Iterations != s.Iterations {
				t.Errorf("cut %d of %d: %s at %v after %d iterations, uninterrupted %s at %v after %d", i, len(cuts), why, s.F, s.Iterations, ended, whole.F, whole.Iterations)
			}
		}
	}
}

// A record is a saved State: its JSON and its arrays.
type record struct {
	text   []byte
	arrays [][]float64
}

func save(t *testing.T, s *State) record {
	t.Helper()
	text := testkit.Must(json.Marshal(s))(t)
	r := record{text: text}
	for _, a := range arrays(s) {
		r.arrays = append(r.arrays, slices.Clone(*a))
	}
	return r
}

func (r record) restore(t *testing.T) *State {
	t.Helper()
	s := &State{}
	testkit.OK(t, json.Unmarshal(r.text, s))
	testkit.OK(t, s.MakePairs())
	all := arrays(s)
	if len(all) != len(r.arrays) {
		t.Fatalf("the state has %d arrays, %d were saved", len(all), len(r.arrays))
	}
	for i, a := range all {
		*a = slices.Clone(r.arrays[i])
	}
	return s
}

// arrays returns all arrays of a State.
func arrays(s *State) []*[]float64 {
	all := []*[]float64{&s.X, &s.G}
	for i := range s.S {
		all = append(all, &s.S[i], &s.Y[i])
	}
	if b := s.PerBlock; b != nil {
		all = append(all, &b.X, &b.G, &b.Radius, &b.Recent)
	}
	return all
}

// TestMakePairs checks that impossible counts are rejected and that existing pairs are kept.
func TestMakePairs(t *testing.T) {
	for _, s := range []State{{Pairs: -1}, {Pairs: Memory + 1}, {Steps: -1}, {Iterations: -1}, {Stalled: -1}} {
		if err := s.MakePairs(); err == nil {
			t.Errorf("%+v: no error", s)
		}
	}
	s := State{Pairs: Memory}
	if err := s.MakePairs(); err != nil || len(s.S) != Memory || len(s.Y) != Memory {
		t.Errorf("%d and %d arrays for %d pairs (%v)", len(s.S), len(s.Y), Memory, err)
	}
	s.S[3] = []float64{1}
	if err := s.MakePairs(); err != nil || len(s.S[3]) != 1 {
		t.Errorf("an existing pair was lost (%v)", err)
	}
}

func TestBadStart(t *testing.T) {
	if _, err := Start(func(x, g []float64) (float64, error) { return math.NaN(), nil }, []float64{1}); err == nil {
		t.Error("a starting point without a value was accepted")
	}
}

// TestRise checks that a line search among rounding errors ends early, at the same point.
func TestRise(t *testing.T) {
	maximize := func(rise float64) (x float64, calls int) {
		rounded := func(x, g []float64) (float64, error) {
			calls++
			g[0] = -math.Sinh(x[0])
			return math.Round(1e9*(1-math.Cosh(x[0]))) / 1e9, nil
		}
		state := testkit.Must(Start(rounded, []float64{1}))(t)
		_, err := Maximize(rounded, state, Settings{Iterations: 100, Gain: 1e-3, Rise: rise})
		testkit.OK(t, err)
		return state.X[0], calls
	}
	slow, many := maximize(0)
	fast, few := maximize(1e-7)
	if few >= many/2 || math.Abs(fast) > 1e-3 || math.Abs(slow) > 1e-3 {
		t.Errorf("x = %g after %d evaluations, with Rise %g after %d", slow, many, fast, few)
	}
}
