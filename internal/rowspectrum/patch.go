package rowspectrum

import (
	"math"

	"github.com/vssgp/vssgp/internal/simd"
)

// A patch is the envelope of a wave over two inputs with the quantities that all sums of its waves share. A wave of a
// plane is the product of one wave per input, so the weight of an entry of the table is a product, too.
type patch struct {
	axes    [2]shape
	class   class // none, few or grid
	twisted bool  // the weights are not real
	points  [2]int
	root    [2]float64    // exp(−½α)
	step    [2]complex128 // from a weight's phase to the next one's
	radius  [2]float64    // few: of the rows within reach
}

// set computes the patch of a product of envelopes.
func (m *patch) set(p *plane, e [2]envelope) {
	m.class = grid
	// The envelope is 1e-16 at √width standard deviations.
	width := digits*digits + 2*(e[0].log+e[1].log)
	if width <= 0 {
		m.class = none
		return
	}
	short := false
	for q, a := range p.axes {
		m.axes[q].spread(a, e[q])
		m.points[q] = pointsFor(a, e[q].p)
		m.radius[q] = math.Inf(1)
		if e[q].p*a.span*a.span > width {
			m.radius[q], short = math.Sqrt(width/e[q].p), true
		}
	}
	if !short {
		m.prepare()
		return
	}
	z := [2]float64{e[0].z, e[1].z}
	switch rows := p.places.count(z, m.radius); {
	case rows == 0:
		m.class = none
	case float64(rows)*planeRowCost < m.terms() || max(m.points[0], m.points[1]) > p.reach:
		m.class = few
	default:
		m.prepare()
	}
}

// terms returns the number of terms of a sum.
func (m *patch) terms() float64 { return 4 * float64(m.points[0]) * float64(m.points[1]) }

// prepare computes the numbers of weights.
func (m *patch) prepare() {
	m.twisted = false
	for q := range m.axes {
		s := &m.axes[q]
		m.root[q], m.step[q] = math.Exp(-0.5*s.alpha), 1
		if s.turns != 0 {
			m.twisted = true
			sin, cos := math.Sincos(-2 * math.Pi * fraction(s.turns))
			m.step[q] = complex(cos, sin)
		}
	}
}

// planeRowCost is the cost of a row in a direct sum, in units of a term of a plane's sum.
const planeRowCost = rowCost / planeCost

// sum returns the moments of the wave with the given carriers and phase 0 along each input, with the values of table v.
func (w *planeWork) sum(p *plane, v int, m *patch, c [2]carrier) (out planeMoments) {
	switch m.class {
	case none:
		return out
	case few:
		return p.direct(m, c, p.values[v])
	}
	at := 0
	var r [2]float64
	for q, a := range p.axes {
		var g int64
		g, r[q] = a.nearest(c[q])
		w.weights[q].set(m, q, r[q])
		if q == 0 {
			at = (int(g) - m.points[0] + p.extent[0]) * 2 * p.width
		} else {
			at += int(g) - m.points[1] + p.extent[1]
		}
	}
	rows, columns := &w.weights[0], &w.weights[1]
	n := 2 * rows.points
	if need := simd.PatchWork(n); cap(w.work) < need {
		w.work = make([]float64, need)
	}
	var s [simd.PatchSums]float64
	simd.SumPatch(&s, p.tables[v][at:], p.width, n, rows.v, columns.v, w.work[:cap(w.work)], m.twisted)
	zero := complex(s[0], s[1])
	out.zero = zero
	for q := range out.along {
		m, r := &m.axes[q], r[q]
		one, two := complex(s[2+4*q], s[3+4*q]), complex(s[4+4*q], s[5+4*q])
		two += scaled(r*r, zero) - scaled(2*r, one) // sums of (k − r)²
		one -= scaled(r, zero)
		// S_1 = Σ EVt and S_2 = Σ EV(t² + 1/Q) with t = δ − iη(k − r)
		turned := complex(m.eta*imag(one), -m.eta*real(one)) // −iη Σ EV(k − r)
		out.along[q] = [2]complex128{
			scaled(m.delta, zero) + turned,
			scaled(m.square, zero) + scaled(2*m.delta, turned) - scaled(m.eta*m.eta, two),
		}
	}
	return out
}

// planeMoments are S_0 and, for each input, S_1 and S_2 about the point a of the patch.
type planeMoments struct {
	zero  complex128
	along [2][2]complex128
}

func scaled(a float64, z complex128) complex128 { return complex(a*real(z), a*imag(z)) }

