package gpu

import (
	"fmt"
	"math"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/rowspectrum"
	"github.com/vssgp/vssgp/kernels"
)

// CanSolve reports whether there is one window, or the GPU's shared memory is large enough to
// eliminate these windows.
func (r *rows) CanSolve(f *backend.Features) bool {
	if r.queue == nil || r.data.D == 0 {
		return false
	}
	offset := f.Offsets()
	return r.goesDense(offset) || chainFits(offset, r.data.D, r.card.device.SharedPerBlock)
}

// goesDense reports whether these features use the dense algebra.
func (r *rows) goesDense(offset []int) bool {
	return goesDense(offset, r.data.D, r.card.device.SharedPerBlock)
}

// dense returns the addresses for the algebra of one window.
func (r *rows) dense(p *plan) *dense {
	corner, mean, size := r.address(arrayLevels), r.address(arraySolved), uint64(8*p.m*p.d)
	return &dense{
		m: p.m, d: p.d, at: r.address(arrayGram), corner: corner, y: corner + uint64(8*denseCorners(p.m)),
		mean: mean, coef: mean + size, stats: r.address(arrayStats), launch: r.launch,
		large: multiprocessors, largeInverse: 4 * multiprocessors,
	}
}

// Solve fills dst with the solution for A = E[ΦᵀΦ] + λI. It keeps A⁻¹ and m on the device for
// PullbackSolved.
func (r *rows) Solve(dst *backend.Solution, f *backend.Features, lambda float64) error {
	invalid := r.data.CheckSolve(dst, f)
	if invalid == nil && !r.CanSolve(f) {
		invalid = fmt.Errorf("%d features in a window with %d outputs are too many to solve on this GPU: %w",
			maxFeatures(f.Offsets()), r.data.D, backend.ErrShape)
	}
	var solved *plan
	err := r.call("solve", invalid, func() error {
		p, a, err := r.prepare(opSolve, f, r.data.D, nil, r.planMoments)
		if err != nil {
			return err
		}
		r.sumMoments(p, a)
		r.algebra(p, lambda)
		r.download(p, arraySolved)
		r.download(p, arrayStats)
		solved = p
		return nil
	})
	if err != nil {
		return err
	}
	if dst.Terms = 0; r.Tables() {
		dst.Terms = rowspectrum.Terms
	}
	windows := f.Windows.Count()
	values := r.host[arrayStats]
	grams, logs, inverses := values[:windows], values[windows:2*windows], values[2*windows:]
	dst.TraceGram = sum(grams)
	for v, log := range logs {
		if math.IsNaN(log) || math.IsInf(log, 0) {
			return fmt.Errorf("gpu: solve: window %d of %d, or one eliminated before it: %w", v, windows, backend.ErrNotPositive)
		}
	}
	dst.LogDet, dst.TraceInverse = 2*sum(logs), sum(inverses)
	copy(dst.Mean, r.host[arraySolved])
	copy(dst.C, r.host[arraySolved][len(dst.Mean):])
	r.solved = solved
	return nil
}

func sum(a []float64) (s float64) {
	for _, v := range a {
		s += v
	}
	return s
}

// A chainLevel contains the addresses of a level of a chain (its table, its blocks, its
// right-hand sides) and its segments of length blocks each.
type chainLevel struct {
	table, at, rhs uint64
	segments       int
	count, length  int64
}

// level returns the addresses of level i. They are empty below the first and above the last level.
func (r *rows) level(p *plan, i int) chainLevel {
	if i < 0 || i >= len(p.levels) {
		return chainLevel{}
	}
	l := chainLevel{table: r.at(p, p.levels[i]), at: r.address(arrayGram), rhs: r.address(arraySolved),
		count: int64(p.chain.blocks(i))}
	if i > 0 {
		l.at = r.address(arrayLevels)
		l.rhs = l.at
	}
	var length int
	l.segments, length = p.chain.segments(i)
	l.length = int64(length)
	return l
}

// algebra factors A, solves and inverts, and writes the windows' statistics to arrayStats.
func (r *rows) algebra(p *plan, lambda float64) {
	if !r.goesDense(p.offset) {
		r.start(p, r.address(arraySolved), lambda)
		r.eliminate(p)
		return
	}
	a := r.dense(p)
	r.start(p, a.y, lambda)
	a.solve()
}

