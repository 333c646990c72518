package simd

import "github.com/vssgp/vssgp/internal/parallel"

// span is the number of rows of L⁻¹ computed at once, and jobPanels the number of panels of its
// columns per job. A span×span block of L stays in the L2 cache and is loaded once per jobPanels·8
// columns.
const (
	span      = 128
	jobPanels = 12
)

// Inverse overwrites the factor L in the lower triangle of a with A⁻¹, both triangles: first L⁻¹ by
// forward substitution, then A⁻¹ = L⁻ᵀL⁻¹.
func (d *Dense) Inverse(a []float64, n, ld int) {
	checkSquare("Inverse", a, n, ld)
	d.reciprocals(a, n, ld)
	d.inverse = Resize(d.inverse, n*n)
	w := Panels{Data: d.inverse, N: n, Stride: n, Count: n / Lanes}
	parallel.For((w.Count+jobPanels-1)/jobPanels, d.workers, func(j int) { // the longest job is the first
		d.invertColumns(w, a, ld, j*jobPanels, min((j+1)*jobPanels, w.Count))
	})
	parallel.For((w.Count+2)/3, d.workers, func(g int) {
		squareColumns(a, ld, w, 3*g, min(3*g+3, w.Count))
	})
	parallel.For(w.Count, d.workers, func(p int) { mirror(a, ld, p) })
}

// invertColumns writes the panels [lo, hi) of L⁻¹'s columns from row 8·lo on.
func (d *Dense) invertColumns(w Panels, l []float64, ld, lo, hi int) {
	first := lo * Lanes
	for p := lo; p < hi; p++ {
		x := w.Panel(p)
		clear(x[first*Lanes:])
		for i := range Lanes {
			x[(p*Lanes+i)*Lanes+i] = 1
		}
	}
	d.forward(w.Slice(lo, hi), l, ld, first)
}

// forward solves with L for panels by forward substitution. The rows above first, a multiple of
// eight, are zero or not needed.
func (d *Dense) forward(w Panels, l []float64, ld, first int) {
	for top := first; top < w.N; top += span {
		bottom := min(w.N, top+span)
		for p := 0; p < w.Count; p += 3 {
			x := w.Slice(p, min(p+3, w.Count))
			for k := first; k < top; k += span {
				for i := top; i < bottom; i += Lanes {
					inner(x.Rows(i, i+Lanes), l[i*ld+k:], ld, Lanes, x.Rows(k, w.N), span/Lanes, -1)
				}
			}
			d.solveRows(x.Rows(top, bottom), l[top*(ld+1):], ld, (bottom-top)/Lanes, top)
		}
	}
}

// reciprocals computes the reciprocals of a factor's diagonal.
func (d *Dense) reciprocals(l []float64, n, ld int) {
	d.inv = Resize(d.inv, n)
	for i := range n {
		d.inv[i] = 1 / l[i*ld+i]
	}
}

// InverseFactor returns L⁻¹ [n,n] in panels of its columns, with zeros above the diagonal, after a
// call of Inverse for a matrix of n rows. The next call of d overwrites it.
func (d *Dense) InverseFactor(n int) Panels {
	w := Panels{Data: d.inverse, N: n, Stride: n, Count: n / Lanes}
	w.check("InverseFactor")
	for p := range w.Count {
		clear(w.Panel(p)[:p*Lanes*Lanes])
	}
	return w
}

// Lend provides memory of [n,n] numbers for L⁻¹ to Inverse, until it is called with other memory or
// nil.
func (d *Dense) Lend(room []float64) { d.inverse = room }

// SolveLower overwrites the panels, each with eight right-hand sides, with L⁻¹ times them. L is
// the lower triangle of l [n,n], and each panel has n rows.
func (d *Dense) SolveLower(x Panels, l []float64, ld int) {
	x.check("SolveLower")
	checkSquare("SolveLower", l, x.N, ld)
	d.reciprocals(l, x.N, ld)
	parallel.For((x.Count+jobPanels-1)/jobPanels, d.workers, func(j int) {
		d.forward(x.Slice(j*jobPanels, min((j+1)*jobPanels, x.Count)), l, ld, 0)
	})
}

// squareColumns writes the lower triangle of WᵀW in the columns of the panels [lo, hi), where W is
// lower triangular, so that the sums of row i begin at row i.
func squareColumns(c []float64, ldc int, w Panels, lo, hi int) {
	for i := lo * Lanes; i < w.N; i++ {
		clear(c[i*ldc+lo*Lanes:][:(hi-lo)*Lanes])
	}
	for k := lo * Lanes; k < w.N; k += rowBlock {
		end := min(w.N, k+rowBlock)
		for i := lo; i*Lanes < end; i++ {
			from := max(k, i*Lanes)
			outer(c[i*Lanes*ldc+lo*Lanes:], ldc, w.Slice(i, i+1).Rows(from, end), w.Slice(lo, min(hi, i+1)).Rows(from, end), 1)
		}
	}
}

// mirror copies panel p's rows of the lower triangle to the upper one.
func mirror(a []float64, ld, p int) {
	i := p * Lanes
	transpose(a[i:], ld, Lanes*ld, a[i*ld:], ld, Lanes, p)
	for r := i; r < i+Lanes; r++ {
		for c := i; c < r; c++ {
			a[c*ld+r] = a[r*ld+c]
		}
	}
}
