package variational

import (
	"math"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/double"
	"github.com/vssgp/vssgp/internal/parallel"
)

// unit is float64's unit roundoff.
const unit = 0x1p-53

// widest returns the maximum number of features that are active in a row, which belong to two
// neighboring windows.
func widest(offset []int) int {
	most := 0
	for v := range len(offset) - 1 {
		most = max(most, offset[min(v+2, len(offset)-1)]-offset[v])
	}
	return most
}

// deepest returns the maximum number of rows of x [N,Q] in a window.
func deepest(w *backend.Windows, x []float64, q int) int {
	count := make([]int, w.Count()+1) // of the cells, starting with cell −1
	for at := 0; at < len(x); at += q {
		count[w.Cell(x[at+w.Dim])+1]++
	}
	most := count[0]
	for v := range w.Count() {
		most = max(most, count[v]+count[v+1])
	}
	return most
}

// blockNumbers and blockWindows are the numbers of values and of windows that a core sums at a time.
const (
	blockNumbers = 1 << 13
	blockWindows = 1 << 6
)

// dotExact returns Σ a∘b, exact to a few units in the last place (Ogita, Rump &
// Oishi 2005), and Σ |a∘b|.
func dotExact(a, b []float64) (sum, size float64) {
	type part struct{ sum, low, size float64 }
	parts := make([]part, (len(a)+blockNumbers-1)/blockNumbers)
	parallel.Blocks(len(a), blockNumbers, func(block, lo, hi int) {
		var p part
		for i, x := range a[lo:hi] {
			y := b[lo+i]
			xy := double.Product(x, y)
			t := double.Sum(p.sum, xy.Hi)
			p.sum, p.low = t.Hi, p.low+(xy.Lo+t.Lo)
			p.size += math.Abs(xy.Hi)
		}
		parts[block] = p
	})
	low := 0.0
	for _, p := range parts {
		t := double.Sum(sum, p.sum)
		sum, low = t.Hi, low+(p.low+t.Lo)
		size += p.size
	}
	return sum + low, size
}

// sumSquares returns Σ a², computed on all cores.
func sumSquares(a []float64) float64 {
	return parallel.Sum(len(a), blockNumbers, func(lo, hi int) float64 { return squares(a[lo:hi]) })
}

// squares returns Σ a², computed on one core.
func squares(a []float64) (s float64) {
	for _, v := range a {
		s += v * v
	}
	return s
}
