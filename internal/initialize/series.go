package initialize

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/vssgp/vssgp/backend"
)

// A Series consists of rows of one input in the model's units. Even rows are on grid points;
// missing samples are interpolated. Uneven rows are stored with their times, and their grid points
// only determine how many mean steps the data span.
type Series struct {
	data backend.Data

	x0, step float64
	y        [][]float64 // [D][grid points]; for uneven rows [D][N] in the order of their times
	missing  []bool
	// unit is the variance of all data, to which noise levels are relative. It is 1 for constant
	// data, which any small covariance explains.
	unit float64

	grid  Grid      // of all data
	band  float64   // highest frequency of the spectrum in cycles per step: ½ for even rows
	times []float64 // of uneven rows, ascending; nil for even rows

	spectra  spectra     // arguments of the cached rankings,
	ranked   []ranking   // which several noise levels use
	massesOf spectra     // the windows of the cached masses of uneven rows,
	masses   [][]float64 // which all numbers of components use
}

// NewSeries assigns rows to the points of a grid in the model's units, or stores uneven rows with
// their times. data may have no outputs.
func NewSeries(data backend.Data, grid Grid) *Series {
	lo, hi := data.Extent(0)
	s := &Series{data: data, x0: lo, step: grid.Step, grid: grid, band: grid.Band}
	if grid.Band == 0 {
		s.band = 0.5
		s.x0 += offGrid(data.X, lo, grid.Step)
	}
	s.missing = slices.Repeat([]bool{true}, int(math.Round((hi-s.x0)/s.step))+1)
	for _, x := range data.X {
		s.missing[s.index(x)] = false
	}
	s.y = make([][]float64, data.D)
	if grid.Band > 0 {
		for _, n := range inOrder(data.X) {
			s.times = append(s.times, data.X[n])
			for j := range s.y {
				s.y[j] = append(s.y[j], data.Y[n*data.D+j])
			}
		}
	} else {
		for j := range s.y {
			s.y[j] = make([]float64, len(s.missing))
			for n, x := range data.X {
				s.y[j][s.index(x)] = data.Y[n*data.D+j]
			}
		}
	}
	s.unit = cmp.Or(s.variance(), 1)
	return s
}

// inOrder returns the indices of the rows sorted by x.
func inOrder(x []float64) []int {
	order := ascending(len(x))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	return order
}

// ascending returns 0 … n−1.
func ascending(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// end returns the x of the last grid point.
func (s *Series) end() float64 { return s.x0 + float64(len(s.missing)-1)*s.step }

// index returns the index of the grid point nearest to x.
func (s *Series) index(x float64) int {
	return min(max(int(math.Round((x-s.x0)/s.step)), 0), len(s.missing)-1)
}

// cut returns the part of the series at the grid points [lo, hi), including interpolated values.
func (s *Series) cut(lo, hi int) *Series {
	part := &Series{x0: s.x0 + float64(lo)*s.step, step: s.step, band: s.band, missing: s.missing[lo:hi], unit: s.unit}
	if s.times != nil {
		lo, hi = s.within(part.x0-s.step/2, part.x0+(float64(hi-lo)-0.5)*s.step)
		part.times = s.times[lo:hi:hi]
	}
	for _, y := range s.y {
		part.y = append(part.y, y[lo:hi])
	}
	return part
}

// within returns the range [from, to) of uneven rows with times in [lo, hi).
func (s *Series) within(lo, hi float64) (from, to int) {
	return sort.SearchFloat64s(s.times, lo), sort.SearchFloat64s(s.times, hi)
}

// steps returns the length of a window in grid steps, or the length of the whole grid if length is
// 0 (no windows).
func (s *Series) steps(length float64) float64 {
	if length == 0 {
		return float64(len(s.missing))
	}
	return length / s.step
}

// variance returns the mean square of the values that are not missing.
func (s *Series) variance() float64 {
	sum, n := 0.0, 0
	for _, y := range s.y {
		if s.times != nil {
			sum += sumSquares(y)
			n += len(y)
			continue
		}
		for i, v := range y {
			if !s.missing[i] {
				sum += v * v
				n++
			}
		}
	}
	return sum / float64(n)
}

func sumSquares(a []float64) (sum float64) {
	for _, v := range a {
		sum += v * v
	}
	return sum
}

// gaps returns the median and the largest length of the gaps in grid points, or 0 if there are none.
func (s *Series) gaps() (median, longest int) {
	gaps := runs(s.missing, true)
	if len(gaps) == 0 {
		return 0, 0
	}
	lengths := make([]int, len(gaps))
	for i, r := range gaps {
		lengths[i] = r[1] - r[0]
	}
	slices.Sort(lengths)
	return lengths[len(lengths)/2], lengths[len(lengths)-1]
}

// runs returns the maximal intervals [start, end) in which all entries of a are v.
func runs(a []bool, v bool) (out [][2]int) {
	for i, x := range a {
		switch {
		case x != v:
		case i > 0 && a[i-1] == v:
			out[len(out)-1][1]++
		default:
			out = append(out, [2]int{i, i + 1})
		}
	}
	return out
}

// A bin is a part of the spectrum of a window. freq is its center in cycles per step, and mass its
// variance in units of y².
type bin struct {
	window     int
	freq, mass float64
}

// A ranking contains the heaviest bins of a window in decreasing order, and the mass of all
// others.
type ranking struct {
	bins  []bin
	rest  float64
	lines int // number of bins above the noise; all for even rows
}

// spectra are the arguments of rankings.
type spectra struct {
	windows, most int
	half          float64
	shared        bool
}
