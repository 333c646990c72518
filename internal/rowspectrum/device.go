package rowspectrum

import (
	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/double"
)

// Choose returns the numbers of the features' waves [M,simd.PairRows] for sums on another device, and how many frequencies their
// tables have; none if passes over the rows cost less, with passCost as for Rows.
func (s *Spectrum) Choose(f *backend.Features, passCost float64) (numbers []float64, count int) {
	waves := make([]wave, f.M)
	if !s.pays(waves, f, passCost) {
		return nil, 0
	}
	for i := range waves {
		n := waves[i].numbers()
		numbers = append(numbers, n[:]...)
	}
	return numbers, s.cover(waves)
}

// A Grid has the numbers of a spectrum that sums on another device need. Lengths are in steps.
type Grid struct {
	Rows, First   int     // places, or uneven rows; the first place
	Length        int     // of even rows the number of frequencies after which the tables repeat themselves, else 0
	Margin, Reach int     // frequencies below 0 in the tables; the most that a sum takes on each side
	Irregular     int     // even places with another number of rows than one
	Period, Angle float64 // T, 2π/T
	P0, Density   float64 // P₀, √(2π)/T
	Span          float64 // 2 max|X|
	Digits        float64 // how many standard deviations of a Gaussian count
	Unit          float64 // a step in units of x
}

// Grid returns the spectrum's numbers.
func (s *Spectrum) Grid() Grid {
	l := s.layout
	return Grid{Rows: len(l.values[0]), First: l.first, Length: int(s.length), Margin: s.margin, Reach: s.reach, Irregular: len(l.irregular),
		Period: s.period, Angle: s.h, P0: s.p0, Density: s.density, Span: l.span, Digits: digits, Unit: l.step.Hi}
}

// Arrays are what sums on another device read.
type Arrays struct {
	Tables    [][]complex128 // [1+D][Margin+count] E_g from g = −Margin on, of the ones and of each output
	Values    [][]float64    // [1+D][Rows] the numbers of rows at a place, and the sums of each output there
	Places    []float64      // [Rows,4] of uneven rows X and X/T, each in two numbers
	Irregular []int64        // of even rows, ascending
}

// Arrays makes the arrays, with tables for frequencies below count.
func (s *Spectrum) Arrays(count int) Arrays {
	a := Arrays{Tables: s.make(count), Values: s.layout.values}
	for _, x := range s.layout.x {
		turns := x.Over(double.Of(s.period))
		a.Places = append(a.Places, x.Hi, x.Lo, turns.Hi, turns.Lo)
	}
	for _, x := range s.layout.irregular {
		a.Irregular = append(a.Irregular, int64(x))
	}
	return a
}
