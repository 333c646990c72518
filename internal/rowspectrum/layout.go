package rowspectrum

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"sync/atomic"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/double"
	"github.com/vssgp/vssgp/internal/parallel"
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
	d = sorted(d)
	lo, hi := d.X[0], d.X[d.N-1]
	if !(hi > lo) || math.IsInf(hi-lo, 0) || math.IsInf(2*max(math.Abs(lo), math.Abs(hi)), 0) {
		return nil
	}
	if l := evenLayout(d); l != nil {
		return l
	}
	_, e := math.Frexp((hi - lo) / float64(d.N))
	l := &layout{step: double.Of(math.Ldexp(1, e)), center: double.Of(lo + (hi-lo)/2), x: make([]double.Float, d.N)}
	l.values = matrix(1+d.D, d.N)
	each(d.N, func(from, to int) {
		for n := from; n < to; n++ {
			x := double.Sum(d.X[n], -l.center.Hi)
			l.x[n] = double.Float{Hi: x.Hi / l.step.Hi, Lo: x.Lo / l.step.Hi}
			l.values[0][n] = 1
			for o := range d.D {
				l.values[1+o][n] = d.Y[n*d.D+o]
			}
		}
	})
	l.span = 2 * max(-l.x[0].Hi, l.x[d.N-1].Hi)
	return l
}

// matrix returns n zero vectors.
func matrix(n, length int) [][]float64 {
	m := make([][]float64, n)
	for i := range m {
		m[i] = make([]float64, length)
	}
	return m
}

// blockRows is the number of rows or frequencies that a core processes at a time.
const blockRows = 1 << 14

// each calls f for blocks [from, to) of n rows or frequencies, on all cores.
func each(n int, f func(from, to int)) {
	parallel.Blocks(n, blockRows, func(_, from, to int) { f(from, to) })
}

// sorted returns the data with its rows in ascending order of x.
func sorted(d *backend.Data) *backend.Data {
	if slices.IsSorted(d.X) {
		return d
	}
	type row struct {
		x float64
		n int
	}
	rows := make([]row, d.N)
	for n, x := range d.X {
		rows[n] = row{x, n}
	}
	parallel.Sort(rows, func(a, b row) int {
		if a.x == b.x {
			return a.n - b.n
		}
		return cmp.Compare(a.x, b.x)
	})
	s := &backend.Data{N: d.N, Q: 1, D: d.D, X: make([]float64, d.N), Y: make([]float64, d.N*d.D)}
	each(d.N, func(from, to int) {
		for i, r := range rows[from:to] {
			s.X[from+i] = r.x
			copy(s.Y[(from+i)*d.D:][:d.D], d.Y[r.n*d.D:])
		}
	})
	return s
}

// gapBlock is the number of gaps that a core counts at a time, and gapDigit the number of bits by which it counts them.
const gapBlock, gapDigit = 1 << 16, 12

// medianGap returns the median of the positive gaps between ascending numbers. It finds the median's bits from the first to the last, some
// at a time, by counting the gaps that have the same bits before them.
func medianGap(x []float64) float64 {
	var median uint64
	rank := -1 // of the median among these gaps
	for shift := 60; shift >= 0; shift -= gapDigit {
		counts := make([][1 << gapDigit]int, (len(x)+gapBlock-1)/gapBlock)
		parallel.Blocks(len(x)-1, gapBlock, func(i, from, to int) {
			for n := from; n < to; n++ {
				gap := x[n+1] - x[n]
				if bits := math.Float64bits(gap) >> shift; gap > 0 && bits>>gapDigit == median>>shift>>gapDigit {
					counts[i][bits%(1<<gapDigit)]++
				}
			}
		})
		var all [1 << gapDigit]int
		total := 0
		for i := range counts {
			for digit, count := range counts[i] {
				all[digit] += count
				total += count
			}
		}
		if rank < 0 {
			rank = total / 2
		}
		digit := 0
		for ; rank >= all[digit]; digit++ {
			rank -= all[digit]
		}
		median |= uint64(digit) << shift
	}
	return math.Float64frombits(median)
}

// evenLayout returns nil if the rows, in ascending order, are not even.
func evenLayout(d *backend.Data) *layout {
	lo, hi := d.X[0], d.X[d.N-1]
	steps := math.Round((hi - lo) / medianGap(d.X))
	if !(steps < sparsest*float64(d.N)) {
		return nil
	}
	step := double.Sum(hi, -lo).Over(double.Of(steps))
	tolerance := evenRounding * 0x1p-53 * (hi - lo)
	count := int(steps) + 1
	middle := count / 2
	points, offs := make([]int, d.N), make([]float64, d.N) // grid points, and the rows' distances from them
	var uneven, rounded atomic.Bool
	sums := make([]struct{ off, slope, square float64 }, (d.N+blockRows-1)/blockRows)
	parallel.Blocks(d.N, blockRows, func(i, from, to int) {
		for n := from; n < to && !uneven.Load(); n++ {
			at := math.Round((d.X[n] - lo) / step.Hi)
			off := double.Sum(d.X[n], -lo).Minus(step.Times(double.Of(at))).Hi
			if math.Abs(off) > 2*tolerance { // the ends, which define the step, are rounded, too
				uneven.Store(true)
			}
			points[n], offs[n] = int(at), off
			at -= float64(middle)
			sums[i].off, sums[i].slope, sums[i].square = sums[i].off+off, sums[i].slope+off*at, sums[i].square+at*at
		}
	})
	if uneven.Load() {
		return nil
	}
	all := sums[0]
	for _, s := range sums[1:] {
		all.off, all.slope, all.square = all.off+s.off, all.slope+s.slope, all.square+s.square
	}
	mean, slope := all.off/float64(d.N), all.slope/all.square
	each(d.N, func(from, to int) {
		for n := from; n < to; n++ {
			if math.Abs(offs[n]-mean-slope*float64(points[n]-middle)) > tolerance {
				uneven.Store(true)
			}
			if offs[n] != 0 {
				rounded.Store(true)
			}
		}
	})
	if uneven.Load() {
		return nil
	}
	l := &layout{even: true, first: -middle, span: 2 * float64(middle), rounded: rounded.Load()}
	l.values = matrix(1+d.D, count)
	l.center = step.Times(double.Of(float64(middle))).Plus(double.Of(lo)).Plus(double.Of(mean))
	l.step = step.Plus(double.Of(slope))
	each(count, func(from, to int) {
		for n := sort.SearchInts(points, from); n < d.N && points[n] < to; n++ {
			l.values[0][points[n]]++
			for o := range d.D {
				l.values[1+o][points[n]] += d.Y[n*d.D+o]
			}
		}
	})
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
