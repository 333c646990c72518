// Package lbfgs maximises a smooth function by limited-memory BFGS with a
// bracketing line search.
//
// gonum/optimize has an L-BFGS, but its state cannot be saved, so an
// interrupted fit could not go on to the same bits; here State is a plain
// record. A failed evaluation (no value, or one that is not a number) shortens
// the step; the best point seen is always State.X.
package lbfgs

import (
	"errors"
	"math"
)

// Func is the function to maximise: its value at x, and its gradient written
// to g. An error means that there is no value there; the line search then
// steps back. Wrap ErrStop to end the maximisation at once instead.
type Func func(x, g []float64) (float64, error)

// ErrStop, wrapped by a Func's error, ends Maximise.
var ErrStop = errors.New("stop")

// State is where a maximisation stands; it can be saved and gone on from.
type State struct {
	X, G       []float64   // the best point and the gradient there
	F          float64     // the value there
	S, Y       [][]float64 // steps and gradient differences, oldest first
	Iterations int         // steps taken
	Turns      int         // of the outer loop, those without a step too
	Slow       int         // turns since the last that gained enough
	Apart      *Apart      // of Settings.Blocks, nil before the first step
}

// Memory is how many pairs of steps and gradient differences are kept by
// default.
const Memory = 20

// Settings of a maximisation; zero values mean the defaults.
type Settings struct {
	Memory     int // pairs kept; default Memory
	Iterations int // at most so many turns of the outer loop since Start
	// Gain ends the maximisation once the value has risen by less than Gain
	// in each of the last Patience steps.
	Gain     float64
	Patience int // default 5
	// FirstStep is the length of the very first step in the largest
	// coordinate; default 0.1.
	FirstStep float64
	// Blocks, two or more that own every coordinate once, are stepped each for
	// itself (Apart) for as long as the value rises by ApartGain an evaluation;
	// all of them go on together from there.
	Blocks    []Block
	ApartGain float64 // default: Gain
	// Each is called after every step; an error ends the maximisation.
	Each func(s *State) error
}

// Why a maximisation ended.
type Why string

const (
	Converged Why = "converged"       // the gain fell below Settings.Gain
	Limit     Why = "iteration limit" // Settings.Iterations steps taken
	Stuck     Why = "no ascent"       // no step along the gradient raises the value
	Stopped   Why = "stopped"         // Each or ErrStop
)

// Start evaluates f at x.
func Start(f Func, x []float64) (*State, error) {
	s := &State{X: append([]float64(nil), x...), G: make([]float64, len(x))}
	var err error
	s.F, err = f(s.X, s.G)
	if err == nil && !usable(s.F, s.G) {
		err = errors.New("lbfgs: the value or the gradient at the starting point is not a number")
	}
	return s, err
}

// Maximise goes on from s, whose fields are all that it knows: from a copy of
// them, taken in Each or after an error, another call with the same settings
// goes on to the same bits. It returns the reason it ended, and an error only
// where Each or ErrStop ended it.
func Maximise(f Func, s *State, set Settings) (Why, error) {
	if set.Memory == 0 {
		set.Memory = Memory
	}
	if set.Patience == 0 {
		set.Patience = 5
	}
	if set.FirstStep == 0 {
		set.FirstStep = 0.1
	}
	if s.Apart == nil && len(set.Blocks) > 1 {
		s.Apart = newApart(s, len(set.Blocks))
	}
	for {
		switch {
		case s.Slow >= set.Patience:
			return Converged, nil
		case s.Turns >= set.Iterations:
			return Limit, nil
		}
		before, apart := s.F, s.Apart != nil && !s.Apart.Over
		moved, err := s.move(f, set)
		if err != nil {
			return Stopped, err
		}
		if !moved && len(s.S) == 0 {
			return Stuck, nil
		}
		s.Turns++
		if !moved {
			s.S, s.Y = nil, nil // a stale model of the curvature: try the gradient itself
			continue
		}
		s.Iterations++
		if s.Slow++; apart || s.F-before >= set.Gain {
			s.Slow = 0
		}
		if set.Each != nil {
			if err := set.Each(s); err != nil {
				return Stopped, err
			}
		}
	}
}

