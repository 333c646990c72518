package simd

// outerVector runs the micro-kernel for r's panels, if the set in use has one.
func outerVector(c *float64, cRow int, l, r *float64, rPanel, n, panels int, alpha float64) bool {
	switch use {
	case AVX512:
		switch panels {
		case 1:
			outer1AVX512(c, cRow, Lanes, l, r, rPanel, n, alpha)
		case 2:
			outer2AVX512(c, cRow, Lanes, l, r, rPanel, n, alpha)
		default:
			outer3AVX512(c, cRow, Lanes, l, r, rPanel, n, alpha)
		}
	case AVX2:
		switch panels {
		case 1:
			outer1AVX2(c, cRow, Lanes, l, r, rPanel, n, alpha)
		case 2:
			outer2AVX2(c, cRow, Lanes, l, r, rPanel, n, alpha)
		default:
			outer3AVX2(c, cRow, Lanes, l, r, rPanel, n, alpha)
		}
	default:
		return false
	}
	return true
}

// innerVector runs the micro-kernel for the rows and panels, if the set in use
// has one.
func innerVector(c *float64, cRow, cPanel int, l *float64, lRow, lPanel int, r *float64, rPanel, rows, panels, n int, alpha float64) bool {
	switch use {
	case AVX512:
		switch rows*4 + panels {
		case 8*4 + 3:
			inner8x3AVX512(c, cRow, cPanel, l, lRow, lPanel, r, rPanel, n, alpha)
		case 8*4 + 2:
			inner8x2AVX512(c, cRow, cPanel, l, lRow, lPanel, r, rPanel, n, alpha)
		case 8*4 + 1:
			inner8x1AVX512(c, cRow, cPanel, l, lRow, lPanel, r, rPanel, n, alpha)
		case 4*4 + 3:
			inner4x3AVX512(c, cRow, cPanel, l, lRow, lPanel, r, rPanel, n, alpha)
		case 4*4 + 2:
			inner4x2AVX512(c, cRow, cPanel, l, lRow, lPanel, r, rPanel, n, alpha)
		case 4*4 + 1:
			inner4x1AVX512(c, cRow, cPanel, l, lRow, lPanel, r, rPanel, n, alpha)
		case 2*4 + 3:
			inner2x3AVX512(c, cRow, cPanel, l, lRow, lPanel, r, rPanel, n, alpha)
		case 2*4 + 2:
			inner2x2AVX512(c, cRow, cPanel, l, lRow, lPanel, r, rPanel, n, alpha)
		case 2*4 + 1:
			inner2x1AVX512(c, cRow, cPanel, l, lRow, lPanel, r, rPanel, n, alpha)
		case 1*4 + 3:
			inner1x3AVX512(c, cRow, cPanel, l, lRow, lPanel, r, rPanel, n, alpha)
		case 1*4 + 2:
			inner1x2AVX512(c, cRow, cPanel, l, lRow, lPanel, r, rPanel, n, alpha)
		case 1*4 + 1:
			inner1x1AVX512(c, cRow, cPanel, l, lRow, lPanel, r, rPanel, n, alpha)
		}
	case AVX2:
		switch rows*4 + panels {
		case 8*4 + 3:
			inner8x3AVX2(c, cRow, cPanel, l, lRow, lPanel, r, rPanel, n, alpha)
		case 8*4 + 2:
			inner8x2AVX2(c, cRow, cPanel, l, lRow, lPanel, r, rPanel, n, alpha)
		case 8*4 + 1:
			inner8x1AVX2(c, cRow, cPanel, l, lRow, lPanel, r, rPanel, n, alpha)
		case 4*4 + 3:
			inner4x3AVX2(c, cRow, cPanel, l, lRow, lPanel, r, rPanel, n, alpha)
		case 4*4 + 2:
			inner4x2AVX2(c, cRow, cPanel, l, lRow, lPanel, r, rPanel, n, alpha)
		case 4*4 + 1:
			inner4x1AVX2(c, cRow, cPanel, l, lRow, lPanel, r, rPanel, n, alpha)
		case 2*4 + 3:
			inner2x3AVX2(c, cRow, cPanel, l, lRow, lPanel, r, rPanel, n, alpha)
		case 2*4 + 2:
			inner2x2AVX2(c, cRow, cPanel, l, lRow, lPanel, r, rPanel, n, alpha)
		case 2*4 + 1:
			inner2x1AVX2(c, cRow, cPanel, l, lRow, lPanel, r, rPanel, n, alpha)
		case 1*4 + 3:
			inner1x3AVX2(c, cRow, cPanel, l, lRow, lPanel, r, rPanel, n, alpha)
		case 1*4 + 2:
			inner1x2AVX2(c, cRow, cPanel, l, lRow, lPanel, r, rPanel, n, alpha)
		case 1*4 + 1:
			inner1x1AVX2(c, cRow, cPanel, l, lRow, lPanel, r, rPanel, n, alpha)
		}
	default:
		return false
	}
	return true
}

