package ranks

import (
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/linalg/blocktri"
)

// solve fills dst on rank 0 with the solution for A = G + λI, with windows. G stays in the
// domains and becomes A⁻¹: each domain eliminates its inner windows, and rank 0 the separators,
// the windows between shards (blocktri.Segment). Each shard sends and receives its blocks of the
// separators, and sends its part of C and m.
func (s *set) solve(dst *backend.Solution, f *backend.Features, lambda float64) error {
	s.shareFeatures(f)
	traces, err := s.each(1, func(one *shard) ([]float64, error) {
		err := one.sumMoments(s.d)
		return []float64{one.moments.Gram.Trace(0, one.to-one.from)}, err
	})
	var vectors [][]float64
	if err == nil {
		vectors, err = s.inParallel(func(one *shard) ([]float64, error) { return one.eliminate(lambda, s.d) })
	}
	if dst == nil { // not on rank 0
		dst = &backend.Solution{}
	}
	err = s.agree(err)
	if err == nil || errors.Is(err, backend.ErrNotPositive) { // jitter is a fraction of the trace
		dst.TraceGram = s.total(0, traces)
	}
	if err != nil {
		return err
	}
	var small *backend.Moments
	if s.Rank() == 0 {
		small = s.newSeparators(f.Offsets())
	}
	factor, logDet, err := s.solveSeparators(small, vectors, lambda)
	if err := s.agree(err); err != nil {
		return err
	}
	s.solveBack(dst, f, small)
	dst.LogDet, dst.TraceInverse = logDet, s.invert(small, factor)
	return nil
}

// inParallel calls each on all cores, because the shards' blocks are too small to use more than one core each.
func (s *set) inParallel(f func(one *shard) ([]float64, error)) ([][]float64, error) {
	return s.each(runtime.GOMAXPROCS(0), f)
}

// total returns sum plus one number of each shard on rank 0.
func (s *set) total(sum float64, numbers [][]float64) float64 {
	s.collect(numbers, func(int) int { return 1 }, func(_ int, v []float64) { sum += v[0] })
	return sum
}

// eliminate overwrites the domain's G by the factor of its inner windows. It returns its part of
// log|A| and its contributions to the separators' G and C.
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
	blocks := []block{{a: []float64{d.segment.LogDet()}}, {a: left}, {a: right}}
	return pack(append(blocks, gramBlocks(d.separators, 0, d.separators.Blocks())...)), nil
}

// split divides the rows of the domain's m into its left separator, its inner windows and its right
// separator.
func (d *domain) split(outputs int) (left, inner, right []float64) {
	o := d.moments.Gram.Offset
	lo, hi := o[d.left]*outputs, o[len(o)-1-d.right]*outputs
	return d.mean[:lo], d.mean[lo:hi], d.mean[hi:]
}

// newSeparators returns moments over the separators, on rank 0. They contain first the Schur
// complement of A and C, and finally Z and m.
func (s *set) newSeparators(offset []int) *backend.Moments {
	sizes := []int{0}
	for i, e := range s.extents[1:] {
		sizes = append(sizes, sizes[i]+offset[e.first+1]-offset[e.first])
	}
	gram := backend.NewGram(sizes)
	return &backend.Moments{Gram: gram, C: make([]float64, gram.M()*s.d), D: s.d}
}

// endBlocks returns the blocks of the separators at the ends of shard i: first their rows of C, then
// the blocks of G.
func endBlocks(small *backend.Moments, i int) (rows, gram []block) {
	all := momentsBy(small)(max(i-1, 0), min(i+1, small.Gram.Blocks()))
	return all[:1], all[1:]
}

// solveSeparators adds the results of eliminate on rank 0, factors the separators' matrix there and
// solves for their rows.
func (s *set) solveSeparators(small *backend.Moments, vectors [][]float64, lambda float64) (f *blocktri.Factor, logDet float64, err error) {
	of := func(i int) []block { return slices.Concat(endBlocks(small, i)) }
	s.collect(vectors, func(i int) int { return 1 + sizeOf(of(i)) }, func(i int, v []float64) {
		logDet += v[0]
		unpack(of(i), v[1:], true)
	})
	if small == nil {
		return nil, 0, nil
	}
	if f, err = blocktri.Factorize(small.Gram, lambda, 2); err != nil {
		return nil, 0, fmt.Errorf("windows between shards: %w", err)
	}
	f.Solve(small.C, s.d)
	return f, logDet + f.LogDet(), nil
}

// solveBack computes C and m, given the separators' rows of m.
func (s *set) solveBack(dst *backend.Solution, f *backend.Features, small *backend.Moments) {
	s.scatterShards(func(i int) []block {
		rows, _ := endBlocks(small, i)
		return rows
	}, func(d *domain) []block {
		left, _, right := d.split(s.d)
		return []block{{a: left}, {a: right}}
	})
	vectors, _ := s.inParallel(func(one *shard) ([]float64, error) {
		left, inner, right := one.split(s.d)
		one.segment.SolveUpper(inner, left, right, s.d)
		return slices.Concat(one.moments.C, one.mean), nil
	})
	clear(dst.C)
	c, m := rowsBy(f, dst.C), rowsBy(f, dst.Mean)
	s.collect(vectors, func(i int) int { return 2 * sizeOf(s.part(c, i)) }, func(i int, v []float64) {
		unpack(s.part(c, i), v[:len(v)/2], true)
		unpack(s.part(m, i), v[len(v)/2:], false)
	})
}

// invert replaces the factors by A⁻¹ and returns its trace on rank 0.
func (s *set) invert(small *backend.Moments, factor *blocktri.Factor) (trace float64) {
	if small != nil {
		factor.Inverse()
		trace = small.Gram.Trace(0, small.Gram.Blocks())
	}
	s.scatterShards(func(i int) []block {
		_, gram := endBlocks(small, i)
		return gram
	}, func(d *domain) []block { return gramBlocks(d.separators, 0, d.separators.Blocks()) })
	traces, _ := s.inParallel(func(one *shard) ([]float64, error) {
		one.segment.Inverse()
		g := one.moments.Gram
		return []float64{g.Trace(one.left, g.Blocks()-one.right)}, nil
	})
	return s.total(trace, traces)
}

// pullSolved fills dst on rank 0 with the gradient with respect to the features. The adjoint of G is Inverse·A⁻¹ +
// Outer·m mᵀ, and the adjoint of C is Linear·m. pullSolved must follow solve and overwrites A⁻¹.
func (s *set) pullSolved(dst, f *backend.Features, bar backend.SolvedAdjoint) error {
	_, _ = s.inParallel(func(one *shard) ([]float64, error) {
		blocktri.OuterAdjoint(one.moments.Gram, one.mean, s.d, bar.Inverse, bar.Outer)
		for j, m := range one.mean {
			one.moments.C[j] = bar.Linear * m
		}
		return nil, nil
	})
	return s.pull(dst, f)
}
