// Package blocktri is the host's linear algebra on backend.Gram: Cholesky
// factor, log-determinant, solves and the stored blocks of the inverse of a
// symmetric positive definite block-tridiagonal matrix, in O(V·M_v³) for V blocks
// of M_v features. One block is the dense case. Factor and inverse use the
// kernels of package simd, work in the matrix's own memory and give the same bits
// for any number of goroutines; the solves use gonum.
//
// The blocks are split into segments with one block, a separator, between any
// two. Segments are eliminated independently of one another, the separators after
// them. Two segments suit two cores, more suit more cores. A Segment can also be
// used on its own, if the segments are on machines that share no memory.
//
// A Band is a matrix with a band, kept as such blocks.
package blocktri

import (
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/parallel"
	"github.com/vssgp/vssgp/internal/simd"
)

// A Factor is a Cholesky factor of A: with the rows and columns of R in the order
// of elimination A = R Rᵀ, exactly. R.Diag has the triangles L_v (zero above the
// diagonal), R.Below the blocks between neighbors (see Segment).
//
// With one separator, the segment before it is eliminated downwards and the one
// after it upwards. Nothing fills in, and each takes half the time:
//
//	L_s L_sᵀ = A_ss − E_{s−1} E_{s−1}ᵀ − F_s F_sᵀ
//
// With several, the segments between two of them have fill, and the Schur
// complement of the separators is factored in its turn.
type Factor struct {
	R          *backend.Gram
	separators []int      // their block numbers, rising
	segments   []*Segment // the blocks between them
	schur      *Factor    // of the separators' Schur complement; nil if there is at most one separator, factored in R itself
}

// Factorize overwrites A by the factor of A + λI with the given number of segments,
// each eliminated by a goroutine of its own. If there is no factor A is lost.
//
// One segment is eliminated from the first block to the last, which gives the
// factor as it is usually written. Two are divided by the middle block. Of more,
// the first and the last are longer, so that all take the same time; n of them need
// 2n − 1 blocks, and with fewer blocks there are fewer segments. The number of
// segments decides the order of sums and so the last bits; the number of goroutines
// does not.
//
// From three segments on there is fill-in, one block for each block of an inner
// segment. It is kept in a.Scratch, which must not be used for anything else as
// long as the factor is needed.
func Factorize(a *backend.Gram, lambda float64, segments int) (*Factor, error) {
	f := newFactor(a, separators(a.Offset, segments)...)
	if err := f.factorize(lambda); err != nil {
		return nil, err
	}
	return f, nil
}

// Downward is the Factor of one segment whose R is given, as model files keep it.
func Downward(r *backend.Gram) *Factor { return newFactor(r) }

// factorize overwrites R, which is A, by the factor of A + λI.
func (f *Factor) factorize(lambda float64) error {
	if f.schur == nil {
		return f.factorizeEnds(lambda)
	}
	if err := f.each(func(_ int, s *Segment) error { return s.Eliminate(lambda) }); err != nil {
		return err
	}
	for _, s := range f.segments {
		s.Schur()
	}
	if err := f.schur.factorize(lambda); err != nil {
		return fmt.Errorf("blocktri: separators, which are blocks %v of %d, after all others: %w", f.separators, f.R.Blocks(), err)
	}
	return nil
}

// factorizeEnds is factorize with at most one separator: the products of both
// segments' last couplings are taken from its block directly.
func (f *Factor) factorizeEnds(lambda float64) error {
	couplings := make([]simd.Panels, len(f.segments))
	for _, s := range f.segments {
		s.begin()
		defer s.end()
	}
	if err := f.each(func(i int, s *Segment) error {
		err := s.eliminate(lambda)
		couplings[i] = s.last
		return err
	}); err != nil || len(f.separators) == 0 {
		return err
	}
	middle := f.separators[0]
	c, ld, err := f.segments[0].factor(f.R, middle, lambda, couplings...)
	if err == nil {
		unpad(f.R.Diag[middle], f.R.Size(middle), c, ld)
	}
	return err
}

// newFactor splits r at the separators.
func newFactor(r *backend.Gram, separators ...int) *Factor {
	f := &Factor{R: r, separators: separators}
	lo := 0
	for _, hi := range slices.Concat(separators, []int{r.Blocks()}) {
		if lo < hi {
			f.segments = append(f.segments, NewSegment(r, lo, hi))
		}
		lo = hi + 1
	}
	n := len(f.segments)
	for _, s := range f.segments {
		s.workers = (runtime.GOMAXPROCS(0) + n - 1) / n
	}
	if len(separators) > 1 {
		f.allocate()
	}
	return f
}

// allocate takes the segments' memory from R's scratch, each aligned to a cache line,
// and makes the separators' matrix of views.
func (f *Factor) allocate() {
	all := 0
	for _, s := range f.segments {
		all += padded(s.need())
	}
	memory := simd.Align(f.R.Scratch(simd.Room(all)), all)
	view := &backend.Gram{Offset: []int{0}}
	for i, s := range f.segments {
		n := s.need()
		s.use(memory[:n])
		memory = memory[padded(n):]
		if i > 0 {
			v := f.separators[i-1]
			view.Offset, view.Diag = append(view.Offset, view.M()+f.R.Size(v)), append(view.Diag, f.R.Diag[v])
		}
		if s.inner() {
			view.Below = append(view.Below, s.cross)
		}
	}
	f.schur = newFactor(view, separators(view.Offset, 2)...)
}

// each calls do for each segment in parallel and returns the first one's error.
func (f *Factor) each(do func(i int, s *Segment) error) error {
	return parallel.Try(len(f.segments), runtime.GOMAXPROCS(0), func(i int) error { return do(i, f.segments[i]) })
}

// Clone is a copy.
func (f *Factor) Clone() *Factor {
	c := newFactor(f.R.Clone(), f.separators...)
	if f.schur != nil {
		for i, s := range c.segments {
			copy(s.memory, f.segments[i].memory)
		}
		c.schur.R.CopyFrom(f.schur.R)
	}
	return c
}

// LogDet is log|A|.
func (f *Factor) LogDet() float64 { return logDet(f.R, 0, f.R.Blocks()) }

// logDet is 2 Σ log diag L_v over the blocks [lo, hi).
func logDet(r *backend.Gram, lo, hi int) float64 {
	s := 0.0
	for v := lo; v < hi; v++ {
		m := r.Size(v)
		for i := range m {
			s += math.Log(r.Diag[v][i*m+i])
		}
	}
	return 2 * s
}

// Size is how many numbers a matrix has whose windows' features begin at offset
// [V+1]: Σ_v M_v² + M_v·M_{v+1}.
func Size(offset []int) float64 {
	return overBlocks(offset, func(m float64) float64 { return m * m }, func(m, n float64) float64 { return m * n })
}

// Flops is the number of operations of its factor and of the stored blocks of its
// inverse: Σ_v M_v³ + 3·M_v·M_{v+1}·(M_v + M_{v+1}).
func Flops(offset []int) float64 {
	return overBlocks(offset, func(m float64) float64 { return m * m * m }, func(m, n float64) float64 { return 3 * m * n * (m + n) })
}

func overBlocks(offset []int, own func(m float64) float64, coupling func(m, n float64) float64) (sum float64) {
	for v := range len(offset) - 1 {
		m := float64(offset[v+1] - offset[v])
		sum += own(m)
		if v+2 < len(offset) {
			sum += coupling(m, float64(offset[v+2]-offset[v+1]))
		}
	}
	return sum
}
