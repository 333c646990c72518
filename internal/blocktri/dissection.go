package blocktri

import (
	"fmt"
	"runtime"
	"slices"

	"github.com/vssgp/vssgp/cpu/simd"
	"github.com/vssgp/vssgp/internal/parallel"
	"github.com/vssgp/vssgp/spectral"
)

// FactoriseSegments is Factorise in so many segments and the separators between
// them, each segment by a goroutine of its own. The first and the last one are
// the longer, so that all take as long. Their number decides the order of sums
// and with it the bits, the number of goroutines does not. For less than three,
// and where there are too few blocks, it is Factorise; one block less than
// twice as many are needed.
//
// What fills in, one block for each block of an inner segment, lies in
// a.Scratch, which nobody may use as long as the factor is needed.
func FactoriseSegments(a *spectral.Gram, lambda float64, segments int) (*Factor, error) {
	separators := Separators(a.Offset, segments)
	if len(separators) < 2 {
		return Factorise(a, lambda)
	}
	p := dissect(a, separators)
	if err := p.factorise(lambda); err != nil {
		return nil, err
	}
	return &Factor{R: a, Middle: -1, parts: p}, nil
}

// innerCost is what a block of an inner segment costs by one of an outer one,
// in factor and inverse. By operations it is 19/3 + 50/3 of M_v³ to 7/3 + 20/3,
// or 2.6; measured (BenchmarkShares) 1.9 to 2.2, for the products that fill-in
// adds are the quicker part.
const innerCost = 2.1

// Separators cuts the blocks that begin at offset into so many segments, of
// which the last and the first have no fill, so that Σ M_v³ times what each
// block of a segment costs is about even: the numbers of the blocks between
// them, rising, with at least one block between any two and at both ends. Where
// there are too few blocks the segments are fewer.
func Separators(offset []int, segments int) []int {
	blocks := len(offset) - 1
	segments = min(segments, (blocks+1)/2)
	if segments < 2 {
		return nil
	}
	cost := make([]float64, blocks+1) // of the blocks before v
	for v := range blocks {
		m := float64(offset[v+1] - offset[v])
		cost[v+1] = cost[v] + m*m*m
	}
	all := 2*innerCost + float64(segments-2)
	separators := make([]int, segments-1)
	v := 0
	for i := range separators {
		until := cost[blocks] * (innerCost + float64(i)) / all
		least, most := 1, blocks-2*(segments-1-i) // what is left has room for the rest
		if i > 0 {
			least = separators[i-1] + 2
		}
		for v = max(v, least); v < most && cost[v+1] <= until; v++ {
		}
		separators[i] = v
	}
	return separators
}

// A dissection is a matrix in segments and separators.
type dissection struct {
	r          *spectral.Gram
	at         []int // [S−1] the separators' numbers
	segments   []*Segment
	rooms      [][]float64    // [S] the segments', of r's scratch
	separators *spectral.Gram // their blocks, the diagonal ones being r's
	small      *Factor        // of separators
}

// dissect cuts r at the separators.
func dissect(r *spectral.Gram, at []int) *dissection {
	p := &dissection{r: r, at: at, separators: &spectral.Gram{Offset: []int{0}}}
	workers := (runtime.GOMAXPROCS(0) + len(at)) / (len(at) + 1)
	lo := 0
	for _, hi := range append(slices.Clone(at), r.Blocks()) {
		s := NewSegment(r, lo, hi)
		s.workers = workers
		p.segments = append(p.segments, s)
		lo = hi + 1
	}
	p.takeRoom()
	return p
}

// takeRoom cuts r's scratch into the separators' couplings and the segments'
// rooms, each from a cache line on.
func (p *dissection) takeRoom() {
	sizes, all := []int(nil), 0
	for i, v := range p.at[1:] {
		p.separators.Below = append(p.separators.Below, nil)
		sizes = append(sizes, p.r.Size(v)*p.r.Size(p.at[i]))
	}
	for _, s := range p.segments {
		sizes = append(sizes, s.Room())
	}
	for _, n := range sizes {
		all += padded(n)
	}
	room := simd.Align(p.r.Scratch(simd.Room(all)), all)
	for i, n := range sizes {
		if i < len(p.separators.Below) {
			p.separators.Below[i] = room[:n:n]
		} else {
			p.rooms = append(p.rooms, room[:n:n])
		}
		room = room[padded(n):]
	}
	for _, v := range p.at {
		p.separators.Offset = append(p.separators.Offset, p.separators.M()+p.r.Size(v))
		p.separators.Diag = append(p.separators.Diag, p.r.Diag[v])
	}
}

