// Package double implements double-double arithmetic: a number is the sum of two float64, with
// twice the precision.
package double

import "math"

// A Float is Hi + Lo, with Lo at most half a unit in the last place of Hi.
type Float struct{ Hi, Lo float64 }

// PerTurn is 1/2π.
var PerTurn = Float{0x1.45f306dc9c883p-3, -0x1.6b01ec5417056p-57}

// Of returns a.
func Of(a float64) Float { return Float{Hi: a} }

// Sum returns a + b, exact: the rounded sum and its rounding error (Knuth's two-sum).
func Sum(a, b float64) Float {
	s := a + b
	t := s - a
	return Float{s, (a - (s - t)) + (b - t)}
}

// Product returns a·b, exact except for underflow.
func Product(a, b float64) Float {
	p := float64(a * b) // the conversion prevents fusing it with the next operation
	return Float{p, math.FMA(a, b, -p)}
}

// Times returns a·b.
func (a Float) Times(b Float) Float {
	p := Product(a.Hi, b.Hi)
	return Sum(p.Hi, p.Lo+(a.Hi*b.Lo+a.Lo*b.Hi))
}

// Plus returns a + b.
func (a Float) Plus(b Float) Float {
	s := Sum(a.Hi, b.Hi)
	return Sum(s.Hi, s.Lo+(a.Lo+b.Lo))
}

// Minus returns a − b.
func (a Float) Minus(b Float) Float { return a.Plus(Float{-b.Hi, -b.Lo}) }

// Over returns a/b.
func (a Float) Over(b Float) Float {
	q := a.Hi / b.Hi
	r := a.Minus(b.Times(Of(q)))
	return Sum(q, r.Hi/b.Hi)
}

// Split returns the nearest integer and the rest, in [−½, ½].
func (a Float) Split() (whole, rest float64) {
	whole = math.RoundToEven(a.Hi)
	rest = (a.Hi - whole) + a.Lo
	if more := math.RoundToEven(rest); more != 0 {
		whole, rest = whole+more, rest-more
	}
	return whole, rest
}
