package declick

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/vssgp/vssgp/internal/simd"
)

// A matrix is a symmetric matrix [n,n]. The matrices of clicks are small, and there are many of them, so general libraries would take most
// of their time for calls.
type matrix struct {
	a []float64
	n int
}

func newMatrix(n int) matrix { return matrix{make([]float64, n*n), n} }

func (m matrix) row(i int) []float64 { return m.a[i*m.n : (i+1)*m.n] }

// addSquare adds v vᵀ.
func (m matrix) addSquare(v []float64) {
	for i, x := range v {
		floats.AddScaled(m.row(i), x, v)
	}
}

// part returns the rows and columns from lo to hi−1.
func (m matrix) part(lo, hi int) matrix {
	p := newMatrix(hi - lo)
	for i := range p.n {
		copy(p.row(i), m.row(lo + i)[lo:hi])
	}
	return p
}

// form returns xᵀ M x.
func (m matrix) form(x []float64) (sum float64) {
	for i, v := range x {
		sum += v * simd.Dot(m.row(i), x)
	}
	return sum
}

// A factor is the lower Cholesky factor L of a matrix, M = L Lᵀ.
type factor struct{ matrix }

// factorize returns the factor of the matrix plus extra on its diagonal. ok is false if it is not positive definite.
func (m matrix) factorize(extra float64) (f factor, ok bool) {
	f = factor{newMatrix(m.n)}
	for i := range m.n {
		row := f.row(i)
		for j := range i {
			row[j] = (m.row(i)[j] - simd.Dot(row[:j], f.row(j)[:j])) / f.row(j)[j]
		}
		square := m.row(i)[i] + extra - simd.Dot(row[:i], row[:i])
		if !(square > 0) || math.IsInf(square, 1) {
			return f, false
		}
		row[i] = math.Sqrt(square)
	}
	return f, true
}

// back solves Lᵀ x = b in place.
func (f factor) back(b []float64) {
	for i := f.n - 1; i >= 0; i-- {
		row := f.row(i)
		b[i] /= row[i]
		floats.AddScaled(b[:i], -b[i], row[:i])
	}
}

// solve returns M⁻¹ b.
func (f factor) solve(b []float64) []float64 {
	x := make([]float64, f.n)
	for i := range x {
		row := f.row(i)
		x[i] = (b[i] - simd.Dot(row[:i], x[:i])) / row[i]
	}
	f.back(x)
	return x
}

// column returns column i of L⁻¹ from the diagonal on.
func (f factor) column(i int, x []float64) []float64 {
	x = append(x[:0], 1/f.row(i)[i])
	for k := i + 1; k < f.n; k++ {
		row := f.row(k)
		x = append(x, -simd.Dot(row[i:k], x)/row[k])
	}
	return x
}

// variances returns the diagonal of M⁻¹.
func (f factor) variances() []float64 {
	d, x := make([]float64, f.n), make([]float64, 0, f.n)
	for i := range d {
		x = f.column(i, x)
		d[i] = simd.Dot(x, x)
	}
	return d
}

// inverse returns M⁻¹.
func (f factor) inverse() matrix {
	inverse, columns := newMatrix(f.n), make([][]float64, f.n)
	for i := range columns {
		columns[i] = f.column(i, nil)
		for j := range i + 1 {
			v := simd.Dot(columns[j][i-j:], columns[i])
			inverse.row(i)[j], inverse.row(j)[i] = v, v
		}
	}
	return inverse
}

// halfLogDet returns ½ log det M.
func (f factor) halfLogDet() (sum float64) {
	for i := range f.n {
		sum += math.Log(f.row(i)[i])
	}
	return sum
}
