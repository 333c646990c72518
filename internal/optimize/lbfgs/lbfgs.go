// Package lbfgs maximizes a smooth function by limited-memory BFGS with a
// bracketing line search.
//
// gonum/optimize implements L-BFGS, but its state cannot be saved, so a resumed fit would not give
// the same bits. Here State is a plain struct. A failed evaluation (an error, or a value that is
// not finite) shortens the step. State.X is always the best point evaluated.
package lbfgs

import (
	"errors"
	"math"
	"slices"
)

// Why is the reason why a maximization ended.
type Why string

const (
	Converged Why = "converged"       // the gain fell below Settings.Gain
	Limit     Why = "iteration limit" // Settings.Iterations steps taken
	Stuck     Why = "no ascent"       // no step along the gradient raises the value
	Stopped   Why = "stopped"         // Each or ErrStop
)

// Start evaluates f at x.
func Start(f Func, x []float64) (*State, error) {
	s := &State{X: slices.Clone(x), G: make([]float64, len(x))}
	var err error
	s.F, err = f(s.X, s.G)
	if err == nil && !usable(s.F, s.G) {
		err = errors.New("lbfgs: the value or the gradient at the starting point is not a number")
	}
	return s, err
}

// Maximize continues from s until it converges or a limit is reached, and returns why it ended.
// The result depends only on f, set and the fields of s: a copy of s from Each or after an error
// gives the same bits when resumed. It returns an error only if Each or ErrStop ended it.
func Maximize(f Func, s *State, set Settings) (Why, error) {
	if s.PerBlock == nil && len(set.Blocks) > 1 {
		s.PerBlock = newPerBlock(s, len(set.Blocks))
	}
	for {
		switch {
		case s.Stalled >= patience:
			return Converged, nil
		case s.Iterations >= set.Iterations:
			return Limit, nil
		}
		before, perBlock := s.F, s.PerBlock != nil && !s.PerBlock.Over
		moved, err := s.move(f, set)
		if err != nil {
			return Stopped, err
		}
		if !moved && len(s.S) == 0 {
			return Stuck, nil
		}
		s.Iterations++
		if !moved {
			s.S, s.Y, s.ids, s.Pairs = nil, nil, nil, 0 // the stored curvature is out of date; try the gradient
			continue
		}
		s.Steps++
		if s.Stalled++; perBlock || s.F-before >= set.Gain {
			s.Stalled = 0
		}
		if set.Each != nil {
			if err := set.Each(s); err != nil {
				return Stopped, err
			}
		}
	}
}

// move takes one step, either of all coordinates together or of each block separately. It reports
// whether the point moved.
func (s *State) move(f Func, set Settings) (bool, error) {
	if s.PerBlock == nil || s.PerBlock.Over {
		return s.step(f, set)
	}
	if err := s.stepPerBlock(f, set); err != nil {
		return false, err
	}
	if s.PerBlock.slow(s.F, max(set.Gain, set.PerBlockGain)) {
		s.join()
	}
	return true, nil
}

const (
	patience   = 5    // successive steps with too little gain before a maximization ends
	armijo     = 1e-4 // minimum fraction of the predicted rise
	wolfe      = 0.9  // maximum fraction of the slope that may remain
	lineTries  = 25
	growFactor = 2.5
)

// step takes one quasi-Newton step that satisfies the weak Wolfe conditions, by expansion and
// bisection. It reports whether the point moved.
func (s *State) step(f Func, set Settings) (bool, error) {
	d := s.vector()
	s.direction(d, s.G, set.Blocks)
	slope := dot(d, s.G)
	if !(slope > 0) || math.IsInf(slope, 0) {
		s.release(d)
		return false, nil
	}
	x, g := s.vector(), s.vector()
	var best *State // the best point that satisfies the Armijo condition
	lo, hi, t := 0.0, math.Inf(1), 1.0
	for range lineTries {
		addScaled(x, s.X, t, d)
		v, err := f(x, g)
		if errors.Is(err, ErrStop) {
			return false, err
		}
		if err != nil || !usable(v, g) || v < s.F+armijo*t*slope {
			hi = t
		} else {
			done := dot(g, d) <= wolfe*slope
			if best == nil {
				best = &State{X: s.vector(), G: s.vector(), F: math.Inf(-1)}
			}
			if v > best.F {
				best.F = v
				best.X, x = x, best.X
				best.G, g = g, best.G
			}
			if done {
				break
			}
			lo = t
		}
		if lo == 0 && t*slope < set.Rise {
			break
		}
		switch {
		case math.IsInf(hi, 1):
			t *= growFactor
		case lo == 0: // a large reduction after a failure of the first step, later bisection
			t = 0.3 * hi
		default:
			t = lo + (hi-lo)*0.5
		}
	}
	s.release(d, x, g)
	if best != nil {
		s.accept(best)
	}
	return best != nil, nil
}

// direction sets d to an ascent direction for a gradient.
func (s *State) direction(d, gradient []float64, blocks []Block) {
	p, each := s.pairs(), []float64(nil)
	if len(blocks) > 1 {
		each = s.vector()
		defer s.release(each)
	}
	a := s.gram.ascent(d, gradient, p, blocks, each)
	a.add(Ranges{{0, len(d)}}, p)
}

// accept moves to a point and stores the pair if its curvature is positive.
func (s *State) accept(to *State) {
	step, y := s.vector(), s.vector()
	subtract(step, to.X, s.X)
	subtract(y, s.G, to.G) // for −f, whose Hessian should be positive definite
	s.release(s.X, s.G)
	s.X, s.G, s.F = to.X, to.G, to.F
	if (Ranges{{0, len(y)}}).products(step, y).positive() {
		s.push(step, y)
	} else {
		s.release(step, y)
	}
}
