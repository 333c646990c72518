// Package nufft computes Fourier sums over N unevenly spaced positions at F frequencies, in one or two dimensions, in
// O(N + F log F). It implements the type 1 non-uniform fast Fourier transform (Dutt & Rokhlin 1993) with the kernel of
// Barnett, Magland & af Klinteberg (2019).
package nufft

import (
	"math"
	"runtime"
	"slices"
	"sort"
	"sync"

	"github.com/vssgp/vssgp/internal/fft"
	"github.com/vssgp/vssgp/internal/parallel"
)

// The kernel is exp(β(√(1−t²)−1)). This β minimizes the maximum relative error for one value, 1.3e-14 as measured;
// 2.25·width and 2.4·width have 2.4e-14 and 3e-12.
const (
	width        = 16 // width of the kernel in cells of the fine grid
	oversampling = 2  // for the modes −count < g < count of a real sum
	beta         = 2.32 * width
	terms        = 18 // of the Chebyshev series for the reciprocal of the Fourier transform of the kernel
	degree       = 13 // of the polynomials for the kernel within a cell; their error is below 1e-15
)

// A Plan computes sums over fixed positions. It must not be used concurrently.
type Plan struct {
	u, low []float64
	count  int
	fft    *fft.Plan // of the cells of one period
}

// NewPlan returns a Plan for the modes 0, …, count−1 at the positions u_n + low_n modulo 1, in periods. low is the
// rounding error of u and may be nil. Each Transform reads both, so they may change between transforms. It uses all
// cores if u is ascending.
func NewPlan(u, low []float64, count int) *Plan { return &Plan{u, low, count, fft.New(length(count))} }

// length returns the length of the real FFT for count modes.
func length(count int) int { return FastLength(max(2*oversampling*count, width)) }

// FastLength returns the smallest length ≥ n that is a power of two times 1, 3, 5, 9 or 15. Package fft is fast for
// these lengths.
func FastLength(n int) int {
	best := math.MaxInt
	for _, length := range []int{1, 3, 5, 9, 15} {
		for length < n {
			length *= 2
		}
		best = min(best, length)
	}
	return best
}

// Bytes returns the memory of a Plan for count modes, in bytes.
func Bytes(count int) float64 { return fft.Bytes(length(count)) }

// Transform returns F_g = Σ_n v_n exp(2πi·g·(u_n + low_n)) for 0 ≤ g < count, in dst if it has the capacity. The
// maximum measured error is 1.3e-14·Σ|v_n|, the root mean square 2e-15·Σ|v_n|. If a position or value is NaN or
// infinite, all sums may be NaN.
func (p *Plan) Transform(dst []complex128, v []float64) []complex128 {
	grid := p.fft.X
	parallel.Blocks(len(grid), cells, func(_, lo, hi int) { clear(grid[lo:hi]) })
	p.spread(v)
	p.fft.Transform()
	dst = slices.Grow(dst[:0], p.count)[:p.count]
	c := deconvolution()
	parallel.Blocks(p.count, cells, func(_, lo, hi int) {
		for g := lo; g < hi; g++ {
			dst[g] = p.fft.Mode(g) * complex(c.at(float64(g)/float64(len(grid))), 0)
		}
	})
	return dst
}

const (
	cells    = 1 << 12 // of the grid, that a core processes together
	maxTurns = 1 << 10 // for which u is more accurate than a cell
)

// spread adds the values to the grid. Values in one of many arcs of the circle change cells in this arc and in its
// neighbors. First the even arcs are spread by all cores, and then the odd ones.
func (p *Plan) spread(v []float64) {
	rows, arcs := len(v), len(p.fft.X)/cells&^1
	if rows == 0 || arcs == 0 || !slices.IsSorted(p.u) ||
		!(p.u[0] > -maxTurns && p.u[rows-1] < maxTurns && p.u[rows-1]-p.u[0] < 4) {
		p.add(v, 0, rows)
		return
	}
	arc := func(u float64) int {
		turn := math.Floor(u)
		return int(turn)*arcs + min(int((u-turn)*float64(arcs)), arcs-1)
	}
	first, last := int(math.Floor(p.u[0]))*arcs, arc(p.u[rows-1])
	for odd := range 2 {
		parallel.For(arcs/2, runtime.GOMAXPROCS(0), func(i int) {
			for a := first + 2*i + odd; a <= last; a += arcs {
				lo := sort.Search(rows, func(i int) bool { return arc(p.u[i]) >= a })
				p.add(v, lo, lo+sort.Search(rows-lo, func(i int) bool { return arc(p.u[lo+i]) > a }))
			}
		})
	}
}

