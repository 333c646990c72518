// Package periodogram estimates the spectrum of values at uneven times by least squares at each
// frequency (Lomb 1976, Scargle 1982), in O(N + F log F) for F frequencies. The strongest lines
// are subtracted first, because their leakage between uneven times would hide weaker lines.
package periodogram

import (
	"context"
	"math"
	"math/cmplx"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/vssgp/vssgp/internal/nufft"
)

// A Plan computes periodograms of series at the same times. It must not be used concurrently.
type Plan struct {
	times, weights []float64
	total          float64 // Σw
	step           float64
	sums           *nufft.Plan  // over times·step/2, in which frequency k is mode 2k+1
	terms          []float64    // terms of a sum, one for each time
	double         []complex128 // mode 2k+1 is Σ w exp(4πi f t)
	sum            []complex128 // mode 2k+1 is Σ w y exp(2πi f t) for the last series
}

// New returns a Plan for the frequencies (k+½)·step, k < n. The weights must be nonnegative and not all 0.
func New(times, weights []float64, step float64, n int) *Plan {
	turns := make([]float64, len(times))
	p := &Plan{
		times: times, weights: weights, total: floats.Sum(weights), step: step,
		sums: nufft.NewPlan(turns, nil, 2*n), terms: make([]float64, len(times)),
	}
	floats.ScaleTo(turns, step, times)
	p.double = p.sums.Transform(nil, weights)
	floats.Scale(0.5, turns)
	return p
}

// turn returns exp(2πiu).
func turn(u float64) complex128 { return cmplx.Rect(1, 2*math.Pi*(u-math.Floor(u))) }

// Power returns, at the frequencies (k+½)·step for k < n, the reduction of the weighted mean
// square of the values by the best sinusoid: a²/2 for a sinusoid of amplitude a. With C and S
// the sums of w·y·cos and w·y·sin, the normal equations of y ≈ a·cos + b·sin have the matrix
// ½[[Σw + Re Q, Im Q], [Im Q, Σw − Re Q]], Q = Σ w exp(4πi f t).
func (p *Plan) Power(values []float64) []float64 {
	floats.MulTo(p.terms, p.weights, values)
	p.sum = p.sums.Transform(p.sum, p.terms)
	out := make([]float64, len(p.sum)/2)
	for k := range out {
		a, b := p.fit(k)
		out[k] = max(0, (a*real(p.sum[2*k+1])+b*imag(p.sum[2*k+1]))/p.total)
	}
	return out
}

// singular is the determinant, relative to (Σw/2)², below which the two columns of a fit are
// considered collinear, because the times do not distinguish cosine and sine at this frequency.
const singular = 1e-8

// fit returns the best a and b at frequency k for the last series.
func (p *Plan) fit(k int) (a, b float64) {
	q := p.double[2*k+1]
	cc, ss, cs := (p.total+real(q))/2, (p.total-real(q))/2, imag(q)/2
	c, s := real(p.sum[2*k+1]), imag(p.sum[2*k+1])
	if det := cc*ss - cs*cs; det > singular*p.total*p.total/4 {
		return (ss*c - cs*s) / det, (cc*s - cs*c) / det
	}
	// With collinear columns, the solution of minimum norm is (a, b) = (C, S)/Σw.
	return c / p.total, s / p.total
}

// These limit the lines to subtract: at most lineRounds times lineMost, each with a power above
// lineShare of the iteration's largest one and above lineNoise·ln F times the mean, which the
// largest of F powers of white noise rarely exceeds.
const (
	lineRounds = 8
	lineMost   = 4
	lineShare  = 0.5
	lineNoise  = 2
)

