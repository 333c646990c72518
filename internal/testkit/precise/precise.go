// Package precise provides 192-bit arithmetic as a reference for tests of float64 code.
package precise

import (
	"math"
	"math/big"
)

// A Real is a number with 192 bits. Central differences of the bound are then accurate to 30
// digits, even with poor conditioning, small Σ or distant x.
type Real struct{ f *big.Float }

const bits = 192

// Of returns v as a Real.
func Of(v float64) Real { return Real{new(big.Float).SetPrec(bits).SetFloat64(v)} }

func blank() *big.Float { return new(big.Float).SetPrec(bits) }

// Arithmetic operations.
func (a Real) Plus(b Real) Real  { return Real{blank().Add(a.f, b.f)} }
func (a Real) Minus(b Real) Real { return Real{blank().Sub(a.f, b.f)} }
func (a Real) Times(b Real) Real { return Real{blank().Mul(a.f, b.f)} }
func (a Real) Over(b Real) Real  { return Real{blank().Quo(a.f, b.f)} }
func (a Real) Root() Real        { return Real{blank().Sqrt(a.f)} }
func (a Real) Zero() bool        { return a.f.Sign() == 0 }

// Scaled returns a·2ⁿ.
func (a Real) Scaled(n int) Real { return Real{blank().SetMantExp(a.f, n)} }

// Exponent returns n in a = m·2ⁿ, ½ ≤ |m| < 1.
func (a Real) Exponent() int { return a.f.MantExp(nil) }

// Float returns the nearest float64.
func (a Real) Float() float64 {
	v, _ := a.f.Float64()
	return v
}

// pi has additional bits for the reduction of angles.
var pi = func() *big.Float {
	const digits = "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798"
	f, _, err := big.ParseFloat(digits, 10, bits+64, big.ToNearestEven)
	if err != nil {
		panic(err)
	}
	return f
}()

// TwoPi is 2π.
var TwoPi = Real{blank().SetMantExp(pi, 1)}

// Cos returns cos(a). It reduces the angle modulo 2π, divides it by 256, sums the series of 1 − cos,
// and doubles the angle eight times by 1 − cos 2y = 2v(2 − v) with v = 1 − cos y.
func (a Real) Cos() Real {
	wide := new(big.Float).SetPrec(bits + 64)
	turns, _ := new(big.Float).Quo(wide.Set(a.f), new(big.Float).Mul(pi, big.NewFloat(2))).Float64()
	whole := big.NewFloat(2 * math.Round(turns)).SetPrec(bits + 64)
	reduced := Real{blank().Sub(wide, whole.Mul(whole, pi))}
	y := reduced.Scaled(-8)
	y2 := y.Times(y)
	term, v := y2.Scaled(-1), y2.Scaled(-1)
	for n := 3.0; n < 30; n += 2 {
		term = term.Times(y2).Over(Of(-n * (n + 1)))
		v = v.Plus(term)
	}
	two := Of(2)
	for range 8 {
		v = v.Times(two.Minus(v)).Scaled(1)
	}
	return Of(1).Minus(v)
}

// Sinc returns sin(a)/a.
func (a Real) Sinc() Real {
	if a.Zero() {
		return Of(1)
	}
	return a.Minus(TwoPi.Scaled(-2)).Cos().Over(a)
}

// Exp returns exp(a): the series for a divided by a power of two, squared repeatedly.
func (a Real) Exp() Real {
	halvings := 10 + max(0, a.f.MantExp(nil))
	y := a.Scaled(-halvings)
	sum, term := Of(1), Of(1)
	for n := 1.0; n < 18; n++ {
		term = term.Times(y).Over(Of(n))
		sum = sum.Plus(term)
	}
	for range halvings {
		sum = sum.Times(sum)
	}
	return sum
}

// Log returns log(a) by Halley's iteration on exp. Each step triples the number of digits.
func (a Real) Log() Real {
	y := Of(math.Log(a.Float()))
	for range 3 {
		e := y.Exp()
		y = y.Plus(a.Minus(e).Over(a.Plus(e)).Scaled(1))
	}
	return y
}

// Cholesky overwrites the lower triangle of a with its Cholesky factor.
func Cholesky(a [][]Real) {
	for j := range a {
		for i := range a[:j+1] {
			s := a[j][i]
			for k := range i {
				s = s.Minus(a[j][k].Times(a[i][k]))
			}
			if i == j {
				a[j][j] = s.Root()
			} else {
				a[j][i] = s.Over(a[i][i])
			}
		}
	}
}

// Whitened returns R⁻¹b for a lower-triangular R.
func Whitened(r [][]Real, b []Real) []Real {
	out := make([]Real, len(b))
	for j := range b {
		s := b[j]
		for k := range j {
			s = s.Minus(r[j][k].Times(out[k]))
		}
		out[j] = s.Over(r[j][j])
	}
	return out
}

// Solved returns A⁻¹b for the Cholesky factor R of A.
func Solved(r [][]Real, b []Real) []Real {
	x := Whitened(r, b)
	for i := len(x) - 1; i >= 0; i-- {
		for j := i + 1; j < len(x); j++ {
			x[i] = x[i].Minus(r[j][i].Times(x[j]))
		}
		x[i] = x[i].Over(r[i][i])
	}
	return x
}

// Matrix returns a matrix of zeros.
func Matrix(rows, cols int) [][]Real {
	a := make([][]Real, rows)
	for i := range a {
		a[i] = make([]Real, cols)
		for j := range a[i] {
			a[i][j] = Of(0)
		}
	}
	return a
}
