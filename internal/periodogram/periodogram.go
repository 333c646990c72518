// Package periodogram estimates the spectrum of values at uneven times: by least
// squares at each frequency (Lomb 1976, Scargle 1982), in O(N + F log F) for F
// frequencies, and with the strongest lines taken out first, whose leakage
// between uneven times would hide weaker lines.
package periodogram

import (
	"context"
	"math"
	"math/cmplx"
	"slices"

	"gonum.org/v1/gonum/dsp/fourier"

	"github.com/vssgp/vssgp/internal/cost"
)

// plan holds what the sums over times need. Each place is spread onto an even grid
// as a Gaussian, which a Fourier transform takes to the sums but for the Gaussian's
// own (Greengard & Lee 2004).
type plan struct {
	times, weights []float64
	total          float64 // Σw
	step           float64
	double         []complex128 // Σ w exp(4πi f t)
	sum            []complex128 // Σ w y exp(2πi f t) of the series last asked for
	terms          []complex128 // of a sum, one for each time

	tau   float64 // the Gaussian is exp(−x²/4τ)
	fft   *fourier.CmplxFFT
	grid  []complex128
	scale []float64 // makes up for the Gaussian at frequency k − n/2
}

// newPlan takes weights that are not negative, and not all 0.
func newPlan(times, weights []float64, step float64, n int) *plan {
	length := lengthOf(n)
	ratio := float64(length) / float64(n)
	p := &plan{
		times: times, weights: weights, step: step,
		double: make([]complex128, n), sum: make([]complex128, n), terms: make([]complex128, len(times)),
		tau: math.Pi * reach / (float64(n) * float64(n) * ratio * (ratio - 0.5)),
		fft: fourier.NewCmplxFFT(length), grid: make([]complex128, length), scale: make([]float64, n),
	}
	for k := range p.scale {
		m := float64(k - n/2)
		p.scale[k] = math.Sqrt(math.Pi/p.tau) * math.Exp(m*m*p.tau) / float64(length)
	}
	for i, w := range weights {
		p.total += w
		p.terms[i] = complex(w, 0) * turn(times[i]*step)
	}
	p.sumTerms(p.double, 2*step)
	return p
}

// turn is exp(2πiu).
func turn(u float64) complex128 { return cmplx.Rect(1, 2*math.Pi*(u-math.Floor(u))) }

// power is, at the frequencies (k+½)·step for k < n, by how much the sinusoid
// that fits best lowers the weighted mean square of the values: a²/2 of a
// sinusoid of amplitude a. With C and S the sums of w·y·cos and
// w·y·sin, the normal equations of y ≈ a·cos + b·sin have the matrix
// ½[[Σw + Re Q, Im Q], [Im Q, Σw − Re Q]], Q = Σ w exp(4πi f t).
func (p *plan) power(values []float64) []float64 {
	for i, v := range values {
		p.terms[i] = complex(p.weights[i]*v, 0) * turn(p.times[i]*p.step/2)
	}
	p.sumTerms(p.sum, p.step)
	out := make([]float64, len(p.sum))
	for k := range out {
		a, b := p.fit(k)
		out[k] = max(0, (a*real(p.sum[k])+b*imag(p.sum[k]))/p.total)
	}
	return out
}

// singular is the share of (Σw/2)² below which the two columns of a fit, at
// times that a frequency cannot tell apart, are one.
const singular = 1e-8

// fit is the best a and b at frequency k of the series last asked for.
func (p *plan) fit(k int) (a, b float64) {
	q := p.double[k]
	cc, ss, cs := (p.total+real(q))/2, (p.total-real(q))/2, imag(q)/2
	c, s := real(p.sum[k]), imag(p.sum[k])
	if det := cc*ss - cs*cs; det > singular*p.total*p.total/4 {
		return (ss*c - cs*s) / det, (cc*s - cs*c) / det
	}
	// One column: along the greater of the two, (a, b) = λ(C, S)/Σw.
	return c / p.total, s / p.total
}

// Lines that are taken out: at most lineRounds times lineMost, each of a power
// above lineShare of the round's greatest and above lineNoise·ln F of the mean,
// which the greatest of F powers of white noise hardly reaches.
const (
	lineRounds = 8
	lineMost   = 4
	lineShare  = 0.5
	lineNoise  = 2
)