// add adds the values from lo to hi, times the kernel centered at their positions, to the grid.
func (p *Plan) add(v []float64, lo, hi int) {
	grid, size, kernel := p.fft.X, len(p.fft.X), polynomials()
	var weights [width]float64
	for n := lo; n < hi; n++ {
		first, offset := place(p.u, p.low, n, size)
		kernel.at(&weights, offset)
		for i, w := range weights {
			at := first + i
			if at >= size {
				at -= size
			}
			grid[at] += v[n] * w
		}
	}
}

// place returns the first of the cells around position n in a grid of some size, and the position's offset in its cell.
// It computes u·size in double-double precision, so that the offset is accurate to 1e-15; otherwise the mode would
// amplify the rounding error.
func place(us, lows []float64, n, size int) (first int, offset float64) {
	u, low := us[n]-math.RoundToEven(us[n]), 0.0
	if lows != nil {
		low = lows[n]
	}

	x := u * float64(size)
	cell := math.Floor(x)
	offset = (x - cell) + (math.FMA(u, float64(size), -x) + low*float64(size))
	cell += math.Floor(offset)
	offset -= math.Floor(offset)

	first = (int(cell) - width/2 + 1) % size
	if first < 0 {
		first += size
	}
	return first, offset
}

// kernel returns exp(β(√(1−t²) − 1)) at x cells from its center, t = 2x/width.
func kernel(x float64) float64 {
	t := x * (2.0 / width)
	return math.Exp(-beta * t * t / (1 + math.Sqrt(max(0, 1-t*t))))
}

// pieces are the polynomials E_i and O_i in w². For |w| ≤ ½ the kernel is E_i + w·O_i at c − w and E_i − w·O_i at
// w − c, where c = i − (width−1)/2.
type pieces [width / 2][(degree + 1) / 2]struct{ even, odd float64 }

// polynomials returns the interpolation of the kernel at Chebyshev nodes.
var polynomials = sync.OnceValue(func() (p *pieces) {
	const nodes = degree + 1
	cos := func(i int) float64 { return math.Cos(math.Pi / (2 * nodes) * float64(i%(4*nodes))) }
	p = new(pieces)
	for i := range p {
		// t and next are the coefficients of the Chebyshev polynomials of degree k and k+1 in 2w.
		t, next := [nodes + 1]float64{1}, [nodes + 1]float64{0, 2}
		for k := range nodes {
			coefficient := 0.0
			for j := 1; j < 2*nodes; j += 2 {
				coefficient += cos(k*j) * kernel(float64(i)-(width-1)/2.0-cos(j)/2)
			}
			coefficient *= float64(min(k+1, 2)) / nodes
			for n := range nodes / 2 {
				p[i][n].even += coefficient * t[2*n]
				p[i][n].odd += coefficient * t[2*n+1]
			}
			after := [nodes + 1]float64{-t[0]}
			for n := range nodes {
				after[n+1] = 4*next[n] - t[n+1]
			}
			t, next = next, after
		}
	}
	return p
})

// at writes the kernel at the cells around a position with the given offset in its cell.
func (p *pieces) at(weights *[width]float64, offset float64) {
	w := offset - 0.5
	square := w * w
	for i := range p {
		even, odd := 0.0, 0.0
		for k := len(p[i]) - 1; k >= 0; k-- {
			even, odd = even*square+p[i][k].even, odd*square+p[i][k].odd
		}
		weights[i], weights[width-1-i] = even+w*odd, even-w*odd
	}
}

// A series is a Chebyshev series in 2(4f)² − 1 of an even function of frequency f ≤ ¼ cycles per cell.
type series [terms]float64

// deconvolution returns the reciprocal of the Fourier transform of the kernel, ∫ kernel(x) cos(2πfx) dx, which is
// smooth in f². The trapezoidal rule is accurate because the kernel is band-limited and has decayed to 1e-16 at its
// ends.
var deconvolution = sync.OnceValue(func() (c series) {
	const step = 0.25
	for i := range terms {
		angle := math.Pi / terms * (float64(i) + 0.5)
		f := math.Sqrt((math.Cos(angle)+1)/2) / 4
		transform := step
		for x := step; x <= width/2; x += step {
			transform += 2 * step * kernel(x) * math.Cos(2*math.Pi*f*x)
		}
		for k := range c {
			c[k] += 2.0 / terms * math.Cos(float64(k)*angle) / transform
		}
	}
	c[0] /= 2
	return c
})

// at returns the series at f, by Clenshaw's recurrence.
func (c *series) at(f float64) float64 {
	y := 2*(4*f)*(4*f) - 1
	a, b := 0.0, 0.0
	for k := terms - 1; k > 0; k-- {
		a, b = 2*y*a-b+c[k], a
	}
	return y*a - b + c[0]
}
