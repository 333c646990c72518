package backend

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
)

// Windows divide one input (Dim, usually time) into overlapping intervals, each
// with a gate:
//
//	g_v(x) = cos(π (x − x_v)/Length)  for |x − x_v| < Length/2, else 0
//
// with centers x_v spaced Length/2, so that two gates overlap everywhere and Σ_v g_v(x)² = 1.
// The first gate is 1 below its center and the last gate is 1 above its center. The zero value
// has no windows, that is one gate with g ≡ 1.
type Windows struct {
	Center []float64 // [V] x_v, increasing, in units of x
	Length float64   // W, in units of x
	Dim    int       // the input that they divide
}

// The distance of neighboring centers may differ from Length/2 by spacingTolerance times the
// length plus, for rounding, spacingRounding times the center. With a larger difference Σ g²
// would not be 1, and a third gate could be non-zero between two centers.
const (
	spacingTolerance = 1e-9
	spacingRounding  = 1e-15
)

// Count returns V, the number of windows, or 1 without windows.
func (w *Windows) Count() int { return max(1, len(w.Center)) }

// Check returns an error if the centers are not spaced half a length, the length is not
// positive, or Dim is outside [0, q).
func (w *Windows) Check(q int) error {
	if w.Dim < 0 || w.Dim >= q {
		return fmt.Errorf("window input %d, must be the index of one of %d inputs: %w", w.Dim, q, ErrValue)
	}
	if len(w.Center) == 0 {
		return nil
	}
	if err := checkFinite("window center", w.Center); err != nil {
		return err
	}
	if !(w.Length > 0) || math.IsInf(w.Length, 0) {
		return fmt.Errorf("window length is %v, must be positive: %w", w.Length, ErrValue)
	}
	for v := 1; v < len(w.Center); v++ {
		step := w.Center[v] - w.Center[v-1]
		if math.Abs(step-w.Length/2) > spacingTolerance*w.Length+spacingRounding*math.Abs(w.Center[v]) {
			return fmt.Errorf("window centers %d and %d are %v apart, must be half the length, %v: %w", v-1, v, step, w.Length/2,
				ErrValue)
		}
	}
	return nil
}

// Gate returns g_v(x) for the coordinate x along Dim.
func (w *Windows) Gate(v int, x float64) float64 {
	last := len(w.Center) - 1
	if last <= 0 {
		return 1
	}
	d := x - w.Center[v]
	if (v == 0 && d <= 0) || (v == last && d >= 0) {
		return 1
	}
	t := d / w.Length
	if math.Abs(t) >= 0.5 {
		return 0
	}
	return math.Cos(math.Pi * t)
}

// Cell returns the index of the interval that contains x: −1 below the first center, v between
// centers v and v+1, and V−1 from the last center on. Without windows it returns 0.
func (w *Windows) Cell(x float64) int {
	if len(w.Center) <= 1 {
		return 0
	}
	return sort.Search(len(w.Center), func(v int) bool { return w.Center[v] > x }) - 1
}

// Over returns the range [first, end) of the windows whose gates can be non-zero in a cell.
func (w *Windows) Over(cell int) (first, end int) {
	if len(w.Center) <= 1 {
		return 0, 1
	}
	return max(cell, 0), min(cell+2, len(w.Center))
}

// Equal reports whether w and o are equal.
func (w *Windows) Equal(o *Windows) bool {
	return slices.Equal(w.Center, o.Center) && (len(w.Center) == 0 || w.Length == o.Length && w.Dim == o.Dim)
}

// A Run is a sequence of consecutive rows, in the order of a Layout, in which the same windows
// [First, End) are active.
type Run struct {
	Cell       int // interval between two window centers
	Lo, Hi     int // rows Order[Lo:Hi]
	First, End int // active windows
}

// A Layout is an order of rows in which rows with the same windows are neighbors. Rows keep
// their original order within a run, so a sum over a run has a defined order.
type Layout struct {
	Order []int // [N] row at each position
	Runs  []Run // in order of increasing Cell; no run is empty
}

// NewLayout sorts the rows of x [N,q] into runs.
func (w *Windows) NewLayout(x []float64, n, q int) *Layout {
	l := &Layout{Order: make([]int, n)}
	cell := make([]int, n)
	for i := range l.Order {
		l.Order[i], cell[i] = i, w.Cell(x[i*q+w.Dim])
	}
	slices.SortStableFunc(l.Order, func(a, b int) int { return cmp.Compare(cell[a], cell[b]) })
	for position, row := range l.Order {
		c := cell[row]
		if k := len(l.Runs); k == 0 || l.Runs[k-1].Cell != c {
			first, end := w.Over(c)
			l.Runs = append(l.Runs, Run{Cell: c, Lo: position, First: first, End: end})
		}
		l.Runs[len(l.Runs)-1].Hi = position + 1
	}
	return l
}
