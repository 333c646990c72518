package blocktri

import (
	"github.com/vssgp/vssgp/cpu/simd"
	"github.com/vssgp/vssgp/spectral"
)

// Inverse overwrites R by A⁻¹ on the stored blocks and returns it; the factor
// is lost. With Z = A⁻¹ and H_v = E_v L_v⁻¹, from the middle up,
//
//	Z_{v+1,v} = −Z_{v+1,v+1} H_v,   Z_vv = (L_v L_vᵀ)⁻¹ + H_vᵀ Z_{v+1,v+1} H_v
//
// and the same down, side by side, with H_v = F_{v−1} L_v⁻¹ and Z_{v−1,v−1}.
func (f *Factor) Inverse() *spectral.Gram {
	z := f.R
	if f.parts != nil {
		f.parts.inverse()
		f.R, f.parts = nil, nil
		return z
	}
	if z.Blocks() == 0 {
		return z
	}
	sides := f.sides()
	defer sides.back()
	sides[0].invert(f.Middle, nil)
	sides.run(func(_ int, s side) {
		for v := f.Middle - s.step; v >= 0 && v < z.Blocks(); v -= s.step {
			s.invert(v, s.solved)
		}
	})
	f.R = nil
	return z
}

// invert replaces block v of R by Z_vv, and what couples it to the next one.
func (s side) invert(v int, couple func(c []float64, ld, v int)) {
	m := s.r.Size(v)
	if m == 0 {
		return
	}
	c, ld := s.square(s.r.Diag[v], m)
	d := s.dense(ld)
	if s.r.Blocks() == 1 {
		d.Lend(simd.Align(s.r.Scratch(simd.Room(ld*ld)), ld*ld))
		defer d.Lend(nil)
	}
	d.Inverse(c, ld, ld)
	if couple != nil && s.ahead(v)+s.behind() > 0 {
		couple(c, ld, v)
		symmetrise(c, ld)
	}
	unpad(s.r.Diag[v], m, c, ld)
}

// solved fills Z's block between v and the next one and adds to c = (L_v L_vᵀ)⁻¹
// what that one gives. L_v⁻¹ is still where Inverse left it. With a separator
// behind, E_v and Z_{v+1,v+1} are
//
//	[ E_v ]   and   [ Z_{v+1,v+1}  Z_{v+1,a} ]
//	[ W_v ]         [ Z_{a,v+1}    Z_aa      ]
func (s side) solved(c []float64, ld, v int) {
	m, ahead, behind := s.r.Size(v), s.ahead(v), s.behind()
	split := padded(ahead)
	rows := split + padded(behind)
	lower := s.dense(ld).InverseFactor(ld)
	coupling := s.couplings.room(m, rows)
	if ahead > 0 {
		s.readCouplingBack(coupling.Rows(0, split), v)
	}
	if behind > 0 {
		transpose(coupling.Rows(split, rows), s.carried.coupling(v), m, behind)
	}
	h := s.h.room(m, rows)
	s.product(h, coupling, lower)
	next := s.next.room(rows, rows)
	s.readNext(next, v)
	zh := s.couplings.room(m, rows)
	s.product(zh, next, h)
	s.addCross(c, ld, h, zh)
	negate(zh.Data)
	if ahead > 0 {
		s.writeCouplingBack(zh.Rows(0, split), v)
	}
	if behind > 0 {
		transposeBack(s.carried.coupling(v), zh.Rows(split, rows), m, behind)
	}
}

// readNext packs the part of Z that column block v of R meets: the next
// block's, and the separator's behind.
func (s side) readNext(to simd.Panels, v int) {
	ahead, behind := s.ahead(v), s.behind()
	split := padded(ahead)
	left := to.Slice(0, split/simd.Lanes)
	if ahead > 0 {
		pack(left.Rows(0, split), s.r.Diag[v+s.step], ahead, ahead)
	}
	if behind == 0 {
		return
	}
	right := to.Slice(left.Count, to.Count)
	between := s.carried.coupling(v + s.step) // [ahead, behind]
	transpose(left.Rows(split, to.N), between, ahead, behind)
	pack(right.Rows(0, split), between, ahead, behind)
	pack(right.Rows(split, to.N), s.r.Diag[s.carried.lo-1], behind, behind)
}

// readCouplingBack packs the block between v and the next one, the next one's
// features down, v's in the lanes.
func (s side) readCouplingBack(to simd.Panels, v int) {
	b, rows, cols := s.below(v)
	if s.step > 0 {
		pack(to, b, rows, cols)
		return
	}
	transpose(to, b, rows, cols)
}

// writeCouplingBack writes back what readCouplingBack reads.
func (s side) writeCouplingBack(from simd.Panels, v int) {
	b, rows, cols := s.below(v)
	if s.step > 0 {
		unpack(b, from, rows, cols)
		return
	}
	transposeBack(b, from, rows, cols)
}

func negate(a []float64) {
	for i, v := range a {
		a[i] = -v
	}
}

// symmetrise replaces a by the mean of itself and its transpose, so that
// rounding leaves the two triangles equal.
func symmetrise(a []float64, m int) {
	const side = 32 // squares that stay in the nearest cache
	for top := 0; top < m; top += side {
		for left := 0; left <= top; left += side {
			for i := top; i < min(m, top+side); i++ {
				for j := left; j < min(i, left+side); j++ {
					s := 0.5 * (a[i*m+j] + a[j*m+i])
					a[i*m+j], a[j*m+i] = s, s
				}
			}
		}
	}
}