// turned returns the moments along input q of the wave times turn, a number on the unit circle.
func (s *planeMoments) turned(turn complex128, q int) moments {
	zero, one, two := s.zero*turn, s.along[q][0]*turn, s.along[q][1]*turn
	return moments{[3]float64{real(zero), real(one), real(two)}, [2]float64{imag(zero), imag(one)}}
}

// weights are the weights of the rows or columns of a patch, the frequencies −points ≤ k < points from the nearest one.
type weights struct {
	v            []float64 // [3,size] the real parts, the imaginary parts, and k
	points, size int       // size is 2·points, rounded up; the remaining weights are 0
}

// resize allocates weights and sets those after the last one to 0.
func (w *weights) resize(points int) {
	if w.points == points {
		return
	}
	w.points, w.size = points, (max(2*points, simd.PatchColumns)+simd.Lanes-1)/simd.Lanes*simd.Lanes
	w.v = resize(w.v, 3*w.size)
	clear(w.v)
	for i := range w.size {
		w.v[2*w.size+i] = float64(i - points)
	}
}

// restart is half the number of terms after which the recurrence for weights begins again, because its error grows with
// their square.
const restart = 40

// set computes the weights of input q, at distance r from the nearest frequency:
//
//	V_k = scale·exp(−½(quad + α(k − r)²) − 2πi·turns·(k − r))
func (w *weights) set(m *patch, q int, r float64) {
	w.resize(m.points[q])
	re, im := w.v[:w.size], w.v[w.size:][:w.size]
	if m.twisted && m.axes[q].turns == 0 {
		clear(im)
	}
	n := 2 * w.points
	for from := 0; from < n; from += 2 * restart {
		half := min(restart, (n-from)/2)
		at := float64(from+half-w.points) - r
		if m.axes[q].turns == 0 {
			m.chain(re[from:][:2*half], q, at)
		} else {
			m.twist(re[from:][:2*half], im[from:][:2*half], q, at)
		}
	}
}

// begin returns the weight at distance at from the middle without its phase, and the ratios of the next and the
// previous one to it. Successive ratios are multiplied by bend.
func (m *patch) begin(q int, at float64) (v, up, down, bend float64) {
	s := &m.axes[q]
	slope := math.Exp(-s.alpha * at)
	return s.scale * math.Exp(-0.5*(s.quad+s.alpha*at*at)), m.root[q] * slope, m.root[q] / slope, m.root[q] * m.root[q]
}

// chain writes real weights around the middle one, at distance at.
func (m *patch) chain(re []float64, q int, at float64) {
	half := len(re) / 2
	v, up, down, bend := m.begin(q, at)
	after, before := re[half:], re[:half]
	u := v
	for i := range after {
		after[i] = u
		u *= up
		up *= bend

		v *= down
		down *= bend
		before[half-1-i] = v
	}
}

// twist writes complex weights around the middle one, at distance at.
func (m *patch) twist(re, im []float64, q int, at float64) {
	half := len(re) / 2
	size, ahead, back, bend := m.begin(q, at)
	sin, cos := math.Sincos(-2 * math.Pi * fraction(m.axes[q].turns*at))
	v, up, down := complex(size*cos, size*sin), scaled(ahead, m.step[q]), scaled(back, conj(m.step[q]))
	u := v
	for i := range half {
		re[half+i], im[half+i] = real(u), imag(u)
		u *= up
		up = scaled(bend, up)

		v *= down
		down = scaled(bend, down)
		re[half-1-i], im[half-1-i] = real(v), imag(v)
	}
}

// direct sums a wave over the rows within its reach, weighted by the values of a table.
func (p *plane) direct(m *patch, c [2]carrier, values []float64) (out planeMoments) {
	var g [2]int64
	var r [2]float64
	for q, a := range p.axes {
		g[q], r[q] = a.nearest(c[q])
	}
	p.places.each([2]float64{m.axes[0].z, m.axes[1].z}, m.radius, func(from, to int) {
		for i := from; i < to; i++ {
			if values[i] == 0 {
				continue
			}
			exponent, turns := 0.0, 0.0
			var b [2]float64
			for q, a := range p.axes {
				x, s := p.places.at(i, q), &m.axes[q]
				d := (x.Hi - s.z) + (x.Lo - s.zLow)
				exponent += s.log - 0.5*s.p*d*d
				turns += a.turnsAt(g[q], r[q], x)
				b[q] = (x.Hi - s.a) + x.Lo
			}
			amplitude := values[i] * math.Exp(exponent)
			sin, cos := math.Sincos(2 * math.Pi * fraction(turns))
			e := complex(amplitude*cos, amplitude*sin)
			out.zero += e
			for q := range b {
				out.along[q][0] += scaled(b[q], e)
				out.along[q][1] += scaled(b[q]*b[q], e)
			}
		}
	})
	return out
}
