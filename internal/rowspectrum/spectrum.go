package rowspectrum

import (
	"math"
	"runtime"

	"gonum.org/v1/gonum/dsp/fourier"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/double"
	"github.com/vssgp/vssgp/internal/nufft"
	"github.com/vssgp/vssgp/internal/parallel"
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

// make computes the tables for frequencies below count.
func (s *Spectrum) make(count int) [][]complex128 {
	l := s.layout
	tables := make([][]complex128, len(l.values))
	n := len(l.values[0])
	grown := make([]float64, n) // exp(½P₀X²)
	for i := range grown {
		x := l.at(i).Hi
		grown[i] = math.Exp(0.5 * s.p0 * x * x)
	}
	var plan *nufft.Plan
	if !l.even {
		turns, low := make([]float64, n), make([]float64, n)
		for i, x := range l.x {
			t := x.Over(double.Of(s.period))
			turns[i], low[i] = t.Hi, t.Lo
		}
		plan = nufft.NewPlan(turns, low, count)
	}
	workers := runtime.GOMAXPROCS(0)
	if plan != nil {
		workers = 1 // because a plan has one grid
	}
	parallel.For(len(tables), workers, func(v int) {
		var e []complex128
		if plan != nil {
			weighted := make([]float64, n)
			for i, value := range l.values[v] {
				weighted[i] = value * grown[i]
			}
			e = plan.Transform(nil, weighted)
		} else {
			e = s.transform(l.values[v], grown)
		}
		tables[v] = s.unfold(e, count)
	})
	return tables
}

// transform returns E_g for g from 0 to half the length for even rows.
func (s *Spectrum) transform(values, grown []float64) []complex128 {
	length := int(s.length)
	onGrid := make([]float64, length)
	for i, v := range values {
		onGrid[(s.layout.first+i+length)%length] = v * grown[i]
	}
	e := fourier.NewFFT(length).Coefficients(nil, onGrid)
	for g, v := range e { // of exp(−iθX)
		e[g] = conj(v)
	}
	return e
}

// unfold returns E_g with margins: E_−g is conj(E_g), and on even rows E_g is periodic.
func (s *Spectrum) unfold(e []complex128, count int) []complex128 {
	t := make([]complex128, s.margin+count)
	for i := range t {
		g := i - s.margin
		if length := int(s.length); length > 0 {
			if g = (g%length + length) % length; g > length/2 {
				g -= length
			}
		}
		if g < 0 {
			t[i] = conj(e[-g])
		} else {
			t[i] = e[g]
		}
	}
	return t
}

func conj(a complex128) complex128 { return complex(real(a), -imag(a)) }
