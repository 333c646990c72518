package rowspectrum

import (
	"math"
	"slices"
	"sort"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/double"
	"github.com/vssgp/vssgp/internal/parallel"
)

// A plane contains the tables of rows with two inputs: E_g of the ones and of each output, at the frequencies g = (g_0,
// g_1),
//
//	E_g = Σ_n v_n Π_q exp(½P₀_q X_nq²) exp(ih_q g_q X_nq)
type plane struct {
	axes   [2]*axis
	places places
	// values[0] is the number of rows at each place, values[1+d] the sum of their y_d.
	values [][]float64

	extent Size        // the tables contain the frequencies −extent, …, extent of each input
	tables [][]float64 // [1+D][2·extent_0+1, 2, width]: for each g_0 the real parts, then the imaginary parts
	width  int

	reach int // the maximum number of frequencies of a sum on each side

	twins []int        // the first feature of each run of features that differ only in phase and amplitudes, and M
	turns []complex128 // exp(iφ) of each feature, φ the phase at X = 0
}

// places are the positions of the rows.
type places interface {
	// at returns X of place i along input q.
	at(i, q int) double.Float
	// count returns the number of places with |X_q − z_q| ≤ radius_q.
	count(z, radius [2]float64) int
	// each calls f for ranges of consecutive places that contain them.
	each(z, radius [2]float64, f func(from, to int))
}

// newPlane returns nil if an input is not finite.
func newPlane(d *backend.Data) *plane {
	var order [2][]int
	var x [2][]float64
	p := &plane{}
	for q := range order {
		order[q], x[q] = ordered(d, q)
		p.axes[q] = unevenAxis(x[q])
		if lo := x[q][0]; p.axes[q] == nil && lo == x[q][d.N-1] && math.Abs(lo) < math.MaxFloat64/2 {
			p.axes[q] = constantAxis(lo)
		}
		if p.axes[q] == nil {
			return nil
		}
	}
	if !p.addGrid(d, order, x) {
		p.addScattered(d)
	}
	// For a feature of standard deviation s ranges in both inputs, N(2·digits·s)² rows within reach then cost as much
	// as the (over·digits/πs)² terms.
	const ratio = over * over * digits * digits / (math.Pi * math.Pi)
	p.reach = int(math.Sqrt(math.Sqrt(planeRowCost*ratio*float64(d.N))*over*digits/2)) + maxPoints
	return p
}

// ordered returns the rows in ascending order of input q, and the input in this order.
func ordered(d *backend.Data, q int) (order []int, x []float64) {
	type row struct {
		x float64
		n int
	}
	rows := make([]row, d.N)
	for n := range rows {
		rows[n] = row{d.X[n*d.Q+q], n}
	}
	parallel.Sort(rows, func(a, b row) int {
		switch {
		case a.x < b.x:
			return -1
		case a.x > b.x:
			return 1
		}
		return a.n - b.n
	})
	order, x = make([]int, d.N), make([]float64, d.N)
	for i, r := range rows {
		order[i], x[i] = r.n, r.x
	}
	return order, x
}

// A cells is a rectangle of grid points, row by row: some have no row, others several.
type cells struct{ first, size [2]int }

// addGrid adds rows on a grid, and reports whether they are on one. order and x are the results of ordered for each
// input.
func (p *plane) addGrid(d *backend.Data, order [2][]int, x [2][]float64) bool {
	var c cells
	var axes [2]*axis
	index, places := make([]int, d.N), 1
	for q := range axes {
		if x[q][0] == x[q][d.N-1] {
			return false
		}
		a, points := evenAxis(x[q], sparsest*float64(d.N))
		if a == nil {
			return false
		}
		axes[q], c.first[q], c.size[q] = a, a.first, a.size
		if places *= c.size[q]; places > sparsest*d.N {
			return false
		}
		for i, n := range order[q] {
			index[n] = index[n]*c.size[q] + points[i]
		}
	}
	p.axes, p.places, p.values = axes, c, matrix(1+d.D, places)
	for n, i := range index {
		p.values[0][i]++
		for o := range d.D {
			p.values[1+o][i] += d.Y[n*d.D+o]
		}
	}
	return true
}

// at implements places.
func (c cells) at(i, q int) double.Float {
	if q == 0 {
		return double.Of(float64(c.first[0] + i/c.size[1]))
	}
	return double.Of(float64(c.first[1] + i%c.size[1]))
}

