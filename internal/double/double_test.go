package double_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/vssgp/vssgp/internal/double"
)

// exact returns a's value.
func exact(a double.Float) *big.Float {
	sum := new(big.Float).SetPrec(400).SetFloat64(a.Hi)
	return sum.Add(sum, new(big.Float).SetFloat64(a.Lo))
}

// relative returns |got − want| relative to size.
func relative(got double.Float, want, size *big.Float) float64 {
	off := new(big.Float).Sub(exact(got), want)
	e, _ := off.Quo(off, size).Float64()
	return math.Abs(e)
}

// TestArithmetic compares with 400 bits: sums and products of two float64 are exact, the other
// operations have about 100 bits.
func TestArithmetic(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	number := func() float64 { return math.Ldexp(rng.NormFloat64(), rng.IntN(60)-30) }
	wide := func() *big.Float { return new(big.Float).SetPrec(400) }
	for range 10000 {
		x, y := number(), number()
		a, b := double.Sum(x, math.Ldexp(number(), -60)), double.Sum(y, math.Ldexp(number(), -60))
		p, q, bx, by := exact(a), exact(b), exact(double.Of(x)), exact(double.Of(y))
		size := wide().Add(wide().Abs(p), wide().Abs(q))
		for _, c := range []struct {
			name       string
			got        double.Float
			want, size *big.Float
			most       float64
		}{
			{"sum", double.Sum(x, y), wide().Add(bx, by), size, 0},
			{"product", double.Product(x, y), wide().Mul(bx, by), size, 0},
			{"plus", a.Plus(b), wide().Add(p, q), size, 0x1p-100},
			{"minus", a.Minus(b), wide().Sub(p, q), size, 0x1p-100},
			{"times", a.Times(b), wide().Mul(p, q), wide().Mul(p, q), 0x1p-100},
			{"over", a.Over(b), wide().Quo(p, q), wide().Quo(p, q), 0x1p-98},
		} {
			if off := relative(c.got, c.want, c.size); off > c.most {
				t.Fatalf("%s of %v and %v: %.3g off, want at most %.3g", c.name, a, b, off, c.most)
			}
			if c.got.Hi+c.got.Lo != c.got.Hi {
				t.Fatalf("%s of %v and %v: %v is not normalized", c.name, a, b, c.got)
			}
		}
		whole, rest := a.Split()
		if off := relative(double.Sum(whole, rest), p, p); whole != math.Trunc(whole) || math.Abs(rest) > 0.5 || off > 0x1p-52 {
			t.Fatalf("split of %v: %v and %v", a, whole, rest)
		}
	}
	if off := relative(double.PerTurn.Times(double.Float{Hi: 2 * math.Pi, Lo: 0x1.1a62633145c07p-52}), wide().SetInt64(1), wide().SetInt64(1)); off > 0x1p-100 {
		t.Errorf("1/2π times 2π: %.3g off 1", off)
	}
}
