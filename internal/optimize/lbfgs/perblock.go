package lbfgs

import (
	"errors"
	"slices"

	"gonum.org/v1/gonum/floats"
)

const (
	firstRadius = 0.5
	maxRadius   = 4.0
	goodShare   = 0.05 // minimum fraction of the predicted rise; below it a block's radius is reduced
	patientFor  = 3    // successive failures before every radius is reduced
	shrinkAll   = 0.3
	recentSpan  = 10 // number of evaluations over which the gain is averaged
)

// newPerBlock returns the state before the first step.
func newPerBlock(s *State, blocks int) *PerBlock {
	return &PerBlock{X: slices.Clone(s.X), G: slices.Clone(s.G), Radius: slices.Repeat([]float64{firstRadius}, blocks)}
}

// move is one block's part of a trial step.
type move struct {
	size float64 // largest change of a coordinate
	cut  bool    // whether the radius has shortened the step
	rise float64 // of the value due to the block's step
}

// stepPerBlock evaluates the steps of all blocks at once and accepts or rejects each of them. A
// block's rise is computed by the trapezoidal rule,
//
//	½ (∇_b f(x) + ∇_b f(x + d))·d_b
//
// If f is quadratic, the rises add up to f(x + d) − f(x).
func (s *State) stepPerBlock(f Func, set Settings) error {
	a := s.PerBlock
	moves := make([]move, len(set.Blocks))
	d, x, g := s.vector(), s.vector(), s.vector()
	s.propose(d, moves, set.Blocks)
	addScaled(x, a.X, 1, d)
	v, err := f(x, g)
	if errors.Is(err, ErrStop) {
		return err
	}
	if err != nil || !usable(v, g) {
		for i, m := range moves {
			a.Radius[i] = shrinkAll * m.size
		}
		s.release(d, x, g)
		a.returnTo(s)
		return nil
	}
	eachOf(len(moves), func(i int) {
		own := set.Blocks[i].Own
		was, is := own.dot(d, a.G), own.dot(d, g)
		moves[i].rise = (was + is) / 2
		a.Radius[i] = moves[i].radius(a.Radius[i], was, is)
	})
	y := s.vector()
	subtract(y, a.G, g)
	s.push(d, y)
	if v <= s.F { // return to the best point
		if a.Failed++; a.Failed == patientFor {
			a.Failed = 0
			floats.Scale(shrinkAll, a.Radius)
		}
		s.release(x, g)
		a.returnTo(s)
		return nil
	}
	a.Failed = 0
	s.release(s.X, s.G)
	s.X, s.G, s.F = x, g, v
	eachOf(len(moves), func(i int) {
		if own := set.Blocks[i].Own; moves[i].rise >= 0 {
			own.copy(a.X, x)
			own.copy(a.G, g)
		}
	})
	return nil
}

// returnTo makes all blocks step from the best point.
func (a *PerBlock) returnTo(s *State) {
	copyAll(a.X, s.X)
	copyAll(a.G, s.G)
}

// propose sets d to the blocks' steps.
func (s *State) propose(d []float64, moves []move, blocks []Block) {
	a, p, all := s.PerBlock, s.pairs(), ascent{}
	if len(s.each) != len(blocks) {
		s.each = make([]known, len(blocks))
	}
	if slices.ContainsFunc(blocks, func(b Block) bool { return b.Shared }) {
		all = s.gram.ascent(s.vector(), a.G, p, nil, nil)
		defer s.release(all.q)
	}
	eachOf(len(blocks), func(i int) {
		own, m := blocks[i].Own, &moves[i]
		if blocks[i].Shared {
			all.add(own, p)
			own.copy(d, all.q)
		} else {
			own.copy(d, a.G)
			own.apply(d, p, s.each[i].of(own, p))
		}
		m.size = own.largest(d)
		if m.size > a.Radius[i] {
			own.scale(d, a.Radius[i]/m.size)
			m.size, m.cut = a.Radius[i], true
		}
	})
}

// radius returns a block's next radius after a step with initial slope was and final slope is.
func (m *move) radius(now, was, is float64) float64 {
	switch {
	case m.rise < goodShare*was:
		return m.size * max(0.1, min(0.5, was/(was-is)))
	case is > -was/2 && m.cut:
		return min(maxRadius, 2*now)
	case is < -was/2:
		return 0.7 * m.size
	}
	return now
}

// slow records the best value and reports whether the mean gain of the last evaluations is below
// gain.
func (a *PerBlock) slow(best, gain float64) bool {
	a.Recent = append(a.Recent, best)
	if len(a.Recent) <= recentSpan {
		return false
	}
	a.Recent = a.Recent[1:]
	return best-a.Recent[0] < (recentSpan-1)*gain
}

// join ends the separate steps of blocks. It keeps the pairs with positive curvature over all
// coordinates.
func (s *State) join() {
	s.PerBlock, s.each = &PerBlock{Over: true}, nil
	kept, all := 0, Ranges{{0, len(s.X)}}
	for i, step := range s.S {
		if y := s.Y[i]; all.products(step, y).positive() {
			s.S[kept], s.Y[kept] = step, y
			kept++
		}
	}
	s.S, s.Y, s.ids, s.Pairs = s.S[:kept], s.Y[:kept], nil, kept
}
