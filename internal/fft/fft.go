// Package fft computes discrete Fourier transforms of real numbers in one or two dimensions on all cores. The bits of
// the results do not depend on the number of cores.
//
// Pairs of numbers along the last axis are complex numbers z = x_2c + i·x_2c+1, which are a matrix of R rows and C
// columns. Its columns are transformed, then its rows, in blocks that fit into a core's cache. Let u_L = exp(2πi/L). In
// two dimensions the result is
//
//	Z_kl = Σ_c u_C^(lc) · Σ_r u_R^(kr) · z_rc      0 ≤ k, r < R,  0 ≤ l, c < C
//
// N numbers in one dimension are a matrix whose factors R and C of N/2 are similar. By the four-step method (Bailey
// 1990) their transform is
//
//	Z_(k+Rl) = Σ_c u_C^(lc) · u_(N/2)^(kc) · Σ_r u_R^(kr) · z_(Cr+c)
//
// The sum and the difference of Z_g and conj(Z_−g) are the transforms of the numbers with even and with odd index.
package fft

import (
	"math"
	"math/bits"
	"math/cmplx"
	"sync"

	"github.com/vssgp/vssgp/internal/parallel"
)

// A Plan transforms N numbers, or a matrix of them. It must not be used concurrently.
type Plan struct {
	X []float64 // [N] or [n0,n1] the numbers, which Transform overwrites

	rows, columns int          // of the complex numbers
	flat          bool         // whether X is a vector
	coarse, fine  []complex128 // u_N^j = coarse[j>>shift]·fine[j&mask], with N = n1 for a matrix
	shift, mask   int

	ofColumns, ofRows lines
}

// New returns a Plan for an even number n. It is fast if n has no prime factors above 5.
func New(n int) *Plan {
	rows := 1
	for 4*rows*rows <= n/2 && n/2%(2*rows) == 0 {
		rows *= 2
	}

	p := newPlan(rows, n/2/rows, n)
	p.flat = true
	return p
}

// New2 returns a Plan for a matrix [n0,n1] with an even n1. It is fast if n0 and n1 have no prime factors above 5.
func New2(n0, n1 int) *Plan { return newPlan(n0, n1/2, n1) }

func newPlan(rows, columns, n int) *Plan {
	p := &Plan{X: make([]float64, 2*rows*columns), rows: rows, columns: columns}
	p.ofColumns, p.ofRows = newLines(columns, rows), newLines(rows, columns)

	p.shift = bits.Len(uint(n)) / 2
	p.mask = 1<<p.shift - 1
	p.coarse, p.fine = powers(n>>p.shift+1, 1<<p.shift, n), powers(1<<p.shift, 1, n)
	return p
}

// Bytes returns the memory of a Plan for n numbers, in bytes. n is n0·n1 for a matrix.
func Bytes(n int) float64 { return 8 * float64(n) }

// powers returns exp(2πi·step·j/n) for j < count. It reduces the angles exactly to an eighth of a turn on either side
// of a quarter.
func powers(count, step, n int) []complex128 {
	u := make([]complex128, count)
	for j := range u {
		eighths := 8 * step * j
		quarters := (eighths + n) / (2 * n)
		u[j] = cmplx.Rect(1, math.Pi/4*float64(eighths-2*n*quarters)/float64(n))
		for range quarters % 4 {
			u[j] = turned(u[j])
		}
	}
	return u
}

// turned returns i·a.
func turned(a complex128) complex128 { return complex(-imag(a), real(a)) }

// power returns u_N^j.
func (p *Plan) power(j int) complex128 { return p.coarse[j>>p.shift] * p.fine[j&p.mask] }

// Transform computes the modes of X.
func (p *Plan) Transform() {
	p.ofColumns.each(func(a, b []complex128, lo, hi int) {
		width := hi - lo
		for r := range p.rows {
			x := p.part(r, lo, hi)
			for i := range width {
				a[width*r+i] = complex(x[2*i], x[2*i+1])
			}
		}

		a = p.ofColumns.transform(a, b, width)
		for k := range p.rows {
			x := p.part(k, lo, hi)
			for i, z := range a[width*k:][:width] {
				if p.flat {
					z *= p.power(2 * k * (lo + i))
				}
				x[2*i], x[2*i+1] = real(z), imag(z)
			}
		}
	})
	p.ofRows.each(func(a, b []complex128, lo, hi int) {
		width := hi - lo
		for i := range width {
			x := p.part(lo+i, 0, p.columns)
			for c := range p.columns {
				a[width*c+i] = complex(x[2*c], x[2*c+1])
			}
		}

		a = p.ofRows.transform(a, b, width)
		for i := range width {
			x := p.part(lo+i, 0, p.columns)
			for l := range p.columns {
				z := a[width*l+i]
				x[2*l], x[2*l+1] = real(z), imag(z)
			}
		}
	})
}

