package ranks

import (
	"errors"
	"fmt"
	"math"
	"runtime"

	"github.com/vssgp/vssgp/internal/blocktri"
	"github.com/vssgp/vssgp/internal/parallel"
	"github.com/vssgp/vssgp/spectral"
)

// Conditioned is what the host's algebra makes of C and A = G + λI.
type Conditioned struct {
	Fit    float64 // Σ C∘m
	LogDet float64 // log|A|
	Trace  float64 // of G
}

// separators are the windows between shares, on rank 0: A's Schur complement
// once all others are eliminated.
type separators struct {
	at     []int // [S−1] their windows
	gram   *spectral.Gram
	factor *blocktri.Factor
	lambda float64
}

// condition sums the moments, factors A = G + λI and solves A·m = C. mean [M,D]
// is rank 0's. G stays in the shares: each eliminates its inner windows, rank 0
// the windows between shares (blocktri.Segment). What travels for each share is
// two or three blocks of M_v² numbers, M_v·D numbers twice, and its part of m.
func (s *set) condition(mean []float64, f *spectral.Features, lambda float64) (Conditioned, error) {
	s.shareFeatures(f)
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
	var c Conditioned
	err = s.agree(err)
	if err == nil || errors.Is(err, errNotPositive) { // whose jitter is a share of the trace
		s.collect(traces, func(int) int { return 1 }, func(_ int, part []float64) { c.Trace += part[0] })
	}
	if err != nil {
		return c, err
	}
	var offset []int
	if f != nil {
		offset = f.Offsets()
	}
	b, err := s.reduce(&c, parts, offset, lambda)
	if err := s.agree(err); err != nil {
		return c, err
	}
	s.returnBlocks(offset, 1, b)
	fit := make([][]float64, len(s.own))
	_ = s.sideBySide(func(i int, one *share) error {
		fit[i] = []float64{one.solveBack(s.d)}
		return nil
	})
	s.lap(&s.times.Compute)
	s.collect(fit, func(int) int { return 1 }, func(_ int, part []float64) { c.Fit += part[0] })
	for i, one := range s.own {
		fit[i] = one.inner(s.d)
	}
	s.collect(fit, func(i int) int { return (s.innerEnd(i, offset) - s.innerFirst(i, offset)) * s.d }, func(i int, part []float64) {
		copy(mean[s.innerFirst(i, offset)*s.d:], part)
	})
	if s.Rank() == 0 {
		s.small.each(b, s.d, func(v int, part []float64) { copy(mean[offset[v]*s.d:], part) })
	}
	return c, nil
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

// reduce collects what the shares leave, factors the separators' matrix on rank
// 0 and solves for their rows, [Σ M_v,D].
func (s *set) reduce(c *Conditioned, parts [][]float64, offset []int, lambda float64) (b []float64, err error) {
	var small *separators
	if s.Rank() == 0 {
		small = s.separators(offset)
		b = make([]float64, small.gram.M()*s.d)
	}
	s.collect(parts, func(i int) int {
		size := 1
		for _, v := range s.separatorsOf(i) {
			m := offset[v+1] - offset[v]
			size += m*m + m*s.d
		}
		if at := s.separatorsOf(i); len(at) == 2 {
			size += (offset[at[0]+1] - offset[at[0]]) * (offset[at[1]+1] - offset[at[1]])
		}
		return size
	}, func(i int, part []float64) {
		c.LogDet += part[0]
		part = part[1:]
		lo := max(i-1, 0)
		for _, block := range blocksOf(small.gram, lo, lo+len(s.separatorsOf(i))) {
			addTo(block, part[:len(block)])
			part = part[len(block):]
		}
		addTo(b[small.gram.Offset[lo]*s.d:], part)
	})
	if s.Rank() != 0 {
		return nil, nil
	}
	s.small = small
	if len(small.at) == 0 {
		return b, nil
	}
	if small.factor, err = blocktri.Factorise(small.gram, lambda); err != nil {
		return nil, fmt.Errorf("%w: windows between shares: %w", errNotPositive, err)
	}
	c.LogDet += small.factor.LogDet()
	small.factor.Solve(b, s.d)
	return b, nil
}

// separatorsOf are the separators of share i, by their windows.
func (s *set) separatorsOf(i int) (at []int) {
	c := s.cuts[i]
	if i > 0 {
		at = append(at, c.first)
	}
	if i+1 < s.shares {
		at = append(at, c.end-1)
	}
	return at
}

// separators is a zero matrix of the windows between shares.
func (s *set) separators(offset []int) *separators {
	p := &separators{}
	sizes := []int{0}
	for i := 1; i < s.shares; i++ {
		v := s.cuts[i].first
		p.at = append(p.at, v)
		sizes = append(sizes, sizes[i-1]+offset[v+1]-offset[v])
	}
	p.gram = spectral.NewGram(sizes)
	return p
}

// each calls f for each separator with its window and its rows of b [Σ M_v,n].
func (p *separators) each(b []float64, n int, f func(v int, part []float64)) {
	for i, v := range p.at {
		f(v, b[p.gram.Offset[i]*n:p.gram.Offset[i+1]*n])
	}
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

// returnBlocks gives the shares the separators' rows of the solution, b on rank
// 0 (what 1), or their blocks of Z (what 2).
func (s *set) returnBlocks(offset []int, what int, b []float64) {
	if s.Rank() != 0 {
		for _, one := range s.own {
			for _, to := range one.targets(what, s.d) {
				s.recv(0, to)
			}
		}
		return
	}
	for i := range s.cuts {
		from := s.sources(i, what, b)
		if i < len(s.own) {
			for j, to := range s.own[i].targets(what, s.d) {
				copy(to, from[j])
			}
			continue
		}
		for _, a := range from {
			s.send(s.owner(i), a)
		}
	}
}

// sources is what share i gets of rank 0's.
func (s *set) sources(i, what int, b []float64) (from [][]float64) {
	lo, g := max(i-1, 0), s.small.gram
	count := len(s.separatorsOf(i))
	if what == 2 {
		return blocksOf(g, lo, lo+count)
	}
	for j := range count {
		from = append(from, b[g.Offset[lo+j]*s.d:g.Offset[lo+j+1]*s.d])
	}
	return from
}

// targets is where a share puts them.
func (o *share) targets(what, d int) (to [][]float64) {
	if what == 1 {
		left, right := o.ends(d)
		if left != nil {
			to = append(to, left)
		}
		if right != nil {
			to = append(to, right)
		}
		return to
	}
	g := o.moments.Gram
	var at []int
	o.eachSeparator(func(v int) { at = append(at, v) })
	for i, v := range at {
		to = append(to, g.Diag[v])
		if i == 0 && len(at) == 2 {
			o.cross = resize(o.cross, g.Size(at[1])*g.Size(at[0]))
			to = append(to, o.cross)
		}
	}
	return to
}

func resize(a []float64, n int) []float64 {
	if cap(a) < n {
		return make([]float64, n)
	}
	return a[:n]
}

// solveBack solves for the inner rows of m and gives the share's part of Σ C∘m.
func (o *share) solveBack(d int) float64 {
	left, right := o.ends(d)
	o.segment.SolveUpper(o.inner(d), left, right, d)
	fit := 0.0
	for i, c := range o.moments.C {
		fit += c * o.mean[i]
	}
	return fit
}

// adjoint, after condition, fills dst with the gradient by the features of
// ½·D·(−log|A|) − ½τ(Σy² − Σ C∘m), that is the pullback of ∂/∂G = −½D·A⁻¹ −
// ½τ·m mᵀ and ∂/∂C = τ·m, and gives the trace of A⁻¹. G is lost.
func (s *set) adjoint(dst, f *spectral.Features, tau float64) (trace float64, err error) {
	if s.Rank() == 0 && len(s.small.at) > 0 {
		z := s.small.factor.Inverse()
		trace = traceOf(z, 0, z.Blocks())
	}
	s.returnBlocks(nil, 2, nil)
	parts := make([][]float64, len(s.own))
	_ = s.sideBySide(func(i int, one *share) error {
		parts[i] = []float64{one.adjoint(s.d, tau)}
		return nil
	})
	s.lap(&s.times.Compute)
	s.collect(parts, func(int) int { return 1 }, func(_ int, part []float64) { trace += part[0] })
	if err := s.pullShares(dst, f); err != nil {
		return math.NaN(), err
	}
	return trace, nil
}

// adjoint replaces the share's factor by its blocks of ∂/∂G, and its C by
// ∂/∂C; it gives its inner windows' part of the trace of A⁻¹.
func (o *share) adjoint(d int, tau float64) (trace float64) {
	g := o.moments.Gram
	o.segment.Inverse(o.cross)
	trace = traceOf(g, o.left(), g.Blocks()-o.right())
	blocktri.OuterAdjoint(g, o.mean, d, tau)
	for j, m := range o.mean {
		o.moments.C[j] = tau * m
	}
	return trace
}
