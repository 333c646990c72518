package variational

import (
	"math"

	"github.com/vssgp/vssgp/spectral"
)

// unit is float64's unit roundoff.
const unit = 0x1p-53

// widest is the most features that a row meets: those of two neighbouring windows.
func widest(offset []int) int {
	most := 0
	for v := range len(offset) - 1 {
		most = max(most, offset[min(v+2, len(offset)-1)]-offset[v])
	}
	return most
}

// deepest is the most rows of x [N,Q] that one of the windows meets.
func deepest(w *spectral.Windows, x []float64, q int) int {
	count := make([]int, w.Count()+1) // of the cells from −1 on
	for at := 0; at < len(x); at += q {
		count[w.Cell(x[at+w.Dim])+1]++
	}
	most := count[0]
	for v := range w.Count() {
		most = max(most, count[v]+count[v+1])
	}
	return most
}

// dotExact returns Σ a∘b, exact to a few units in the last place (Ogita, Rump &
// Oishi 2005), and Σ |a∘b|.
func dotExact(a, b []float64) (sum, size float64) {
	low := 0.0
	for i, x := range a {
		p := x * b[i]
		t := sum + p
		z := t - sum
		low += math.FMA(x, b[i], -p) + ((sum - (t - z)) + (p - z))
		sum = t
		size += math.Abs(p)
	}
	return sum + low, size
}

func sumSquares(a []float64) float64 {
	s := 0.0
	for _, v := range a {
		s += v * v
	}
	return s
}
