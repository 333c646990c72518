package ranks

import (
	"math"
	"runtime"

	"github.com/vssgp/vssgp/internal/parallel"
	"github.com/vssgp/vssgp/spectral"
)

// exactBits is how far sums reach: the total is below 2^exactBits units, and
// so is every part of it.
const exactBits = 61

// An exponent e stands for numbers up to 2^e.
func exponent(v float64) int {
	if v == 0 {
		return leastExponent
	}
	_, e := math.Frexp(v) // v < 2^e
	return max(e, leastExponent)
}

// leastExponent keeps units, those of two features together and their inverses
// normal numbers.
const leastExponent = -400

// add adds v, as a whole number of units, to a; inverse is 1/unit. It reports
// whether v can be held.
func add(a *int64, v, inverse float64) bool {
	w := math.RoundToEven(v * inverse)
	if !(math.Abs(w) < 1<<(exactBits+1)) { // rounding may take it just beyond
		return false
	}
	*a += int64(w)
	return true
}

// units of C and G for features over N rows. By E[φ²] ≤ g²(A0 + |A2|) = B and
// Cauchy and Schwarz, |G_jk| ≤ N·√(B_j B_k) and |C_jd| ≤ √(N·B_j·Σ_n y_nd²), so
// that the unit of each entry is a product of a feature's and another's (or an
// output's) power of 2: 2^(e_j + e_k) is no less than the entry, and 2^(e_j +
// e_k − exactBits) the unit. That is no more than 2⁻⁵⁸ of √(G_jj G_kk), where
// float64 itself rounds a sum at 2⁻⁵³.
type units struct {
	feature []int // [M] e_j
	output  []int // [D]
}

func unitsOf(f *spectral.Features, n int, square []float64) units {
	u := units{make([]int, f.M), make([]int, len(square))}
	for k := range u.feature {
		u.feature[k] = exponent(math.Sqrt(float64(n) * (f.Power[k] + math.Abs(f.Ripple[k]))))
	}
	for d, s := range square {
		u.output[d] = exponent(math.Sqrt(s)) + 1 // Σ y² itself is rounded
	}
	return u
}

// inverse is 1/unit of the exponents' sum.
func inverse(e int) float64 { return math.Ldexp(1, exactBits-e) }

// triangleRows is how many rows of a matrix one goroutine takes.
const triangleRows = 16

// eachRows calls f for stretches of the rows of an M×M matrix, side by side.
func eachRows(m int, f func(lo, hi int)) {
	parallel.For((m+triangleRows-1)/triangleRows, runtime.GOMAXPROCS(0), func(i int) {
		f(i*triangleRows, min(m, (i+1)*triangleRows))
	})
}

// triangle is where row i of the lower triangle begins.
func triangle(i int) int { return i * (i + 1) / 2 }

// addMoments adds a share's moments to acc: the lower triangle of G row by row,
// then C. It reports whether all of them could be held.
func (u units) addMoments(acc []int64, mom *spectral.Moments) bool {
	m, d := len(u.feature), mom.D
	g, ok := mom.Gram.Diag[0], make([]bool, (m+triangleRows-1)/triangleRows)
	scale := make([]float64, m)
	for k, e := range u.feature {
		scale[k] = math.Ldexp(1, -e)
	}
	c := acc[triangle(m):]
	eachRows(m, func(lo, hi int) {
		good := true
		for i := lo; i < hi; i++ {
			to, row, unit := acc[triangle(i):][:i+1], g[i*m:][:i+1], inverse(u.feature[i])
			for j := range row {
				good = add(&to[j], row[j], unit*scale[j]) && good
			}
			for o, e := range u.output {
				good = add(&c[i*d+o], mom.C[i*d+o], inverse(u.feature[i]+e)) && good
			}
		}
		ok[lo/triangleRows] = good
	})
	for _, good := range ok {
		if !good {
			return false
		}
	}
	return true
}

// moments writes the sums to dst.
func (u units) moments(dst *spectral.Moments, acc []int64) {
	m, d := len(u.feature), dst.D
	g, c := dst.Gram.Diag[0], acc[triangle(m):]
	eachRows(m, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			for j, v := range acc[triangle(i):][:i+1] {
				s := math.Ldexp(float64(v), u.feature[i]+u.feature[j]-exactBits)
				g[i*m+j], g[j*m+i] = s, s
			}
			for o, e := range u.output {
				dst.C[i*d+o] = math.Ldexp(float64(c[i*d+o]), u.feature[i]+e-exactBits)
			}
		}
	})
}

// sumParts is the sum of all shares' vectors, on rank 0; parts are those of
// this rank's shares, which may be fewer than there are shares in all, size
// their length. First all ranks learn the largest of each entry, which decides
// its unit. Where that is not a finite number the sum is none.
func (n *node) sumParts(parts [][]float64, size, shares int) []float64 {
	most := make([]float64, size)
	for _, p := range parts {
		for i, v := range p {
			if v = math.Abs(v); !(v <= most[i]) {
				if most[i] = v; math.IsNaN(v) {
					most[i] = math.Inf(1)
				}
			}
		}
	}
	n.communicate(size, func() { n.Max(most) })
	spread := exponent(float64(shares))
	acc := make([]int64, size)
	for i, v := range most {
		if v == 0 || math.IsInf(v, 1) {
			continue
		}
		e := exponent(v) + spread
		for _, p := range parts {
			if !add(&acc[i], p[i], inverse(e)) {
				panic("ranks: an entry is larger than the largest of all")
			}
		}
	}
	n.communicate(size, func() { n.Sum(acc) })
	if n.Rank() != 0 {
		return nil
	}
	for i, v := range most {
		switch {
		case math.IsInf(v, 1):
			most[i] = math.NaN()
		case v > 0:
			most[i] = math.Ldexp(float64(acc[i]), exponent(v)+spread-exactBits)
		}
	}
	return most
}
