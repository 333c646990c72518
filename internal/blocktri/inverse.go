package blocktri

import (
	"github.com/vssgp/vssgp/cpu/simd"
	"github.com/vssgp/vssgp/spectral"
)

// Inverse is A⁻¹ on the stored blocks: with Z = A⁻¹ and H_v = E_v L_v⁻¹,
//
//	Z_{v+1,v} = −Z_{v+1,v+1} H_v,   Z_vv = (L_v L_vᵀ)⁻¹ + H_vᵀ Z_{v+1,v+1} H_v
//
// from the last block up.
func (f *Factor) Inverse() *spectral.Gram {
	w := borrow()
	defer w.back()
	r := f.R
	z := spectral.NewGram(r.Offset)
	for v := r.Blocks() - 1; v >= 0; v-- {
		m := r.Size(v)
		if m == 0 {
			continue
		}
		copy(z.Diag[v], r.Diag[v])
		c, ld := w.square(z.Diag[v], m)
		w.dense(ld).Inverse(c, ld, ld)
		if v+1 < r.Blocks() && r.Size(v+1) > 0 {
			w.couple(c, ld, z, r.Below[v], v)
			symmetrise(c, ld)
		}
		unpad(z.Diag[v], m, c, ld)
	}
	return z
}

// couple fills Z_{v+1,v} and adds to c = (L_v L_vᵀ)⁻¹ what the block below
// gives, e being E_v. L_v⁻¹ is still where Inverse left it.
func (w *work) couple(c []float64, ld int, z *spectral.Gram, e []float64, v int) {
	m, n := z.Size(v), z.Size(v+1)
	lower := w.dense(ld).InverseFactor(ld)
	left := w.left.room(m, n)
	pack(left, e, n, m)
	h := w.h.room(m, n)
	w.jobs(h.Count, func(lo, hi int) { simd.Product(h, left, lower, lo, hi) })
	below := w.below.room(n, n)
	pack(below, z.Diag[v+1], n, n)
	zh := w.left.room(m, n)
	w.jobs(zh.Count, func(lo, hi int) { simd.Product(zh, below, h, lo, hi) })
	unpackNegative(z.Below[v], zh, n, m)
	w.jobs(h.Count, func(lo, hi int) { simd.Cross(c[lo*simd.Lanes*ld:], ld, h.Slice(lo, hi), zh) })
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
