package rowspectrum

import (
	"math"

	"github.com/vssgp/vssgp/internal/double"
)

// moments are S_r = Σ_n v_n (X_n − a)^r ψ(X_n), r = 0, 1, 2, about the point a of a shape. The imaginary part of S_2 is
// not needed.
type moments struct {
	re [3]float64
	im [2]float64
}

// A class is a method of computing the sums of a wave.
type class uint8

const (
	none  class = iota // 0: the wave is negligible at all rows
	whole              // closed form: exactly one row at each grid point within reach
	few                // sum over the rows within reach
	grid               // from a table
)

// shortest is the maximum P, in steps⁻², for the closed form: the periodic images of the spectrum are then below 1e-16.
const shortest = 0.13

// A shape is an envelope with the quantities that all sums of its waves share.
type shape struct {
	envelope
	class    class
	a        float64 // the point about which moments are taken
	from, to int     // few: rows

	// grid: V_k = exp(−½(quad + α(k − r)²) + 2πi(phase − turns·(k − r))), |k| ≤ half, of the frequencies g + k
	alpha, turns, quad float64
	half               int
	// The sums' factors are X − a = δ − iη(k − r).
	scale, delta, square, eta float64
}

// set computes the shape of an envelope, for sums of v = 1 (plain) or of y.
func (m *shape) set(s *line, e envelope, plain bool) {
	l := s.layout
	m.class = grid
	m.from, m.to = 0, len(l.values[0])
	// The envelope is 1e-16 at √width standard deviations.
	width := digits*digits + 2*e.log
	if width <= 0 {
		m.envelope, m.class, m.a = e, none, 0
		return
	}
	m.spread(l.axis, e)
	if e.p*l.span*l.span > width {
		radius := math.Sqrt(width / e.p)
		m.from, m.to = l.within(e.z, radius)
		switch rows := m.to - m.from; {
		case rows == 0:
			m.class = none
		case plain && e.p < shortest && l.complete(e.z, radius):
			m.class, m.a = whole, e.z
		case rows*rowCost < 2*m.half || m.half > s.reach:
			m.class = few
		}
	}
}

// spread computes the numbers of a sum over the frequencies of an axis.
func (m *shape) spread(x *axis, e envelope) {
	m.envelope, m.a = e, 0
	if e.p > 0 {
		m.a = min(max(e.z, -x.span/2), x.span/2)
	}
	q := e.p + x.p0
	root, inverse := math.Sqrt(q), 1/q
	m.half = int(digits*root/x.h+0.5) + 1
	m.eta = x.h * inverse
	m.alpha, m.turns = x.h*m.eta, e.p*e.z*m.eta/(2*math.Pi)
	m.quad = e.p*x.p0*inverse*e.z*e.z - 2*e.log
	m.scale = x.density * root * inverse
	m.delta = (e.p*((e.z-m.a)+e.zLow) - x.p0*m.a) * inverse
	m.square = m.delta*m.delta + inverse
}

// nearest returns ωT/2π as an integer and a remainder in [−½, ½]. For even rows the integer is between −length/2 and
// length/2.
func (a *axis) nearest(c carrier) (g int64, rest float64) {
	more := math.RoundToEven(c.part)
	g, rest = c.cycles+int64(more), c.part-more
	if a.length > 0 {
		if 2*g > a.length {
			g -= a.length
		} else if 2*g < -a.length {
			g += a.length
		}
	}
	return g, rest
}

// closed returns the sum over all integers of a wave if each grid point within its reach has one row (Poisson summation):
//
//	S_0 = √(2π/P)·exp(log − ω²/2P)·exp(iωZ + iφ)      S_1/S_0 = iω/P      S_2/S_0 = 1/P − ω²/P²
//
// around Z, with ω between −π and π. The phase is taken at the grid point nearest to Z.
func (s *line) closed(m *shape, c carrier) moments {
	x := s.layout.axis
	g, r := x.nearest(c)
	omega := (float64(g) + r) * x.h
	exponent := m.log - 0.5*omega*omega/m.p
	if exponent < -0.5*digits*digits {
		return moments{}
	}
	point := math.RoundToEven(m.z)
	off := (m.z - point) + m.zLow
	turns := c.phase + x.turnsAt(g, r, double.Of(point))
	sin, cos := math.Sincos(2*math.Pi*fraction(turns) + omega*off)
	amplitude := math.Sqrt(2*math.Pi/m.p) * math.Exp(exponent)
	mean, square := omega/m.p, 1/m.p // of X − Z: the imaginary mean, and the variance
	square += (m.zLow - mean) * (m.zLow + mean)
	re, im := amplitude*cos, amplitude*sin
	return moments{ // about z, from which Z is zLow away
		[3]float64{re, re*m.zLow - im*mean, re*square - im*2*m.zLow*mean},
		[2]float64{im, re*mean + im*m.zLow},
	}
}

// turnsAt returns the fractional part of (g + r)·X/T.
func (a *axis) turnsAt(g int64, r float64, x double.Float) float64 {
	if a.length > 0 {
		return float64(g*int64(x.Hi)%a.length)/a.period + r*x.Hi/a.period
	}
	_, away := double.Float{Hi: float64(g), Lo: r}.Times(x.Over(double.Of(a.period))).Split()
	return away
}

// direct sums a wave over the rows within its reach, weighted by the values of a table.
func (s *line) direct(m *shape, c carrier, values []float64) (out moments) {
	l := s.layout
	g, r := l.nearest(c)
	for i := m.from; i < m.to; i++ {
		x := l.position(i)
		d := (x.Hi - m.z) + (x.Lo - m.zLow)
		amplitude := values[i] * math.Exp(m.log-0.5*m.p*d*d)
		sin, cos := math.Sincos(2 * math.Pi * fraction(c.phase+l.turnsAt(g, r, x)))
		re, im, b := amplitude*cos, amplitude*sin, (x.Hi-m.a)+x.Lo
		out.re[0] += re
		out.re[1] += b * re
		out.re[2] += b * b * re
		out.im[0] += im
		out.im[1] += b * im
	}
	return out
}
