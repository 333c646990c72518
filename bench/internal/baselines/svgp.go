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

// SVGP is the sparse Gaussian process with mini-batches of Hensman et al. (2013), called sSPGP in the paper's
// comparison. It maximizes
//
//	Σ_n E_q[ln N(y_n | f_n, τ⁻¹)] − KL(q(u) ‖ p(u)),
//
// where q(u) is a Gaussian over the function at M inducing inputs. Its upper limit is VFE's bound (see SPGP). q(u) is
// optimized by natural gradients, the rest by Adam. A step takes O(S·M² + M³) time. In the first N/S steps, but at most
// fifty, only q(u) is optimized.
type SVGP struct {
	Options
	Inducing int // M; the inducing inputs are initialized at evenly spaced quantiles of x
	Batch    int // S, the number of rows per step, drawn without replacement
	// Rate is Adam's initial learning rate. It is about the maximum step in the logarithms of σ², l and τ, in p in
	// units of the initial 1/l, and in z in units of the shortest initial length-scale or wavelength. It decreases to 0
	// over the second half of the steps.
	Rate     float64
	Seed     uint64               // seed of the mini-batches
	Progress func(vssgp.Progress) // called every 50 steps and after the last one; may be nil
}

// Fit takes Options.Iterations steps. Then it computes the optimal q(u) for the final hyper-parameters in one pass over
// all rows, which removes the noise of the natural gradient steps. The same seed gives the same bits for any
// GOMAXPROCS.
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
	minRho     = 0.02 // minimum length of a natural gradient step
	giveUp     = 20   // number of consecutive failed steps after which a fit ends
	svgpReport = 50   // steps between progress reports
	batchSalt  = 0xba7c
)

// steps contains the state and the buffers of a fit of SVGP.
type steps struct {
	*problem
	set  SVGP
	in   *coordinates
	v    []float64 // coordinates of h and z
	good []float64 // last coordinates at which the bound could be evaluated
	h    hyper
	q    *canonical
	proj *projection
	prev *projection // projection in which q is expressed; not set before the first step
	tile *tile
	grad []float64 // gradient with respect to v
	adam *optimize.Adam

	rng   *rand.Rand
	order []int // permutation of the rows, from which mini-batches are drawn
	next  int
	taken int
}

func newSteps(p *problem, set SVGP) *steps {
	n, m, in := len(p.x), len(p.start.z), newCoordinates(p.start)
	v := in.first()
	w := &steps{
		problem: p, set: set, in: in, v: v, good: slices.Clone(v), h: in.at(v), q: newCanonical(m),
		proj: newProjection(m), prev: newProjection(m), tile: newTile(set.Batch, m),
		grad: make([]float64, len(v)), adam: optimize.NewAdam(len(v)),
		rng: rand.New(rand.NewPCG(set.Seed, batchSalt)), order: make([]int, n), next: n,
	}
	w.tile.x, w.tile.y = make([]float64, set.Batch), make([]float64, set.Batch)
	for i := range w.order {
		w.order[i] = i
	}
	return w
}

// all takes the steps and returns the reason why they ended. If the bound cannot be evaluated after a step, the step is
// undone and the rate halved. all returns an error if the bound cannot be evaluated at the initial hyper-parameters, or
// if ctx has ended.
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
				return "", fmt.Errorf("baselines: at the initial hyper-parameters: %w", err)
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

// advance updates the coordinates with the step's gradient, unless it is one of the first 1/ρ steps, in which only q(v)
// changes.
func (w *steps) advance(rate float64) {
	copy(w.good, w.v)
	if float64(w.taken+1)*w.rho() >= 1 {
		w.adam.Step(w.v, w.grad, rate*optimize.CoolDown(w.taken, w.iterations))
		w.move(w.v)
	}
	w.taken++
}

// move sets the coordinates to v.
func (w *steps) move(v []float64) {
	copy(w.v, v)
	w.h = w.in.at(w.v)
}

// draw fills the tile with the next mini-batch. Rows are drawn without replacement until fewer than a mini-batch are
// left.
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

// rho returns the length ρ of the natural gradient steps after the first 1/ρ steps, in which q(v) is the mean over all
// previous steps. With length ρ, q(v) effectively averages over the last 1/ρ mini-batches, which are one epoch but at
// most fifty.
func (w *steps) rho() float64 { return max(float64(w.tile.n)/float64(len(w.x)), minRho) }

// step updates q(v) with the tile, writes the gradient to w.grad, and returns an estimate of the bound's first sum from
// the tile.
func (w *steps) step() (float64, error) {
	if err := w.proj.set(w.h); err != nil {
		return 0, err
	}
	t := w.tile
	t.project(w.proj)
	if !finite(floats.Sum(t.gap)) {
		return 0, fmt.Errorf("baselines: covariances with the inducing inputs are not finite: %w", vssgp.ErrBound)
	}
	if w.prev.h.noise > 0 {
		w.q.carry(w.prev, w.proj)
	}
	w.proj, w.prev = w.prev, w.proj // q is now expressed in w.prev
	weight := float64(len(w.x)) / float64(t.n)
	if err := w.q.natural(t, max(w.rho(), 1/float64(w.taken+1)), weight, w.h.noise); err != nil {
		return 0, err
	}
	value := weight * w.q.data(t, w.h.noise)
	grad := w.in.zero()
	w.q.gradient(t, w.prev, weight, grad)
	w.in.pull(w.grad, &w.h, grad)
	if !finite(value) || !finite(floats.Sum(w.grad)) {
		return 0, fmt.Errorf("baselines: SVGP's bound or its gradient is not finite: %w", vssgp.ErrBound)
	}
	return value, nil
}

// finish computes the optimal q(v) for the current hyper-parameters in one pass over all rows, and evaluates the bound
// in a second pass. If the bound cannot be evaluated, it undoes the last step first.
func (w *steps) finish() (float64, error) {
	f, err := w.best()
	if err != nil {
		w.move(w.good)
		f, err = w.best()
	}
	return f, err
}

// best computes the optimal q(v) and returns the bound.
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
