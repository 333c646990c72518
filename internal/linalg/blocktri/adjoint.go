package blocktri

import (
	"sort"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/parallel"
)

// adjointRows is the number of matrix rows per job.
const adjointRows = 32

// OuterAdjoint replaces g = A⁻¹ by inverse·A⁻¹ + outer·m mᵀ on the stored blocks. mean is
// m [M,d]. If g is symmetric to the last bit, so is the result.
func OuterAdjoint(g *backend.Gram, mean []float64, d int, inverse, outer float64) {
	parallel.Blocks(g.M(), adjointRows, func(_, lo, hi int) {
		v := 0
		for i := lo; i < hi; i++ {
			v += sort.Search(g.Blocks()-v, func(k int) bool { return i < g.Offset[v+k+1] })
			mi, at := mean[i*d:][:d], i-g.Offset[v]
			outerRow(g.Diag[v], at, mi, rowsOf(g, mean, v, v+1, d), inverse, outer)
			if v > 0 {
				outerRow(g.Below[v-1], at, mi, rowsOf(g, mean, v-1, v, d), inverse, outer)
			}
		}
	})
}

// outerRow is OuterAdjoint for row i of a block. mi is the mean of the row's feature, means
// contains the means of the columns' features.
func outerRow(b []float64, i int, mi, means []float64, inverse, outer float64) {
	d := len(mi)
	cols := len(means) / d
	row := b[i*cols:][:cols]
	if d == 1 {
		for j, mj := range means {
			row[j] = outer*(mi[0]*mj) + inverse*row[j]
		}
		return
	}
	for j := range row {
		s := 0.0
		for o, x := range mi {
			s += x * means[j*d+o]
		}
		row[j] = inverse*row[j] + outer*s
	}
}