// box returns the ranges of indices within the radius of z along each input.
func (c cells) box(z, radius [2]float64) (from, to [2]int) {
	for q := range z {
		lo, hi := math.Ceil(z[q]-radius[q])-float64(c.first[q]), math.Floor(z[q]+radius[q])-float64(c.first[q])
		n := float64(c.size[q])
		from[q], to[q] = int(min(max(lo, 0), n)), int(min(max(hi+1, 0), n))
		to[q] = max(to[q], from[q])
	}
	return from, to
}

// count implements places.
func (c cells) count(z, radius [2]float64) int {
	from, to := c.box(z, radius)
	return (to[0] - from[0]) * (to[1] - from[1])
}

// each implements places.
func (c cells) each(z, radius [2]float64, f func(from, to int)) {
	from, to := c.box(z, radius)
	for i := from[0]; i < to[0]; i++ {
		f(i*c.size[1]+from[1], i*c.size[1]+to[1])
	}
}

// scattered are rows in strips along the second input: sorted by strip, and by X_1 within a strip.
type scattered struct {
	x      [2][]double.Float
	strips []int   // index of the first row of each strip, and N
	low    float64 // X_0 at the beginning of the first strip
	height float64 // of a strip
}

// stripRows is the mean number of rows in a strip, as a multiple of √N.
const stripRows = 4

// addScattered adds rows in any order.
func (p *plane) addScattered(d *backend.Data) {
	type row struct {
		strip int
		x     [2]double.Float
		n     int
	}
	count := max(1, int(math.Sqrt(float64(d.N))/stripRows))
	s := &scattered{low: -p.axes[0].span / 2, height: p.axes[0].span / float64(count)}
	rows := make([]row, d.N)
	each(d.N, func(from, to int) {
		for n := from; n < to; n++ {
			r := row{n: n}
			for q, a := range p.axes {
				r.x[q] = a.at(d.X[n*d.Q+q])
			}
			r.strip = s.strip(r.x[0].Hi, count)
			rows[n] = r
		}
	})
	parallel.Sort(rows, func(a, b row) int {
		switch {
		case a.strip != b.strip:
			return a.strip - b.strip
		case a.x[1].Hi < b.x[1].Hi:
			return -1
		case a.x[1].Hi > b.x[1].Hi:
			return 1
		}
		return a.n - b.n
	})
	for q := range s.x {
		s.x[q] = make([]double.Float, d.N)
	}
	p.values = matrix(1+d.D, d.N)
	each(d.N, func(from, to int) {
		for i := from; i < to; i++ {
			r := &rows[i]
			s.x[0][i], s.x[1][i] = r.x[0], r.x[1]
			p.values[0][i] = 1
			for o := range d.D {
				p.values[1+o][i] = d.Y[r.n*d.D+o]
			}
		}
	})
	for strip := range count + 1 {
		s.strips = append(s.strips, sort.Search(d.N, func(i int) bool { return rows[i].strip >= strip }))
	}
	p.places = s
}

// strip returns the strip of X_0 among count strips.
func (s *scattered) strip(x float64, count int) int {
	return int(min(max((x-s.low)/s.height, 0), float64(count-1)))
}

// at implements places.
func (s *scattered) at(i, q int) double.Float { return s.x[q][i] }

// count implements places; it also counts the rows of strips that are only partly within the radius.
func (s *scattered) count(z, radius [2]float64) (n int) {
	s.each(z, radius, func(from, to int) { n += to - from })
	return n
}

// each implements places.
func (s *scattered) each(z, radius [2]float64, f func(from, to int)) {
	count, end := len(s.strips)-1, s.low+float64(len(s.strips)-1)*s.height
	if z[0]+radius[0] < s.low || z[0]-radius[0] > end {
		return
	}
	for i := s.strip(z[0]-radius[0], count); i <= s.strip(z[0]+radius[0], count); i++ {
		x := s.x[1][s.strips[i]:s.strips[i+1]]
		from, _ := slices.BinarySearchFunc(x, z[1]-radius[1], func(x double.Float, at float64) int {
			if x.Hi < at {
				return -1
			}
			return 1
		})
		to := from + sort.Search(len(x)-from, func(i int) bool { return x[from+i].Hi > z[1]+radius[1] })
		if to > from {
			f(s.strips[i]+from, s.strips[i]+to)
		}
	}
}
