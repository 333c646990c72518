package variational

import "math"

// logarithms add up log v over many v > 0, with a logarithm for all of them in place of
// one for each: the product of their mantissas, in [1, 2), and the sum of their exponents.
// The product's rounding errors are of the size of those of a sum of logarithms.
type logarithms struct {
	product  float64
	exponent int
	others   float64 // logarithms of numbers that are no normal ones above 0
}

const (
	exponentBits = 52
	exponentBias = 1023
	mantissa     = 1<<exponentBits - 1
	productMost  = 0x1p512 // above, powers of two move from the product to the exponent
)

func newLogarithms() logarithms { return logarithms{product: 1} }

// add adds log v.
func (l *logarithms) add(v float64) {
	bits := math.Float64bits(v)
	exponent := bits >> exponentBits // above 2·exponentBias: ∞, NaN or a sign
	if exponent-1 >= 2*exponentBias {
		l.others += math.Log(v)
		return
	}
	l.exponent += int(exponent) - exponentBias
	l.product *= math.Float64frombits(bits&mantissa | exponentBias<<exponentBits)
	if l.product > productMost {
		l.product /= productMost
		l.exponent += 512
	}
}

// sum is Σ log v.
func (l *logarithms) sum() float64 {
	return math.Log(l.product) + float64(l.exponent)*math.Ln2 + l.others
}
