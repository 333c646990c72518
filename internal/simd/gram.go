package simd

import "fmt"

// rowBlock is the number of rows that the outer products sum at once. Four panels of them fit into
// the L1 cache (128·64·4 = 32 KiB).
const rowBlock = 128

// width returns the number of panels on the right of a micro-kernel for the given number of
// remaining panels: at most three, but two for four remaining ones, because a single panel is
// slow.
func width(left int) int {
	if left == 4 {
		return 2
	}
	return min(left, 3)
}

// Gram adds the lower triangle of AᵀA to C, for the columns of the panels
// [lo, hi):
//
//	c[i·ldc+j] += Σ_n a[n][i]·a[n][j]   for 8·lo ≤ j < 8·hi, i ≥ j
//
// Blocks of 8×8 on the diagonal are added in full. The division into [lo, hi) does not change the
// sums; divisions at multiples of three panels are fastest.
func Gram(c []float64, ldc int, a Panels, lo, hi int) { gram("Gram", c, ldc, a, lo, hi, 1) }

// Downdate subtracts from C the products that Gram adds.
func Downdate(c []float64, ldc int, a Panels, lo, hi int) { gram("Downdate", c, ldc, a, lo, hi, -1) }

// gram adds α times the triangle.
func gram(what string, c []float64, ldc int, a Panels, lo, hi int, alpha float64) {
	a.check(what)
	a.within(what, lo, hi)
	checkMatrix(what, c, a.Count*Lanes, hi*Lanes, ldc)
	for n := 0; n < a.N; n += rowBlock {
		t := a.Rows(n, min(a.N, n+rowBlock))
		for j, w := lo, 0; j < hi; j += w {
			w = width(hi - j)
			for i := j; i < a.Count; i++ {
				outer(c[i*Lanes*ldc+j*Lanes:], ldc, t.Slice(i, i+1), t.Slice(j, min(j+w, i+1)), alpha)
			}
		}
	}
}

// Cross adds AᵀB to C:
//
//	c[i·ldc+j] += Σ_n a[n][i]·b[n][j]   for i < 8·a.Count, j < 8·b.Count
func Cross(c []float64, ldc int, a, b Panels) {
	a.check("Cross")
	b.check("Cross")
	if a.N != b.N {
		panic(fmt.Sprintf("simd: Cross: %d rows times %d", a.N, b.N))
	}
	checkMatrix("Cross", c, a.Count*Lanes, b.Count*Lanes, ldc)
	for n := 0; n < a.N; n += rowBlock {
		end := min(a.N, n+rowBlock)
		s, t := a.Rows(n, end), b.Rows(n, end)
		for j, w := 0, 0; j < b.Count; j += w {
			w = width(b.Count - j)
			for i := range a.Count {
				outer(c[i*Lanes*ldc+j*Lanes:], ldc, s.Slice(i, i+1), t.Slice(j, j+w), 1)
			}
		}
	}
}

// checkMatrix panics unless c contains a matrix [rows,cols] of stride ld.
func checkMatrix(what string, c []float64, rows, cols, ld int) {
	if ld < cols || rows > 0 && cols > 0 && len(c) < (rows-1)*ld+cols {
		panic(fmt.Sprintf("simd: %s: %d numbers are too few for %d×%d, rows %d apart", what, len(c), rows, cols, ld))
	}
}

// outer adds α·LᵀR to the rows of c, where l is one panel and r one to three.
func outer(c []float64, ldc int, l, r Panels, alpha float64) {
	if l.N == 0 {
		return
	}
	if !outerVector(&c[0], ldc, Lanes, l.row(0, 0), r.row(0, 0), r.Stride*Lanes, l.N, r.Count, alpha) {
		outerPlain(c, ldc, l, r, alpha)
	}
}

// outerPlain is outer's plain loop.
func outerPlain(c []float64, ldc int, l, r Panels, alpha float64) {
	left := l.Panel(0)
	for p := range r.Count {
		var sum [Lanes][Lanes]float64
		right := r.Panel(p)
		for n := 0; n < len(left); n += Lanes {
			x, y := (*[Lanes]float64)(left[n:]), (*[Lanes]float64)(right[n:])
			for i := range sum {
				for j := range sum[i] {
					sum[i][j] += x[i] * y[j]
				}
			}
		}
		for i := range sum {
			for j, s := range sum[i] {
				c[i*ldc+p*Lanes+j] += alpha * s
			}
		}
	}
}
