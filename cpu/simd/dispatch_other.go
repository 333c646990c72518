//go:build !amd64

package simd

func outerVector(c *float64, cRow int, l, r *float64, rPanel, n, panels int, alpha float64) bool {
	return false
}

func innerVector(c *float64, cRow, cPanel int, l *float64, lRow, lPanel int, r *float64, rPanel, rows, panels, n int, alpha float64) bool {
	return false
}

func peakVector(n int) float64 { return 0 }

func featureFitVector(cos, sin, x, gate, acc, par, w *float64, stride, n, panels int) bool {
	return false
}

func featureVector(cos, sin, x, gate, par *float64, q, stride, n, panels int) bool {
	return false
}

func evenVector(cos, sin, x, gate, par, steps *float64, stride, n, panels int) (done int, ok bool) {
	return 0, false
}

func evenFitVector(cos, sin, x, gate, acc, w, par, steps *float64, stride, n, panels int) (done int, ok bool) {
	return 0, false
}

func evenStartVector(starts, x, gate, acc, w, par, steps *float64, n, panels int) (done int) {
	panic("simd: no kernel")
}

func evenFactorisedVector(sums, starts, res, gate, inv, t, t2, steps, lane *float64, mid, delta float64, n, panels int) {
	panic("simd: no kernel")
}

func contractVector(sums, cos, sin, bar, x, inv, lane *float64, stride, n, panels int) bool {
	return false
}

func contractRowsVector(sums, cos, sin, bar, quad, inv, lane *float64, stride, n, panels int) bool {
	return false
}

func contractInputVector(sums, theta, quad, x, lane *float64, q, stride, n, panels int) bool {
	return false
}

func factorisedVector(sums, cos, sin, res, x, inv, lane *float64, stride, n, panels int) bool {
	return false
}

func secondVector(sums, cos, sin, inv *float64, stride, n, panels int) bool {
	return false
}

func fitVector(cos, acc, w *float64, stride, n, panels int) bool {
	return false
}

func alongVector(sums, cos, y *float64, d, stride, n, panels int) bool {
	return false
}

func outputVector(bar, y, w *float64, d, stride, n, panels int) bool {
	return false
}

func solveVector(x *float64, xPanel int, l *float64, lRow int, inv *float64, panels int) bool {
	return false
}

func transposeVector(dst *float64, dstRow, dstStep int, src *float64, srcRow, srcStep, n int) bool {
	return false
}
