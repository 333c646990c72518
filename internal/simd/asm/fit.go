package main

import (
	"math"
	"math/big"
)

// prec is the precision of the fits in bits, much larger than float64's.
const prec = 400

// π and log 2 to 60 digits.
var (
	pi  = float("3.14159265358979323846264338327950288419716939937510582097494")
	ln2 = float("0.693147180559945309417232121458176568075500134360255254120680")
)

func float(digits string) *big.Float {
	x, _ := newFloat(0).SetString(digits)
	return x
}

func newFloat(x float64) *big.Float  { return new(big.Float).SetPrec(prec).SetFloat64(x) }
func mul(a, b *big.Float) *big.Float { return newFloat(0).Mul(a, b) }
func add(a, b *big.Float) *big.Float { return newFloat(0).Add(a, b) }
func sub(a, b *big.Float) *big.Float { return newFloat(0).Sub(a, b) }
func quo(a, b *big.Float) *big.Float { return newFloat(0).Quo(a, b) }

// A series is a power series; term i is the coefficient of z^i.
type series []*big.Float

// exponential returns the series of exp(a·z) with n terms.
func exponential(a *big.Float, n int) series {
	s := series{newFloat(1)}
	for i := 1; i < n; i++ {
		s = append(s, quo(mul(s[i-1], a), newFloat(float64(i))))
	}
	return s
}

// every returns every second term from first on, with alternating signs. From exp this gives the
// cosine (first 0) or the sine (first 1), as series of the square.
func (s series) every(first int) series {
	var out series
	for i := first; i < len(s); i += 2 {
		term := s[i]
		if (i-first)%4 == 2 {
			term = newFloat(0).Neg(term)
		}
		out = append(out, term)
	}
	return out
}

// at evaluates the series at z.
func (s series) at(z *big.Float) *big.Float {
	sum := newFloat(0)
	for i := len(s) - 1; i >= 0; i-- {
		sum = add(mul(sum, z), s[i])
	}
	return sum
}

// fit returns the coefficients of the polynomial with n terms that interpolates s at the Chebyshev
// points of [lo, hi]. Its maximum error is within a small factor of the minimum.
func (s series) fit(lo, hi float64, n int) []float64 {
	z, f := make([]*big.Float, n), make([]*big.Float, n)
	for i := range z {
		z[i] = newFloat((lo+hi)/2 + (hi-lo)/2*math.Cos(math.Pi*(float64(i)+0.5)/float64(n)))
		f[i] = s.at(z[i])
	}
	for k := 1; k < n; k++ { // Newton's divided differences
		for i := n - 1; i >= k; i-- {
			f[i] = quo(sub(f[i], f[i-1]), sub(z[i], z[i-k]))
		}
	}
	c := make(series, n) // Newton's form, expanded
	for i := range c {
		c[i] = newFloat(0)
	}
	for i := n - 1; i >= 0; i-- {
		for j := n - 1; j >= 0; j-- {
			c[j] = mul(c[j], newFloat(0).Neg(z[i]))
			if j > 0 {
				c[j] = add(c[j], c[j-1])
			}
		}
		c[0] = add(c[0], f[i])
	}
	out := make([]float64, n)
	for i := range c {
		out[i], _ = c[i].Float64()
	}
	return out
}
