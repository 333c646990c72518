package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// TestSumPatch compares the kernels with the plain loop for various sizes.
func TestSumPatch(t *testing.T) {
	for _, c := range []struct{ rows, columns int }{{1, 32}, {8, 40}, {31, 32}, {33, 56}, {40, 64}, {103, 96}} {
		for _, twisted := range []bool{false, true} {
			rng := rand.New(rand.NewPCG(uint64(c.rows), 1))
			numbers := func(n int) []float64 {
				x := make([]float64, n)
				for i := range x {
					x[i] = rng.NormFloat64()
				}
				return x
			}
			width := c.columns + 7
			heights := (c.rows + 7) / 8 * 8
			table, v, w := numbers(2*c.rows*width), numbers(3*heights), numbers(3*c.columns)
			for i := c.rows; i < heights; i++ {
				v[i], v[heights+i] = 0, 0
			}
			var want [PatchSums]float64
			sumPatchPlain(&want, table, width, c.rows, v, w, twisted)
			eachSet(t, func(t *testing.T) {
				work := numbers(PatchWork(c.rows)) // arbitrary values
				var got [PatchSums]float64
				SumPatch(&got, table, width, c.rows, v, w, work, twisted)
				for i := range got {
					if !(math.Abs(got[i]-want[i]) <= 1e-12*float64(c.rows*c.columns)) {
						t.Errorf("%d rows, %d columns, twisted %v: sum %d is %v, want %v", c.rows, c.columns, twisted, i, got[i], want[i])
					}
				}
			})
		}
	}
}

// BenchmarkSumPatch measures patches of 32 × 32 entries at random positions of a table.
func BenchmarkSumPatch(b *testing.B) {
	rng := rand.New(rand.NewPCG(3, 4))
	const n, points = 400, 32
	table, v, w, work := make([]float64, 2*n*n), make([]float64, 3*points), make([]float64, 3*points), make([]float64, PatchWork(points))
	var sums [PatchSums]float64
	for _, twisted := range []bool{false, true} {
		b.Run(fmt.Sprintf("twisted=%v", twisted), func(b *testing.B) {
			for b.Loop() {
				SumPatch(&sums, table[2*n*rng.IntN(n-points)+rng.IntN(n-points):], n, points, v, w, work, twisted)
			}
		})
	}
}