// start adds λ to A's diagonal and copies C to rhs and to the array in which its adjoint is
// computed.
func (r *rows) start(p *plan, rhs uint64, lambda float64) {
	first := r.level(p, 0)
	k := &kernels.ChainStart{
		Blocks: first.table, At: first.at, Rhs: rhs, Sums: r.address(arraySums), Coef: first.rhs + uint64(8*p.m*p.d),
		Traces: r.address(arrayStats), Lambda: lambda, M: int64(p.m), D: int64(p.d),
	}
	r.launch(k, int(first.count), 8*k.Block())
}

// eliminate factors, solves and inverts level by level. The kernels of the first level compute the
// statistics.
func (r *rows) eliminate(p *plan) {
	c, count := p.chain, p.chain.blocks(0)
	top, shared := len(c.levels)-1, chainShared(c.most, c.d)
	fan, d, stride := int64(c.fan), int64(c.d), int64(chainStride(c.most))
	stat := func(level, n int) uint64 {
		if level > 0 {
			return 0
		}
		return r.address(arrayStats) + uint64(8*n*count)
	}
	for i := range top {
		a, up := r.level(p, i), r.level(p, i+1)
		r.launch(&kernels.ChainReduce{
			Blocks: a.table, At: a.at, Rhs: a.rhs, Count: a.count, Over: up.table, OverAt: up.at, Fan: fan, D: d, Stride: stride,
		}, a.segments, shared)
	}
	for i := top; i >= 0; i-- {
		a, low := r.level(p, i), r.level(p, i-1)
		r.launch(&kernels.ChainFactor{
			Blocks: a.table, At: a.at, Rhs: a.rhs, Count: a.count, Under: low.table, UnderAt: low.at, UnderRhs: low.rhs,
			Fan: fan, Length: a.length, D: d, Stride: stride, Logs: stat(i, 1),
		}, a.segments, shared)
	}
	for i := top; i >= 0; i-- {
		a, up := r.level(p, i), r.level(p, i+1)
		r.launch(&kernels.ChainInverse{
			Blocks: a.table, At: a.at, Rhs: a.rhs, Count: a.count, Over: up.table, OverAt: up.at,
			Length: a.length, D: d, Stride: stride, Traces: stat(i, 2),
		}, a.segments, shared)
	}
}

// PullbackSolved fills dst with the gradient with respect to the features of a scalar whose
// gradient with respect to the moments follows from the last Solve and bar.
func (r *rows) PullbackSolved(dst, f *backend.Features, bar backend.SolvedAdjoint) error {
	invalid := r.data.CheckPullbackSolved(dst, f)
	if invalid == nil && !r.solved.fits(f.M, f.Offsets(), r.data.D) {
		invalid = fmt.Errorf("no solution for these features: call Solve first: %w", backend.ErrShape)
	}
	if err := r.call("pullback of a solution", invalid, func() error { return r.pullbackSolved(f, bar) }); err != nil {
		return err
	}
	adjoint(dst, f, r.host[arraySums], kernels.PullbackWidth(f.Q))
	return nil
}

func (r *rows) pullbackSolved(f *backend.Features, bar backend.SolvedAdjoint) error {
	a, d := r.level(r.solved, 0), r.data.D
	coef := a.rhs + uint64(8*f.M*d)
	if r.goesDense(r.solved.offset) {
		r.dense(r.solved).adjoint(bar)
	} else {
		r.launch(&kernels.ChainAdjoint{
			Blocks: a.table, At: a.at, Mean: a.rhs, Coef: coef, Count: a.count,
			Inverse: bar.Inverse, Outer: bar.Outer, Linear: bar.Linear, D: int64(d),
		}, int(a.count), 0)
	}
	if err := r.finish(nil); err != nil { // prepare may free the memory of the tables
		return err
	}
	p, args, err := r.prepare(opPullbackSolved, f, d, nil, r.planPullback)
	if err == nil {
		r.pullback(p, args, coef)
	}
	return err
}
