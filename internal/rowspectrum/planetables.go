package rowspectrum

import (
	"math"

	"github.com/vssgp/vssgp/internal/double"
	"github.com/vssgp/vssgp/internal/fft"
	"github.com/vssgp/vssgp/internal/nufft"
)

// cover implements table. Sums for products have at most twice a feature's frequency and four times its P.
func (p *plane) cover(waves [][]wave) (s Size) {
	for q, a := range p.axes {
		cycles, decay := int64(0), 0.0
		for i := range waves[q] {
			w := &waves[q][i]
			cycles, decay = max(cycles, w.cycles, -w.cycles), max(decay, w.p)
		}
		most := nufft.FastLength(int(min(2*cycles+2, maxCycles)))
		if a.length > 0 {
			most = min(most, int(a.length)/2)
		}
		points := min(pointsFor(a, 4*decay), p.reach)
		s[q] = most + nufft.FastLength(points)
	}
	return s
}

// pointsFor returns the number of terms −points ≤ k < points for a product with decay P.
func pointsFor(a *axis, p float64) int {
	return int(min(math.Ceil(digits*math.Sqrt(p+a.p0)/a.h+0.5), maxCycles))
}

// entries implements table.
func (p *plane) entries(s Size) float64 { return float64(2*s[0]+1) * float64(2*s[1]+1) }

// compute implements table.
func (p *plane) compute(s Size, stopped func() error) error {
	tables, err := p.make(s, stopped)
	if err == nil {
		p.extent, p.width, p.tables = s, PlaneWidth(s), tables
	}
	return err
}

// make computes the tables. It returns the error of stopped, which it calls between them.
func (p *plane) make(s Size, stopped func() error) ([][]float64, error) {
	sums := p.scatteredSums(s)
	if c, ok := p.places.(cells); ok {
		sums = p.gridSums(c)
	}
	width := PlaneWidth(s)
	stride := 2 * width
	tables := make([][]float64, len(p.values))
	for v := range tables {
		if err := stopped(); err != nil {
			return nil, err
		}
		mode := sums(p.values[v])
		t := make([]float64, (2*s[0]+1)*stride)
		each(2*s[0]+1, func(from, to int) {
			for i := from; i < to; i++ {
				row := t[i*stride:][:stride]
				for j := range 2*s[1] + 1 {
					e := p.mode(mode, i-s[0], j-s[1])
					row[j], row[width+j] = real(e), imag(e)
				}
			}
		})
		tables[v] = t
	}
	return tables, nil
}

// mode returns E_g from the modes that a transform computes: E_−g is conj(E_g), and on a grid E_g is periodic.
func (p *plane) mode(known func(g0, g1 int) complex128, g0, g1 int) complex128 {
	g := [2]int{g0, g1}
	for q, a := range p.axes {
		if length := int(a.length); length > 0 {
			if g[q] = (g[q]%length + length) % length; g[q] > length/2 {
				g[q] -= length
			}
		}
	}
	if g[1] < 0 {
		return conj(known(-g[0], -g[1]))
	}
	return known(g[0], g[1])
}

// grown returns Π_q exp(½P₀_q X_q²) at all places.
func (p *plane) grown() []float64 {
	grown := make([]float64, len(p.values[0]))
	each(len(grown), func(from, to int) {
		for i := from; i < to; i++ {
			x0, x1 := p.places.at(i, 0).Hi, p.places.at(i, 1).Hi
			grown[i] = math.Exp(0.5 * (p.axes[0].p0*x0*x0 + p.axes[1].p0*x1*x1))
		}
	})
	return grown
}

// gridSums returns a function that computes E_g of rows on a grid, for g_0 up to half the period on both sides and g_1
// from 0 to half the period.
func (p *plane) gridSums(c cells) func(values []float64) func(g0, g1 int) complex128 {
	grown := p.grown()
	lengths := [2]int{int(p.axes[0].length), int(p.axes[1].length)}
	plan := fft.New2(lengths[0], lengths[1])
	return func(values []float64) func(g0, g1 int) complex128 {
		each(len(plan.X), func(from, to int) { clear(plan.X[from:to]) })
		for i := range c.size[0] {
			row := plan.X[(c.first[0]+i+lengths[0])%lengths[0]*lengths[1]:][:lengths[1]]
			for j := range c.size[1] {
				row[(c.first[1]+j+lengths[1])%lengths[1]] = values[i*c.size[1]+j] * grown[i*c.size[1]+j]
			}
		}
		plan.Transform()
		return plan.Mode2
	}
}

// scatteredSums returns a function that computes E_g of scattered rows within the size.
func (p *plane) scatteredSums(s Size) func(values []float64) func(g0, g1 int) complex128 {
	grown := p.grown()
	n := len(grown)
	var turns, low [2][]float64
	for q := range turns {
		turns[q], low[q] = make([]float64, n), make([]float64, n)
		period := double.Of(p.axes[q].period)
		each(n, func(from, to int) {
			for i := from; i < to; i++ {
				t := p.places.at(i, q).Over(period)
				turns[q][i], low[q][i] = t.Hi, t.Lo
			}
		})
	}
	plan := nufft.NewPlan2(turns, low, [2]int{s[0] + 1, s[1] + 1})
	weighted := make([]float64, n)
	var modes []complex128
	return func(values []float64) func(g0, g1 int) complex128 {
		each(n, func(from, to int) {
			for i := from; i < to; i++ {
				weighted[i] = values[i] * grown[i]
			}
		})
		modes = plan.Transform(modes, weighted)
		return func(g0, g1 int) complex128 { return modes[(g0+s[0])*(s[1]+1)+g1] }
	}
}
