package rowspectrum

import (
	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/simd"
)

// line returns the tables of one input.
func (s *Spectrum) line() *line { return s.table.(*line) }

// Waves are the waves of features, for sums on a GPU.
type Waves struct {
	Along [][]float64 // [Q][M,simd.PairRows]
	Runs  []int       // the first feature of each run of features that differ only in phase and amplitudes, and M
}

// Choose returns the features' waves for sums on a GPU, and the size of the tables that they need. It returns the size
// 0 if passes over the rows cost less, or if a product of features of two inputs needs too many terms; the CPU adds
// such a product over the rows that it reaches. passCost is Card, or more in tests.
func (s *Spectrum) Choose(f *backend.Features, passCost float64) (of Waves, size Size) {
	waves := make([][]wave, len(s.axes))
	for q := range waves {
		waves[q] = make([]wave, f.M)
	}
	if !s.cheaper(waves, f, s.outputs, passCost, s.cardTerms) {
		return Waves{}, Size{}
	}
	for _, along := range waves {
		all := make([]float64, 0, simd.PairRows*f.M)
		for i := range along {
			n := along[i].numbers()
			all = append(all, n[:]...)
		}
		of.Along = append(of.Along, all)
	}
	of.Runs = runs(waves)
	return of, s.cover(waves)
}

// A Grid contains the numbers of a spectrum that sums on a GPU need. Lengths are in steps.
type Grid struct {
	Axes   []Axis  // of the inputs
	Digits float64 // a Gaussian is cut off at this many standard deviations

	// Of one input:
	Rows, First   int // number of grid points or uneven rows; X of the first grid point
	Margin, Reach int // number of frequencies below 0 in the tables; the most that a sum needs on each side
	Irregular     int // number of grid points that do not have exactly one row
}

// An Axis contains the numbers of one input.
type Axis struct {
	Length        int     // even rows: number of frequencies after which the tables repeat; uneven rows: 0
	Period, Angle float64 // T, 2π/T
	P0, Density   float64 // P₀, √(2π)/T
	Span          float64 // 2 max|X|
	Unit          float64 // a step in units of x
}

// Grid returns the spectrum's numbers.
func (s *Spectrum) Grid() Grid {
	g := Grid{Digits: digits}
	for _, a := range s.axes {
		g.Axes = append(g.Axes, Axis{
			Length: int(a.length), Period: a.period, Angle: a.h, P0: a.p0, Density: a.density, Span: a.span, Unit: a.step.Hi,
		})
	}
	if one, ok := s.table.(*line); ok {
		l := one.layout
		g.Rows, g.First, g.Irregular = len(l.values[0]), l.first, len(l.irregular)
		g.Margin, g.Reach = one.margin, one.reach
	}
	return g
}

// Arrays are the arrays that sums on a GPU read. Two inputs have planes only, one input has the others.
type Arrays struct {
	Planes    [][]float64    // [1+D][2·extent_0+1, 2, PlaneWidth] E_g: for each g_0 the real parts, then the imaginary parts
	Tables    [][]complex128 // [1+D][Margin+count] E_g from g = −Margin on, for v = 1 and for each output
	Values    [][]float64    // [1+D][Rows] number of rows at each grid point, and the sum of each output there
	Places    []float64      // [Rows,4] uneven rows: X and X/T, each in two numbers
	Irregular []int64        // X of the irregular grid points, ascending
}

// PlaneWidth returns the distance between the real and the imaginary parts in a table of two inputs.
func PlaneWidth(s Size) int { return 2*s[1] + 1 + simd.Lanes }

// never is Data.Stop of a computation that is not interrupted.
func never() error { return nil }

// Arrays computes tables of the given size and returns them with the other arrays.
func (s *Spectrum) Arrays(size Size) (a Arrays) {
	if p, ok := s.table.(*plane); ok {
		a.Planes, _ = p.make(size, never) // returns no error then
		return a
	}
	one := s.line()
	l := one.layout
	a.Tables, _ = one.make(size[0], never)
	a.Values, a.Places = l.values, make([]float64, 4*len(l.x))
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
