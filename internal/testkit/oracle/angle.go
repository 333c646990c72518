package oracle

import (
	"math"
	"math/big"
)

// precision of angles, in bits: 53 for the answer, some 30 for turns up to
// 10⁹, 53 for a product's low half, and to spare.
const precision = 256

// twoPi is 2π to 256 bits and more.
var twoPi = func() *big.Float {
	pi, _, err := big.ParseFloat("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798", 10, precision, big.ToNearestEven)
	if err != nil {
		panic(err)
	}
	return pi.Mul(pi, number(2))
}()

func number(v float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(v) }

func add(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(precision).Add(a, b) }
func sub(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(precision).Sub(a, b) }
func mul(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(precision).Mul(a, b) }
func quo(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(precision).Quo(a, b) }

// reduce takes whole turns off an angle and rounds: the result lies in
// [−2π, 2π] and is right to the last bit or so, however far x is.
func reduce(angle *big.Float) float64 {
	turns, _ := quo(angle, twoPi).Int(nil)
	whole := new(big.Float).SetPrec(precision).SetInt(turns)
	r, _ := sub(angle, mul(whole, twoPi)).Float64()
	return r
}

// Angle is Σ_q ω_q (x_q − z_q) + c, less whole turns, with nothing rounded
// before the end; NaN where an argument is not finite.
func Angle(omega, x, z []float64, c float64) float64 {
	plain := c
	for q := range omega {
		plain += omega[q] * (x[q] - z[q])
	}
	if math.IsNaN(plain) || math.IsInf(plain, 0) {
		return math.NaN()
	}
	sum := number(c)
	for q := range omega {
		sum = add(sum, mul(number(omega[q]), sub(number(x[q]), number(z[q]))))
	}
	return reduce(sum)
}
