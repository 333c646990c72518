package blocktri

import (
	"runtime"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/simd"
)

// Inverse overwrites R by A⁻¹ on the stored blocks and returns it. It starts with the separators
// (see Segment.Inverse). The factor can no longer be used.
func (f *Factor) Inverse() *backend.Gram {
	z := f.R
	if f.schur != nil {
		f.schur.Inverse()
	} else if len(f.separators) > 0 {
		w := borrow(runtime.GOMAXPROCS(0))
		w.invert(z, f.separators[0], nil)
		w.back()
	}
	_ = f.each(func(_ int, s *Segment) error {
		s.Inverse()
		return nil
	})
	*f = Factor{}
	return z
}

// Inverse overwrites the segment's blocks and couplings by the corresponding blocks of Z = A⁻¹. The view
// that Schur returns must contain the separators' blocks of Z: Z_aa and Z_bb, both triangles, and, if
// the segment has two separators, Z_ba [M_b,M_a]. With H_v = E_v L_v⁻¹ and U_v = W_v L_v⁻¹, from the
// last block to the first,
//
//	Z_{v+1,v} = −Z_{v+1,v+1} H_v − Z_{v+1,a} U_v
//	Z_av      = −Z_{a,v+1} H_v − Z_aa U_v
//	Z_vv      = (L_v L_vᵀ)⁻¹ − Z_{v,v+1} H_v − Z_va U_v
//
// The factor can no longer be used.
func (s *Segment) Inverse() {
	s.begin()
	defer s.end()
	for i := s.blocks() - 1; i >= 0; i-- {
		v := s.block(i)
		s.invert(s.r, v, func(c []float64, ld int) { s.invertCouplings(c, ld, v) })
	}
}

// invert replaces block v of R by Z_vv. couple adds the terms of the block's couplings to
// (L_v L_vᵀ)⁻¹. It is nil if there are no couplings.
func (w *workspace) invert(r *backend.Gram, v int, couple func(c []float64, ld int)) {
	m := r.Size(v)
	if m == 0 {
		return
	}
	c, ld := w.square(r.Diag[v], m)
	d := w.dense(ld)
	if r.Blocks() == 1 {
		d.Lend(simd.Align(r.Scratch(simd.Room(ld*ld)), ld*ld))
		defer d.Lend(nil)
	}
	d.Inverse(c, ld, ld)
	if couple != nil {
		couple(c, ld)
	}
	unpad(r.Diag[v], m, c, ld)
}

// invertCouplings replaces the couplings of block v to the next block and to the separator a by the
// corresponding blocks of Z, and adds their terms to c = (L_v L_vᵀ)⁻¹. It uses L_v⁻¹ from the preceding
// Dense.Inverse. In an inner segment E_v and Z_{v+1,v+1} are
//
//	[ E_v ]   and   [ Z_{v+1,v+1}  Z_{v+1,a} ]
//	[ W_v ]         [ Z_{a,v+1}    Z_aa      ]
func (s *Segment) invertCouplings(c []float64, ld, v int) {
	m, ahead, behind := s.r.Size(v), s.next(v), s.coupling(v)
	if ahead.width()+behind.width() == 0 {
		return
	}
	split := padded(ahead.width())
	rows := split + padded(behind.width())
	lower := s.dense(ld).InverseFactor(ld)
	e := s.couplings.panels(m, rows)
	ahead.transpose().pack(e.Rows(0, split))
	behind.transpose().pack(e.Rows(split, rows))
	h := s.h.panels(m, rows)
	s.multiply(h, e, lower)
	z := s.z.panels(rows, rows)
	s.packNext(z, v, split)
	zh := s.couplings.panels(m, rows)
	s.multiply(zh, z, h)
	s.addCross(c, ld, h, zh)
	for i, x := range zh.Data {
		zh.Data[i] = -x
	}
	ahead.transpose().unpack(zh.Rows(0, split))
	behind.transpose().unpack(zh.Rows(split, rows))
	symmetrize(c, ld)
}

// packNext packs the part of Z that is multiplied by column block v of R: the first split rows belong to
// the next block, the other rows to the separator a.
func (s *Segment) packNext(z simd.Panels, v, split int) {
	square := func(v int) matrix { return matrix{s.r.Diag[v], s.r.Size(v), s.r.Size(v), false} }
	left, right := z.Slice(0, split/simd.Lanes), z.Slice(split/simd.Lanes, z.Count)
	if split > 0 {
		square(v + s.step).pack(left.Rows(0, split))
	}
	if right.Count > 0 {
		between := s.coupling(v + s.step)
		between.transpose().pack(left.Rows(split, z.N))
		between.pack(right.Rows(0, split))
		square(s.lo - 1).pack(right.Rows(split, z.N))
	}
}

// symmetrize replaces a by the mean of a and its transpose, which removes differences from rounding.
func symmetrize(a []float64, m int) {
	const side = 32 // of tiles that fit in the L1 cache
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
