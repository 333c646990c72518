package gpu

import (
	"errors"
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

// Solve fills dst with what follows from A = E[ΦᵀΦ] + λI.
func (r *rows) Solve(dst *spectral.Solution, f *spectral.Features, lambda float64) error {
	var p *plan
	err := r.pass("solve", func() error { return r.checkSolve(dst, f) }, func() (err error) {
		p, err = r.solve(f, lambda)
		return err
	})
	if err != nil {
		return err
	}
	return r.solution(dst, p)
}

func (r *rows) checkSolve(dst *spectral.Solution, f *spectral.Features) error {
	if err := r.data.CheckSolve(dst, f); err != nil {
		return err
	}
	if !r.CanSolve(f) {
		return fmt.Errorf("%d features in a window and %d outputs are too many to solve for on this card: %w",
			mostFeatures(f.Offsets()), r.data.D, spectral.ErrShape)
	}
	return nil
}

// solution fills dst, and keeps what PullbackSolved needs.
func (r *rows) solution(dst *spectral.Solution, p *plan) error {
	windows := p.chain.levels[0].blocks
	grams, logs, inverses := r.host.stats[:windows], r.host.stats[windows:2*windows], r.host.stats[2*windows:]
	dst.TraceGram = sum(grams)
	for v, log := range logs {
		if math.IsNaN(log) || math.IsInf(log, 0) {
			return fmt.Errorf("gpu: solve: window %d of %d, or one that is eliminated before: %w", v, windows, spectral.ErrNotPositive)
		}
	}
	dst.LogDet, dst.TraceInverse = 2*sum(logs), sum(inverses)
	copy(dst.Mean, r.host.coef)
	copy(dst.C, r.host.coef[len(dst.Mean):])
	r.solved = p
	return nil
}

func sum(a []float64) (s float64) {
	for _, v := range a {
		s += v
	}
	return s
}

// solve leaves A⁻¹ in the Gram array, m and C in host.coef and the windows' traces
// and logarithms in host.stats.
func (r *rows) solve(f *spectral.Features, lambda float64) (*plan, error) {
	d := r.data.D
	if err := r.shrink(f); err != nil {
		return nil, err
	}
	p, a, err := r.prepare(opSolve, f, d, false, func(p *plan, free int64) error { return r.layMoments(p, free, newChain(p.offset, d)) })
	if err != nil {
		return nil, err
	}
	if err := r.sumMoments(p, a); err != nil {
		return nil, err
	}
	if err := r.algebra(p, lambda); err != nil {
		return nil, fmt.Errorf("algebra: %w", err)
	}
	if err := r.download(&r.host.coef, arraySolved, 2*f.M*d); err != nil {
		return nil, err
	}
	return p, r.download(&r.host.stats, arrayStats, stats*p.chain.levels[0].blocks)
}

// shrink frees arrays that have to stay from Solve to PullbackSolved where they
// are larger than either wants: allocating the others could free them.
func (r *rows) shrink(f *spectral.Features) error {
	r.card.mu.Lock()
	defer r.card.mu.Unlock()
	_, _, size := gramOffsets(f.Offsets())
	return errors.Join(r.cut(arrayGram, 8*size), r.cut(arraySolved, solvedBytes(f.M, r.data.D)))
}

// cut frees an array of more bytes.
func (h *holdings) cut(a array, bytes int64) error {
	if h.size[a] <= bytes {
		return nil
	}
	return h.release(a)
}

// A chainPlace is where a level of a chain stands: its table, its blocks, its
// right-hand sides.
type chainPlace struct{ table, at, rhs uint64 }

// place is level i's; above the last there is none.
func (r *rows) place(p *plan, i int) chainPlace {
	switch {
	case i < 0 || i >= len(p.chain.levels):
		return chainPlace{}
	case i == 0:
		return chainPlace{r.section(p, chainLevels, 0, 0), r.address(arrayGram), r.address(arraySolved)}
	}
	levels := r.address(arrayLevels)
	return chainPlace{r.section(p, chainLevels+i, 0, 0), levels, levels}
}

// stat is where the windows' n'th statistics stand for the first level, and 0 for
// others.
func (r *rows) stat(p *plan, level, n int) uint64 {
	if level > 0 {
		return 0
	}
	return r.address(arrayStats) + uint64(8*n*p.chain.levels[0].blocks)
}

// algebra factors A, solves and inverts, level by level.
func (r *rows) algebra(p *plan, lambda float64) error {
	c, a := p.chain, r.place(p, 0)
	top := len(c.levels) - 1
	start := &kernels.ChainStart{
		Blocks: a.table, At: a.at, Rhs: a.rhs, Sums: r.address(arraySums), Coef: a.rhs + uint64(8*c.m*c.d),
		Traces: r.stat(p, 0, 0), Lambda: lambda, M: int64(c.m), D: int64(c.d),
	}
	err := r.launch(start, c.levels[0].blocks, 8*start.Block())
	for i := 0; i < top && err == nil; i++ {
		err = r.reduceChain(p, i)
	}
	for i := top; i >= 0 && err == nil; i-- {
		err = r.factorChain(p, i)
	}
	for i := top; i >= 0 && err == nil; i-- {
		err = r.invertChain(p, i)
	}
	return err
}

func (r *rows) reduceChain(p *plan, i int) error {
	c, a, up := p.chain, r.place(p, i), r.place(p, i+1)
	n, _ := c.segments(i)
	return r.launch(&kernels.ChainReduce{
		Blocks: a.table, At: a.at, Rhs: a.rhs, Count: int64(c.levels[i].blocks), Over: up.table, OverAt: up.at,
		Fan: int64(c.fan), D: int64(c.d), Stride: int64(chainStride(c.most)),
	}, n, chainShared(c.most, c.d))
}

func (r *rows) factorChain(p *plan, i int) error {
	c, a, low := p.chain, r.place(p, i), r.place(p, i-1)
	n, length := c.segments(i)
	return r.launch(&kernels.ChainFactor{
		Blocks: a.table, At: a.at, Rhs: a.rhs, Count: int64(c.levels[i].blocks), Under: low.table, UnderAt: low.at, UnderRhs: low.rhs,
		Fan: int64(c.fan), Length: int64(length), D: int64(c.d), Stride: int64(chainStride(c.most)), Logs: r.stat(p, i, 1),
	}, n, chainShared(c.most, c.d))
}

func (r *rows) invertChain(p *plan, i int) error {
	c, a, up := p.chain, r.place(p, i), r.place(p, i+1)
	n, length := c.segments(i)
	return r.launch(&kernels.ChainInverse{
		Blocks: a.table, At: a.at, Rhs: a.rhs, Count: int64(c.levels[i].blocks), Over: up.table, OverAt: up.at,
		Length: int64(length), D: int64(c.d), Stride: int64(chainStride(c.most)), Traces: r.stat(p, i, 2),
	}, n, chainShared(c.most, c.d))
}

// PullbackSolved fills dst with the gradient by the features of a number whose
// gradient by the moments is made of what Solve has left.
func (r *rows) PullbackSolved(dst, f *spectral.Features, bar spectral.SolvedAdjoint) error {
	check := func() error {
		if err := r.data.CheckPullbackSolved(dst, f); err != nil {
			return err
		}
		if !r.solved.shapes(f.M, f.Offsets(), r.data.D, false) {
			return fmt.Errorf("no solution with these features is there: Solve has to come right before: %w", spectral.ErrShape)
		}
		return nil
	}
	if err := r.pass("pullback of a solution", check, func() error { return r.pullbackSolved(f, bar) }); err != nil {
		return err
	}
	adjoint(dst, f, r.host.sums, kernels.PullbackWidth(f.Q))
	return nil
}

func (r *rows) pullbackSolved(f *spectral.Features, bar spectral.SolvedAdjoint) error {
	c, a := r.solved.chain, r.place(r.solved, 0)
	r.solved = nil
	coef := a.rhs + uint64(8*c.m*c.d)
	err := r.launch(&kernels.ChainAdjoint{
		Blocks: a.table, At: a.at, Mean: a.rhs, Coef: coef, Count: int64(c.levels[0].blocks),
		Inverse: bar.Inverse, Outer: bar.Outer, Linear: bar.Linear, D: int64(c.d),
	}, c.levels[0].blocks, 0)
	if err := r.finish(err); err != nil { // the tables' memory may be needed now
		return fmt.Errorf("adjoint: %w", err)
	}
	p, args, err := r.prepare(opPullbackSolved, f, c.d, false, func(p *plan, free int64) error { return r.layPullback(p, free, c) })
	if err != nil {
		return err
	}
	return r.pullbackPass(p, args, coef)
}
