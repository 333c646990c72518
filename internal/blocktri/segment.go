package blocktri

import (
	"fmt"
	"runtime"

	"github.com/vssgp/vssgp/cpu/simd"
	"github.com/vssgp/vssgp/spectral"
)

// A Segment is a run of neighbouring blocks of A, eliminated by itself towards
// the separators, the blocks beside it: any number of segments at the same
// time, on one machine (FactoriseSegments) or each on its own. What one segment
// computes needs its own blocks and couplings alone, and only what is as large
// as a separator goes from one to another:
//
//  1. Eliminate each segment.
//  2. Add what it leaves for the separators to their small matrix (AddTo),
//     which is block tridiagonal again, and factor that.
//  3. To solve A·x = b: SolveLower of each segment, then the small matrix's
//     factor for the separators' rows, then SolveUpper.
//  4. Inverse: with Z = A⁻¹ of the separators, Z of the segment's own blocks.
//
// log|A| is the sum of all LogDet, the segments' and the small factor's.
//
// Of A the segment reads its own diagonal blocks, those of Below between them
// and those between them and the separators. G is a sum over rows, and a row
// meets neighbouring windows alone; so where each machine has the rows from one
// separator to the next one, its own sum of those is all that its segment
// needs, and the separators' diagonal blocks are sums over two machines.
//
// With a the separator to the left and the blocks from first to last,
//
//	L_v L_vᵀ = A_vv + λI − E_{v−1} E_{v−1}ᵀ,   E_v = A_{v+1,v} L_v⁻ᵀ
//	W_v = (A_av − W_{v−1} E_{v−1}ᵀ) L_v⁻ᵀ
//
// where A_av is 0 but for the first block. The W are fill: they couple every
// block to a, and make it 2.7 times the work, the inverse 2.5 times. A segment
// without a separator to its left has none, nor has one without a separator to
// its right, which is eliminated from its last block to its first (F for E, as
// in Factor).
type Segment struct {
	r           *spectral.Gram
	lo, hi      int
	workers     int
	left, right []float64 // [M_a,M_a], [M_b,M_b] to add to the separators' blocks, filled up to eights while they are summed
	cross       []float64 // [M_b,M_a] coupling of the separators: A's, then Z's
	fill        []float64 // W_vᵀ [M_v,M_a] of all blocks but the first, whose W takes the room of its coupling
}

// NewSegment is the blocks [lo, hi) of r, of which there must be one. The
// blocks lo−1 and hi are the separators, where r has them.
func NewSegment(r *spectral.Gram, lo, hi int) *Segment {
	if lo < 0 || hi <= lo || hi > r.Blocks() {
		panic(fmt.Sprintf("blocktri: segment of blocks [%d, %d) of %d", lo, hi, r.Blocks()))
	}
	return &Segment{r: r, lo: lo, hi: hi, workers: runtime.GOMAXPROCS(0)}
}

// Room is how many numbers the segment needs besides r: W where there are two
// separators, M_v·M_a for each block but the first, and what it leaves for the
// separators. r.Scratch may lend them.
func (s *Segment) Room() int {
	a, b := padded(s.leftSize()), padded(s.rightSize())
	return a*a + b*b + a*b + s.fillSize()
}

func (s *Segment) fillSize() int {
	if s.lo == 0 || s.hi == s.r.Blocks() {
		return 0
	}
	return (s.r.Offset[s.hi] - s.r.Offset[s.lo+1]) * s.leftSize()
}

// leftSize is M_a, 0 without a separator to the left.
func (s *Segment) leftSize() int {
	if s.lo == 0 {
		return 0
	}
	return s.r.Size(s.lo - 1)
}

// rightSize is M_b, 0 without a separator to the right.
func (s *Segment) rightSize() int {
	if s.hi == s.r.Blocks() {
		return 0
	}
	return s.r.Size(s.hi)
}

