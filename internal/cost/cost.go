// Package cost counts the operations and the memory of an evaluation of a bound: the passes over the rows, as spectral.Rows
// documents them, and the algebra on their matrix. A product and its sum are two operations. Sines, cosines and exponentials
// are not counted.
package cost

import (
	"math"
	"runtime"

	"github.com/vssgp/vssgp/spectral"
)

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

// Evaluation counts the operations of a bound over all rows, with and without its gradient.
type Evaluation struct{ Bound, Gradient, Factorised float64 }

// Evaluate counts the exact bound, which takes one pass over the rows, its gradient, which takes one more, and the factorised
// bound with its gradient, for features that begin at offset and meet rows in runs.
func Evaluate(offset []int, runs []spectral.Run, q, d int) Evaluation {
	e := Evaluation{Bound: Factor(offset), Gradient: Inverse(offset)}
	for _, r := range runs {
		n, m := float64(r.Hi-r.Lo), float64(offset[r.End]-offset[r.First])
		e.Bound += Moments(n, m, float64(d))
		e.Gradient += Pullback(n, m)
		e.Factorised += Factorised(n, m, float64(q), float64(d))
	}
	e.Gradient += e.Bound
	return e
}

// RowNumbers is how many numbers the CPU keeps for each row besides x and y: its number in the order of the windows, its place and
// its window and, if there are several windows, the gates of two of them with their inverse squares.
func RowNumbers(windows int) float64 {
	if windows > 1 {
		return 7
	}
	return 3
}

const (
	// TileRows are the rows of a tile, the part of the features that a core computes at a time, and FewRows if the tile's sums go
	// into no matrix. A tile has tilePanels arrays.
	TileRows, FewRows, tilePanels = 256, 64, 2
	// Collected is the heap's size before a collection, as a factor on live memory: GOGC=25, as the command has it.
	Collected = 1.25
)

// Tiles is the bytes of a tile for each core, rows of n, with the features of two windows and, where there are windows and a
// matrix, those blocks of it in the order in which a product reads them.
func Tiles(offset []int, n, rows int, matrix bool) float64 {
	most := 0
	for v := range len(offset) - 1 {
		most = max(most, offset[min(v+2, len(offset)-1)]-offset[v])
	}
	numbers := rows * tilePanels
	if matrix && len(offset) > 2 {
		numbers += most
	}
	return 8 * float64(numbers) * float64(most) * float64(min(runtime.GOMAXPROCS(0), 1+n/TileRows))
}

// Peak is the most bytes that a process takes that holds at most live bytes, a matrix among them. An array that goes beyond what
// may be left is there before the collector has freed as much: a matrix is the largest.
func Peak(live, matrix float64) float64 { return max(Collected*live, live+matrix) }
