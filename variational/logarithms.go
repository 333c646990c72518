package variational

import "math"

// logarithms add up log v over many v > 0, by the logarithms of products of as many of
// them as float64 has room for. The products' rounding errors are no larger than those of
// a sum of logarithms.
type logarithms struct{ product, others float64 }

// Products and factors between these do not overflow when multiplied once more.
const factorLeast, factorMost = 0x1p-500, 0x1p500

func newLogarithms() logarithms { return logarithms{product: 1} }

// add adds log v.
func (l *logarithms) add(v float64) {
	product := l.product * v
	if !(v > factorLeast && v < factorMost && product > factorLeast && product < factorMost) {
		product = l.take(v)
	}
	l.product = product
}

// take takes the product's logarithm, and v's, and begins a new product.
func (l *logarithms) take(v float64) float64 {
	l.others += math.Log(l.product) + math.Log(v)
	return 1
}

// sum is Σ log v.
func (l *logarithms) sum() float64 { return l.others + math.Log(l.product) }
