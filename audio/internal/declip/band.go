package declip

import (
	"math"

	"github.com/vssgp/vssgp/internal/simd"
)

// A band is a symmetric matrix whose row i begins at column first[i], which rises with i: its Cholesky factor has the same entries,
// and so has all of the inverse that the factor's recursion reads (Takahashi 1973).
type band struct {
	first, end []int       // row i's entries are those of columns first[i] … i; column i's those of rows i … end[i]−1
	rows       [][]float64 // row i from first[i] to i: the matrix, and its factor L once factor returned true
	columns    [][]float64 // of the factor: column i from row i+1 on, over the diagonal entry
	inverse    [][]float64 // row i of the inverse from first[i] to end[i]−1
}

// newBand returns a zero matrix for missing samples at rising places, with entries for those up to reach apart.
func newBand(at []int, reach int) *band {
	n := len(at)
	b := &band{first: make([]int, n), end: make([]int, n), rows: make([][]float64, n), columns: make([][]float64, n),
		inverse: make([][]float64, n)}
	lo, hi, lower, upper := 0, 0, 0, 0
	for i, u := range at {
		for at[lo] < u-reach {
			lo++
		}
		for hi < n && at[hi] <= u+reach {
			hi++
		}
		b.first[i], b.end[i] = lo, hi
		lower, upper = lower+i+1-lo, upper+hi-i-1
	}
	low, high, all := make([]float64, lower), make([]float64, upper), make([]float64, lower+upper)
	for i := range at {
		left, right := i+1-b.first[i], b.end[i]-i-1
		b.rows[i], low = low[:left:left], low[left:]
		b.columns[i], high = high[:right:right], high[right:]
		b.inverse[i], all = all[:left+right:left+right], all[left+right:]
	}
	return b
}

// factor replaces the matrix by L, L Lᵀ = matrix, or reports that it is not positive definite.
func (b *band) factor() bool {
	for i, row := range b.rows {
		lo := b.first[i]
		for j := lo; j < i; j++ {
			other := b.rows[j]
			from := b.first[j]
			v := (row[j-lo] - simd.Dot(row[:j-lo], other[lo-from:j-from])) / other[j-from]
			row[j-lo] = v
			b.columns[j][i-j-1] = v / other[j-from]
		}
		left := row[i-lo] - simd.Dot(row[:i-lo], row[:i-lo])
		if !(left > 0) || math.IsInf(left, 0) {
			return false
		}
		row[i-lo] = math.Sqrt(left)
	}
	return true
}

// solve replaces x by the solution of L Lᵀ x = x.
func (b *band) solve(x []float64) {
	for i, row := range b.rows {
		lo := b.first[i]
		x[i] = (x[i] - simd.Dot(row[:i-lo], x[lo:i])) / row[i-lo]
	}
	for i := len(x) - 1; i >= 0; i-- {
		x[i] = x[i]/b.pivot(i) - simd.Dot(b.columns[i], x[i+1:b.end[i]])
	}
}

// pivot returns L's diagonal entry.
func (b *band) pivot(i int) float64 { return b.rows[i][i-b.first[i]] }

// invert computes the inverse where the matrix has entries, from L: with c_k = L_kj/L_jj,
//
//	Σ_ij = −Σ_{k>j} c_k Σ_ik (i > j),   Σ_jj = 1/L_jj² − Σ_{k>j} c_k Σ_kj
func (b *band) invert() {
	for j := len(b.rows) - 1; j >= 0; j-- {
		c, own := b.columns[j], b.inverse[j]
		d := 1 / (b.pivot(j) * b.pivot(j))
		for i := j + 1; i < b.end[j]; i++ {
			row, from := b.inverse[i], b.first[i]
			v := -simd.Dot(c, row[j+1-from:b.end[j]-from])
			row[j-from] = v
			own[i-b.first[j]] = v
			d -= c[i-j-1] * v
		}
		own[j-b.first[j]] = d
	}
}

// covariance returns an entry of the inverse, of places not further apart than the matrix's reach.
func (b *band) covariance(i, j int) float64 { return b.inverse[i][j-b.first[i]] }
