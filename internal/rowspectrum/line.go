package rowspectrum

import (
	"math"
	"math/bits"

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

// A line contains the tables of rows with one input: E_g of the ones and of each output, at the frequencies g/T.
type line struct {
	layout *layout
	count  int            // frequencies 0, 1, …, count−1 are in the tables
	margin int            // the number of frequencies below 0
	reach  int            // the maximum number of frequencies of a sum on each side
	tables [][]complex128 // E_g at margin + g
	pairs  *simd.PairGrid
	panels []float64 // the features' waves [M/8,PairRows,8]
}

// newLine returns nil if the rows have no layout.
func newLine(d *backend.Data) *line {
	l := newLayout(d)
	if l == nil {
		return nil
	}
	s := &line{layout: l}
	s.reach = int(math.Sqrt(rowCost*over*digits*digits/math.Pi*float64(len(l.values[0])))) + maxPoints
	s.margin = s.reach + 2*maxPoints
	s.pairs = l.pairGrid(s.margin)
	return s
}

// compute computes the tables for frequencies below count (table).
func (s *line) compute(count Size, stopped func() error) error {
	tables, err := s.make(count[0], stopped)
	if err == nil {
		s.tables, s.count = tables, count[0]
	}
	return err
}

// cover implements table. On even rows it depends on the rows alone.
func (s *line) cover(waves [][]wave) Size {
	if s.layout.even {
		return Size{int(s.layout.length/2) + s.margin}
	}
	most := int64(0)
	for i := range waves[0] {
		w := &waves[0][i]
		most = max(most, w.cycles, -w.cycles)
	}
	return Size{1<<bits.Len64(uint64(2*most+2)) + s.margin}
}

// entries implements table, without the frequencies below 0.
func (s *line) entries(count Size) float64 { return float64(count[0] - s.margin) }

// cardTerms implements table.
func (s *line) cardTerms(waves [][]wave, k int) float64 { return s.terms(waves, k) }

// terms implements table.
func (s *line) terms(waves [][]wave, k int) float64 {
	p := 2 * waves[0][k].p
	table := 2 * digits * math.Sqrt(p+s.layout.p0) / s.layout.h
	if p*s.layout.span*s.layout.span <= digits*digits {
		return table
	}
	share := min(1, 2*digits/math.Sqrt(p)/s.layout.span) // of the data within the wave's reach
	rows := rowCost * share * float64(len(s.layout.values[0]))
	if !s.layout.even {
		return min(table, rows)
	}
	return share * min(table, rows)
}

// make computes the tables for frequencies below count. It returns the error of stopped, which it calls between them.
func (s *line) make(count int, stopped func() error) ([][]complex128, error) {
	l := s.layout
	grown := make([]float64, len(l.values[0])) // exp(½P₀X²)
	each(len(grown), func(from, to int) {
		for i := from; i < to; i++ {
			x := l.position(i).Hi
			grown[i] = math.Exp(0.5 * l.p0 * x * x)
		}
	})
	known, transform := count, s.unevenSums
	if l.even {
		known, transform = int(l.length)/2+1, s.evenSums
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
func (s *line) evenSums(grown []float64, _ int) func(e []complex128, values []float64) {
	plan := fft.New(int(s.layout.length))
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
func (s *line) unevenSums(grown []float64, count int) func(e []complex128, values []float64) {
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
func (s *line) turns(i int) double.Float { return s.layout.x[i].Over(double.Of(s.layout.period)) }

// extend computes the rest of a table from E_g for 0 ≤ g < known: E_−g is conj(E_g), and on even rows E_g is periodic.
func (s *line) extend(t []complex128, known int) {
	e, length := t[s.margin:], int(s.layout.length)
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
