package rowspectrum

import (
	"math"
	"sync/atomic"

	"github.com/vssgp/vssgp/internal/double"
	"github.com/vssgp/vssgp/internal/nufft"
	"github.com/vssgp/vssgp/internal/parallel"
	"github.com/vssgp/vssgp/internal/simd"
)

const (
	// over is T/R, the period of a table relative to the range of the rows. With 3, features that extend over all rows
	// need 27 terms instead of 33, but large tables exceed the cache: for 10⁶ rows a sum then takes twice the time.
	over = 2
	// digits is the number of standard deviations at which Gaussians are cut off: exp(−digits²/2) = 2.5e-15.
	digits = 8.2
	// evenRounding is the maximum distance of an even row from its grid point, in roundoffs of the range: even rows
	// that were scaled are rounded two or three times. Such distances are almost independent, so δ steps change the
	// entries of G by about 2πδ/√(3N), relative to the largest one: less than the Terms rounding errors that are
	// promised up to 10⁴ rows, and twice that at 10⁶. Larger distances are not rounding errors of the range: x is
	// rounded far from 0, or has a jitter.
	evenRounding = 3
	// sparsest is the maximum number of grid points per row. A sparser grid has a smaller table if its rows are treated
	// as uneven.
	sparsest = 4
)

// An axis is one input of the rows in steps from their middle, X = (x − center)/step, and the grid of its frequencies
// g/T.
type axis struct {
	even         bool
	step, center double.Float // of even rows exact, else a power of two and any number
	span         float64      // R, the largest |X| times two
	rounded      bool         // even rows are not exactly at their grid points
	first, size  int          // even rows are at the grid points first, …, first + size − 1

	period  float64      // T, in steps
	periodX double.Float // T in units of x
	h       float64      // 2π/T
	p0      float64      // P₀
	density float64      // √(2π)/T
	length  int64        // even rows: the period of E_g; uneven rows: 0
}

// unevenAxis returns the axis of n ascending rows without a grid. It returns nil if their range is 0 or not finite.
func unevenAxis(x []float64) *axis {
	lo, hi := x[0], x[len(x)-1]
	if !(hi > lo) || math.IsInf(hi-lo, 0) || math.IsInf(2*max(math.Abs(lo), math.Abs(hi)), 0) {
		return nil
	}
	_, e := math.Frexp((hi - lo) / float64(len(x)))
	a := &axis{step: double.Of(math.Ldexp(1, e)), center: double.Of(lo + (hi-lo)/2)}
	a.span = 2 * max(-a.at(lo).Hi, a.at(hi).Hi)
	a.period = over * a.span
	a.derive()
	return a
}

// constantAxis returns the axis of an input that is x in all rows, with steps of 1.
func constantAxis(x float64) *axis {
	a := &axis{step: double.Of(1), center: double.Of(x), span: 1, period: over}
	a.derive()
	return a
}

// at returns X of an uneven row.
func (a *axis) at(x float64) double.Float {
	d := double.Sum(x, -a.center.Hi)
	return double.Float{Hi: d.Hi / a.step.Hi, Lo: d.Lo / a.step.Hi}
}

// evenAxis returns the axis of ascending rows on an even grid of at most the given number of points, and the index of
// each row's grid point. It returns nil if there is no such grid. The range of the rows must be positive and finite.
func evenAxis(x []float64, most float64) (a *axis, points []int) {
	n, lo, hi := len(x), x[0], x[len(x)-1]
	steps := math.Round((hi - lo) / medianGap(x))
	if !(steps < most) {
		return nil, nil
	}
	step := double.Sum(hi, -lo).Over(double.Of(steps))
	tolerance := evenRounding * 0x1p-53 * (hi - lo)
	count := int(steps) + 1
	middle := count / 2
	points, offs := make([]int, n), make([]float64, n) // grid points, and the rows' distances from them
	var uneven, rounded atomic.Bool
	sums := make([]struct{ off, slope, square float64 }, (n+blockRows-1)/blockRows)
	parallel.Blocks(n, blockRows, func(i, from, to int) {
		for n := from; n < to && !uneven.Load(); n++ {
			at := math.Round((x[n] - lo) / step.Hi)
			off := double.Sum(x[n], -lo).Minus(step.Times(double.Of(at))).Hi
			if math.Abs(off) > 2*tolerance { // the ends, which define the step, are rounded, too
				uneven.Store(true)
			}
			points[n], offs[n] = int(at), off
			at -= float64(middle)
			sums[i].off, sums[i].slope, sums[i].square = sums[i].off+off, sums[i].slope+off*at, sums[i].square+at*at
		}
	})
	if uneven.Load() {
		return nil, nil
	}
	all := sums[0]
	for _, s := range sums[1:] {
		all.off, all.slope, all.square = all.off+s.off, all.slope+s.slope, all.square+s.square
	}
	mean, slope := all.off/float64(n), all.slope/all.square
	each(n, func(from, to int) {
		for n := from; n < to; n++ {
			if math.Abs(offs[n]-mean-slope*float64(points[n]-middle)) > tolerance {
				uneven.Store(true)
			}
			if offs[n] != 0 {
				rounded.Store(true)
			}
		}
	})
	if uneven.Load() {
		return nil, nil
	}
	a = &axis{even: true, first: -middle, size: count, span: 2 * float64(middle), rounded: rounded.Load()}
	a.center = step.Times(double.Of(float64(middle))).Plus(double.Of(lo)).Plus(double.Of(mean))
	a.step = step.Plus(double.Of(slope))
	a.length = 2 * int64(nufft.FastLength(int(math.Ceil(over*a.span/2))))
	a.period = float64(a.length)
	a.derive()
	return a, points
}

// derive computes the numbers that follow from the period.
func (a *axis) derive() {
	a.periodX = double.Of(a.period).Times(a.step)
	a.h, a.density = 2*math.Pi/a.period, math.Sqrt(2*math.Pi)/a.period
	a.p0 = digits * digits / (a.period * (a.period - a.span))
}

// pairGrid returns the axis's numbers for simd.PairWaves, for tables that begin at frequency −margin.
func (a *axis) pairGrid(margin int) *simd.PairGrid {
	return simd.NewPairGrid(a.p0, a.h, a.density, a.span, float64(a.length), margin, digits)
}
