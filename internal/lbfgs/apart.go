package lbfgs

import (
	"errors"
	"math"
	"runtime"

	"github.com/vssgp/vssgp/internal/parallel"
)

// Apart is where blocks stand that are stepped each for itself: every one by
// L-BFGS on its own coordinates, within a radius of its own, all of them in
// the same evaluation. It can be saved with its State.
type Apart struct {
	// X is where the blocks step from, and G the gradient there: those of the
	// last point that was evaluated where a block's step was good, and of an
	// earlier one where it was not. State.X is the best point evaluated.
	X, G   []float64
	Radius []float64 // most that a coordinate of each block may move
	Failed int       // evaluations since the last that was the best
	Recent []float64 // best values of the last evaluations, oldest first
	Over   bool      // the blocks gain little now: all go on together
}

const (
	firstRadius = 0.5
	mostRadius  = 4.0
	goodShare   = 0.05 // share of the predicted rise that a block's step must reach
	patientFor  = 3    // failures in a row before every radius shrinks
	shrinkAll   = 0.3
	apartSpan   = 10 // evaluations over which the gain is looked at
)

func newApart(s *State, blocks int) *Apart {
	a := &Apart{X: clone(s.X), G: clone(s.G), Radius: make([]float64, blocks)}
	for i := range a.Radius {
		a.Radius[i] = firstRadius
	}
	return a
}

// move is one block's part of a trial.
type move struct {
	size float64 // the largest step of a coordinate
	cut  bool    // by the radius
	rise float64 // of the value, by the block's own step
}

// stepApart evaluates all blocks' steps at once and lets each keep its own.
// A block's rise is the trapezoid under its own slope,
//
//	½ (∇_b f(x) + ∇_b f(x + d))·d_b
//
// and where f is quadratic these add up to f(x + d) − f(x).
func (s *State) stepApart(f Func, set Settings) error {
	a := s.Apart
	moves := make([]move, len(set.Blocks))
	d, y, x, g := room(s), room(s), room(s), room(s)
	eachBlock(set.Blocks, func(i int, b Block) { moves[i] = a.propose(d, s, b, a.Radius[i], set.FirstStep) })
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
		a.restart(s)
		return nil
	}
	eachBlock(set.Blocks, func(i int, b Block) {
		was, is := b.Own.dot(d, a.G), b.Own.dot(d, g)
		moves[i].rise = (was + is) / 2
		a.Radius[i] = moves[i].radius(a.Radius[i], was, is)
	})
	for i := range y {
		y[i] = a.G[i] - g[i]
	}
	s.push(d, y, set.Memory)
	if v <= s.F {
		a.failed(s)
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

func eachBlock(blocks []Block, do func(i int, b Block)) {
	parallel.For(len(blocks), runtime.GOMAXPROCS(0), func(i int) { do(i, blocks[i]) })
}

// propose writes a block's step into d.
func (a *Apart) propose(d []float64, s *State, b Block, radius, first float64) move {
	on := b.Own
	if b.Shared {
		on = Ranges{{0, len(d)}}
	}
	q := on.gather(a.G)
	on.apply(q, s.S, s.Y, first)
	if b.Shared {
		b.Own.copy(d, q)
	} else {
		b.Own.scatter(d, q)
	}
	m := move{}
	for _, r := range b.Own {
		m.size = max(m.size, largest(d[r.Lo:r.Hi]))
	}
	if m.size > radius {
		for _, r := range b.Own {
			for i := r.Lo; i < r.Hi; i++ {
				d[i] *= radius / m.size
			}
		}
		m.size, m.cut = radius, true
	}
	return m
}

// radius is a block's next one after a step that began with slope was and
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

// failed goes back to the best point after an evaluation below it, and makes
// every step shorter after several.
func (a *Apart) failed(s *State) {
	if a.Failed++; a.Failed == patientFor {
		a.Failed = 0
		for i := range a.Radius {
			a.Radius[i] *= shrinkAll
		}
	}
	a.restart(s)
}

func (a *Apart) restart(s *State) {
	copy(a.X, s.X)
	copy(a.G, s.G)
}

// slow notes the best value and reports whether the mean gain of the last
// evaluations has fallen below gain.
func (a *Apart) slow(best, gain float64) bool {
	a.Recent = append(a.Recent, best)
	if len(a.Recent) <= apartSpan {
		return false
	}
	a.Recent = a.Recent[1:]
	return best-a.Recent[0] < (apartSpan-1)*gain
}

// join ends the blocks' own steps. Pairs stay if they have real curvature over
// all coordinates.
func (s *State) join() {
	s.Apart = &Apart{Over: true}
	kept := 0
	for i, step := range s.S {
		if y := s.Y[i]; dot(step, y) > tooFlat*dot(y, y) {
			s.S[kept], s.Y[kept] = step, y
			kept++
		}
	}
	s.S, s.Y = s.S[:kept], s.Y[:kept]
}

// apply replaces q, a gradient packed over the ranges, by H·q: the two-loop
// recursion with every inner product over the ranges, and with those pairs
// alone whose curvature is real there.
func (r Ranges) apply(q []float64, steps, diffs [][]float64, first float64) {
	alpha, curve := make([]float64, len(steps)), make([]float64, len(steps))
	last := -1
	for i := len(steps) - 1; i >= 0; i-- {
		c := r.dot(steps[i], diffs[i])
		if !(c > tooFlat*r.dot(diffs[i], diffs[i])) {
			continue
		}
		last, curve[i] = max(last, i), c
		alpha[i] = r.dotPacked(steps[i], q) / c
		r.axpyPacked(q, -alpha[i], diffs[i])
	}
	scale := first / max(largest(q), math.SmallestNonzeroFloat64)
	if last >= 0 {
		scale = curve[last] / r.dot(diffs[last], diffs[last])
	}
	for i := range q {
		q[i] *= scale
	}
	for i := range steps {
		if curve[i] > 0 {
			r.axpyPacked(q, alpha[i]-r.dotPacked(diffs[i], q)/curve[i], steps[i])
		}
	}
}

// dotPacked is the inner product of the ranges of full with q.
func (r Ranges) dotPacked(full, q []float64) float64 {
	s, at := 0.0, 0
	for _, x := range r {
		s += dot(full[x.Lo:x.Hi], q[at:])
		at += x.Hi - x.Lo
	}
	return s
}

// axpyPacked adds a times the ranges of full to q.
func (r Ranges) axpyPacked(q []float64, a float64, full []float64) {
	at := 0
	for _, x := range r {
		axpy(q[at:], a, full[x.Lo:x.Hi])
		at += x.Hi - x.Lo
	}
}

func largest(a []float64) float64 {
	big := 0.0
	for _, v := range a {
		big = max(big, math.Abs(v))
	}
	return big
}

func room(s *State) []float64 { return make([]float64, len(s.X)) }

func clone(a []float64) []float64 { return append([]float64(nil), a...) }
