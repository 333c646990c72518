package ranks

import (
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/vssgp/vssgp/internal/blocktri"
	"github.com/vssgp/vssgp/internal/parallel"
	"github.com/vssgp/vssgp/spectral"
)

// solve fills dst, on rank 0, with what follows from the moments and A = G + λI, with
// windows. G stays in the domains and becomes A⁻¹: each eliminates its inner windows,
// rank 0 the separators, the windows between shards (blocktri.Segment). Each shard
// sends and gets its blocks of the separators, and sends its part of C and m.
func (s *set) solve(dst *spectral.Solution, f *spectral.Features, lambda float64) error {
	s.shareFeatures(f)
	traces, vectors := make([][]float64, len(s.shards)), make([][]float64, len(s.shards))
	err := s.localMoments()
	if err == nil {
		for i, one := range s.shards {
			traces[i] = []float64{traceOf(one.moments.Gram, 0, one.to-one.from)}
		}
		err = s.inParallel(func(i int, one *shard) (err error) {
			vectors[i], err = one.eliminate(lambda, s.d)
			return err
		})
	}
	err = s.agree(err)
	if err == nil || errors.Is(err, spectral.ErrNotPositive) { // jitter is a fraction of the trace
		if trace := s.total(0, traces); dst != nil {
			dst.TraceGram = trace
		}
	}
	if err != nil {
		return err
	}
	var small *separators
	if s.Rank() == 0 {
		small = s.newSeparators(f.Offsets())
	}
	logDet, err := s.solveSeparators(small, vectors, lambda)
	if err := s.agree(err); err != nil {
		return err
	}
	s.solveBack(dst, f, small)
	trace := s.invert(small)
	if dst != nil {
		dst.LogDet, dst.TraceInverse = logDet, trace
	}
	return nil
}

// inParallel calls f for this rank's shards on all its cores: their blocks are too
// small for more than one each.
func (s *set) inParallel(f func(i int, one *shard) error) error {
	return parallel.Try(len(s.shards), runtime.GOMAXPROCS(0), func(i int) error { return f(i, s.shards[i]) })
}

// total adds to sum, on rank 0, one number of each shard.
func (s *set) total(sum float64, numbers [][]float64) float64 {
	s.collect(numbers, func(int) int { return 1 }, func(_ int, v []float64) { sum += v[0] })
	return sum
}

// eliminate overwrites the domain's G by the factor of its inner windows. The result
// is its part of log|A|, and what is left of G and C for the separators.
func (d *domain) eliminate(lambda float64, outputs int) ([]float64, error) {
	if d.segment == nil {
		d.segment = blocktri.NewSegment(d.moments.Gram, d.left, d.to-d.from-d.right)
	}
	if err := d.segment.Eliminate(lambda); err != nil {
		return nil, err
	}
	d.separators = d.segment.Schur()
	d.mean = append(d.mean[:0], d.moments.C...)
	left, inner, right := d.split(outputs)
	d.segment.SolveLower(inner, left, right, outputs)
	logDet := block{a: []float64{d.segment.LogDet()}}
	blocks := append([]block{logDet}, gramBlocks(d.separators, 0, d.separators.Blocks())...)
	return pack(append(blocks, block{a: left}, block{a: right})), nil
}

// split is the rows of the domain's m: its left separator's, its inner windows' and
// its right separator's.
func (d *domain) split(outputs int) (left, inner, right []float64) {
	o := d.moments.Gram.Offset
	lo, hi := o[d.left]*outputs, o[len(o)-1-d.right]*outputs
	return d.mean[:lo], d.mean[lo:hi], d.mean[hi:]
}

// separators are the windows between shards, on rank 0.
type separators struct {
	gram   *spectral.Gram // A's Schur complement once all other windows are eliminated; in the end Z
	rows   []float64      // [Σ M_v,D] of C, then of m
	d      int
	factor *blocktri.Factor
}

// newSeparators are zeros.
func (s *set) newSeparators(offset []int) *separators {
	sizes := []int{0}
	for i, e := range s.extents[1:] {
		sizes = append(sizes, sizes[i]+offset[e.first+1]-offset[e.first])
	}
	gram := spectral.NewGram(sizes)
	return &separators{gram: gram, rows: make([]float64, gram.M()*s.d), d: s.d}
}

