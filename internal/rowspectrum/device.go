package rowspectrum

import (
	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/simd"
)

// line returns the tables of one input.
func (s *Spectrum) line() *line { return s.table.(*line) }

// Choose returns the features' waves [M,simd.PairRows] for sums on another device, and the number of frequencies in the tables that
// they need. It returns 0 frequencies if passes over the rows cost less. passCost is CPU or Card.
func (s *Spectrum) Choose(f *backend.Features, passCost float64) (numbers []float64, count int) {
	waves := [][]wave{make([]wave, f.M)}
	if !s.cheaper(waves, f, len(s.line().layout.values)-1, passCost) {
		return nil, 0
	}
	numbers = make([]float64, 0, simd.PairRows*f.M)
	for i := range waves[0] {
		n := waves[0][i].numbers()
		numbers = append(numbers, n[:]...)
	}
	return numbers, s.cover(waves)[0]
}

// A Grid contains the numbers of a spectrum that sums on another device need. Lengths are in steps.
type Grid struct {
	Rows, First   int     // number of grid points or uneven rows; X of the first grid point
	Length        int     // even rows: number of frequencies after which the tables repeat; uneven rows: 0
	Margin, Reach int     // number of frequencies below 0 in the tables; the most that a sum needs on each side
	Irregular     int     // number of grid points that do not have exactly one row
	Period, Angle float64 // T, 2π/T
	P0, Density   float64 // P₀, √(2π)/T
	Span          float64 // 2 max|X|
	Digits        float64 // a Gaussian is cut off at this many standard deviations
	Unit          float64 // a step in units of x
}

// Grid returns the spectrum's numbers.
func (s *Spectrum) Grid() Grid {
	one := s.line()
	l := one.layout
	return Grid{Rows: len(l.values[0]), First: l.first, Length: int(l.length), Margin: one.margin, Reach: one.reach, Irregular: len(l.irregular),
		Period: l.period, Angle: l.h, P0: l.p0, Density: l.density, Span: l.span, Digits: digits, Unit: l.step.Hi}
}

// Arrays are the arrays that sums on another device read.
type Arrays struct {
	Tables    [][]complex128 // [1+D][Margin+count] E_g from g = −Margin on, for v = 1 and for each output
	Values    [][]float64    // [1+D][Rows] number of rows at each grid point, and the sum of each output there
	Places    []float64      // [Rows,4] uneven rows: X and X/T, each in two numbers
	Irregular []int64        // X of the irregular grid points, ascending
}

// never is Data.Stop of a computation that is not interrupted.
func never() error { return nil }

// Arrays computes the tables for frequencies below count and returns them with the other arrays.
func (s *Spectrum) Arrays(count int) Arrays {
	one := s.line()
	l := one.layout
	tables, _ := one.make(count, never) // returns no error then
	a := Arrays{Tables: tables, Values: l.values, Places: make([]float64, 4*len(l.x))}
	each(len(l.x), func(from, to int) {
		for i := from; i < to; i++ {
			turns := one.turns(i)
			copy(a.Places[4*i:], []float64{l.x[i].Hi, l.x[i].Lo, turns.Hi, turns.Lo})
		}
	})
	for _, x := range l.irregular {
		a.Irregular = append(a.Irregular, int64(x))
	}
	return a
}
