package simd

import "time"

// Peak measures the floating-point operations per second of one core with the set in use, as the
// maximum of some short runs. Shares of peak refer to it.
func Peak() float64 {
	best := 0.0
	for range 20 {
		began := time.Now()
		flops := peakFlops(100_000)
		best = max(best, flops/time.Since(began).Seconds())
	}
	return best
}

// peakFlops runs about ten times n operations on the widest vectors and returns their exact number.
func peakFlops(n int) float64 {
	if peakVector(n) {
		return float64(n) * 12 * float64(4*use) * 2
	}
	return peakPlain(n)
}

// sink prevents the compiler from removing peakPlain.
var sink float64

// peakPlain multiplies and adds in eight variables n times.
func peakPlain(n int) float64 {
	x, y := 0.5+sink, 0.25
	var a, b, c, d, e, f, g, h float64
	for range n {
		a, b, c, d = a*x+y, b*x+y, c*x+y, d*x+y
		e, f, g, h = e*x+y, f*x+y, g*x+y, h*x+y
	}
	sink = 0 * (a + b + c + d + e + f + g + h)
	return float64(n) * 16
}
