package simd

// solve solves with the 8×8 lower triangle l for eight rows of one to three panels, by forward
// substitution. inv contains the reciprocals of its diagonal.
func solve(x Panels, l []float64, ld int, inv []float64) {
	if !solveVector(x.row(0, 0), x.Stride*Lanes, &l[0], ld, &inv[0], x.Count) {
		for p := range x.Count {
			solvePlain(x.Panel(p), l, ld, inv)
		}
	}
}

// solvePlain is solve's plain loop.
func solvePlain(x, l []float64, ld int, inv []float64) {
	for j := range Lanes {
		r := x[j*Lanes:][:Lanes]
		for k := range r {
			r[k] *= inv[j]
		}
		for i := j + 1; i < Lanes; i++ {
			f := l[i*ld+j]
			for k, v := range r {
				x[i*Lanes+k] -= f * v
			}
		}
	}
}

// transpose transposes n blocks of 8×8 numbers, with rows dstRow (srcRow) apart and blocks dstStep
// (srcStep) apart.
func transpose(dst []float64, dstRow, dstStep int, src []float64, srcRow, srcStep, n int) {
	if n == 0 {
		return
	}
	_ = dst[(n-1)*dstStep+7*dstRow+7] // the kernels have no bounds checks
	_ = src[(n-1)*srcStep+7*srcRow+7]
	if !transposeVector(&dst[0], dstRow, dstStep, &src[0], srcRow, srcStep, n) {
		transposePlain(dst, dstRow, dstStep, src, srcRow, srcStep, n)
	}
}

// transposePlain is transpose's plain loop.
func transposePlain(dst []float64, dstRow, dstStep int, src []float64, srcRow, srcStep, n int) {
	for b := range n {
		for i := range Lanes {
			for j := range Lanes {
				dst[b*dstStep+i*dstRow+j] = src[b*srcStep+j*srcRow+i]
			}
		}
	}
}
