package gpu

import (
	"fmt"
	"math"

	"github.com/vssgp/vssgp/kernels"
	"github.com/vssgp/vssgp/spectral"
)

// CanSolve says whether the card's shared memory holds what an elimination of
// these windows needs.
func (r *rows) CanSolve(f *spectral.Features) bool {
	return r.queue != nil && chainFits(f.Offsets(), r.data.D, r.card.device.SharedPerBlock)
}

// Solve fills dst with what follows from A = E[ΦᵀΦ] + λI. It keeps A⁻¹ and m on the
// card for PullbackSolved.
func (r *rows) Solve(dst *spectral.Solution, f *spectral.Features, lambda float64) error {
	invalid := r.data.CheckSolve(dst, f)
	if invalid == nil && !r.CanSolve(f) {
		invalid = fmt.Errorf("%d features in a window and %d outputs are too many to solve for on this card: %w",
			mostFeatures(f.Offsets()), r.data.D, spectral.ErrShape)
	}
	var solved *plan
	err := r.pass("solve", invalid, func() error {
		p, a, err := r.prepare(opSolve, f, r.data.D, nil, r.layMoments)
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
	windows := f.Windows.Count()
	values := r.host[arrayStats]
	grams, logs, inverses := values[:windows], values[windows:2*windows], values[2*windows:]
	dst.TraceGram = sum(grams)
	for v, log := range logs {
		if math.IsNaN(log) || math.IsInf(log, 0) {
			return fmt.Errorf("gpu: solve: window %d of %d, or one that is eliminated before: %w", v, windows, spectral.ErrNotPositive)
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

// A chainPlace says where a level of a chain stands (its table, its blocks, its
// right-hand sides) and how it is cut: segments of length blocks each.
type chainPlace struct {
	table, at, rhs uint64
	segments       int
	count, length  int64
}

// place returns the place of level i. Below the first and above the last level it
// is empty.
func (r *rows) place(p *plan, i int) chainPlace {
	if i < 0 || i >= len(p.levels) {
		return chainPlace{}
	}
	l := chainPlace{table: r.at(p, p.levels[i], 0), at: r.address(arrayGram), rhs: r.address(arraySolved), count: int64(p.chain.levels[i].blocks)}
	if i > 0 {
		l.at = r.address(arrayLevels)
		l.rhs = l.at
	}
	var length int
	l.segments, length = p.chain.segments(i)
	l.length = int64(length)
	return l
}

// algebra factors A, solves and inverts, level by level. The first level's kernels
// leave the windows' statistics in arrayStats.
func (r *rows) algebra(p *plan, lambda float64) {
	c, first := p.chain, r.place(p, 0)
	top, shared := len(c.levels)-1, chainShared(c.most, c.d)
	fan, d, stride := int64(c.fan), int64(c.d), int64(chainStride(c.most))
	stat := func(level, n int) uint64 {
		if level > 0 {
			return 0
		}
		return r.address(arrayStats) + uint64(8*n)*uint64(first.count)
	}
	start := &kernels.ChainStart{
		Blocks: first.table, At: first.at, Rhs: first.rhs, Sums: r.address(arraySums), Coef: first.rhs + uint64(8*c.m*c.d),
		Traces: stat(0, 0), Lambda: lambda, M: int64(c.m), D: d,
	}
	r.launch(start, int(first.count), 8*start.Block())
	for i := range top {
		a, up := r.place(p, i), r.place(p, i+1)
		r.launch(&kernels.ChainReduce{
			Blocks: a.table, At: a.at, Rhs: a.rhs, Count: a.count, Over: up.table, OverAt: up.at, Fan: fan, D: d, Stride: stride,
		}, a.segments, shared)
	}
	for i := top; i >= 0; i-- {
		a, low := r.place(p, i), r.place(p, i-1)
		r.launch(&kernels.ChainFactor{
			Blocks: a.table, At: a.at, Rhs: a.rhs, Count: a.count, Under: low.table, UnderAt: low.at, UnderRhs: low.rhs,
			Fan: fan, Length: a.length, D: d, Stride: stride, Logs: stat(i, 1),
		}, a.segments, shared)
	}
	for i := top; i >= 0; i-- {
		a, up := r.place(p, i), r.place(p, i+1)
		r.launch(&kernels.ChainInverse{
			Blocks: a.table, At: a.at, Rhs: a.rhs, Count: a.count, Over: up.table, OverAt: up.at,
			Length: a.length, D: d, Stride: stride, Traces: stat(i, 2),
		}, a.segments, shared)
	}
}

// PullbackSolved fills dst with the gradient by the features of a number whose
// gradient by the moments is made from what Solve has left.
func (r *rows) PullbackSolved(dst, f *spectral.Features, bar spectral.SolvedAdjoint) error {
	invalid := r.data.CheckPullbackSolved(dst, f)
	if invalid == nil && !r.solved.fits(f.M, f.Offsets(), r.data.D) {
		invalid = fmt.Errorf("no solution with these features is there: Solve has to come right before: %w", spectral.ErrShape)
	}
	if err := r.pass("pullback of a solution", invalid, func() error { return r.pullbackSolved(f, bar) }); err != nil {
		return err
	}
	adjoint(dst, f, r.host[arraySums], kernels.PullbackWidth(f.Q))
	return nil
}

func (r *rows) pullbackSolved(f *spectral.Features, bar spectral.SolvedAdjoint) error {
	a, d := r.place(r.solved, 0), r.data.D
	coef := a.rhs + uint64(8*f.M*d)
	r.launch(&kernels.ChainAdjoint{
		Blocks: a.table, At: a.at, Mean: a.rhs, Coef: coef, Count: a.count,
		Inverse: bar.Inverse, Outer: bar.Outer, Linear: bar.Linear, D: int64(d),
	}, int(a.count), 0)
	if err := r.finish(nil); err != nil { // prepare may free the memory of the tables
		return err
	}
	p, args, err := r.prepare(opPullbackSolved, f, d, nil, r.layPullback)
	if err == nil {
		r.pullback(p, args, coef)
	}
	return err
}
