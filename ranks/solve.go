package ranks

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/vssgp/vssgp/internal/blocktri"
	"github.com/vssgp/vssgp/internal/parallel"
	"github.com/vssgp/vssgp/spectral"
)

// solve fills dst, on rank 0, with what follows from the moments and A = G + λI.
// G stays in the shares, and becomes A⁻¹: each eliminates its inner windows,
// rank 0 the windows between shares (blocktri.Segment). What travels for each
// share is two or three blocks of M_v² numbers there and back, M_v·D numbers
// twice, and its part of C and m.
func (s *set) solve(dst *spectral.Solution, f *spectral.Features, lambda float64) error {
	s.shareFeatures(f)
	var offset []int
	if dst == nil {
		dst = &spectral.Solution{} // numbers of its own, of no use
	} else {
		offset = f.Offsets()
	}
	err := s.localMoments()
	parts, traces := make([][]float64, len(s.own)), make([][]float64, len(s.own))
	if err == nil {
		for i, one := range s.own {
			traces[i] = []float64{traceOf(one.moments.Gram, 0, one.end-one.first)}
		}
		err = s.sideBySide(func(i int, one *share) (err error) {
			parts[i], err = one.eliminate(lambda, s.d)
			return err
		})
	}
	dst.TraceGram, dst.TraceInverse, dst.LogDet = 0, 0, 0
	err = s.agree(err)
	if err == nil || errors.Is(err, errNotPositive) { // whose jitter is a share of the trace
		s.collect(traces, one, func(_ int, part []float64) { dst.TraceGram += part[0] })
	}
	if err != nil {
		return err
	}
	b, err := s.reduce(&dst.LogDet, parts, offset, lambda)
	if err := s.agree(err); err != nil {
		return err
	}
	s.solveBack(dst, b, offset)
	dst.TraceInverse = s.invert()
	return nil
}

// one is the length of a part that is a number.
func one(int) int { return 1 }

// solveBack fills in C and all rows of m, given those of the separators, b on
// rank 0 alone.
func (s *set) solveBack(dst *spectral.Solution, b []float64, offset []int) {
	s.returnRows(b)
	_ = s.sideBySide(func(_ int, one *share) error {
		left, right := one.ends(s.d)
		one.segment.SolveUpper(one.inner(s.d), left, right, s.d)
		return nil
	})
	s.lap(&s.times.Compute)
	clear(dst.C)
	parts := make([][]float64, len(s.own))
	for i, one := range s.own {
		parts[i] = one.moments.C
	}
	s.collect(parts, func(i int) int { return (offset[s.cuts[i].end] - offset[s.cuts[i].first]) * s.d }, func(i int, part []float64) {
		addTo(dst.C[offset[s.cuts[i].first]*s.d:], part)
	})
	for i, one := range s.own {
		parts[i] = one.inner(s.d)
	}
	s.collect(parts, func(i int) int { return (s.innerEnd(i, offset) - s.innerFirst(i, offset)) * s.d }, func(i int, part []float64) {
		copy(dst.Mean[s.innerFirst(i, offset)*s.d:], part)
	})
	if s.Rank() == 0 {
		s.small.each(b, s.d, func(v int, part []float64) { copy(dst.Mean[offset[v]*s.d:], part) })
	}
}

