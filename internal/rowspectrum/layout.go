package rowspectrum

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/double"
	"github.com/vssgp/vssgp/internal/parallel"
)

// A layout consists of the rows of one input in ascending order.
type layout struct {
	*axis
	irregular []int          // even rows: grid points X that do not have exactly one row
	x         []double.Float // uneven rows: X [N] ascending, exact

	// values[0] is the number of rows at each grid point (1 for each uneven row), values[1+d] the sum of their y_d.
	values [][]float64
}

// newLayout returns nil if the extent of the rows is 0 or not finite.
func newLayout(d *backend.Data) *layout {
	d = sorted(d)
	l := &layout{axis: unevenAxis(d.X)}
	if l.axis == nil {
		return nil
	}
	if a, points := evenAxis(d.X, sparsest*float64(d.N)); a != nil {
		l.axis = a
		l.addEven(d, points)
		return l
	}
	l.x = make([]double.Float, d.N)
	l.values = matrix(1+d.D, d.N)
	each(d.N, func(from, to int) {
		for n := from; n < to; n++ {
			l.x[n] = l.axis.at(d.X[n])
			l.values[0][n] = 1
			for o := range d.D {
				l.values[1+o][n] = d.Y[n*d.D+o]
			}
		}
	})
	return l
}

// addEven adds even rows at the grid points with the given indices.
func (l *layout) addEven(d *backend.Data, points []int) {
	l.values = matrix(1+d.D, l.size)
	each(l.size, func(from, to int) {
		for n := sort.SearchInts(points, from); n < d.N && points[n] < to; n++ {
			l.values[0][points[n]]++
			for o := range d.D {
				l.values[1+o][points[n]] += d.Y[n*d.D+o]
			}
		}
	})
	for i, rows := range l.values[0] {
		if rows != 1 {
			l.irregular = append(l.irregular, l.first+i)
		}
	}
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

// position returns X of a grid point or row.
func (l *layout) position(i int) double.Float {
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
