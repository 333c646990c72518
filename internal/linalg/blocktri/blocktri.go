// Package blocktri implements linear algebra on backend.Gram on the host: Cholesky factor,
// log-determinant, solves and the stored blocks of the inverse of a symmetric positive definite
// block-tridiagonal matrix, in O(V·M_v³) for V blocks of M_v features. A dense matrix is one
// block. Factor and inverse use the kernels of package simd, overwrite the matrix and give the
// same bits for any number of goroutines. The solves use gonum.
//
// The blocks are divided into segments, with one block, the separator, between neighboring
// segments. The segments are eliminated independently, and then the separators. The number of
// segments should match the number of cores. A Segment can also be used separately if the
// segments are on machines without shared memory.
//
// A Band is a band matrix stored in such blocks.
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

// A Factor is a Cholesky factor of A: A = R Rᵀ with the rows and columns of R in the order of
// elimination. R.Diag contains the triangles L_v (zero above the diagonal), R.Below the blocks
// between neighbors (see Segment).
//
// With one separator, the segment before it is eliminated downward and the segment after it
// upward. There is no fill-in, and each segment takes half of the time:
//
//	L_s L_sᵀ = A_ss − E_{s−1} E_{s−1}ᵀ − F_s F_sᵀ
//
// With several separators, the segments between two of them have fill-in, and the Schur
// complement of the separators is then factored recursively.
type Factor struct {
	R          *backend.Gram
	separators []int      // block numbers, increasing
	segments   []*Segment // the blocks between the separators
	schur      *Factor    // of the separators' Schur complement; nil for at most one separator, which is factored in R
}

// Factorize overwrites A by the factor of A + λI with the given number of segments, each
// eliminated by a separate goroutine. If there is no factor, the content of A is undefined and
// the error wraps backend.ErrNotPositive.
//
// One segment is eliminated from the first block to the last, which gives the usual factor. Two
// segments are divided by the middle block. With more segments, the first and the last are longer,
// so that all take the same time. n segments need 2n − 1 blocks; with fewer blocks there are fewer
// segments. The last bits depend on the number of segments, but not on the number of goroutines.
//
// With three or more segments there is fill-in, one block for each block of an inner segment. It is
// stored in a.Scratch, which must not be used for anything else while the factor is used.
func Factorize(a *backend.Gram, lambda float64, segments int) (*Factor, error) {
	f := newFactor(a, separators(a.Offset, segments)...)
	if err := f.factorize(lambda); err != nil {
		return nil, err
	}
	return f, nil
}

// Downward returns the Factor of one segment with the given R, which is the form in model files.
func Downward(r *backend.Gram) *Factor { return newFactor(r) }

// factorize overwrites R, which contains A, by the factor of A + λI.
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
		return fmt.Errorf("blocktri: separators (blocks %v of %d): %w", f.separators, f.R.Blocks(), err)
	}
	return nil
}

// factorizeEnds is factorize for at most one separator: the products of both segments' last
// couplings are subtracted from its block directly.
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

// newFactor divides r at the separators.
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

// allocate reserves the segments' memory in R's scratch, aligned to cache lines, and builds the
// separators' matrix from views.
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

// Clone returns a copy.
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

// LogDet returns log|A|.
func (f *Factor) LogDet() float64 { return logDet(f.R, 0, f.R.Blocks()) }

// logDet returns 2 Σ log diag L_v over the blocks [lo, hi).
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

// Size returns the number of stored entries of a matrix whose windows' features begin at
// offset [V+1]: Σ_v M_v² + M_v·M_{v+1}.
func Size(offset []int) float64 {
	return overBlocks(offset, func(m float64) float64 { return m * m }, func(m, n float64) float64 { return m * n })
}

// Flops returns the number of operations for the factor and for the stored blocks of the inverse
// of such a matrix: Σ_v M_v³ + 3·M_v·M_{v+1}·(M_v + M_{v+1}).
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
