package simd

import "fmt"

// Product writes A·B into the panels [lo, hi) of S:
//
//	s[n][j] = Σ_k a[n][k]·b[k][j]
//
// where A's lanes, panel by panel, are B's rows: b.N = 8·a.Count. S and B have equally many panels,
// S and A equally many rows; S must not overlap A or B.
func Product(s, a, b Panels, lo, hi int) {
	s.check("Product")
	a.check("Product")
	b.check("Product")
	if s.N != a.N || s.Count != b.Count || b.N != a.Count*Lanes {
		panic(fmt.Sprintf("simd: Product: %d×%d from %d×%d times %d×%d", s.N, s.Count*Lanes, a.N, a.Count*Lanes, b.N, b.Count*Lanes))
	}
	s.within("Product", lo, hi)
	for j := lo; j < hi; j++ {
		clear(s.Panel(j))
	}
	if s.N == 0 {
		return
	}
	const block = rowBlock / Lanes // panels of A, so that B's part stays in the cache
	for j, w := lo, 0; j < hi; j += w {
		w = width(hi - j)
		for k := 0; k < a.Count; k += block {
			left := a.Slice(k, min(a.Count, k+block))
			right := b.Slice(j, j+w).Rows(k*Lanes, (k+left.Count)*Lanes)
			for n := 0; n < s.N; {
				rows := Lanes
				for rows > s.N-n {
					rows /= 2
				}
				inner(s.Slice(j, j+w).Rows(n, n+rows), left.Data[n*Lanes:], Lanes, left.Stride*Lanes, right, left.Count, 1)
				n += rows
			}
		}
	}
}

// inner adds α·L·R to C for 1, 2, 4 or 8 rows and one to three panels. L has 8·depth columns; its
// rows have stride lRow, and its groups of eight columns stride lPanel.
func inner(c Panels, l []float64, lRow, lPanel int, r Panels, depth int, alpha float64) {
	_ = l[(c.N-1)*lRow+(depth-1)*lPanel+Lanes-1] // the kernels have no bounds checks
	if !innerVector(c.row(0, 0), Lanes, c.Stride*Lanes, &l[0], lRow, lPanel, r.row(0, 0), r.Stride*Lanes, c.N, c.Count, depth, alpha) {
		innerPlain(c, l, lRow, lPanel, r, depth, alpha)
	}
}

// innerPlain is inner's plain loop.
func innerPlain(c Panels, l []float64, lRow, lPanel int, r Panels, depth int, alpha float64) {
	for n := range c.N {
		for p := range c.Count {
			var sum [Lanes]float64
			for q := range depth {
				left, right := (*[Lanes]float64)(l[n*lRow+q*lPanel:]), r.Panel(p)[q*Lanes*Lanes:][:Lanes*Lanes]
				for k, x := range left {
					for j, y := range (*[Lanes]float64)(right[k*Lanes:]) {
						sum[j] += x * y
					}
				}
			}
			out := (*[Lanes]float64)(c.Panel(p)[n*Lanes:])
			for j, s := range sum {
				out[j] += alpha * s
			}
		}
	}
}