// Masses returns the contributions of count bins to the weighted mean square of the values. The
// bins have equal width from 0 to band, in cycles per unit of time, and steps frequencies each.
// The masses add up to the mean square: after the lines are subtracted, the remaining mean square
// is distributed in proportion to its powers. It returns an error only if ctx ends.
func Masses(ctx context.Context, times, values, weights []float64, band float64, count, steps int) ([]float64, error) {
	n := count * steps
	p := New(times, weights, band/float64(n), n)
	apart := n // minimum distance of lines, in frequencies
	if span := times[len(times)-1] - times[0]; span > 0 {
		apart = int(math.Ceil(1 / (span * p.step)))
	}
	strongest := func(powers []float64) []int { return peaks(powers, apart) }
	masses, rest := make([]float64, count), slices.Clone(values)
	powers, err := p.subtract(ctx, masses, rest, lineRounds, strongest)
	if err == nil && p.aliased(apart) {
		// One at a time, since a line also has power at its aliases.
		noise := p.meanSquare(rest)
		clear(masses)
		copy(rest, values)
		powers, err = p.subtract(ctx, masses, rest, lineRounds*lineMost, func(powers []float64) []int {
			if strongest(powers) == nil {
				return nil
			}
			return []int{p.lowest(powers, noise)}
		})
	}
	if err != nil {
		return nil, err
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

// subtract moves lines from the values to the masses of bins and returns the powers of the rest. choose
// returns the frequencies of a round for its powers, or nil if there are no more lines.
func (p *Plan) subtract(ctx context.Context, masses, values []float64, rounds int,
	choose func(powers []float64) []int) ([]float64, error) {
	for round := 0; ; round++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		powers := p.Power(values)
		lines := choose(powers)
		if lines == nil || round == rounds {
			return powers, nil
		}
		for _, k := range lines {
			masses[k*len(masses)/len(powers)] += p.remove(values, k)
		}
	}
}

func (p *Plan) meanSquare(values []float64) float64 {
	s := 0.0
	for i, v := range values {
		s += p.weights[i] * v * v
	}
	return s / p.total
}

// peaks returns the frequencies of the strongest lines in decreasing order, each more than
// apart frequencies from the others, or nil if the rest may be noise.
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

// remove subtracts the best sinusoid of frequency k from the values and returns the reduction of
// the mean square. It recomputes the sum of frequency k, because the sums of the plan do not account
// for lines that were subtracted after them.
func (p *Plan) remove(values []float64, k int) float64 {
	f := (float64(k) + 0.5) * p.step
	p.sum[2*k+1] = 0
	for i, v := range values {
		p.sum[2*k+1] += complex(p.weights[i]*v, 0) * turn(f*p.times[i])
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
	// Times have aliases if the spectral window |Σ w exp(2πift)|/Σw exceeds aliasWindow outside its
	// main lobe. Among random times this is rare.
	aliasWindow = 0.7
	// An alias explains the values as well if its log-likelihood is at most aliasNats lower, or its
	// power by at most aliasShare, the error of peak.
	aliasNats, aliasShare = 5, 1e-4
)

// aliased reports whether sinusoids of different frequencies below the band are nearly the same at
// the times, as at repeated measurements or bursts with regular pauses. On an even grid with a band
// of half a cycle per step none are.
func (p *Plan) aliased(apart int) bool {
	for k := apart; 2*k+1 < len(p.double)-2*apart; k++ {
		if cmplx.Abs(p.double[2*k+1]) > aliasWindow*p.total {
			return true
		}
	}
	return false
}

// lowest returns the lowest frequency that explains the values as well as the best one does. noise is
// the mean square without lines.
func (p *Plan) lowest(powers []float64, noise float64) int {
	best, squares := 0.0, 0.0
	for k := range powers {
		best = max(best, peak(powers, k))
	}
	for _, w := range p.weights {
		squares += w * w
	}
	rows := p.total * p.total / squares // the effective number
	least := (1-aliasShare)*best - 2*aliasNats/rows*noise
	k := 0
	for peak(powers, k) < least {
		k++
	}
	return k
}

// peak returns the maximum of the parabola through the powers at k and its neighbors if k is a local
// maximum, else 0.
func peak(powers []float64, k int) float64 {
	v := powers[k]
	if k == 0 || k == len(powers)-1 {
		return v
	}
	below, above := powers[k-1], powers[k+1]
	if v < below || v < above {
		return 0
	}
	if curvature := 2*v - below - above; curvature > 0 {
		v += (above - below) * (above - below) / (8 * curvature)
	}
	return v
}

// Bytes estimates the memory of Masses for the given number of rows and n frequencies.
func Bytes(rows, n int) float64 { return nufft.Bytes(2*n) + float64(3*8*rows+(2*2*16+8)*n) }