// sideBySide calls f for this rank's shares on all its cores: their algebra is
// of blocks too small for more than one.
func (s *set) sideBySide(f func(i int, one *share) error) error {
	errs := make([]error, len(s.own))
	parallel.For(len(s.own), runtime.GOMAXPROCS(0), func(i int) { errs[i] = f(i, s.own[i]) })
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// left and right are how many separators a share has on each side.
func (o *share) left() int { return min(o.first, 1) }

func (o *share) right() int {
	if o.hasRight {
		return 1
	}
	return 0
}

// eliminate overwrites the share's G by the factor of its inner windows and
// gives what is left for the separators (their own blocks of G included), what
// C is there, and its part of log|A|.
func (o *share) eliminate(lambda float64, d int) ([]float64, error) {
	g, blocks := o.moments.Gram, o.end-o.first
	lo, hi := o.left(), blocks-o.right()
	o.segment = blocktri.NewSegment(g, lo, hi)
	if need := o.segment.Room(); cap(o.room) < need {
		o.room = make([]float64, need)
	}
	if err := o.segment.Eliminate(lambda, o.room); err != nil {
		if errors.Is(err, blocktri.ErrNotPositive) {
			return nil, fmt.Errorf("%w: %w", errNotPositive, err)
		}
		return nil, err
	}
	sep := &spectral.Gram{Offset: []int{0}}
	o.eachSeparator(func(v int) {
		sep.Offset = append(sep.Offset, sep.M()+g.Size(v))
		sep.Diag = append(sep.Diag, append([]float64(nil), g.Diag[v]...))
	})
	if sep.Blocks() == 2 {
		sep.Below = [][]float64{make([]float64, sep.Size(0)*sep.Size(1))}
	}
	o.segment.AddTo(sep, 0, sep.Blocks()-1)
	o.mean = append(o.mean[:0], o.moments.C...)
	// Inner rows of C are solved for; the separators' own go along with what
	// they lose by it.
	left, right := o.ends(d)
	o.segment.SolveLower(o.inner(d), left, right, d)
	part := []float64{o.segment.LogDet()}
	for _, b := range blocksOf(sep, 0, sep.Blocks()) {
		part = append(part, b...)
	}
	return append(append(part, left...), right...), nil
}

// eachSeparator calls f for the share's separators, as its own G counts them.
func (o *share) eachSeparator(f func(v int)) {
	if o.left() > 0 {
		f(0)
	}
	if o.right() > 0 {
		f(o.end - o.first - 1)
	}
}

// inner is the rows of the share's m, [Σ M_v,d] of its windows, that are not a
// separator's.
func (o *share) inner(d int) []float64 {
	g := o.moments.Gram
	lo, hi := g.Offset[o.left()], g.M()
	if o.hasRight {
		hi = g.Offset[g.Blocks()-1]
	}
	return o.mean[lo*d : hi*d]
}

// ends are the rows of the share's m that are its separators'.
func (o *share) ends(d int) (left, right []float64) {
	g := o.moments.Gram
	if o.left() > 0 {
		left = o.mean[:g.Size(0)*d]
	}
	if o.hasRight {
		right = o.mean[g.Offset[g.Blocks()-1]*d:]
	}
	return left, right
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

// innerFirst and innerEnd are the range of features of a share's inner windows.
func (s *set) innerFirst(i int, offset []int) int {
	return offset[s.cuts[i].first+min(i, 1)]
}

func (s *set) innerEnd(i int, offset []int) int {
	if i+1 == s.shares {
		return offset[s.cuts[i].end]
	}
	return offset[s.cuts[i].end-1]
}

// invert replaces the factors by A⁻¹ and gives its trace.
func (s *set) invert() (trace float64) {
	if s.Rank() == 0 && len(s.small.at) > 0 {
		z := s.small.factor.Inverse()
		trace = traceOf(z, 0, z.Blocks())
	}
	s.returnInverse()
	parts := make([][]float64, len(s.own))
	_ = s.sideBySide(func(i int, one *share) error {
		g := one.moments.Gram
		one.segment.Inverse(one.cross)
		parts[i] = []float64{traceOf(g, one.left(), g.Blocks()-one.right())}
		return nil
	})
	s.lap(&s.times.Compute)
	s.collect(parts, one, func(_ int, part []float64) { trace += part[0] })
	return trace
}

// pullSolved, after solve, fills dst with the gradient by the features whose
// adjoint is Inverse·A⁻¹ + Outer·m mᵀ by G and Linear·m by C. A⁻¹ is lost.
func (s *set) pullSolved(dst, f *spectral.Features, bar spectral.SolvedAdjoint) error {
	_ = s.sideBySide(func(_ int, one *share) error {
		blocktri.OuterAdjoint(one.moments.Gram, one.mean, s.d, bar.Inverse, bar.Outer)
		for j, m := range one.mean {
			one.moments.C[j] = bar.Linear * m
		}
		return nil
	})
	return s.pullShares(dst, f)
}