// peakVector keeps the vector units of a core busy and counts the operations,
// none with the plain set.
func peakVector(n int) float64 {
	switch use {
	case AVX512:
		peakAVX512(n)
		return float64(n) * 12 * 8 * 2
	case AVX2:
		peakAVX2(n)
		return float64(n) * 12 * 4 * 2
	}
	return 0
}

func featureFitVector(cos, sin, x, gate, acc, par, w *float64, stride, n, panels int) bool {
	switch {
	case use == AVX512 && gate == nil:
		featureFitOpenAVX512(cos, sin, x, acc, par, w, stride, n, panels)
	case use == AVX512:
		featureFitAVX512(cos, sin, x, gate, acc, par, w, stride, n, panels)
	case use == AVX2 && gate == nil:
		featureFitOpenAVX2(cos, sin, x, acc, par, w, stride, n, panels)
	case use == AVX2:
		featureFitAVX2(cos, sin, x, gate, acc, par, w, stride, n, panels)
	default:
		return false
	}
	return true
}

func evenVector(cos, sin, x, gate, par, steps *float64, stride, n, panels int) (done int, ok bool) {
	switch use {
	case AVX512:
		return evenAVX512(cos, sin, x, gate, par, steps, stride, n, panels), true
	case AVX2:
		return evenAVX2(cos, sin, x, gate, par, steps, stride, n, panels), true
	}
	return 0, false
}

func evenFitVector(cos, sin, x, gate, acc, w, par, steps *float64, stride, n, panels int) (done int, ok bool) {
	switch {
	case use == AVX512 && gate == nil:
		return evenFitOpenAVX512(cos, sin, x, acc, w, par, steps, stride, n, panels), true
	case use == AVX512:
		return evenFitAVX512(cos, sin, x, gate, acc, w, par, steps, stride, n, panels), true
	case use == AVX2 && gate == nil:
		return evenFitOpenAVX2(cos, sin, x, acc, w, par, steps, stride, n, panels), true
	case use == AVX2:
		return evenFitAVX2(cos, sin, x, gate, acc, w, par, steps, stride, n, panels), true
	}
	return 0, false
}

// evenStartVector and evenFactorisedVector are AVX-512's alone.

func evenStartVector(starts, x, gate, acc, w, par, steps *float64, n, panels int) (done int) {
	if gate == nil {
		return evenStartOpenAVX512(starts, x, acc, w, par, steps, n, panels)
	}
	return evenStartAVX512(starts, x, gate, acc, w, par, steps, n, panels)
}

func evenFactorisedVector(sums, starts, res, gate, inv, t, t2, steps, lane *float64, mid, delta float64, n, panels int) {
	if gate == nil {
		evenFactorisedOpenAVX512(sums, starts, res, t, t2, steps, lane, mid, delta, n, panels)
		return
	}
	evenFactorisedAVX512(sums, starts, res, gate, inv, t, t2, steps, lane, mid, delta, n, panels)
}

// The functions below run a kernel of the set in use, if it has one.

func featureVector(cos, sin, x, gate, par *float64, q, stride, n, panels int) bool {
	switch {
	case use == AVX512 && q == 1:
		featureOneAVX512(cos, sin, x, gate, par, stride, n, panels)
	case use == AVX512:
		featureAVX512(cos, sin, x, gate, par, q, stride, n, panels)
	case use == AVX2 && q == 1:
		featureOneAVX2(cos, sin, x, gate, par, stride, n, panels)
	case use == AVX2:
		featureAVX2(cos, sin, x, gate, par, q, stride, n, panels)
	default:
		return false
	}
	return true
}

