// Package nufft computes Fourier sums over N unevenly spaced positions at F frequencies in O(N + F log F). It implements the type 1
// non-uniform fast Fourier transform (Dutt & Rokhlin 1993) with the kernel of Barnett, Magland & af Klinteberg (2019).
package nufft

import (
	"math"
	"math/cmplx"
	"slices"
	"sync"

	"gonum.org/v1/gonum/dsp/fourier"
)

// The kernel is exp(β(√(1−t²)−1)). This β minimizes the maximum relative error for one value, 1.3e-14 as measured; 2.25·width and
// 2.4·width have 2.4e-14 and 3e-12.
const (
	width        = 16 // width of the kernel in cells of the fine grid
	oversampling = 2  // for the modes −count < g < count of a real sum
	beta         = 2.32 * width
	terms        = 18 // of the Chebyshev series for the reciprocal of the Fourier transform of the kernel
)

// A Plan computes sums over fixed positions. It must not be used concurrently.
type Plan struct {
	u, low []float64
	count  int
	fft    *fourier.FFT
	grid   []float64 // cells of one period, followed by width cells that wrap around
	modes  []complex128
}

// NewPlan returns a Plan for the modes 0, …, count−1 at the positions u_n + low_n modulo 1, in periods. low is the rounding error of
// u and may be nil. Each Transform reads both, so they may change between transforms.
func NewPlan(u, low []float64, count int) *Plan {
	size := length(count)
	return &Plan{u, low, count, fourier.NewFFT(size), make([]float64, size+width), make([]complex128, size/2+1)}
}

// length returns the length of the real FFT for count modes.
func length(count int) int { return FastLength(max(2*oversampling*count, width)) }

// FastLength returns the smallest length ≥ n that is a power of two times 1, 3, 5, 9 or 15. Gonum is fast for these lengths.
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

// Bytes returns the memory of a Plan and its Transform for count modes, in bytes.
func Bytes(count int) float64 { return 8 * 5 * float64(length(count)) }

// Transform returns F_g = Σ_n v_n exp(2πi·g·(u_n + low_n)) for 0 ≤ g < count, in dst if it has the capacity. The maximum measured
// error is 1.3e-14·Σ|v_n|, the root mean square 2e-15·Σ|v_n|. If a position or value is NaN or infinite, all sums may be NaN.
func (p *Plan) Transform(dst []complex128, v []float64) []complex128 {
	clear(p.grid)
	size := p.fft.Len()
	for n, u := range p.u {
		low := 0.0
		if p.low != nil {
			low = p.low[n]
		}
		spread(p.grid, size, u, low, v[n])
	}
	for i, x := range p.grid[size:] {
		p.grid[i] += x
	}
	p.fft.Coefficients(p.modes, p.grid[:size])
	dst = slices.Grow(dst[:0], p.count)[:p.count]
	c := deconvolution()
	for g := range dst {
		dst[g] = cmplx.Conj(p.modes[g]) * complex(c.at(float64(g)/float64(size)), 0)
	}
	return dst
}

// spread adds v times the kernel centered at a position to the grid. It computes u·size in double-double precision, so that the
// offset in a cell is accurate to 1e-15; otherwise the mode would amplify the rounding error.
func spread(grid []float64, size int, u, low, v float64) {
	u -= math.RoundToEven(u)
	x := u * float64(size)
	cell := math.Floor(x)
	offset := (x - cell) + (math.FMA(u, float64(size), -x) + low*float64(size))
	cell += math.Floor(offset)
	offset -= math.Floor(offset)
	first := (int(cell) - width/2 + 1) % size
	if first < 0 {
		first += size
	}
	for i, cells := 0, grid[first:first+width]; i < width; i++ {
		cells[i] += v * kernel(float64(i-width/2+1)-offset)
	}
}

// kernel returns exp(β(√(1−t²) − 1)) at x cells from its center, t = 2x/width.
func kernel(x float64) float64 {
	t := x * (2.0 / width)
	return math.Exp(-beta * t * t / (1 + math.Sqrt(max(0, 1-t*t))))
}

// A series is a Chebyshev series in 2(4f)² − 1 of an even function of frequency f ≤ ¼ cycles per cell.
type series [terms]float64

// deconvolution returns the reciprocal of the Fourier transform of the kernel, ∫ kernel(x) cos(2πfx) dx, which is smooth in f². The
// trapezoidal rule is accurate because the kernel is band-limited and has decayed to 1e-16 at its ends.
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
