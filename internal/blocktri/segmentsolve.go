package blocktri

import "gonum.org/v1/gonum/blas"

// LogDet is the segment's part of log|A|, after Eliminate: 2 Σ log diag L_v.
func (s *Segment) LogDet() float64 { return logDet(s.r, s.lo, s.hi) }

// SolveLower overwrites b [Σ M_v,n], the segment's rows of n right-hand sides,
// by R⁻¹b, and takes from left [M_a,n] and right [M_b,n] what the separators'
// rows lose by it. With those summed over the segments, R⁻¹ of the separators'
// matrix gives their own rows.
func (s *Segment) SolveLower(b, left, right []float64, n int) {
	c := columns{r: s.r, lo: s.lo, hi: s.hi, b: b, left: left, right: right, n: n}
	if s.upward() {
		for v := s.hi - 1; v >= s.lo; v-- {
			c.divide(blas.NoTrans, v)
			c.take(v-1, v)
		}
		return
	}
	for v := s.lo; v < s.hi; v++ {
		c.divide(blas.NoTrans, v)
		if v+1 < s.r.Blocks() {
			c.take(v+1, v)
		}
		if s.leftSize() > 0 {
			takeProduct(blas.Trans, general(s.coupling(v), s.r.Size(v), s.leftSize()), c.rows(v), c.rows(s.lo-1))
		}
	}
}

// SolveUpper overwrites b by the segment's rows of R⁻ᵀb, left and right being
// the separators' rows of the solution, which stay.
func (s *Segment) SolveUpper(b, left, right []float64, n int) {
	c := columns{r: s.r, lo: s.lo, hi: s.hi, b: b, left: left, right: right, n: n}
	if s.upward() {
		for v := s.lo; v < s.hi; v++ {
			c.take(v, v-1)
			c.divide(blas.Trans, v)
		}
		return
	}
	for v := s.hi - 1; v >= s.lo; v-- {
		if v+1 < s.r.Blocks() {
			c.take(v, v+1)
		}
		if s.leftSize() > 0 {
			takeProduct(blas.NoTrans, general(s.coupling(v), s.r.Size(v), s.leftSize()), c.rows(s.lo-1), c.rows(v))
		}
		c.divide(blas.Trans, v)
	}
}

// Inverse overwrites the segment's blocks and couplings by those of Z = A⁻¹,
// given the separators' own: Z_aa and Z_bb in r's diagonal blocks lo−1 and hi,
// both triangles, and Z_ba [M_b,M_a] in cross where it has both. With
// H_v = E_v L_v⁻¹ and U_v = W_v L_v⁻¹, from the last block to the first,
//
//	Z_{v+1,v} = −Z_{v+1,v+1} H_v − Z_{v+1,a} U_v
//	Z_av      = −Z_{a,v+1} H_v − Z_aa U_v
//	Z_vv      = (L_v L_vᵀ)⁻¹ − Z_{v,v+1} H_v − Z_va U_v
//
// The factor is lost.
func (s *Segment) Inverse(cross []float64) {
	s.cross = cross
	one := s.side(!s.upward())
	defer one.work.back()
	one.step = -one.step // towards the blocks that were eliminated later
	for v := one.from; v >= s.lo && v < s.hi; v -= one.step {
		one.invert(v, one.solved)
	}
}
