package baselines

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/internal/optimize"
)

const (
	usualRate  = 0.05 // of SVGP.Rate
	leastRho   = 0.02 // of a natural step
	giveUp     = 20   // steps without a value, one after the other, that end a fit
	svgpReport = 50   // steps between progress reports
	batchSalt  = 0xba7c
)

// steps hold the state and the buffers of an SVGP's fit.
type steps struct {
	*problem
	in   *coordinates
	v    []float64 // coordinates of h and z
	good []float64 // the last where the bound had a value
	h    hyper
	q    *canonical
	proj *projection
	was  *projection // of q; not set before the first step
	tile *tile
	grad []float64 // by v
	adam *optimize.Adam
	rate float64 // Adam's

	rng   *rand.Rand
	order []int // the rows in the order in which they are handed out
	next  int
	taken int
	of    int // steps to take
}

func newSteps(p *problem, in *coordinates, batch int, rate float64) *steps {
	m := len(in.start.z) / p.q
	w := &steps{
		problem: p, in: in, v: in.first(), q: newCanonical(m, p.d),
		proj: newProjection(m), was: newProjection(m), tile: newTile(batch, m, p.d),
		grad: make([]float64, in.size), adam: optimize.NewAdam(in.size),
		rng: rand.New(rand.NewPCG(p.o.Seed, batchSalt)), order: make([]int, p.n), next: p.n, rate: rate,
	}
	w.tile.x, w.tile.y = make([]float64, batch*p.q), make([]float64, batch*p.d)
	w.good = slices.Clone(w.v)
	w.h = in.at(w.v)
	for i := range w.order {
		w.order[i] = i
	}
	return w
}

// all takes the steps and says why they ended. If a step ends where the bound has
// no value, it is taken back and the rate is halved. An error with an empty reason
// says that the bound has no value at the start.
func (w *steps) all(ctx context.Context, of int) (why string, err error) {
	ctx = cmp.Or(ctx, context.Background())
	if of == 0 {
		return "starting values kept", ended(ctx)
	}
	w.of = of
	rate, failures := w.rate, 0
	for w.taken < of {
		if err := ended(ctx); err != nil {
			return "stopped", err
		}
		w.draw()
		value, err := w.step()
		if err != nil {
			if w.taken == 0 {
				return "", fmt.Errorf("baselines: at the starting values: %w", err)
			}
			w.move(w.good)
			if failures++; failures == giveUp {
				return "no value", nil
			}
			rate /= 2
			continue
		}
		failures = 0
		w.advance(rate)
		if w.o.Progress != nil && (w.taken%svgpReport == 0 || w.taken == of) {
			w.report(w.taken, of, value-w.q.kl(), w.h)
		}
	}
	return "iteration limit", nil
}

// advance moves along the step's gradient, once q(v) has seen as many rows as it
// remembers later.
func (w *steps) advance(rate float64) {
	copy(w.good, w.v)
	if float64(w.taken+1)*w.rho() >= 1 {
		w.adam.Step(w.v, w.grad, rate*optimize.CoolDown(w.taken, w.of))
		w.move(w.v)
	}
	w.taken++
}

// move goes to coordinates v.
func (w *steps) move(v []float64) {
	copy(w.v, v)
	w.h = w.in.at(w.v)
}

// draw fills the tile with the next mini-batch: rows in random order, all of
// them once (but for a remainder) before any comes again.
func (w *steps) draw() {
	t, q, d := w.tile, w.units.q, w.d
	if w.next+t.n > w.n {
		w.rng.Shuffle(w.n, func(i, j int) { w.order[i], w.order[j] = w.order[j], w.order[i] })
		w.next = 0
	}
	for i, row := range w.order[w.next:][:t.n] {
		copy(t.x[i*q:][:q], w.x[row*q:][:q])
		copy(t.y[i*d:][:d], w.y[row*d:][:d])
	}
	w.next += t.n
}

// rho returns the length ρ of the natural steps after the first 1/ρ, whose mean
// q(v) is. With it q(v) remembers all rows, or the last fifty mini-batches.
func (w *steps) rho() float64 {
	return max(float64(w.tile.n)/float64(w.n), leastRho)
}

// step moves q(v) by the tile and leaves the bound's gradient by the
// coordinates; the value is the estimate of the bound's first sum, from the
// tile. It works on the tile once for both.
func (w *steps) step() (float64, error) {
	if err := w.proj.set(w.h); err != nil {
		return 0, err
	}
	t := w.tile
	t.project(w.proj)
	if !finite(floats.Sum(t.gap)) {
		return 0, fmt.Errorf("baselines: covariances with the inducing inputs are not numbers: %w", vssgp.ErrBound)
	}
	if w.was.h.noise > 0 {
		w.q.carry(w.was, w.proj)
	}
	w.proj, w.was = w.was, w.proj // q is there now
	weight := float64(w.n) / float64(t.n)
	if err := w.q.natural(t, max(w.rho(), 1/float64(w.taken+1)), weight, w.h.noise); err != nil {
		return 0, err
	}
	value := weight * w.q.data(t, w.h.noise)
	grad := w.in.zero()
	w.q.gradient(t, w.was, weight, grad)
	w.in.pull(w.grad, &w.h, grad)
	if !finite(value) || !finite(floats.Sum(w.grad)) {
		return 0, fmt.Errorf("baselines: SVGP's bound or its gradient is not a number: %w", vssgp.ErrBound)
	}
	return value, nil
}

// finish makes q(v) the best at the present hyper-parameters, in one pass over all
// rows, and evaluates the bound there in a second. If the last step ended where the
// bound has no value, it goes back.
func (w *steps) finish() (float64, error) {
	f, err := w.best()
	if err != nil {
		w.move(w.good)
		f, err = w.best()
	}
	return f, err
}

func (w *steps) best() (float64, error) {
	if err := w.proj.set(w.h); err != nil {
		return 0, err
	}
	w.q.decay(1)
	w.tile.each(w.proj, w.x, w.y, func(_ int, t *tile) { w.q.observe(t, 1/w.h.noise) })
	if err := w.q.update(); err != nil {
		return 0, err
	}
	return w.bound()
}

// bound returns the bound on all rows, at q(v) as it is.
func (w *steps) bound() (float64, error) {
	f := -w.q.kl()
	w.tile.each(w.proj, w.x, w.y, func(_ int, t *tile) { f += w.q.data(t, w.h.noise) })
	if !finite(f) {
		return 0, fmt.Errorf("baselines: SVGP's bound is %v: %w", f, vssgp.ErrBound)
	}
	return f, nil
}
