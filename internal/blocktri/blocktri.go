// Package blocktri is the host's linear algebra on spectral.Gram: Cholesky
// factor, log-determinant, solves and the stored blocks of the inverse of a
// symmetric positive definite block-tridiagonal matrix, O(V·M_v³) for V blocks
// of M_v features. One block is the dense case. Factor and inverse are made of
// the kernels of package simd, in the matrix's own room and with the same bits
// for any number of goroutines; the solves are gonum's.
//
// Factorise is for two cores. FactoriseSegments is for more of them, and a
// Segment for those that share no memory.
package blocktri

import (
	"math"

	"github.com/vssgp/vssgp/spectral"
)

// ErrNotPositive is wrapped where a matrix has no Cholesky factor.
var ErrNotPositive = spectral.ErrNotPositive

// Factor is the Cholesky factor of A with its blocks eliminated from both ends
// towards the one in the middle, each end by a goroutine of its own: down from
// block 0,
//
//	L_v L_vᵀ = A_vv − E_{v−1} E_{v−1}ᵀ,   E_v = A_{v+1,v} L_v⁻ᵀ
//
// up from the last one with the neighbours' parts exchanged,
//
//	L_v L_vᵀ = A_vv − F_v F_vᵀ,   F_{v−1} = A_{v−1,v} L_v⁻ᵀ
//
// and in the middle less both products. With R's rows and columns in that
// order A = R Rᵀ, exactly; where the middle is the last block R is A's factor
// as it is usually written. R keeps L_v in Diag (upper triangle zero), E_v and
// F_vᵀ in Below. One end meets the other once, so no blocks fill in and both
// take half the time.
//
// FactoriseSegments gives a factor in another order, many segments and then the
// separators between them, with R's diagonal in R.Diag all the same; Middle is
// then −1 (see Segment).
type Factor struct {
	R      *spectral.Gram
	Middle int
	parts  *dissection // of segments; nil where both ends meet in the middle
}

// Clone is a copy.
func (f *Factor) Clone() *Factor {
	c := &Factor{R: f.R.Clone(), Middle: f.Middle}
	if f.parts != nil {
		c.parts = f.parts.clone(c.R)
	}
	return c
}

// LogDet is log|A|.
func (f *Factor) LogDet() float64 { return logDet(f.R, 0, f.R.Blocks()) }

// logDet is 2 Σ log diag L_v over the blocks [lo, hi).
func logDet(r *spectral.Gram, lo, hi int) float64 {
	s := 0.0
	for v := lo; v < hi; v++ {
		m := r.Size(v)
		for i := range m {
			s += math.Log(r.Diag[v][i*m+i])
		}
	}
	return 2 * s
}
