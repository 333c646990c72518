package series

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
)

// After the end R of the layout, each part continues as the Markov process that its features approximate on [0, R]. A feature is the real
// or imaginary part of e^{2πic(u−z)} E(u), where c is its carrier frequency and E(u) = e^{2πio(u−z)} an envelope with offset o. With the
// transition matrix F and the innovation covariance Q of (value, derivative) over time τ,
//
//	E(R+τ) = F₀₀ E(R) + F₀₁ E'(R)      and the variance of a block grows by sd²·Q₀₀
//
// The fit is therefore independent of the horizon.

// A transition contains F and Q over a time step, at unit variance.
type transition struct{ f, q [2][2]float64 }

// transition returns F and Q of a block over time tau at hyper-parameters v, and the standard deviation of the block.
func (l *layout) transition(b *block, v []float64, tau float64) (t transition, sd float64) {
	a, ratio := b.amp, tau/l.frame.Range
	if sd = a.factor; a.sd >= 0 {
		sd *= math.Exp(v[a.sd])
	}
	t.f = [2][2]float64{{1, tau}, {0, 1}} // the constant and the slope
	switch {
	case a.shape != nil: // Matérn-3/2
		z := math.Sqrt(3) / math.Exp(v[a.length])
		t = oscillator(rates{z, z}, tau)
	case b.start: // integrated Brownian motion with variance 1 at the end of the data
		c := 1.5 * ratio * ratio / l.frame.Range
		t.q = [2][2]float64{{ratio * ratio * ratio, c}, {c, 3 * ratio / (l.frame.Range * l.frame.Range)}}
	}
	return t, sd
}

// rates contains γ and ω of the oscillator x” + 2γx' + ω²x = noise.
type rates struct{ gamma, omega float64 }

// oscillator returns the transition of an oscillator whose x has variance 1.
func oscillator(r rates, tau float64) (t transition) {
	gamma, omega := r.gamma, r.omega
	var c, s float64 // e^(−γτ)·cosh(δτ) and e^(−γτ)·sinh(δτ)/δ, with δ² = γ² − ω²
	switch square := gamma*gamma - omega*omega; {
	case math.Abs(square)*tau*tau < 1e-10:
		c, s = math.Exp(-gamma*tau), tau*math.Exp(-gamma*tau)
	case square > 0:
		d := math.Sqrt(square)
		up, down := math.Exp((d-gamma)*tau), math.Exp(-(d+gamma)*tau)
		c, s = (up+down)/2, (up-down)/(2*d)
	default:
		d := math.Sqrt(-square)
		sin, cos := math.Sincos(d * tau)
		c, s = math.Exp(-gamma*tau)*cos, math.Exp(-gamma*tau)*sin/d
	}
	t.f = [2][2]float64{{c + gamma*s, s}, {-omega * omega * s, c - gamma*s}}
	variance := [2]float64{1, omega * omega}
	for i := range 2 {
		for j := range 2 {
			t.q[i][j] = -(t.f[i][0]*variance[0]*t.f[j][0] + t.f[i][1]*variance[1]*t.f[j][1])
			if i == j {
				t.q[i][j] += variance[i]
			}
		}
	}
	return t
}

// lines calls visit for each frequency of a block with its features [k, to), the phasor of the carrier at u, and E and E' at R.
func (l *layout) lines(b *block, u float64, visit func(k, to int, carrier float64, phasor, at, slope complex128)) {
	origin, amp := l.frame.Range/2, 1.0
	frequencies := b.cos
	switch {
	case b.line:
		epsilon := l.epsilon()
		frequencies, amp = []float64{epsilon / (2 * math.Pi)}, 1/(epsilon*l.frame.Range)
	case b.start:
		origin = 0
	}
	each := (b.hi - b.lo) / len(frequencies)
	last, phasor := math.NaN(), complex(1, 0)
	for i, f := range frequencies {
		offset, carrier := f, 0.0
		if b.offset != nil {
			offset, carrier = b.offset[i], f-b.offset[i]
		}
		if !(math.Abs(carrier-last) < 1e-12) {
			last, phasor = carrier, cmplx.Rect(1, 2*math.Pi*carrier*(u-origin))
		}
		at := cmplx.Rect(amp, 2*math.Pi*offset*(l.reach-origin))
		k := b.lo + i*each
		visit(k, k+each, last, phasor, at, complex(0, 2*math.Pi*offset)*at)
	}
}

