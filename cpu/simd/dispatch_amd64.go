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