// Masses are the parts of the weighted mean square of the values that lie in
// count bins of equal width from 0 to band, cycles per unit of time, each
// of steps frequencies. They add up to it: the mean square that is left without
// the lines is distributed by its powers. An error is ctx's.
func Masses(ctx context.Context, times, values, weights []float64, band float64, count, steps int) ([]float64, error) {
	n := count * steps
	p := newPlan(times, weights, band/float64(n), n)
	rest := slices.Clone(values)
	masses := make([]float64, count)
	apart := n // of lines, in frequencies
	if span := times[len(times)-1] - times[0]; span > 0 {
		apart = int(math.Ceil(1 / (span * p.step)))
	}
	var powers []float64
	for round := 0; ; round++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		powers = p.power(rest)
		lines := peaks(powers, apart)
		if lines == nil || round == lineRounds {
			break
		}
		for _, k := range lines {
			masses[k/steps] += p.remove(rest, k)
		}
	}
	sum := 0.0
	for _, v := range powers {
		sum += v
	}
	if left := p.meanSquare(rest); sum > 0 {
		for k, v := range powers {
			masses[k/steps] += v / sum * left
		}
	}
	return masses, nil
}

func (p *plan) meanSquare(values []float64) float64 {
	s := 0.0
	for i, v := range values {
		s += p.weights[i] * v * v
	}
	return s / p.total
}

// peaks are the frequencies of the strongest lines, strongest first, each more
// than apart frequencies from the others; nil if the rest may be noise.
func peaks(powers []float64, apart int) (lines []int) {
	mean := 0.0
	for _, v := range powers {
		mean += v / float64(len(powers))
	}
	least := lineNoise * mean * max(1, math.Log(float64(len(powers))))
	for len(lines) < lineMost {
		best := -1
	next:
		for k, v := range powers {
			if best >= 0 && v <= powers[best] {
				continue
			}
			for _, l := range lines {
				if max(k-l, l-k) <= apart {
					continue next
				}
			}
			best = k
		}
		if best < 0 || !(powers[best] > least) {
			break
		}
		lines = append(lines, best)
		least = max(least, lineShare*powers[lines[0]])
	}
	return lines
}

// remove takes the sinusoid of frequency k that fits best out of the values,
// and gives the mean square that goes with it. Lines taken out just before are
// not in the plan's sums, so these are made anew.
func (p *plan) remove(values []float64, k int) float64 {
	f := (float64(k) + 0.5) * p.step
	p.sum[k] = 0
	for i, v := range values {
		p.sum[k] += complex(p.weights[i]*v, 0) * turn(f*p.times[i])
	}
	a, b := p.fit(k)
	before := p.meanSquare(values)
	for i := range values {
		e := turn(f * p.times[i])
		values[i] -= a*real(e) + b*imag(e)
	}
	return max(0, before-p.meanSquare(values))
}

const (
	oversampling = 2
	// reach is how many places of the grid a Gaussian is followed to either
	// side: sums are within 1e-9 of the terms' absolute sum.
	reach = 9
)

// lengthOf is the length of a transform to n frequencies.
func lengthOf(n int) int {
	length := 1
	for length < max(oversampling*n, 2*reach) {
		length *= 2
	}
	return length
}

// Work is how many operations Masses of so many rows at n frequencies takes at
// most.
func Work(rows, n int) float64 {
	const spread = 8 * 2 * reach // for a row: a complex product and a sum at each place
	return (lineRounds + 3) * (spread*float64(rows) + cost.Transform(float64(lengthOf(n))))
}

// sumTerms sets to[k] to Σ terms·exp(2πi k·step·time).
func (p *plan) sumTerms(to []complex128, step float64) {
	clear(p.grid)
	n, length := len(to), len(p.grid)
	cell := 2 * math.Pi / float64(length)
	for i, time := range p.times {
		u := time * step
		u -= math.Floor(u)
		at := int(u * float64(length))
		v := p.terms[i] * turn(float64(n/2)*u)
		for m := at - reach + 1; m <= at+reach; m++ {
			d := 2*math.Pi*u - cell*float64(m)
			p.grid[(m+length)%length] += v * complex(math.Exp(-d*d/(4*p.tau)), 0)
		}
	}
	p.fft.Sequence(p.grid, p.grid)
	for k := range to {
		to[k] = p.grid[(k-n/2+length)%length] * complex(p.scale[k], 0)
	}
}