// move takes one step of all coordinates together, or of blocks each for
// itself. It reports whether one was taken.
func (s *State) move(f Func, set Settings) (bool, error) {
	if s.Apart == nil || s.Apart.Over {
		return s.step(f, set)
	}
	if err := s.stepApart(f, set); err != nil {
		return false, err
	}
	if s.Apart.slow(s.F, max(set.Gain, set.ApartGain)) {
		s.join()
	}
	return true, nil
}

// direction is H·g by the two-loop recursion, an ascent direction.
func (s *State) direction(first float64, blocks []Block) []float64 {
	d := append([]float64(nil), s.G...)
	n := len(s.S)
	if n == 0 {
		big := largest(d)
		for i := range d {
			d[i] *= first / max(big, math.SmallestNonzeroFloat64)
		}
		return d
	}
	alpha := make([]float64, n)
	for i := n - 1; i >= 0; i-- {
		alpha[i] = dot(s.S[i], d) / dot(s.S[i], s.Y[i])
		axpy(d, -alpha[i], s.Y[i])
	}
	s.scale(d, blocks)
	for i := range n {
		axpy(d, alpha[i]-dot(s.Y[i], d)/dot(s.S[i], s.Y[i]), s.S[i])
	}
	return d
}

const (
	armijo     = 1e-4 // share of the predicted rise that a step must reach
	wolfe      = 0.9  // share of the slope that may be left
	lineTries  = 25
	tooFlat    = 1e-16 // relative curvature below which a pair is not kept
	growFactor = 2.5
)

// step takes one quasi-Newton step: weak Wolfe conditions by growing and
// halving. It reports whether the point moved.
func (s *State) step(f Func, set Settings) (bool, error) {
	d := s.direction(set.FirstStep, set.Blocks)
	slope := dot(d, s.G)
	if !(slope > 0) || math.IsInf(slope, 0) {
		return false, nil
	}
	x, g := make([]float64, len(d)), make([]float64, len(d))
	var best *State // satisfies Armijo, best so far
	lo, hi, t := 0.0, math.Inf(1), 1.0
	for range lineTries {
		for i := range x {
			x[i] = s.X[i] + t*d[i]
		}
		v, err := f(x, g)
		if errors.Is(err, ErrStop) {
			return false, err
		}
		switch {
		case err != nil || !usable(v, g) || v < s.F+armijo*t*slope:
			hi = t
		default:
			if best == nil || v > best.F {
				best = &State{X: append([]float64(nil), x...), G: append([]float64(nil), g...), F: v}
			}
			if dot(g, d) <= wolfe*slope {
				return s.accept(best, set.Memory), nil
			}
			lo = t
		}
		if math.IsInf(hi, 1) {
			t *= growFactor
		} else {
			t = lo + (hi-lo)*shrink(lo)
		}
	}
	if best == nil {
		return false, nil
	}
	return s.accept(best, set.Memory), nil
}

// shrink is where in the bracket to try next: well back from a failure at
// first, then the middle.
func shrink(lo float64) float64 {
	if lo == 0 {
		return 0.3
	}
	return 0.5
}

// accept moves to the point found and keeps the pair if its curvature is real.
func (s *State) accept(to *State, memory int) bool {
	step, y := make([]float64, len(s.X)), make([]float64, len(s.X))
	for i := range step {
		step[i] = to.X[i] - s.X[i]
		y[i] = s.G[i] - to.G[i] // of −f, whose Hessian is to be positive
	}
	if c := dot(step, y); c > tooFlat*dot(y, y) {
		s.push(step, y, memory)
	}
	s.X, s.G, s.F = to.X, to.G, to.F
	return true
}

// push keeps a pair in place of the oldest.
func (s *State) push(step, y []float64, memory int) {
	if len(s.S) == memory {
		s.S, s.Y = s.S[1:], s.Y[1:]
	}
	s.S, s.Y = append(s.S, step), append(s.Y, y)
}

func usable(v float64, g []float64) bool {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return false
	}
	for _, x := range g {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return false
		}
	}
	return true
}

func dot(a, b []float64) float64 {
	s := 0.0
	for i, v := range a {
		s += v * b[i]
	}
	return s
}

func axpy(y []float64, a float64, x []float64) {
	for i, v := range x {
		y[i] += a * v
	}
}