// single returns the real part of a phasor for a cosine feature and the imaginary part for a sine.
func (b *block) single(k int, z complex128) float64 {
	if b.line || !b.start && (k-b.lo)%2 == 1 {
		return imag(z)
	}
	return real(z)
}

// beyond fills phi [M] with the features at u > R, at unit amplitude and without regressors. It returns the variance of the innovations
// since R of component only, or of all components if only is empty.
func (l *layout) beyond(phi, v []float64, u float64, only string) (variance float64) {
	for i := range l.blocks {
		b := &l.blocks[i]
		if b.known {
			continue
		}
		t, sd := l.transition(b, v, u-l.reach)
		if only != "" && only != b.component {
			sd = 0
		}
		last := math.NaN()
		l.lines(b, u, func(k, to int, carrier float64, phasor, at, slope complex128) {
			if carrier != last {
				last, variance = carrier, variance+sd*sd*t.q[0][0]
			}
			z := phasor * (complex(t.f[0][0], 0)*at + complex(t.f[0][1], 0)*slope)
			for ; k < to; k++ {
				phi[k] = b.single(k, z)
			}
		})
	}
	return variance
}

// An envelope is the state of the process of one carrier.
type envelope struct{ value, slope complex128 }

// drawBeyond draws the function without the OU residual and the random walk at sorted times u > R, given weights times amplitudes w [M].
func (l *layout) drawBeyond(w, v []float64, at *track, random *rand.Rand) []float64 {
	f, waves := make([]float64, len(at.u)), len(l.cosines())
	for i := range l.blocks {
		b := &l.blocks[i]
		if b.known {
			for n := range f {
				f[n] += w[b.lo] * at.regressors[b.lo-waves][n]
			}
			continue
		}
		var states []envelope // one per carrier
		last := math.NaN()
		l.lines(b, l.reach, func(k, to int, carrier float64, _, at, slope complex128) {
			if carrier != last {
				last, states = carrier, append(states, envelope{})
			}
			s := &states[len(states)-1]
			for ; k < to; k++ {
				weight := complex(w[k], 0)
				if b.single(k, 1i) == 1 { // Im z = Re(−i z)
					weight = complex(0, -w[k])
				}
				s.value, s.slope = s.value+weight*at, s.slope+weight*slope
			}
		})
		before := l.reach
		for n, place := range at.u {
			t, sd := l.transition(b, v, place-before)
			before = place
			for i := range states {
				states[i] = states[i].next(&t, sd, random)
			}
			i, last := -1, math.NaN()
			l.lines(b, place, func(_, _ int, carrier float64, phasor, _, _ complex128) {
				if carrier != last {
					i, last = i+1, carrier
					f[n] += real(phasor * states[i].value)
				}
			})
		}
	}
	return f
}

// next draws the envelope after a transition.
func (s envelope) next(t *transition, sd float64, random *rand.Rand) envelope {
	a := math.Sqrt(max(t.q[0][0], 0)) // Q = L Lᵀ, with L = [a 0; b c]
	b, c := 0.0, math.Sqrt(max(t.q[1][1], 0))
	if a > 0 {
		b = t.q[1][0] / a
		c = math.Sqrt(max(t.q[1][1]-b*b, 0))
	}
	normal := func() complex128 { return complex(sd*random.NormFloat64(), sd*random.NormFloat64()) }
	x, y := normal(), normal()
	step := func(i int) complex128 { return complex(t.f[i][0], 0)*s.value + complex(t.f[i][1], 0)*s.slope }
	return envelope{step(0) + complex(a, 0)*x, step(1) + complex(b, 0)*x + complex(c, 0)*y}
}
