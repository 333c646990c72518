// Package markov computes with covariances of one input that are sums of Ornstein–Uhlenbeck and Matérn 3/2 processes and noise, in O(N)
// by a Kalman filter: the Cholesky factor L of such a matrix K, as an operator on columns, with its derivatives, and the conditional mean
// and variance of the processes.
package markov

import (
	"math"
	"math/rand/v2"
)

// A Term is a process with covariance SD²·k(t/Length): k(r) = exp(−r) for order 1 (Ornstein–Uhlenbeck), and (1 + √3 r) exp(−√3 r) for order
// 2 (Matérn 3/2). A Frequency, in cycles, multiplies the covariance of order 1 by cos(2π·Frequency·t): a damped oscillation.
type Term struct {
	Order                 int
	SD, Length, Frequency float64
}

// states returns the number of states of a term: the process, and its derivative or the oscillation a quarter of a cycle later.
func (t Term) states() int {
	if t.Frequency > 0 {
		return 2
	}
	return t.Order
}

// states returns the number of states of the terms.
func states(terms []Term) (n int) {
	for _, t := range terms {
		n += t.states()
	}
	return n
}

// A square is a matrix [J,J], row-major.
type square []float64

// transition writes the transition matrix of the term over time tau to f, a block of a matrix with n columns. The states are the process
// and, for order 2, its derivative in units of √3/Length.
func (t Term) transition(f []float64, n int, tau float64) {
	switch {
	case t.Frequency > 0:
		e := math.Exp(-tau / t.Length)
		sin, cos := math.Sincos(2 * math.Pi * t.Frequency * tau)
		f[0], f[1] = e*cos, e*sin
		f[n], f[n+1] = -e*sin, e*cos
		return
	case t.Order == 1:
		f[0] = math.Exp(-tau / t.Length)
		return
	}
	a := math.Sqrt(3) * tau / t.Length
	e := math.Exp(-a)
	f[0], f[1] = e*(1+a), e*a
	f[n], f[n+1] = -e*a, e*(1-a)
}

// slope writes the derivative of transition with respect to log Length.
func (t Term) slope(f []float64, n int, tau float64) {
	if t.Order == 1 {
		t.transition(f, n, tau)
		r := tau / t.Length
		f[0] *= r
		if t.Frequency > 0 {
			f[1], f[n], f[n+1] = r*f[1], r*f[n], r*f[n+1]
		}
		return
	}
	a := math.Sqrt(3) * tau / t.Length
	e := a * math.Exp(-a) // −a ∂/∂a
	f[0], f[1] = e*a, -e*(1-a)
	f[n], f[n+1] = e*(1-a), e*(2-a)
}

// turn writes the derivative of transition with respect to Frequency, which must be positive.
func (t Term) turn(f []float64, n int, tau float64) {
	t.transition(f, n, tau)
	w := 2 * math.Pi * tau
	f[0], f[1] = -w*f[1], w*f[0]
	f[n], f[n+1] = -w*f[n+1], w*f[n]
}

// Covariance returns the covariance of the terms at distance tau.
func Covariance(terms []Term, tau float64) (sum float64) {
	for _, t := range terms {
		v := t.SD * t.SD
		r := math.Abs(tau) / t.Length
		if t.Order == 1 {
			sum += v * math.Exp(-r) * math.Cos(2*math.Pi*t.Frequency*tau)
		} else {
			sum += v * (1 + math.Sqrt(3)*r) * math.Exp(-math.Sqrt(3)*r)
		}
	}
	return sum
}

// DrawFrequency draws a frequency, in radians per unit of time, from the spectral density: Student's t with 1 or 3 degrees of freedom for
// order 1 or 2, about Frequency.
func (t Term) DrawFrequency(rng *rand.Rand) float64 {
	degrees := 2*t.Order - 1
	z, square := rng.NormFloat64(), 0.0
	for range degrees {
		v := rng.NormFloat64()
		square += v * v / float64(degrees)
	}
	return 2*math.Pi*t.Frequency + z/math.Sqrt(square)/t.Length
}