// part returns the complex numbers in a row, in the columns from lo to hi, as pairs in X.
func (p *Plan) part(row, lo, hi int) []float64 {
	return p.X[2*(p.columns*row+lo) : 2*(p.columns*row+hi)]
}

// Mode returns Σ_n x_n exp(2πi·gn/N) after a Transform of a vector, for 0 ≤ g ≤ N/2.
func (p *Plan) Mode(g int) complex128 {
	half := p.rows * p.columns
	z := func(i int) complex128 {
		if i == half {
			i = 0
		}
		return p.at(i&(p.rows-1), i>>bits.TrailingZeros(uint(p.rows))) // New chooses a power of two
	}
	return p.separate(z(g), z(half-g), g)
}

// Mode2 returns Σ_ab x_ab exp(2πi(g0·a/n0 + g1·b/n1)) after a Transform of a matrix, for |g0| < n0 and 0 ≤ g1 ≤ n1/2.
func (p *Plan) Mode2(g0, g1 int) complex128 {
	z := func(k, l int) complex128 {
		if k < 0 {
			k += p.rows
		}
		if l == p.columns {
			l = 0
		}
		return p.at(k, l)
	}
	return p.separate(z(g0, g1), z(-g0, p.columns-g1), g1)
}

// at returns the complex number in row k and column l.
func (p *Plan) at(k, l int) complex128 {
	i := 2 * (p.columns*k + l)
	return complex(p.X[i], p.X[i+1])
}

// separate returns the mode of the real numbers, whose frequency along the last axis is g, from Z at its frequency and
// at the negative one.
func (p *Plan) separate(z, negative complex128, g int) complex128 {
	a, b := z, cmplx.Conj(negative)
	return 0.5 * (a + b - turned((a-b)*p.power(g)))
}

// Lines are count columns or rows of a matrix, which are transformed in blocks.
type lines struct {
	count, length, width int          // width: the number of lines in a block
	powers               []complex128 // u_length^j
	buffers              *sync.Pool   // of two slices of [length,width]
}

func newLines(count, length int) lines {
	// A block has whole cache lines of the matrix and fits into a core's cache.
	width := min(count, max(4, min(16, 1<<14/length)))
	return lines{count, length, width, powers(length, 1, length), &sync.Pool{New: func() any {
		return &[2][]complex128{make([]complex128, length*width), make([]complex128, length*width)}
	}}}
}

// each calls f with two buffers for each block of the lines from lo to hi.
func (l *lines) each(f func(a, b []complex128, lo, hi int)) {
	parallel.Blocks(l.count, l.width, func(_, lo, hi int) {
		buffers := l.buffers.Get().(*[2][]complex128)
		defer l.buffers.Put(buffers)
		f(buffers[0], buffers[1], lo, hi)
	})
}

// transform transforms the columns of x [length,width] by Stockham's method. It returns the result, which is in x or y,
// and uses both.
func (l *lines) transform(x, y []complex128, width int) []complex128 {
	// A pass transforms in steps of m: n = rm, x is [r,m,s] and y is [m,r,s].
	for n, s := l.length, width; n > 1; {
		r := radix(n)
		m := n / r
		for p := range m {
			from, to, step := x[s*p:], y[s*r*p:], l.length/n
			if r == 4 {
				quarter(from, to, s*m, s, l.powers[p*step], l.powers[2*p*step], l.powers[3*p*step])
				continue
			}
			for i := range r {
				sum := to[s*i:][:s]
				clear(sum)
				for k := range r {
					u := l.powers[(i*(p+m*k)*step)%l.length]
					for q, z := range from[s*m*k:][:s] {
						sum[q] += u * z
					}
				}
			}
		}
		x, y, n, s = y, x, m, r*s
	}
	return x
}

// radix returns a factor of n > 1: 4 or its smallest.
func radix(n int) int {
	if n%4 == 0 {
		return 4
	}
	r := 2
	for n%r != 0 {
		r++
	}
	return r
}

// quarter transforms s times four numbers with distance m in x to y, and multiplies the results by 1, u1, u2 and u3.
func quarter(x, y []complex128, m, s int, u1, u2, u3 complex128) {
	x0, x1, x2, x3 := x[:s], x[m:][:s], x[2*m:][:s], x[3*m:][:s]
	y0, y1, y2, y3 := y[:s], y[s:][:s], y[2*s:][:s], y[3*s:][:s]
	for q := range x0 {
		even, odd := x0[q]+x2[q], x1[q]+x3[q]
		front, side := x0[q]-x2[q], turned(x1[q]-x3[q])
		y0[q], y1[q], y2[q], y3[q] = even+odd, u1*(front+side), u2*(even-odd), u3*(front-side)
	}
}