// Eliminate overwrites the segment's blocks of A and couplings by those of the
// factor of A + λI, in room for s.Room() numbers of any value that nobody else
// uses until Inverse. The separators' diagonal blocks stay as they are. An
// error wraps ErrNotPositive and names block and pivot as r counts them; A is
// then lost.
func (s *Segment) Eliminate(lambda float64, room []float64) error {
	room = room[:s.Room()]
	clear(room) // an empty block leaves couplings as they are
	s.cut(room)
	one := s.side(s.upward())
	defer one.work.back()
	for v := one.from; v >= s.lo && v < s.hi; v += one.step {
		if err := one.eliminate(v, lambda); err != nil {
			return err
		}
	}
	sum, m := s.right, s.rightSize()
	if s.upward() {
		sum, m = s.left, s.leftSize()
	}
	if one.coupling.Count > 0 {
		one.downdate(sum, padded(m), one.coupling)
	}
	unpad(s.left, s.leftSize(), s.left, padded(s.leftSize()))
	unpad(s.right, s.rightSize(), s.right, padded(s.rightSize()))
	return nil
}

// cut divides the room up.
func (s *Segment) cut(room []float64) {
	next := func(n int) []float64 {
		part := room[:n:n]
		room = room[n:]
		return part
	}
	a, b := padded(s.leftSize()), padded(s.rightSize())
	s.left, s.right, s.cross, s.fill = next(a*a), next(b*b), next(a*b), next(s.fillSize())
}

// upward is whether the last block is eliminated first.
func (s *Segment) upward() bool { return s.hi == s.r.Blocks() && s.lo > 0 }

// side is the segment's blocks in the order of elimination, or the other way
// round.
func (s *Segment) side(upward bool) side {
	one := side{work: borrow(s.workers), r: s.r, from: s.lo, step: 1}
	if upward {
		one.from, one.step = s.hi-1, -1
	}
	if s.lo > 0 && s.hi < s.r.Blocks() {
		one.carried = s
	}
	return one
}

// coupling is what lies between block v and the separator a behind, [M_v,M_a]:
// A_va less what has been taken from it, then W_vᵀ, then Z_va. Of hi it is the
// separators' own.
func (s *Segment) coupling(v int) []float64 {
	switch v {
	case s.lo:
		return s.r.Below[s.lo-1]
	case s.hi:
		return s.cross
	}
	a, at := s.leftSize(), s.r.Offset[v]-s.r.Offset[s.lo+1]
	return s.fill[at*a:][:s.r.Size(v)*a]
}

// carry takes W_v W_vᵀ from what the separator behind is left with, and
// E_v W_vᵀ from what couples the next block to it; w is L_v⁻¹ times v's
// coupling to it, which it keeps.
func (s side) carry(w simd.Panels, v int) {
	g := s.carried
	m, behind, ahead := s.r.Size(v), s.behind(), s.ahead(v)
	unpack(g.coupling(v), w, m, behind)
	ld := w.Count * simd.Lanes
	s.downdate(g.left, ld, w)
	e := s.coupling
	need := e.Count * simd.Lanes * ld
	if cap(s.work.cross) < need {
		s.work.cross = simd.Aligned(need)
	}
	product := s.work.cross[:need]
	clear(product)
	s.addCross(product, ld, e, w)
	next := g.coupling(v + s.step)
	for i := range ahead {
		row := next[i*behind:][:behind]
		for j, x := range product[i*ld:][:behind] {
			row[j] = -x
		}
	}
}

// AddTo adds what elimination leaves for the separators to their matrix, in
// which they are blocks left and right: −Σ_v W_v W_vᵀ to the one's diagonal
// block, −E Eᵀ of the last block to the other's and −E Wᵀ of it to the block
// between them, so that with the separators' own diagonal blocks of A + λI it is
// A's Schur complement. Of diagonal blocks the lower triangle counts. A
// separator that the segment does not have is left out, and right is left + 1.
func (s *Segment) AddTo(separators *spectral.Gram, left, right int) {
	if a := s.leftSize(); a > 0 {
		add(separators.Diag[left], s.left[:a*a])
	}
	if b := s.rightSize(); b > 0 {
		add(separators.Diag[right], s.right[:b*b])
		if a := s.leftSize(); a > 0 {
			add(separators.Below[left], s.cross[:b*a])
		}
	}
}

func add(a, b []float64) {
	for i, v := range b {
		a[i] += v
	}
}
