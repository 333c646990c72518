package baselines

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/internal/optimize"
)

// SVGP is the sparse Gaussian process on mini-batches of Hensman et al. (2013), sSPGP in the comparison. A Gaussian q(u) over the function
// at M inducing inputs is moved by natural gradients, the hyper-parameters and the inducing inputs by Adam, at O(S·M² + M³) a step, and
//
//	Σ_n E_q[ln N(y_n | f_n, τ⁻¹)] − KL(q(u) ‖ p(u))
//
// rises to VFE's bound (see SPGP), which it never exceeds. In the first N/S steps, fifty at most, q(u) alone moves.
type SVGP struct {
	Options
	Inducing int // M, which start at evenly spread quantiles of x
	Batch    int // S rows a step, drawn without replacement
	// Rate is Adam's at first: how far a step may go in the logarithms of σ², l and τ, in p in units of the starting 1/l, and in z in units
	// of the shortest starting length-scale (or wave). It falls to 0 over the last half of the steps.
	Rate     float64
	Seed     uint64               // of the mini-batches; the same seed gives the same bits
	Progress func(vssgp.Progress) // called now and then; nil: not
}

// Fit takes Options.Iterations steps, then one pass over all rows in which the hyper-parameters rest and q(u) becomes the best there, so
// the noise of the natural steps does not show in the model. The same seed gives the same bits for any GOMAXPROCS.
func (s SVGP) Fit(ctx context.Context, data *vssgp.Data) (*Fit, error) {
	p := prepare(data, s.Options)
	if err := p.spread(s.Inducing); err != nil {
		return nil, err
	}
	w := newSteps(p, s)
	ended, err := w.all(ctx)
	if err != nil {
		return nil, err
	}
	bound, err := w.finish()
	if err != nil {
		return nil, err
	}
	return p.fit(&sparseModel{p.scale, w.proj, w.q.posterior}, w.h, bound, w.taken, ended), nil
}

const (
	leastRho   = 0.02 // of a natural step
	giveUp     = 20   // steps without a value, one after the other, that end a fit
	svgpReport = 50   // steps between progress reports
	batchSalt  = 0xba7c
)

// steps contains the state and the buffers of an SVGP's fit.
type steps struct {
	*problem
	set  SVGP
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

	rng   *rand.Rand
	order []int // the rows in the order in which they are handed out
	next  int
	taken int
}

func newSteps(p *problem, set SVGP) *steps {
	n, m, in := len(p.x), len(p.start.z), newCoordinates(p.start)
	v := in.first()
	w := &steps{
		problem: p, set: set, in: in, v: v, good: slices.Clone(v), h: in.at(v), q: newCanonical(m),
		proj: newProjection(m), was: newProjection(m), tile: newTile(set.Batch, m),
		grad: make([]float64, len(v)), adam: optimize.NewAdam(len(v)),
		rng: rand.New(rand.NewPCG(set.Seed, batchSalt)), order: make([]int, n), next: n,
	}
	w.tile.x, w.tile.y = make([]float64, set.Batch), make([]float64, set.Batch)
	for i := range w.order {
		w.order[i] = i
	}
	return w
}

// all takes the steps and returns why they ended. If a step ends where the bound has no value, it is taken back and the rate is halved. It
// returns an error if the bound has no value at the start, or ctx has ended.
func (w *steps) all(ctx context.Context) (why string, err error) {
	rate, failures := w.set.Rate, 0
	for w.taken < w.iterations {
		if err := ctx.Err(); err != nil {
			return "", err
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
		if w.set.Progress != nil && (w.taken%svgpReport == 0 || w.taken == w.iterations) {
			w.set.Progress(vssgp.Progress{
				Start: 1, Starts: 1, Iteration: w.taken, Iterations: w.iterations, Bound: value - w.q.kl(), Elapsed: time.Since(w.began),
			})
		}
	}
	return "iteration limit", nil
}

// advance moves along the step's gradient, once q(v) has seen as many rows as it remembers later.
func (w *steps) advance(rate float64) {
	copy(w.good, w.v)
	if float64(w.taken+1)*w.rho() >= 1 {
		w.adam.Step(w.v, w.grad, rate*optimize.CoolDown(w.taken, w.iterations))
		w.move(w.v)
	}
	w.taken++
}

// move goes to coordinates v.
func (w *steps) move(v []float64) {
	copy(w.v, v)
	w.h = w.in.at(w.v)
}

// draw fills the tile with the next mini-batch: rows in random order, all of them once (but for a remainder) before any comes again.
func (w *steps) draw() {
	t := w.tile
	if w.next+t.n > len(w.x) {
		w.rng.Shuffle(len(w.x), func(i, j int) { w.order[i], w.order[j] = w.order[j], w.order[i] })
		w.next = 0
	}
	for i, row := range w.order[w.next:][:t.n] {
		t.x[i], t.y[i] = w.x[row], w.y[row]
	}
	w.next += t.n
}

// rho returns the length ρ of the natural steps after the first 1/ρ, whose mean q(v) is. With it q(v) remembers all rows, or the last fifty
// mini-batches.
func (w *steps) rho() float64 { return max(float64(w.tile.n)/float64(len(w.x)), leastRho) }

// step moves q(v) by the tile and leaves the bound's gradient by the coordinates; the value is the estimate of the bound's first sum, from
// the tile. It works on the tile once for both.
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
	weight := float64(len(w.x)) / float64(t.n)
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

// finish makes q(v) the best at the present hyper-parameters, in one pass over all rows, and evaluates the bound there in a second. If the
// last step ended where the bound has no value, it goes back.
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
	f := w.bound()
	if !finite(f) {
		return 0, fmt.Errorf("baselines: SVGP's bound is %v: %w", f, vssgp.ErrBound)
	}
	return f, nil
}

// bound returns the bound on all rows for the current q(v).
func (w *steps) bound() float64 {
	f := -w.q.kl()
	w.tile.each(w.proj, w.x, w.y, func(_ int, t *tile) { f += w.q.data(t, w.h.noise) })
	return f
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
