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
func (m *shape) set(s *Spectrum, e envelope, plain bool) {
	span := s.layout.span
	m.envelope, m.class, m.a = e, grid, 0
	m.from, m.to = 0, len(s.layout.values[0])
	// The envelope is 1e-16 at √width standard deviations.
	width := digits*digits + 2*e.log
	if width <= 0 {
		m.class = none
		return
	}
	if e.p > 0 {
		m.a = min(max(e.z, -span/2), span/2)
	}
	q := e.p + s.p0
	root := math.Sqrt(q)
	m.half = int(digits*root/s.h+0.5) + 1
	if e.p*span*span > width {
		radius := math.Sqrt(width / e.p)
		m.from, m.to = s.layout.within(e.z, radius)
		switch rows := m.to - m.from; {
		case rows == 0:
			m.class = none
			return
		case plain && e.p < shortest && s.layout.complete(e.z, radius):
			m.class, m.a = whole, e.z
			return
		case rows*rowCost < 2*m.half || m.half > s.reach:
			m.class = few
			return
		}
	}
	inverse := 1 / q
	m.eta = s.h * inverse
	m.alpha, m.turns = s.h*m.eta, e.p*e.z*m.eta/(2*math.Pi)
	m.quad = e.p*s.p0*inverse*e.z*e.z - 2*e.log
	m.scale = s.density * root * inverse
	m.delta = (e.p*((e.z-m.a)+e.zLow) - s.p0*m.a) * inverse
	m.square = m.delta*m.delta + inverse
}

// nearest returns ωT/2π as an integer and a remainder in [−½, ½]. For even rows the integer is between −length/2 and
// length/2.
func (s *Spectrum) nearest(c carrier) (g int64, rest float64) {
	more := math.RoundToEven(c.part)
	g, rest = c.cycles+int64(more), c.part-more
	if s.length > 0 {
		if 2*g > s.length {
			g -= s.length
		} else if 2*g < -s.length {
			g += s.length
		}
	}
	return g, rest
}

// closed returns the sum over all integers of a wave if each grid point within its reach has one row (Poisson summation):
//
//	S_0 = √(2π/P)·exp(log − ω²/2P)·exp(iωZ + iφ)      S_1/S_0 = iω/P      S_2/S_0 = 1/P − ω²/P²
//
// around Z, with ω between −π and π. The phase is taken at the grid point nearest to Z.
func (s *Spectrum) closed(m *shape, c carrier) moments {
	g, r := s.nearest(c)
	omega := (float64(g) + r) * s.h
	exponent := m.log - 0.5*omega*omega/m.p
	if exponent < -0.5*digits*digits {
		return moments{}
	}
	point := math.RoundToEven(m.z)
	off := (m.z - point) + m.zLow
	turns := c.phase + s.turnsAt(g, r, double.Of(point))
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
func (s *Spectrum) turnsAt(g int64, r float64, x double.Float) float64 {
	if s.length > 0 {
		return float64(g*int64(x.Hi)%s.length)/s.period + r*x.Hi/s.period
	}
	_, away := double.Float{Hi: float64(g), Lo: r}.Times(x.Over(double.Of(s.period))).Split()
	return away
}

// direct sums a wave over the rows within its reach, weighted by the values of a table.
func (s *Spectrum) direct(m *shape, c carrier, values []float64) (out moments) {
	g, r := s.nearest(c)
	for i := m.from; i < m.to; i++ {
		x := s.layout.at(i)
		d := (x.Hi - m.z) + (x.Lo - m.zLow)
		amplitude := values[i] * math.Exp(m.log-0.5*m.p*d*d)
		sin, cos := math.Sincos(2 * math.Pi * fraction(c.phase+s.turnsAt(g, r, x)))
		re, im, b := amplitude*cos, amplitude*sin, (x.Hi-m.a)+x.Lo
		out.re[0] += re
		out.re[1] += b * re
		out.re[2] += b * b * re
		out.im[0] += im
		out.im[1] += b * im
	}
	return out
}
