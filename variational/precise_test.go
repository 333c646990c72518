package variational_test

import (
	"math"
	"math/big"
)

// A real is a number of 192 bits: with those, central differences of the
// bound are right to 30 digits, and conditioning, small Σ and far x cost
// nothing that a float64 would notice.
type real struct{ f *big.Float }

const realBits = 192

func exactly(v float64) real { return real{new(big.Float).SetPrec(realBits).SetFloat64(v)} }

func blank() *big.Float { return new(big.Float).SetPrec(realBits) }

func (a real) plus(b real) real  { return real{blank().Add(a.f, b.f)} }
func (a real) minus(b real) real { return real{blank().Sub(a.f, b.f)} }
func (a real) times(b real) real { return real{blank().Mul(a.f, b.f)} }
func (a real) over(b real) real  { return real{blank().Quo(a.f, b.f)} }
func (a real) root() real        { return real{blank().Sqrt(a.f)} }
func (a real) zero() bool        { return a.f.Sign() == 0 }

// scaled is a·2ⁿ.
func (a real) scaled(n int) real { return real{blank().SetMantExp(a.f, n)} }

func (a real) float() float64 {
	v, _ := a.f.Float64()
	return v
}

// realPi has bits to spare for the turns that cosine takes off.
var realPi = func() *big.Float {
	pi, _, err := big.ParseFloat("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798", 10, realBits+64, big.ToNearestEven)
	if err != nil {
		panic(err)
	}
	return pi
}()

var twoPi = real{blank().SetMantExp(realPi, 1)}

// cos sums the series of 1 − cos at an angle less whole turns, over 256, and
// doubles the angle eight times: 1 − cos 2y = 2v(2 − v).
func (a real) cos() real {
	wide := new(big.Float).SetPrec(realBits + 64)
	turns, _ := new(big.Float).Quo(wide.Set(a.f), new(big.Float).Mul(realPi, big.NewFloat(2))).Float64()
	whole := big.NewFloat(2 * math.Round(turns)).SetPrec(realBits + 64)
	reduced := real{blank().Sub(wide, whole.Mul(whole, realPi))}
	y := reduced.scaled(-8)
	y2 := y.times(y)
	term, v := y2.scaled(-1), y2.scaled(-1)
	for n := 3.0; n < 30; n += 2 {
		term = term.times(y2).over(exactly(-n * (n + 1)))
		v = v.plus(term)
	}
	two := exactly(2)
	for range 8 {
		v = v.times(two.minus(v)).scaled(1)
	}
	return exactly(1).minus(v)
}

// sinc is sin(h)/h.
func (a real) sinc() real {
	if a.zero() {
		return exactly(1)
	}
	return a.minus(twoPi.scaled(-2)).cos().over(a)
}

// exp sums the series of exp − 1 at a over a power of two and squares.
func (a real) exp() real {
	halvings := 10 + max(0, a.f.MantExp(nil))
	y := a.scaled(-halvings)
	sum, term := exactly(1), exactly(1)
	for n := 1.0; n < 18; n++ {
		term = term.times(y).over(exactly(n))
		sum = sum.plus(term)
	}
	for range halvings {
		sum = sum.times(sum)
	}
	return sum
}

// log is Halley's iteration on exp: each round trebles the digits.
func (a real) log() real {
	y := exactly(math.Log(a.float()))
	for range 3 {
		e := y.exp()
		y = y.plus(a.minus(e).over(a.plus(e)).scaled(1))
	}
	return y
}

// cholesky overwrites the lower triangle of a with its factor.
func cholesky(a [][]real) {
	for j := range a {
		for i := range a[:j+1] {
			s := a[j][i]
			for k := range i {
				s = s.minus(a[j][k].times(a[i][k]))
			}
			if i == j {
				a[j][j] = s.root()
			} else {
				a[j][i] = s.over(a[i][i])
			}
		}
	}
}

// whitened is R⁻¹b for a lower-triangular R.
func whitened(r [][]real, b []real) []real {
	out := make([]real, len(b))
	for j := range b {
		s := b[j]
		for k := range j {
			s = s.minus(r[j][k].times(out[k]))
		}
		out[j] = s.over(r[j][j])
	}
	return out
}
