package blocktri

import (
	"fmt"
	"runtime"

	"github.com/vssgp/vssgp/cpu/simd"
	"github.com/vssgp/vssgp/internal/parallel"
	"github.com/vssgp/vssgp/spectral"
)

// Factorise overwrites A by the factor of A + λI, from both ends. Where there
// is none A is lost.
func Factorise(a *spectral.Gram, lambda float64) (*Factor, error) {
	return factorise(a, lambda, max(0, a.Blocks()/2))
}

// FactoriseDown is Factorise from the first block to the last: the factor as
// it is usually written.
func FactoriseDown(a *spectral.Gram, lambda float64) (*Factor, error) {
	return factorise(a, lambda, max(0, a.Blocks()-1))
}

func factorise(a *spectral.Gram, lambda float64, middle int) (*Factor, error) {
	f := &Factor{R: a, Middle: middle}
	sides := f.sides()
	defer sides.back()
	var failed [2]error
	sides.run(func(i int, s side) {
		for v := s.from; v != middle && failed[i] == nil; v += s.step {
			failed[i] = s.eliminate(v, lambda)
		}
	})
	for _, err := range failed {
		if err != nil {
			return nil, err
		}
	}
	if a.Blocks() == 0 {
		return f, nil
	}
	last := sides[0]
	c, ld, err := last.block(middle, lambda, last.coupling, sides[1].coupling)
	if err == nil {
		unpad(a.Diag[middle], a.Size(middle), c, ld)
	}
	return f, err
}

// A side is blocks eliminated one after the other: from is the first, step
// leads to the next one and at last to the middle, or to a separator.
type side struct {
	*work
	r          *spectral.Gram
	from, step int
	carried    *Segment // its coupling to the separator behind goes along; nil where there is none
}

type sides [2]side

// sides are the two ends, with room to work in.
func (f *Factor) sides() sides {
	n := runtime.GOMAXPROCS(0)
	if f.Middle > 0 && f.Middle+1 < f.R.Blocks() {
		n = (n + 1) / 2 // two are at work
	}
	return sides{{borrow(n), f.R, 0, 1, nil}, {borrow(n), f.R, f.R.Blocks() - 1, -1, nil}}
}

// run calls each side's work, side by side.
func (s sides) run(work func(i int, s side)) {
	parallel.For(len(s), runtime.GOMAXPROCS(0), func(i int) { work(i, s[i]) })
}

func (s sides) back() {
	for _, one := range s {
		one.work.back()
	}
}

// eliminate factors block v and divides what couples it to the next one, which
// it keeps in panels: L_v⁻¹ A_{v,v±1}, that is E_vᵀ or F_{v−1}ᵀ. What couples it
// to the separator behind is divided with it.
func (s side) eliminate(v int, lambda float64) error {
	c, ld, err := s.block(v, lambda, s.coupling)
	if err != nil {
		return err
	}
	s.coupling.Count = 0
	m, ahead, behind := s.r.Size(v), s.ahead(v), s.behind()
	if m > 0 && ahead+behind > 0 {
		x := s.couplings.room(padded(ahead)+padded(behind), m)
		n := padded(ahead) / simd.Lanes
		s.coupling = x.Slice(0, n)
		if ahead > 0 {
			s.readCoupling(s.coupling, v)
		}
		if behind > 0 {
			pack(x.Slice(n, x.Count), s.carried.coupling(v), m, behind)
		}
		s.dense(ld).SolveLower(x, c, ld)
		if ahead > 0 {
			s.writeCoupling(s.coupling, v)
		}
		if behind > 0 {
			s.carry(x.Slice(n, x.Count), v)
		}
	}
	unpad(s.r.Diag[v], m, c, ld)
	return nil
}

// ahead is the size of the block after v, 0 where v is the last one.
func (s side) ahead(v int) int {
	if v += s.step; v < 0 || v >= s.r.Blocks() {
		return 0
	}
	return s.r.Size(v)
}

// behind is the size of the separator whose coupling goes along, or 0.
func (s side) behind() int {
	if s.carried == nil {
		return 0
	}
	return s.r.Size(s.carried.lo - 1)
}

// block factors A_vv + λI less the products of the couplings of the blocks
// before it, where there are any, and leaves the factor padded.
func (s side) block(v int, lambda float64, couplings ...simd.Panels) (c []float64, ld int, err error) {
	m, a := s.r.Size(v), s.r.Diag[v]
	for i := range m {
		a[i*m+i] += lambda
	}
	c, ld = s.square(a, m)
	for _, left := range couplings {
		s.downdate(c, ld, left)
	}
	if bad := s.dense(ld).Cholesky(c, ld, ld); bad >= 0 {
		return nil, 0, fmt.Errorf("blocktri: block %d of %d, pivot %d: %w", v, s.r.Blocks(), s.r.Offset[v]+bad, ErrNotPositive)
	}
	return c, ld, nil
}

// below is the block between v and the next one.
func (s side) below(v int) (b []float64, rows, cols int) {
	low := min(v, v+s.step)
	return s.r.Below[low], s.r.Size(low + 1), s.r.Size(low)
}

// readCoupling packs the block between v and the next one, v's features down,
// the next one's in the lanes.
func (s side) readCoupling(to simd.Panels, v int) {
	b, rows, cols := s.below(v)
	if s.step > 0 {
		transpose(to, b, rows, cols)
		return
	}
	pack(to, b, rows, cols)
}

// writeCoupling writes back what readCoupling reads.
func (s side) writeCoupling(from simd.Panels, v int) {
	b, rows, cols := s.below(v)
	if s.step > 0 {
		transposeBack(b, from, rows, cols)
		return
	}
	unpack(b, from, rows, cols)
}
