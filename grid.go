package vssgp

import (
	"math"
	"slices"
	"sort"

	"github.com/vssgp/vssgp/internal/ar"
)

const (
	// evenTolerance is how far, in steps, a sample may lie from an even grid.
	evenTolerance = 0.1
	// evenFewest is the fewest rows whose grid can be told.
	evenFewest = 16
	// fillOrder is the order of the autoregressive fill, in W.
	fillOrder = 0.4
	// fillContext is how far to either side of a gap its model looks, in W.
	fillContext = 1.0
	// evenSparsest is how many places a row may stand for: a grid emptier than
	// that does not show its spectrum.
	evenSparsest = 4
)

// evenStep is the step of the grid on which the rows of one input lie, some of
// its places possibly empty; 0 where there is no such grid.
func (d *Data) evenStep() float64 {
	if d.Q != 1 || d.N < evenFewest {
		return 0
	}
	x := slices.Clone(d.X)
	sort.Float64s(x)
	gaps := make([]float64, d.N-1)
	for i := range gaps {
		gaps[i] = x[i+1] - x[i]
	}
	sort.Float64s(gaps)
	if gaps[0] <= 0 {
		return 0
	}
	step := gaps[len(gaps)/2]
	places := 0.0
	for i := range d.N - 1 {
		r := (x[i+1] - x[i]) / step
		n := math.Round(r)
		if n < 1 || math.Abs(r-n) > evenTolerance*max(1, n/10) {
			return 0
		}
		places += n
	}
	if places > evenSparsest*float64(d.N) {
		return 0
	}
	return (x[d.N-1] - x[0]) / places
}

// grid is evenly sampled data in the model's units, missing places filled.
type grid struct {
	x0, step float64
	y        [][]float64 // [D][places]
	missing  []bool
	of       *grid // what it was cut from, nil if nothing

	spectra spectra
}

func newGrid(x, y []float64, d int, step float64) *grid {
	lo, hi := extent(x, 1, 0)
	g := &grid{x0: lo, step: step, missing: make([]bool, int(math.Round((hi-lo)/step))+1)}
	for range d {
		g.y = append(g.y, make([]float64, len(g.missing)))
	}
	for i := range g.missing {
		g.missing[i] = true
	}
	for n, v := range x {
		at := g.place(v)
		g.missing[at] = false
		for j := range d {
			g.y[j][at] = y[n*d+j]
		}
	}
	return g
}

// place is the place of x, in the model's units.
func (g *grid) place(x float64) int {
	return min(max(int(math.Round((x-g.x0)/g.step)), 0), len(g.missing)-1)
}

// fillRounds alternations of model and fill are enough; more begin to believe
// the fill.
const fillRounds = 3

// fill interpolates the missing places autoregressively; length is a window's,
// 0 for none.
func (g *grid) fill(length float64) {
	if length == 0 {
		length = spectrumWindows[0] * g.step
	}
	order := min(len(g.missing)/4, int(fillOrder*length/g.step))
	gaps := runs(g.missing, true)
	for _, y := range g.y {
		ar.FillAround(y, gaps, order, int(fillContext*length/g.step), fillRounds) // where that fails, the mean stays: zero
	}
}

// cut is the grid's places [lo, hi), filled as they are.
func (g *grid) cut(lo, hi int) *grid {
	part := &grid{x0: g.x0 + float64(lo)*g.step, step: g.step, missing: g.missing[lo:hi], of: g}
	for _, y := range g.y {
		part.y = append(part.y, y[lo:hi])
	}
	return part
}

// steps is a window's length in steps of the grid; 0, none, is the whole grid's.
func (g *grid) steps(length float64) float64 {
	if length == 0 {
		return float64(len(g.missing))
	}
	return length / g.step
}

// unit is the data's variance, of which noise floors are shares; of constant
// data, which any small covariance explains, 1.
func (g *grid) unit() float64 {
	if g.of != nil {
		return g.of.unit()
	}
	if v := g.variance(); v != 0 {
		return v
	}
	return 1
}

// variance is the mean square of the places that are not missing.
func (g *grid) variance() float64 {
	s, n := 0.0, 0
	for _, y := range g.y {
		for i, v := range y {
			if !g.missing[i] {
				s += v * v
				n++
			}
		}
	}
	return s / float64(n)
}

// density is each output's autoregressive model of the stretch within half of
// centre, tapered by a cosine.
func (g *grid) density(centre, half float64, order int) []ar.Model {
	lo := max(0, int(math.Ceil((centre-half-g.x0)/g.step)))
	hi := min(len(g.missing)-1, int(math.Floor((centre+half-g.x0)/g.step)))
	order = max(1, min(order, (hi-lo+1)/3))
	var models []ar.Model
	for _, y := range g.y {
		s := make([]float64, hi-lo+1)
		weight := 0.0
		for i := range s {
			t := math.Cos(math.Pi / 2 * (g.x0 + float64(lo+i)*g.step - centre) / half)
			s[i] = t * y[lo+i]
			weight += t * t
		}
		r := ar.Autocorrelation(s, order)
		for j := range r {
			r[j] *= float64(len(s)) / weight
		}
		models = append(models, ar.YuleWalker(r))
	}
	return models
}
