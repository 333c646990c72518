package variational

import "math"

// logarithms computes a sum of log v over many v > 0. To save logarithms, it multiplies as
// many values as fit in float64's range and takes the logarithm of the product. The
// rounding error is no larger than the rounding error of a sum of logarithms.
type logarithms struct{ product, others float64 }

// A product and a factor between minFactor and maxFactor can be multiplied without overflow.
const minFactor, maxFactor = 0x1p-500, 0x1p500

func newLogarithms() logarithms { return logarithms{product: 1} }

// add adds log v.
func (l *logarithms) add(v float64) {
	product := l.product * v
	if !(v > minFactor && v < maxFactor && product > minFactor && product < maxFactor) {
		product = l.take(v)
	}
	l.product = product
}

// take adds the logarithms of the product and of v, and returns the new product, 1.
func (l *logarithms) take(v float64) float64 {
	l.others += math.Log(l.product) + math.Log(v)
	return 1
}

// sum returns Σ log v.
func (l *logarithms) sum() float64 { return l.others + math.Log(l.product) }