func contractVector(sums, cos, sin, bar, x, inv, lane *float64, stride, n, panels int) bool {
	switch use {
	case AVX512:
		contractAVX512(sums, cos, sin, bar, x, inv, lane, stride, n, panels)
	case AVX2:
		contractAVX2(sums, cos, sin, bar, x, inv, lane, stride, n, panels)
	default:
		return false
	}
	return true
}

func contractRowsVector(sums, cos, sin, bar, quad, inv, lane *float64, stride, n, panels int) bool {
	switch use {
	case AVX512:
		contractRowsAVX512(sums, cos, sin, bar, quad, inv, lane, stride, n, panels)
	case AVX2:
		contractRowsAVX2(sums, cos, sin, bar, quad, inv, lane, stride, n, panels)
	default:
		return false
	}
	return true
}

func contractInputVector(sums, theta, quad, x, lane *float64, q, stride, n, panels int) bool {
	switch use {
	case AVX512:
		contractInputAVX512(sums, theta, quad, x, lane, q, stride, n, panels)
	case AVX2:
		contractInputAVX2(sums, theta, quad, x, lane, q, stride, n, panels)
	default:
		return false
	}
	return true
}

func factorisedVector(sums, cos, sin, res, x, inv, lane *float64, stride, n, panels int) bool {
	switch {
	case use == AVX512 && inv == nil:
		factorisedOpenAVX512(sums, cos, sin, res, x, lane, stride, n, panels)
	case use == AVX512:
		factorisedAVX512(sums, cos, sin, res, x, inv, lane, stride, n, panels)
	case use == AVX2 && inv == nil:
		factorisedOpenAVX2(sums, cos, sin, res, x, lane, stride, n, panels)
	case use == AVX2:
		factorisedAVX2(sums, cos, sin, res, x, inv, lane, stride, n, panels)
	default:
		return false
	}
	return true
}

func secondVector(sums, cos, sin, inv *float64, stride, n, panels int) bool {
	switch use {
	case AVX512:
		secondAVX512(sums, cos, sin, inv, stride, n, panels)
	case AVX2:
		secondAVX2(sums, cos, sin, inv, stride, n, panels)
	default:
		return false
	}
	return true
}

func fitVector(cos, acc, w *float64, stride, n, panels int) bool {
	switch use {
	case AVX512:
		fitAVX512(cos, acc, w, stride, n, panels)
	case AVX2:
		fitAVX2(cos, acc, w, stride, n, panels)
	default:
		return false
	}
	return true
}

func alongVector(sums, cos, y *float64, d, stride, n, panels int) bool {
	switch use {
	case AVX512:
		alongAVX512(sums, cos, y, d, stride, n, panels)
	case AVX2:
		alongAVX2(sums, cos, y, d, stride, n, panels)
	default:
		return false
	}
	return true
}

func outputVector(bar, y, w *float64, d, stride, n, panels int) bool {
	switch use {
	case AVX512:
		outputAVX512(bar, y, w, d, stride, n, panels)
	case AVX2:
		outputAVX2(bar, y, w, d, stride, n, panels)
	default:
		return false
	}
	return true
}

func solveVector(x *float64, xPanel int, l *float64, lRow int, inv *float64, panels int) bool {
	switch use {
	case AVX512:
		solveAVX512(x, xPanel, l, lRow, inv, panels)
	case AVX2:
		solveAVX2(x, xPanel, l, lRow, inv, panels)
	default:
		return false
	}
	return true
}

func transposeVector(dst *float64, dstRow, dstStep int, src *float64, srcRow, srcStep, n int) bool {
	switch use {
	case AVX512:
		transposeAVX512(dst, dstRow, dstStep, src, srcRow, srcStep, n)
	case AVX2:
		transposeAVX2(dst, dstRow, dstStep, src, srcRow, srcStep, n)
	default:
		return false
	}
	return true
}
