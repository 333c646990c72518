package ranks

import (
	"fmt"
	"sync"
	"time"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/rowspectrum"
)

// Backend is a backend.Backend on rank 0 whose rows are distributed over all ranks; the other ranks
// run Serve. Its methods may be called from any goroutine, and run one at a time. They panic if a
// Comm fails.
type Backend struct {
	mu        sync.Mutex
	node      *node
	inner     backend.Backend
	next      int // number of the next rows
	shardRows int // see rowsPerShard
}

// New returns a Backend over all ranks of c and must be called on rank 0. Rank 0 computes with
// inner, the others with the backend that the open of their Serve returns for spec. New, Serve and Quit
// panic if an argument is nil or if an exchange fails.
func New(c Comm, inner backend.Backend, spec string) (*Backend, error) {
	b := &Backend{node: newNode(c), inner: inner, shardRows: rowsPerShard(inner.Name())}
	b.command(opStart, 0)
	b.node.broadcastText(spec)
	if err := b.node.agree(nil); err != nil {
		return nil, err
	}
	return b, nil
}

func newNode(c Comm) *node { return &node{Comm: c, began: time.Now()} }

// Quit ends the Serve of the other ranks. A program calls it on rank 0 before it exits, even if its
// backends have failed.
func Quit(c Comm) {
	h := header{0: float64(opQuit)}
	c.Broadcast(h[:], 0)
}

// begin locks the ranks and starts the timer; the returned function unlocks them and stops it.
func (b *Backend) begin() (end func()) {
	b.mu.Lock()
	b.node.began = time.Now()
	return func() {
		b.node.lap(&b.node.times.Compute)
		b.mu.Unlock()
	}
}

// command sends a command to the other ranks and returns its header.
func (b *Backend) command(o op, id int, more ...float64) header {
	h := header{float64(o), float64(id)}
	copy(h[2:], more)
	b.node.broadcast(h[:])
	return h
}

// Name names the device of rank 0. It does not contain the number of ranks, which does not affect
// results: a fit may be resumed on any number.
func (b *Backend) Name() string { return b.inner.Name() + " on ranks" }

// Times returns how rank 0 has spent its time since the start.
func (b *Backend) Times() Times {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.node.times
}

// Close closes the backends of all ranks.
func (b *Backend) Close() error {
	defer b.begin()()
	b.command(opStop, 0)
	err := b.inner.Close()
	return b.node.agree(err)
}

// Open divides the rows into shards and sends each to its rank. On the CPU, rank 0 computes moments
// and their pullback from tables if these cost less than passes over the rows
// (internal/rowspectrum). The other ranks are then not used.
func (b *Backend) Open(d backend.Data) (backend.Rows, error) {
	if err := d.Check(); err != nil {
		return nil, fmt.Errorf("ranks: open: %w", err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	before := b.node.times
	b.node.began = time.Now()
	defer func() {
		b.node.lap(&b.node.times.Compute)
		b.node.times.opening(before)
	}()
	extents, order := divide(&d, b.shardRows)
	id := b.next
	b.next++
	h := b.command(opOpen, id, floats([]int{d.N, d.Q, d.D, len(d.Windows.Center), len(extents)})...)
	s := newSet(b.node, h)
	s.onRank0(&d, extents, order)
	if err := s.open(b.inner, &d); err != nil {
		return nil, err
	}
	r := &rows{b: b, set: s, id: id, data: d}
	if b.inner.Name() == "cpu" {
		return rowspectrum.Over(r, &d), nil // rank 0 has all rows
	}
	return r, nil
}

// rows are rows distributed over all ranks.
type rows struct {
	b    *Backend
	set  *set
	id   int
	data backend.Data
}

// pass announces the next pass to the ranks and runs rank 0's part of it. It returns bad, if not
// nil, without starting a pass.
func (r *rows) pass(o op, name string, bad error, do func() error, more ...float64) error {
	if bad != nil {
		return fmt.Errorf("ranks: %s: %w", name, bad)
	}
	defer r.b.begin()()
	r.b.command(o, r.id, more...)
	r.b.node.times.Passes++
	return do()
}

// Moments fills dst with C and G. With windows, all of G is sent to rank 0; Solve sends less.
func (r *rows) Moments(dst *backend.Moments, f *backend.Features) error {
	return r.pass(opMoments, "moments", r.data.CheckMoments(dst, f), func() error { return r.set.moments(dst, f) })
}

// Pullback fills dst with the gradient with respect to the features.
func (r *rows) Pullback(dst, f *backend.Features, bar *backend.Moments) error {
	return r.pass(opPullback, "pullback", r.data.CheckPullback(dst, f, bar), func() error { return r.set.pullback(dst, f, bar) })
}

// Factorized fills dst with the expected squared error and its gradient.
func (r *rows) Factorized(dst *backend.FactorizedSums, f *backend.Features, w *backend.Weights, picked []int) error {
	count := len(picked)
	if picked == nil {
		count = -1
	}
	return r.pass(opFactorized, "factorized", r.data.CheckFactorized(dst, f, w, picked), func() error {
		return r.set.factorized(dst, f, w, r.set.positions(picked), count)
	}, float64(count))
}

// Predict fills dst in the row order of Open.
func (r *rows) Predict(dst *backend.Prediction, f *backend.Features, p *backend.Posterior) error {
	cov := 0.0
	if p.Cov != nil {
		cov = 1
	}
	return r.pass(opPredict, "predict", r.data.CheckPredict(dst, f, p), func() error {
		return r.set.predict(dst, f, p, p.D, p.Cov != nil)
	}, float64(p.D), cov)
}

// CanSolve reports whether G stays distributed, which is the case with several blocks.
func (r *rows) CanSolve(*backend.Features) bool { return !r.set.dense() }

// Solve sums C and G and fills dst with the solution for A = G + λI, computed by all ranks. The
// error wraps backend.ErrNotPositive if A has no factor.
func (r *rows) Solve(dst *backend.Solution, f *backend.Features, lambda float64) error {
	return r.pass(opSolve, "solve", r.data.CheckSolve(dst, f), func() error { return r.set.solve(dst, f, lambda) }, lambda)
}

// PullbackSolved fills dst with the gradient with respect to the features of the last Solve.
func (r *rows) PullbackSolved(dst, f *backend.Features, bar backend.SolvedAdjoint) error {
	return r.pass(opPullSolved, "pullback", r.data.CheckPullbackSolved(dst, f), func() error {
		return r.set.pullSolved(dst, f, bar)
	}, bar.Inverse, bar.Outer, bar.Linear)
}

// Close closes the rows on all ranks.
func (r *rows) Close() error {
	if r.set == nil {
		return nil
	}
	return r.pass(opClose, "close", nil, func() error {
		err := r.set.agree(r.set.close())
		r.set = nil
		return err
	})
}
