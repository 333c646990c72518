package ranks

import (
	"math"
	"sync/atomic"

	"github.com/vssgp/vssgp/backend"
)

// exactBits limits sums: the total is below 2^exactBits units, and so is the sum over any subset of
// the shards.
const exactBits = 61

// minExponent ensures that units, the product of two of them and their inverses are normal numbers.
const minExponent = -400

// exponent returns the least e with v < 2^e, at least minExponent.
func exponent(v float64) int {
	if v == 0 {
		return minExponent
	}
	_, e := math.Frexp(v)
	return max(e, minExponent)
}

// add adds v, in units, to a; inverse is 1/unit. It reports whether v is within range.
func add(a *int64, v, inverse float64) bool {
	w := math.RoundToEven(v * inverse)
	if !(math.Abs(w) < 1<<(exactBits+1)) { // rounding may slightly exceed the bound
		return false
	}
	*a += int64(w)
	return true
}

// units are the units of C and G for features over N rows. By E[φ²] ≤ g²(A0 + |A2|) = B and the
// Cauchy–Schwarz inequality, |G_jk| ≤ N·√(B_j B_k) and |C_jd| ≤ √(N·B_j·Σ_n y_nd²). Each unit is
// therefore a product of a power of 2 of a feature and one of another feature or an output: the
// entry is at most 2^(e_j + e_k), and the unit is 2^(e_j + e_k − exactBits). This is at most 2⁻⁵⁸
// of √(G_jj G_kk), while float64 rounds a sum at 2⁻⁵³.
type units struct {
	feature []int // [M] e_j
	output  []int // [D]
}

func unitsOf(f *backend.Features, n int, square []float64) units {
	u := units{make([]int, f.M), make([]int, len(square))}
	for k := range u.feature {
		u.feature[k] = exponent(math.Sqrt(float64(n) * (f.Power[k] + math.Abs(f.Ripple[k]))))
	}
	for d, s := range square {
		u.output[d] = exponent(math.Sqrt(s)) + 1 // Σ y² is rounded
	}
	return u
}

// inverse returns 1/unit for the sum of two exponents.
func inverse(e int) float64 { return math.Ldexp(1, exactBits-e) }

// addMoments adds a shard's moments to sums: the lower triangle of G by rows, then C. It reports
// whether all entries are within range.
func (u units) addMoments(sums []int64, mom *backend.Moments) bool {
	m, d := len(u.feature), mom.D
	g, scale := mom.Gram.Diag[0], make([]float64, m)
	for k, e := range u.feature {
		scale[k] = math.Ldexp(1, -e)
	}
	c := sums[triangle(m):]
	var lost atomic.Bool
	eachRow(m, func(i int) {
		good := true
		to, row, unit := sums[triangle(i):][:i+1], g[i*m:][:i+1], inverse(u.feature[i])
		for j := range row {
			good = add(&to[j], row[j], unit*scale[j]) && good
		}
		for o, e := range u.output {
			good = add(&c[i*d+o], mom.C[i*d+o], inverse(u.feature[i]+e)) && good
		}
		if !good {
			lost.Store(true)
		}
	})
	return !lost.Load()
}

// moments writes the sums to dst.
func (u units) moments(dst *backend.Moments, sums []int64) {
	m, d := len(u.feature), dst.D
	g, c := dst.Gram.Diag[0], sums[triangle(m):]
	eachRow(m, func(i int) {
		for j, v := range sums[triangle(i):][:i+1] {
			s := math.Ldexp(float64(v), u.feature[i]+u.feature[j]-exactBits)
			g[i*m+j], g[j*m+i] = s, s
		}
		for o, e := range u.output {
			dst.C[i*d+o] = math.Ldexp(float64(c[i*d+o]), u.feature[i]+e-exactBits)
		}
	})
}

// sumExactly returns the sum of all shards' vectors of the given size on rank 0. vectors are the
// vectors of this rank's shards. The ranks first agree on the largest value of each entry, which
// determines its unit. An entry that is not finite on some shard becomes NaN.
func (n *node) sumExactly(vectors [][]float64, size, shards int) []float64 {
	most := make([]float64, size)
	for _, vector := range vectors {
		for i, v := range vector {
			if v = math.Abs(v); !(v <= most[i]) {
				if most[i] = v; math.IsNaN(v) {
					most[i] = math.Inf(1)
				}
			}
		}
	}
	n.communicate(size, func() { n.Max(most) })
	spread := exponent(float64(shards))
	sums := make([]int64, size)
	for i, v := range most {
		if v == 0 || math.IsInf(v, 1) {
			continue
		}
		e := exponent(v) + spread
		for _, vector := range vectors {
			if !add(&sums[i], vector[i], inverse(e)) {
				panic("ranks: an entry exceeds the maximum over all ranks")
			}
		}
	}
	n.communicate(size, func() { n.Sum(sums) })
	if n.Rank() != 0 {
		return nil
	}
	for i, v := range most {
		switch {
		case math.IsInf(v, 1):
			most[i] = math.NaN()
		case v > 0:
			most[i] = math.Ldexp(float64(sums[i]), exponent(v)+spread-exactBits)
		}
	}
	return most
}
