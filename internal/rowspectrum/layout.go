package rowspectrum

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/double"
)

const (
	// over is T/R, the period of a table relative to the range of the rows. With 3, features that extend over all rows
	// need 27 terms instead of 33, but large tables exceed the cache: for 10⁶ rows a sum then takes twice the time.
	over = 2
	// digits is the number of standard deviations at which Gaussians are cut off: exp(−digits²/2) = 2.5e-15.
	digits = 8.2
	// evenRounding is the maximum distance of an even row from its grid point, in roundoffs of the range: even rows
	// that were scaled are rounded two or three times. Such distances are almost independent, so δ steps change the
	// entries of G by about 2πδ/√(3N), relative to the largest one: less than the Terms rounding errors that are
	// promised up to 10⁴ rows, and twice that at 10⁶. Larger distances are not rounding errors of the range: x is
	// rounded far from 0, or has a jitter.
	evenRounding = 3
	// sparsest is the maximum number of grid points per row. A sparser grid has a smaller table if its rows are treated as
	// uneven.
	sparsest = 4
)

// A layout consists of the rows of one input in ascending order, in steps from their middle: X = (x − center)/step.
type layout struct {
	even         bool
	step, center double.Float // of even rows exact, else a power of two and any number
	span         float64      // R, the largest |X| times two
	rounded      bool         // even rows are not exactly at their grid points

	// Even rows are at the grid points first, first+1, …; a grid point may have no row or several.
	first     int
	irregular []int // grid points X that do not have exactly one row

	// Uneven rows: X [N] ascending, exact.
	x []double.Float

	// values[0] is the number of rows at each grid point (1 for each uneven row), values[1+d] the sum of their y_d.
	values [][]float64
}

// newLayout returns nil if the extent of the rows is 0 or not finite.
func newLayout(d *backend.Data) *layout {
	order := ascending(d.X)
	lo, hi := d.X[order[0]], d.X[order[d.N-1]]
	if !(hi > lo) || math.IsInf(hi-lo, 0) || math.IsInf(2*max(math.Abs(lo), math.Abs(hi)), 0) {
		return nil
	}
	if l := evenLayout(d, order); l != nil {
		return l
	}
	_, e := math.Frexp((hi - lo) / float64(d.N))
	l := &layout{step: double.Of(math.Ldexp(1, e)), center: double.Of(lo + (hi-lo)/2), values: [][]float64{make([]float64, d.N)}}
	l.x = make([]double.Float, d.N)
	for i, n := range order {
		x := double.Sum(d.X[n], -l.center.Hi)
		l.x[i] = double.Float{Hi: x.Hi / l.step.Hi, Lo: x.Lo / l.step.Hi}
		l.values[0][i] = 1
	}
	l.span = 2 * max(-l.x[0].Hi, l.x[d.N-1].Hi)
	for o := range d.D {
		y := make([]float64, d.N)
		for i, n := range order {
			y[i] = d.Y[n*d.D+o]
		}
		l.values = append(l.values, y)
	}
	return l
}

// ascending returns the indices of the rows sorted by x.
func ascending(x []float64) []int {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	if !slices.IsSorted(x) {
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	}
	return order
}

// evenLayout returns nil if the rows, sorted by order, are not even.
func evenLayout(d *backend.Data, order []int) *layout {
	lo, hi := d.X[order[0]], d.X[order[d.N-1]]
	gaps := make([]float64, 0, d.N-1)
	for i := 1; i < d.N; i++ {
		if gap := d.X[order[i]] - d.X[order[i-1]]; gap > 0 {
			gaps = append(gaps, gap)
		}
	}
	slices.Sort(gaps)
	steps := math.Round((hi - lo) / gaps[len(gaps)/2])
	if !(steps < sparsest*float64(d.N)) {
		return nil
	}
	step := double.Sum(hi, -lo).Over(double.Of(steps))
	points := make([]int, d.N)
	tolerance := evenRounding * 0x1p-53 * (hi - lo)
	offs := make([]float64, d.N)
	count := int(steps) + 1
	middle := count / 2
	var mean, slope, n, square float64 // of the rows' distances from their grid points
	for i, row := range order {
		at := math.Round((d.X[row] - lo) / step.Hi)
		off := double.Sum(d.X[row], -lo).Minus(step.Times(double.Of(at))).Hi
		if math.Abs(off) > 2*tolerance { // the ends, which define the step, are rounded, too
			return nil
		}
		points[i], offs[i] = int(at), off
		at -= float64(middle)
		mean, slope, n, square = mean+off, slope+off*at, n+1, square+at*at
	}
	l := &layout{even: true, first: -middle, span: 2 * float64(middle)}
	for i, off := range offs {
		if math.Abs(off-mean/n-slope/square*float64(points[i]-middle)) > tolerance {
			return nil
		}
		l.rounded = l.rounded || off != 0
	}
	l.center = step.Times(double.Of(float64(middle))).Plus(double.Of(lo)).Plus(double.Of(mean / n))
	l.step = step.Plus(double.Of(slope / square))
	for v := range 1 + d.D {
		sums := make([]float64, count)
		for i, n := range order {
			value := 1.0
			if v > 0 {
				value = d.Y[n*d.D+v-1]
			}
			sums[points[i]] += value
		}
		l.values = append(l.values, sums)
	}
	for i, rows := range l.values[0] {
		if rows != 1 {
			l.irregular = append(l.irregular, i-middle)
		}
	}
	return l
}

// within returns the range [from, to) of grid points or rows with |X − z| ≤ radius.
func (l *layout) within(z, radius float64) (from, to int) {
	n := len(l.values[0])
	if l.even {
		lo, hi := math.Ceil(z-radius)-float64(l.first), math.Floor(z+radius)-float64(l.first)
		return int(min(max(lo, 0), float64(n))), int(min(max(hi+1, 0), float64(n)))
	}
	from = sort.Search(n, func(i int) bool { return l.x[i].Hi >= z-radius })
	return from, from + sort.Search(n-from, func(i int) bool { return l.x[from+i].Hi > z+radius })
}

// at returns X of a grid point or row.
func (l *layout) at(i int) double.Float {
	if l.even {
		return double.Of(float64(l.first + i))
	}
	return l.x[i]
}

// complete reports whether every grid point with |X − z| ≤ radius has exactly one row.
func (l *layout) complete(z, radius float64) bool {
	last := l.first + len(l.values[0]) - 1
	if !l.even || z-radius < float64(l.first) || z+radius > float64(last) {
		return false
	}
	lo := int(math.Ceil(z - radius))
	i, _ := slices.BinarySearch(l.irregular, lo)
	return i == len(l.irregular) || float64(l.irregular[i]) > z+radius
}
