package ranks

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/vssgp/vssgp/spectral"
)

// Backend is a spectral.Backend on rank 0 whose rows lie on all ranks. The
// others Serve it. Its methods may be called from any goroutine; one works at a
// time. A Comm that breaks panics out of them.
type Backend struct {
	mu    sync.Mutex
	node  *node
	inner spectral.Backend
	next  int // number of the next rows
	rows  int // of a share, about
}

// New spreads rows over all ranks of c, this one, 0, computing with inner, the
// others with what their Serve opens for spec.
func New(c Comm, inner spectral.Backend, spec string) (*Backend, error) {
	b := &Backend{node: newNode(c), inner: inner, rows: rowsPerShare(inner.Name())}
	b.command(opStart, 0)
	b.node.broadcastText(spec)
	if err := b.node.agree(nil); err != nil {
		return nil, err
	}
	return b, nil
}

func newNode(c Comm) *node { return &node{Comm: c, sets: map[int]*set{}, began: time.Now()} }

// Quit ends the others' Serve; a program calls it on rank 0 before it ends,
// whatever has become of its backends.
func Quit(c Comm) { c.Broadcast(header{0: float64(opQuit)}.list(), 0) }

// list is the header as it is sent.
func (h header) list() []float64 { return h[:] }

// command tells the others what to do.
func (b *Backend) command(o op, id int, more ...int) {
	h := header{float64(o), float64(id)}
	for i, v := range more {
		h[2+i] = float64(v)
	}
	b.node.began = time.Now()
	b.node.communicate(len(h), func() { b.node.Broadcast(h.list(), 0) })
}

// Name says what rank 0 computes on, and not how many ranks there are: it makes
// no difference to the numbers, so that a fit may go on with another count.
func (b *Backend) Name() string { return b.inner.Name() + " on ranks" }

// Times are where rank 0's time has gone since the start.
func (b *Backend) Times() Times {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.node.times
}

// Close ends the others' backends, and rank 0's.
func (b *Backend) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.command(opStop, 0)
	err := b.inner.Close()
	return b.node.agree(err)
}

// Open cuts the rows into shares and brings each to its rank.
func (b *Backend) Open(d spectral.Data) (spectral.Rows, error) {
	if err := d.Check(); err != nil {
		return nil, fmt.Errorf("ranks: open: %w", err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	each := b.rows
	if d.Windows.Count() > 1 {
		each = max(each, windowShareRows)
	}
	before := b.node.times
	defer func() {
		b.node.lap(&b.node.times.Compute)
		b.node.times.opening(before)
	}()
	id := b.next
	b.next++
	sizes := []int{d.N, d.Q, d.D, d.Windows.Count(), 0, countShares(d.N, each)}
	b.command(opOpen, id, sizes...)
	h := header{float64(opOpen), float64(id)}
	for i, v := range sizes {
		h[2+i] = float64(v)
	}
	s, err := b.node.open(b.inner, h, &d)
	if err != nil {
		return nil, err
	}
	return &Rows{b: b, set: s, id: id, data: d}, nil
}

// Rows are rows on all ranks.
type Rows struct {
	b    *Backend
	set  *set
	id   int
	data spectral.Data
}

// begin locks the ranks and tells them what is next; its result ends it.
func (r *Rows) begin(o op, more ...int) (end func()) {
	r.b.mu.Lock()
	r.b.command(o, r.id, more...)
	r.b.node.times.Passes++
	return func() {
		r.b.node.lap(&r.b.node.times.Compute)
		r.b.mu.Unlock()
	}
}

// Moments fills dst with C and G, whole. Under windows they all travel: who
// can use them where they are does so by Solve.
func (r *Rows) Moments(dst *spectral.Moments, f *spectral.Features) error {
	if err := r.data.CheckMoments(dst, f); err != nil {
		return fmt.Errorf("ranks: moments: %w", err)
	}
	defer r.begin(opMoments)()
	return r.set.run(opMoments, work{moments: dst, features: f})
}

// Pullback fills dst with the gradient by the features.
func (r *Rows) Pullback(dst, f *spectral.Features, bar *spectral.Moments) error {
	if err := r.data.CheckPullback(dst, f, bar); err != nil {
		return fmt.Errorf("ranks: pullback: %w", err)
	}
	defer r.begin(opPullback)()
	return r.set.run(opPullback, work{moments: bar, features: f, gradient: dst})
}

// Factorised fills dst with the expected squared error and its gradient.
func (r *Rows) Factorised(dst *spectral.FactorisedSums, f *spectral.Features, w *spectral.Weights, rows []int) error {
	if err := r.data.CheckFactorised(dst, f, w, rows); err != nil {
		return fmt.Errorf("ranks: factorised: %w", err)
	}
	all := 0
	if rows == nil {
		all = 1
	}
	defer r.begin(opFactorised, all)()
	return r.set.run(opFactorised, work{features: f, sums: dst, weights: w, places: r.set.places(rows), all: rows == nil})
}

// Predict fills dst in the order of the rows given to Open.
func (r *Rows) Predict(dst *spectral.Prediction, f *spectral.Features, p *spectral.Posterior) error {
	if err := r.data.CheckPredict(dst, f, p); err != nil {
		return fmt.Errorf("ranks: predict: %w", err)
	}
	cov := 0
	if p.Cov != nil {
		cov = 1
	}
	defer r.begin(opPredict, p.D, cov)()
	return r.set.run(opPredict, work{features: f, prediction: dst, posterior: p, outputs: p.D, cov: cov == 1})
}

// Solves reports whether G stays on the ranks: it has blocks.
func (r *Rows) Solves(*spectral.Features) bool { return r.set.windows > 1 }

// Solve sums C and G and fills dst with what follows from A = G + λI, on all
// ranks together. An error wraps spectral.ErrNotPositive where A has no factor.
func (r *Rows) Solve(dst *spectral.Solution, f *spectral.Features, lambda float64) error {
	if err := r.data.CheckSolve(dst, f); err != nil {
		return fmt.Errorf("ranks: solve: %w", err)
	}
	defer r.begin(opSolve)()
	err := r.set.run(opSolve, work{features: f, solution: dst, lambda: lambda})
	if errors.Is(err, errNotPositive) {
		err = fmt.Errorf("%w: %w", err, spectral.ErrNotPositive)
	}
	return err
}

// PullbackSolved, after Solve with the same features, fills dst with the
// gradient by them.
func (r *Rows) PullbackSolved(dst, f *spectral.Features, bar spectral.SolvedAdjoint) error {
	if err := r.data.CheckPullbackSolved(dst, f); err != nil {
		return fmt.Errorf("ranks: pullback: %w", err)
	}
	defer r.begin(opPullSolved)()
	return r.set.run(opPullSolved, work{features: f, gradient: dst, bar: bar})
}

// Close gives the rows back on all ranks.
func (r *Rows) Close() error {
	if r.set == nil {
		return nil
	}
	defer r.begin(opClose)()
	err := r.set.agree(r.set.close())
	r.set = nil
	return err
}
