// Package cost counts the work and memory of an evaluation of a bound: floating-point operations, a product and its sum
// being two, of the passes over the rows as spectral.Rows documents them and of the algebra on their matrix, and bytes.
// Sines, cosines and exponentials are not counted.
package cost

import "math"

// The passes over a run, n rows that meet the same m features, with q inputs and d outputs.

// Products is n·m², the multiplications and additions of E[ΦᵀΦ], of which each entry is summed once for its two places.
func Products(n, m float64) float64 { return n * m * m }

// Moments is n·m² + 2·n·m·d.
func Moments(n, m, d float64) float64 { return Products(n, m) + 2*n*m*d }

// Pullback is 2·n·m².
func Pullback(n, m float64) float64 { return 2 * n * m * m }

// Factorised is n·m·(6·d + 8·q + 22): for each feature that a row meets the residual 2·d, its product with the mean 2·d and
// with the feature 2·d; the squares 4; the contraction with the feature's derivatives 18 and 8 for each input.
func Factorised(n, m, q, d float64) float64 { return n * m * (6*d + 8*q + 22) }

// Predict is 2·n·m² + 2·n·m·d.
func Predict(n, m, d float64) float64 { return 2*n*m*m + 2*n*m*d }

// The spectrum start, of evenly sampled series.

// Transform is 5·n·log₂ n, of n complex numbers; of n real ones it is half of that.
func Transform(n float64) float64 { return 5 * n * math.Log2(max(2, n)) }

// Levinson is 2·p²: a recursion of order p.
func Levinson(p float64) float64 { return 2 * p * p }

// Fill is 6·n·p + p³/3 + 3·p² + s: a round of an autoregressive fill of order p of u among n samples, by the products of
// its lags, a Cholesky factor, the errors forward and backward, and s for the missing samples, u³/3 or where they are more
// than 4·p, whose matrix then has a band, u·p².
func Fill(n, u, p float64) float64 {
	solve := u * u * u / 3
	if u > 4*p {
		solve = u * p * p
	}
	return 6*n*p + p*p*p/3 + 3*p*p + solve
}

// The algebra on a block-tridiagonal matrix whose windows' features begin at offset [V+1].

// Factor is Σ_v M_v³/3 + M_v²·M_{v+1} + M_v·M_{v+1}²: a Cholesky factor of each block, its solution for the coupling to the
// next one, and the square of that, of which half is wanted.
func Factor(offset []int) float64 {
	return blocks(offset, func(m float64) float64 { return m * m * m / 3 }, func(m, n float64) float64 { return m*m*n + m*n*n })
}

// Inverse is Σ_v 2·M_v³/3 + 2·M_v·M_{v+1}² + 2·M_v²·M_{v+1}: the stored blocks of the inverse from the factor.
func Inverse(offset []int) float64 {
	return blocks(offset, func(m float64) float64 { return 2 * m * m * m / 3 }, func(m, n float64) float64 { return 2*m*n*n + 2*m*m*n })
}

// MatrixBytes is 8·Σ_v (M_v² + M_v·M_{v+1}), the size of one such matrix.
func MatrixBytes(offset []int) float64 {
	return 8 * blocks(offset, func(m float64) float64 { return m * m }, func(m, n float64) float64 { return m * n })
}

func blocks(offset []int, own func(m float64) float64, coupling func(m, n float64) float64) float64 {
	sum := 0.0
	for v := 0; v+1 < len(offset); v++ {
		m := float64(offset[v+1] - offset[v])
		sum += own(m)
		if v+2 < len(offset) {
			sum += coupling(m, float64(offset[v+2]-offset[v+1]))
		}
	}
	return sum
}

// Collected is the heap's size before a collection, as a factor on live memory: GOGC=25, as the command has it.
const Collected = 1.25
