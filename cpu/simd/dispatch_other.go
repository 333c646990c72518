//go:build !amd64

package simd

func outerVector(c *float64, cRow int, l, r *float64, rPanel, n, panels int, alpha float64) bool {
	return false
}

func innerVector(c *float64, cRow, cPanel int, l *float64, lRow, lPanel int, r *float64, rPanel, rows, panels, n int, alpha float64) bool {
	return false
}

func peakVector(n int) float64 { return 0 }
