package gpu

import (
	"errors"
	"fmt"
	"math"

	"github.com/vssgp/vssgp/kernels"
	"github.com/vssgp/vssgp/spectral"
)

// Rows keep the moments on the card, where there is one (spectral.Solver): with
// several each has sums over its own rows alone.
var _ spectral.Solver = (*rows)(nil)

// Solves says whether the card's shared memory holds what an elimination of these
// windows needs.
func (d *rows) Solves(f *spectral.Features) bool {
	return len(d.shares) == 1 && chainFits(f.Offsets(), d.data.D, d.shares[0].queue.card.device.SharedPerBlock)
}

// Solve fills dst with what follows from A = E[ΦᵀΦ] + λI.
func (d *rows) Solve(dst *spectral.Solution, f *spectral.Features, lambda float64) error {
	if err := d.solve(dst, f, lambda); err != nil {
		return fmt.Errorf("gpu: solve: %w", err)
	}
	return nil
}

func (d *rows) solve(dst *spectral.Solution, f *spectral.Features, lambda float64) error {
	if err := d.open(); err != nil {
		return err
	}
	if err := d.data.CheckSolve(dst, f); err != nil {
		return err
	}
	if !d.Solves(f) {
		return fmt.Errorf("%d features in a window, %d outputs, %d cards: not to be solved there: %w",
			mostFeatures(f.Offsets()), d.data.D, len(d.shares), spectral.ErrShape)
	}
	s := d.shares[0]
	p, err := s.solve(f, lambda)
	if err := s.finish(err); err != nil {
		return err
	}
	windows := p.chain.levels[0].blocks
	grams, logs, inverses := s.host.stats[:windows], s.host.stats[windows:2*windows], s.host.stats[2*windows:]
	dst.TraceGram = sum(grams)
	for v, log := range logs {
		if math.IsNaN(log) || math.IsInf(log, 0) {
			return fmt.Errorf("window %d of %d, or one that is eliminated before: %w", v, windows, spectral.ErrNotPositive)
		}
	}
	dst.LogDet, dst.TraceInverse = 2*sum(logs), sum(inverses)
	copy(dst.Mean, s.host.coef)
	copy(dst.C, s.host.coef[len(dst.Mean):])
	s.solved = p
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
func (s *share) solve(f *spectral.Features, lambda float64) (*plan, error) {
	offset := f.Offsets()
	if err := s.shrink(f); err != nil {
		return nil, err
	}
	p, a, err := s.prepare(opSolve, f,
		func(p *plan) bool { return p.shapes(f.M, offset, s.d, false) },
		func(room int64) (*plan, error) { return s.planMoments(room, f.M, offset, newChain(offset, s.d)) })
	if err != nil {
		return nil, err
	}
	if err := s.sumMoments(opSolve, p, a); err != nil {
		return nil, err
	}
	if err := s.algebra(p, lambda); err != nil {
		return nil, fmt.Errorf("algebra: %w", err)
	}
	if err := s.download(&s.host.coef, arraySolved, 2*f.M*s.d); err != nil {
		return nil, err
	}
	return p, s.download(&s.host.stats, arrayStats, stats*p.chain.levels[0].blocks)
}

// shrink frees arrays that have to stay from Solve to PullbackSolved where they
// are larger than either wants: room made for the other arrays could take those.
func (s *share) shrink(f *spectral.Features) error {
	s.queue.card.mu.Lock()
	defer s.queue.card.mu.Unlock()
	_, _, size := gramOffsets(f.Offsets())
	return errors.Join(s.cut(arrayGram, 8*size), s.cut(arraySolved, solvedBytes(f.M, s.d)))
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
func (s *share) place(p *plan, i int) chainPlace {
	switch {
	case i < 0 || i >= len(p.chain.levels):
		return chainPlace{}
	case i == 0:
		return chainPlace{s.section(opSolve, p, chainLevels, 0, 0), s.address(arrayGram), s.address(arraySolved)}
	}
	room := s.address(arrayRoom)
	return chainPlace{s.section(opSolve, p, chainLevels+i, 0, 0), room, room}
}

// stat is where the windows' n'th statistics stand for the first level, and 0 for
// others.
func (s *share) stat(p *plan, level, n int) uint64 {
	if level > 0 {
		return 0
	}
	return s.address(arrayStats) + uint64(8*n*p.chain.levels[0].blocks)
}

// algebra factors A, solves and inverts, level by level.
func (s *share) algebra(p *plan, lambda float64) error {
	c, a := p.chain, s.place(p, 0)
	top := len(c.levels) - 1
	err := s.queue.launch(chainStart, c.levels[0].blocks, []uint64{
		a.table, a.at, a.rhs, s.address(arraySums), a.rhs + uint64(8*c.m*c.d), s.stat(p, 0, 0),
		math.Float64bits(lambda), uint64(c.m), uint64(c.d),
	})
	for i := 0; i < top && err == nil; i++ {
		err = s.reduceChain(p, i)
	}
	for i := top; i >= 0 && err == nil; i-- {
		err = s.factorChain(p, i)
	}
	for i := top; i >= 0 && err == nil; i-- {
		err = s.invertChain(p, i)
	}
	return err
}

func (s *share) reduceChain(p *plan, i int) error {
	c, a, up := p.chain, s.place(p, i), s.place(p, i+1)
	n, _ := c.segments(i)
	return s.queue.launch(c.kernel(kernels.ChainReduce{}), n, []uint64{
		a.table, a.at, a.rhs, uint64(c.levels[i].blocks), up.table, up.at,
		uint64(c.fan), uint64(c.d), uint64(chainStride(c.most)),
	})
}

func (s *share) factorChain(p *plan, i int) error {
	c, a, low := p.chain, s.place(p, i), s.place(p, i-1)
	n, length := c.segments(i)
	return s.queue.launch(c.kernel(kernels.ChainFactor{}), n, []uint64{
		a.table, a.at, a.rhs, uint64(c.levels[i].blocks), low.table, low.at, low.rhs,
		uint64(c.fan), uint64(length), uint64(c.d), uint64(chainStride(c.most)), s.stat(p, i, 1),
	})
}

func (s *share) invertChain(p *plan, i int) error {
	c, a, up := p.chain, s.place(p, i), s.place(p, i+1)
	n, length := c.segments(i)
	return s.queue.launch(c.kernel(kernels.ChainInverse{}), n, []uint64{
		a.table, a.at, a.rhs, uint64(c.levels[i].blocks), up.table, up.at,
		uint64(length), uint64(c.d), uint64(chainStride(c.most)), s.stat(p, i, 2),
	})
}

// PullbackSolved fills dst with the gradient by the features of a number whose
// gradient by the moments is made of what Solve has left.
func (d *rows) PullbackSolved(dst, f *spectral.Features, bar spectral.SolvedAdjoint) error {
	if err := d.pullbackSolved(dst, f, bar); err != nil {
		return fmt.Errorf("gpu: pullback of a solution: %w", err)
	}
	return nil
}

func (d *rows) pullbackSolved(dst, f *spectral.Features, bar spectral.SolvedAdjoint) error {
	if err := d.open(); err != nil {
		return err
	}
	if err := d.data.CheckPullbackSolved(dst, f); err != nil {
		return err
	}
	s := d.shares[0]
	if !s.solved.shapes(f.M, f.Offsets(), s.d, false) {
		return fmt.Errorf("no solution with these features is there: Solve has to come right before: %w", spectral.ErrShape)
	}
	if err := s.finish(s.pullbackSolved(f, bar)); err != nil {
		return err
	}
	d.pulled(dst, f)
	return nil
}

func (s *share) pullbackSolved(f *spectral.Features, bar spectral.SolvedAdjoint) error {
	solved := s.solved
	c, a := solved.chain, s.place(solved, 0)
	s.solved = nil
	coef := uint64(8 * c.m * c.d)
	err := s.queue.launch(kernelOf(kernels.ChainAdjoint{}, 0), c.levels[0].blocks, []uint64{
		a.table, a.at, a.rhs, a.rhs + coef, uint64(c.levels[0].blocks),
		math.Float64bits(bar.Inverse), math.Float64bits(bar.Outer), math.Float64bits(bar.Linear), uint64(c.d),
	})
	if err := s.finish(err); err != nil { // the tables' room may be needed now
		return fmt.Errorf("adjoint: %w", err)
	}
	p, args, err := s.prepare(opPullbackSolved, f,
		func(p *plan) bool { return p.shapes(f.M, solved.offset, s.d, false) },
		func(room int64) (*plan, error) { return s.planPullback(room, f.M, solved.offset, c) })
	if err != nil {
		return err
	}
	return s.pullbackPass(opPullbackSolved, p, args, s.address(arraySolved)+coef)
}