// beside is the range of separators at the ends of shard i.
func (p *separators) beside(i int) (lo, hi int) { return max(i-1, 0), min(i+1, p.gram.Blocks()) }

// blocks are the parts of the matrix that belong to shard i, rowsOf those of C or m.
func (p *separators) blocks(i int) []block {
	lo, hi := p.beside(i)
	return gramBlocks(p.gram, lo, hi)
}

func (p *separators) rowsOf(i int) block {
	lo, hi := p.beside(i)
	return block{a: p.rows[p.gram.Offset[lo]*p.d : p.gram.Offset[hi]*p.d]}
}

// solveSeparators collects what elimination has left, factors the separators'
// matrix on rank 0 and solves for their rows.
func (s *set) solveSeparators(p *separators, vectors [][]float64, lambda float64) (logDet float64, err error) {
	of := func(i int) []block { return append(p.blocks(i), p.rowsOf(i)) }
	s.collect(vectors, func(i int) int { return 1 + sizeOf(of(i)) }, func(i int, v []float64) {
		logDet += v[0]
		addTo(of(i), v[1:])
	})
	if p == nil {
		return 0, nil
	}
	if p.factor, err = blocktri.Factorise(p.gram, lambda); err != nil {
		return 0, fmt.Errorf("windows between shards: %w", err)
	}
	p.factor.Solve(p.rows, s.d)
	return logDet + p.factor.LogDet(), nil
}

// solveBack fills in C and m, once the separators' rows of m are known.
func (s *set) solveBack(dst *spectral.Solution, f *spectral.Features, p *separators) {
	s.scatterShards(func(i int) []block { return []block{p.rowsOf(i)} }, func(d *domain) []block {
		left, _, right := d.split(s.d)
		return []block{{a: left}, {a: right}}
	})
	_ = s.inParallel(func(_ int, one *shard) error {
		left, inner, right := one.split(s.d)
		one.segment.SolveUpper(inner, left, right, s.d)
		return nil
	})
	s.lap(&s.times.Compute)
	vectors := make([][]float64, len(s.shards))
	for i, one := range s.shards {
		vectors[i] = slices.Concat(one.moments.C, one.mean)
	}
	var c, m byWindow
	if dst != nil {
		clear(dst.C)
		c, m = rowsBy(f, dst.C), rowsBy(f, dst.Mean)
	}
	s.collect(vectors, func(i int) int { return 2 * sizeOf(s.part(c, i)) }, func(i int, v []float64) {
		addTo(s.part(c, i), v[:len(v)/2])
		unpack(s.part(m, i), v[len(v)/2:])
	})
}

// invert replaces the factors by A⁻¹; the result, on rank 0, is its trace.
func (s *set) invert(p *separators) (trace float64) {
	if p != nil {
		p.gram = p.factor.Inverse()
		trace = traceOf(p.gram, 0, p.gram.Blocks())
	}
	s.scatterShards(func(i int) []block { return p.blocks(i) }, func(d *domain) []block {
		return gramBlocks(d.separators, 0, d.separators.Blocks())
	})
	traces := make([][]float64, len(s.shards))
	_ = s.inParallel(func(i int, one *shard) error {
		one.segment.Inverse()
		g := one.moments.Gram
		traces[i] = []float64{traceOf(g, one.left, g.Blocks()-one.right)}
		return nil
	})
	s.lap(&s.times.Compute)
	return s.total(trace, traces)
}

// traceOf is the trace of blocks [lo, hi).
func traceOf(g *spectral.Gram, lo, hi int) float64 {
	t := 0.0
	for v := lo; v < hi; v++ {
		m := g.Size(v)
		for i := range m {
			t += g.Diag[v][i*m+i]
		}
	}
	return t
}

// pullSolved, after solve, fills dst, on rank 0, with the gradient by the features if
// the adjoint is Inverse·A⁻¹ + Outer·m mᵀ by G and Linear·m by C. A⁻¹ is lost.
func (s *set) pullSolved(dst, f *spectral.Features, bar spectral.SolvedAdjoint) error {
	_ = s.inParallel(func(_ int, one *shard) error {
		blocktri.OuterAdjoint(one.moments.Gram, one.mean, s.d, bar.Inverse, bar.Outer)
		for j, m := range one.mean {
			one.moments.C[j] = bar.Linear * m
		}
		return nil
	})
	return s.pull(dst, f)
}
