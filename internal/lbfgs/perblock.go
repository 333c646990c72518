package lbfgs

import (
	"errors"
	"runtime"
	"slices"

	"github.com/vssgp/vssgp/internal/parallel"
	"gonum.org/v1/gonum/floats"
)

const (
	firstRadius = 0.5
	mostRadius  = 4.0
	goodShare   = 0.05 // fraction of the predicted rise that a block's step must reach
	patientFor  = 3    // failures in a row before every radius shrinks
	shrinkAll   = 0.3
	recentSpan  = 10 // evaluations whose mean gain is compared
)

// newPerBlock is the state before the first step.
func newPerBlock(s *State, blocks int) *PerBlock {
	return &PerBlock{X: slices.Clone(s.X), G: slices.Clone(s.G), Radius: slices.Repeat([]float64{firstRadius}, blocks)}
}

// move is one block's part of a trial.
type move struct {
	size float64 // the largest step of a coordinate
	cut  bool    // whether the radius has shortened it
	rise float64 // of the value, due to the block's own step
}

// stepPerBlock evaluates all blocks' steps at once and lets each keep its own.
// A block's rise is the trapezoid under its own slope,
//
//	½ (∇_b f(x) + ∇_b f(x + d))·d_b
//
// and where f is quadratic these add up to f(x + d) − f(x).
func (s *State) stepPerBlock(f Func, set Settings) error {
	a := s.PerBlock
	moves := make([]move, len(set.Blocks))
	n := len(s.X)
	d, y, x, g := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	workers := runtime.GOMAXPROCS(0)
	parallel.For(len(moves), workers, func(i int) { moves[i] = a.propose(d, s, set.Blocks[i], a.Radius[i]) })
	for i := range x {
		x[i] = a.X[i] + d[i]
	}
	v, err := f(x, g)
	if errors.Is(err, ErrStop) {
		return err
	}
	if err != nil || !usable(v, g) {
		for i, m := range moves {
			a.Radius[i] = shrinkAll * m.size
		}
		copy(a.X, s.X)
		copy(a.G, s.G)
		return nil
	}
	parallel.For(len(moves), workers, func(i int) {
		own := set.Blocks[i].Own
		was, is := own.dot(d, a.G), own.dot(d, g)
		moves[i].rise = (was + is) / 2
		a.Radius[i] = moves[i].radius(a.Radius[i], was, is)
	})
	for i := range y {
		y[i] = a.G[i] - g[i]
	}
	s.push(d, y)
	if v <= s.F { // back to the best point
		if a.Failed++; a.Failed == patientFor {
			a.Failed = 0
			floats.Scale(shrinkAll, a.Radius)
		}
		copy(a.X, s.X)
		copy(a.G, s.G)
		return nil
	}
	a.Failed = 0
	s.X, s.G, s.F = x, g, v
	for i, b := range set.Blocks {
		if moves[i].rise >= 0 {
			b.Own.copy(a.X, x)
			b.Own.copy(a.G, g)
		}
	}
	return nil
}

// propose writes a block's step into d.
func (a *PerBlock) propose(d []float64, s *State, b Block, radius float64) move {
	if b.Shared {
		all := slices.Clone(a.G)
		Ranges{{0, len(d)}}.apply(all, s, nil)
		b.Own.copy(d, all)
	} else {
		b.Own.copy(d, a.G)
		b.Own.apply(d, s, nil)
	}
	m := move{size: b.Own.largest(d)}
	if m.size > radius {
		b.Own.scale(d, radius/m.size)
		m.size, m.cut = radius, true
	}
	return m
}

// radius is a block's next radius after a step that began with slope was and
// ended with slope is.
func (m *move) radius(now, was, is float64) float64 {
	switch {
	case m.rise < goodShare*was:
		return m.size * max(0.1, min(0.5, was/(was-is)))
	case is > -was/2 && m.cut:
		return min(mostRadius, 2*now)
	case is < -was/2:
		return 0.7 * m.size
	}
	return now
}

// slow notes the best value and reports whether the mean gain of the last
// evaluations has fallen below gain.
func (a *PerBlock) slow(best, gain float64) bool {
	a.Recent = append(a.Recent, best)
	if len(a.Recent) <= recentSpan {
		return false
	}
	a.Recent = a.Recent[1:]
	return best-a.Recent[0] < (recentSpan-1)*gain
}

// join ends the blocks' own steps. It keeps the pairs with real curvature over all
// coordinates.
func (s *State) join() {
	s.PerBlock = &PerBlock{Over: true}
	kept := 0
	for i, step := range s.S {
		if y := s.Y[i]; dot(step, y) > tooFlat*dot(y, y) {
			s.S[kept], s.Y[kept] = step, y
			kept++
		}
	}
	s.S, s.Y, s.Pairs = s.S[:kept], s.Y[:kept], kept
}