// each calls f for each segment, side by side.
func (p *dissection) each(f func(i int, s *Segment)) {
	parallel.For(len(p.segments), runtime.GOMAXPROCS(0), func(i int) { f(i, p.segments[i]) })
}

// factorise eliminates the segments and then the separators.
func (p *dissection) factorise(lambda float64) error {
	failed := make([]error, len(p.segments))
	p.each(func(i int, s *Segment) { failed[i] = s.Eliminate(lambda, p.rooms[i]) })
	for _, err := range failed {
		if err != nil {
			return err
		}
	}
	for _, b := range p.separators.Below {
		clear(b)
	}
	for i, s := range p.segments {
		s.AddTo(p.separators, i-1, i)
	}
	var err error
	if p.small, err = Factorise(p.separators, lambda); err != nil {
		return fmt.Errorf("blocktri: separators, which are blocks %v of %d, after all others: %w", p.at, p.r.Blocks(), err)
	}
	return nil
}

// clone is the same dissection of a copy of r.
func (p *dissection) clone(r *spectral.Gram) *dissection {
	c := dissect(r, p.at)
	for i, s := range c.segments {
		copy(c.rooms[i], p.rooms[i])
		s.cut(c.rooms[i])
	}
	c.separators.CopyFrom(p.separators)
	c.small = &Factor{R: c.separators, Middle: p.small.Middle}
	return c
}

// inverse fills in Z of the separators, and from them on Z of the segments.
func (p *dissection) inverse() {
	z := p.small.Inverse()
	p.each(func(i int, s *Segment) {
		var cross []float64
		if i > 0 && i < len(p.at) {
			cross = z.Below[i-1]
		}
		s.Inverse(cross)
	})
}

// solveLower is SolveLower: what the segments take from the separators' rows
// is summed from first to last.
func (p *dissection) solveLower(b []float64, n int) {
	type taken struct{ left, right []float64 }
	parts := make([]taken, len(p.segments))
	p.each(func(i int, s *Segment) {
		parts[i] = taken{make([]float64, s.leftSize()*n), make([]float64, s.rightSize()*n)}
		s.SolveLower(p.own(b, s, n), parts[i].left, parts[i].right, n)
	})
	for i, v := range p.at {
		add(p.rows(b, v, v+1, n), parts[i].right)
		add(p.rows(b, v, v+1, n), parts[i+1].left)
	}
	p.bySeparators(b, n, p.small.SolveLower)
}

// solveUpper is SolveUpper.
func (p *dissection) solveUpper(b []float64, n int) {
	p.bySeparators(b, n, p.small.SolveUpper)
	p.each(func(_ int, s *Segment) {
		var left, right []float64
		if s.lo > 0 {
			left = p.rows(b, s.lo-1, s.lo, n)
		}
		if s.hi < p.r.Blocks() {
			right = p.rows(b, s.hi, s.hi+1, n)
		}
		s.SolveUpper(p.own(b, s, n), left, right, n)
	})
}

// bySeparators calls solve for the separators' rows of b.
func (p *dissection) bySeparators(b []float64, n int, solve func([]float64, int)) {
	var small []float64
	for _, v := range p.at {
		small = append(small, p.rows(b, v, v+1, n)...)
	}
	solve(small, n)
	for _, v := range p.at {
		small = small[copy(p.rows(b, v, v+1, n), small):]
	}
}

// own is the segment's rows of b [M,n].
func (p *dissection) own(b []float64, s *Segment, n int) []float64 { return p.rows(b, s.lo, s.hi, n) }

// rows is the rows of b [M,n] that the blocks [lo, hi) have.
func (p *dissection) rows(b []float64, lo, hi, n int) []float64 {
	return b[p.r.Offset[lo]*n : p.r.Offset[hi]*n]
}
