package rowspectrum

import "math"

// A double is the sum of two float64, the second at most half a unit in the last place of the first. Phases of 10⁶ turns keep
// their digits in it.
type double struct{ hi, lo float64 }

// perTurn is 1/2π.
var perTurn = double{0x1.45f306dc9c883p-3, -0x1.6b01ec5417056p-57}

// add returns a + b, exact.
func add(a, b float64) double {
	s := a + b
	t := s - a
	return double{s, (a - (s - t)) + (b - t)}
}

// mul returns a·b, exact.
func mul(a, b float64) double {
	p := float64(a * b) // converted, so that no compiler fuses it with what follows
	return double{p, math.FMA(a, b, -p)}
}

// times returns a·b.
func (a double) times(b double) double {
	p := mul(a.hi, b.hi)
	return add(p.hi, p.lo+(a.hi*b.lo+a.lo*b.hi))
}

// plus returns a + b.
func (a double) plus(b double) double {
	s := add(a.hi, b.hi)
	return add(s.hi, s.lo+(a.lo+b.lo))
}

// minus returns a − b.
func (a double) minus(b double) double { return a.plus(double{-b.hi, -b.lo}) }

// over returns a/b.
func (a double) over(b double) double {
	q := a.hi / b.hi
	r := a.minus(b.times(double{q, 0}))
	return add(q, r.hi/b.hi)
}

// split returns the nearest whole number and the rest, in [−½, ½].
func (a double) split() (whole, rest float64) {
	whole = math.RoundToEven(a.hi)
	rest = (a.hi - whole) + a.lo
	if more := math.RoundToEven(rest); more != 0 {
		whole, rest = whole+more, rest-more
	}
	return whole, rest
}
