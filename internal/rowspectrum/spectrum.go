package rowspectrum

import (
	"math"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/double"
	"github.com/vssgp/vssgp/internal/fft"
	"github.com/vssgp/vssgp/internal/nufft"
	"github.com/vssgp/vssgp/internal/simd"
)

const (
	// maxPoints is the maximum number of terms on either side of the middle that one lane sums. Longer sums use several
	// lanes.
	maxPoints = 40

	// rowCost is the cost of a row in a direct sum, in units of a term of a table's sum.
	rowCost = 64
)

// A Spectrum contains the tables of a layout: E_g of the ones and of each output, at the frequencies g/T.
type Spectrum struct {
	layout  *layout
	rows    int
	period  float64        // T, in steps
	periodX double.Float   // T in units of x
	h       float64        // 2π/T
	p0      float64        // P₀
	density float64        // √(2π)/T
	length  int64          // even rows: the period of E_g; uneven rows: 0
	count   int            // frequencies 0, 1, …, count−1 are in the tables
	margin  int            // the number of frequencies below 0
	reach   int            // the maximum number of frequencies of a sum on each side
	tables  [][]complex128 // E_g at margin + g
	pairs   *simd.PairGrid
}

// possible reports whether the data can have tables: one input and no windows.
func possible(d *backend.Data) bool { return d.Q == 1 && d.Windows.Count() <= 1 }

// New chooses the grid of a data set's tables, which are computed later. It returns nil if the data have none.
func New(d *backend.Data) *Spectrum {
	if !possible(d) {
		return nil
	}
	l := newLayout(d)
	if l == nil {
		return nil
	}
	s := &Spectrum{layout: l, rows: d.N, period: over * l.span}
	s.reach = int(math.Sqrt(rowCost*over*digits*digits/math.Pi*float64(len(l.values[0])))) + maxPoints
	s.margin = s.reach + 2*maxPoints
	if l.even {
		s.length = 2 * int64(nufft.FastLength(int(math.Ceil(over*l.span/2))))
		s.period = float64(s.length)
	}
	s.periodX = double.Of(s.period).Times(l.step)
	s.h, s.density = 2*math.Pi/s.period, math.Sqrt(2*math.Pi)/s.period
	s.p0 = digits * digits / (s.period * (s.period - l.span))
	s.pairs = simd.NewPairGrid(s.p0, s.h, s.density, l.span, float64(s.length), s.margin, digits)
	return s
}

// make computes the tables for frequencies below count. It returns the error of stopped, which it calls between them.
func (s *Spectrum) make(count int, stopped func() error) ([][]complex128, error) {
	l := s.layout
	grown := make([]float64, len(l.values[0])) // exp(½P₀X²)
	each(len(grown), func(from, to int) {
		for i := from; i < to; i++ {
			x := l.at(i).Hi
			grown[i] = math.Exp(0.5 * s.p0 * x * x)
		}
	})
	known, transform := count, s.unevenSums
	if l.even {
		known, transform = int(s.length)/2+1, s.evenSums
	}
	sums := transform(grown, count)
	tables := make([][]complex128, len(l.values))
	for v := range tables {
		if err := stopped(); err != nil {
			return nil, err
		}
		tables[v] = make([]complex128, s.margin+count)
		sums(tables[v][s.margin:][:known], l.values[v])
		s.extend(tables[v], known)
	}
	return tables, nil
}

// evenSums returns a function that computes E_g of even rows, for g from 0 to half the length.
func (s *Spectrum) evenSums(grown []float64, _ int) func(e []complex128, values []float64) {
	plan := fft.New(int(s.length))
	length := len(plan.X)
	return func(e []complex128, values []float64) {
		each(length, func(from, to int) { clear(plan.X[from:to]) })
		each(len(values), func(from, to int) {
			for i := from; i < to; i++ {
				plan.X[(s.layout.first+i+length)%length] = values[i] * grown[i]
			}
		})
		plan.Transform()
		each(len(e), func(from, to int) {
			for g := from; g < to; g++ {
				e[g] = plan.Mode(g)
			}
		})
	}
}

// unevenSums returns a function that computes E_g of uneven rows, for 0 ≤ g < count.
func (s *Spectrum) unevenSums(grown []float64, count int) func(e []complex128, values []float64) {
	n := len(grown)
	turns, low, weighted := make([]float64, n), make([]float64, n), make([]float64, n)
	each(n, func(from, to int) {
		for i := from; i < to; i++ {
			t := s.turns(i)
			turns[i], low[i] = t.Hi, t.Lo
		}
	})
	plan := nufft.NewPlan(turns, low, count)
	return func(e []complex128, values []float64) {
		each(n, func(from, to int) {
			for i := from; i < to; i++ {
				weighted[i] = values[i] * grown[i]
			}
		})
		plan.Transform(e, weighted)
	}
}

// turns returns X/T of an uneven row.
func (s *Spectrum) turns(i int) double.Float { return s.layout.x[i].Over(double.Of(s.period)) }

// extend computes the rest of a table from E_g for 0 ≤ g < known: E_−g is conj(E_g), and on even rows E_g is periodic.
func (s *Spectrum) extend(t []complex128, known int) {
	e, length := t[s.margin:], int(s.length)
	at := func(g int) complex128 {
		if length > 0 {
			if g = (g%length + length) % length; g > length/2 {
				g -= length
			}
		}
		if g < 0 {
			return conj(e[-g])
		}
		return e[g]
	}
	for i := range s.margin {
		t[i] = at(i - s.margin)
	}
	each(len(e)-known, func(from, to int) {
		for g := known + from; g < known+to; g++ {
			e[g] = at(g)
		}
	})
}

func conj(a complex128) complex128 { return complex(real(a), -imag(a)) }
