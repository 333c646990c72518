package blocktri

import (
	"runtime"

	"github.com/vssgp/vssgp/internal/parallel"
	"github.com/vssgp/vssgp/spectral"
)

// adjointRows is how many rows of a dense matrix one goroutine takes.
const adjointRows = 32

// OuterAdjoint replaces g = A⁻¹ by inverse·A⁻¹ + outer·m mᵀ on the stored blocks;
// mean is m [M,d]. It leaves a symmetric matrix symmetric to the last bit.
func OuterAdjoint(g *spectral.Gram, mean []float64, d int, inverse, outer float64) {
	workers := runtime.GOMAXPROCS(0)
	if g.Blocks() == 1 {
		n := g.Size(0)
		parallel.For((n+adjointRows-1)/adjointRows, workers, func(i int) {
			outerRows(g.Diag[0], mean, mean, i*adjointRows, min(n, (i+1)*adjointRows), d, inverse, outer)
		})
		return
	}
	of := func(v int) []float64 { return mean[g.Offset[v]*d : g.Offset[v+1]*d] }
	parallel.For(g.Blocks(), workers, func(v int) {
		outerRows(g.Diag[v], of(v), of(v), 0, g.Size(v), d, inverse, outer)
		if v < len(g.Below) {
			outerRows(g.Below[v], of(v+1), of(v), 0, g.Size(v+1), d, inverse, outer)
		}
	})
}

// outerRows is OuterAdjoint for rows [lo, hi) of a block, left and right being
// the means of its rows and columns.
func outerRows(b, left, right []float64, lo, hi, d int, inverse, outer float64) {
	cols := len(right) / d
	for i := lo; i < hi; i++ {
		mi, row := left[i*d:][:d], b[i*cols:][:cols]
		if d == 1 {
			for j, mj := range right {
				row[j] = outer*(mi[0]*mj) + inverse*row[j]
			}
			continue
		}
		for j := range row {
			s := 0.0
			for o, x := range mi {
				s += x * right[j*d+o]
			}
			row[j] = inverse*row[j] + outer*s
		}
	}
}
