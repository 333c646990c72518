package vssgp

import (
	"context"
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

const (
	// fillWork is how many operations a fill may take, and fillExcerpt how many
	// of them one excerpt, which nothing interrupts for a third of them: a few
	// seconds, and one.
	fillWork, fillExcerpt = 2e10, 4e9
	// fillLeast is an order below which no fill goes.
	fillLeast = 8
)

// A filling is how missing places are filled: orders and reaches in steps.
type filling struct {
	order, reach int
	tiled        bool
	work         float64 // operations for all outputs
}

// filling is gap by gap for windows of the given length, 0 for none; where that
// is too much work, tile by tile, with half of the order and reach until it is
// not: what is filled so has many gaps or long ones, and a fill of any order
// knows little about them.
func (g *grid) filling(gaps [][2]int, length float64, outputs int) filling {
	if length == 0 {
		length = spectrumWindows[0] * g.step
	}
	f := filling{order: min(len(g.missing)/4, int(fillOrder*length/g.step)), reach: int(fillContext * length / g.step)}
	for {
		all, largest := ar.Work(len(g.missing), gaps, f.order, f.reach, fillRounds, f.tiled)
		f.work = all * float64(outputs)
		if f.work <= fillWork && largest <= fillExcerpt || f.tiled && f.order < 2*fillLeast {
			return f
		}
		if f.tiled {
			f.order, f.reach = f.order/2, f.reach/2
		}
		f.tiled = true
	}
}

// fill interpolates the missing places autoregressively; length is a window's,
// 0 for none.
func (g *grid) fill(ctx context.Context, length float64) {
	gaps := runs(g.missing, true)
	f, by := g.filling(gaps, length, len(g.y)), ar.FillAround
	if f.tiled {
		by = ar.FillTiles
	}
	for _, y := range g.y {
		by(ctx, y, gaps, f.order, f.reach, fillRounds) // where that fails, the mean stays: zero
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
	lo, hi := g.stretch(centre, half)
	order = max(1, min(order, (hi-lo)/3))
	var models []ar.Model
	for _, y := range g.y {
		s, weight := g.tapered(y, lo, hi, centre, half)
		r := ar.Autocorrelation(s, order)
		for j := range r {
			r[j] *= float64(len(s)) / weight
		}
		models = append(models, ar.YuleWalker(r))
	}
	return models
}

// periodogram is the masses of count cells as the stretch within half of centre
// has them itself, tapered by a cosine, in the mean over the outputs. A
// frequency of the transform stands for the frequencies around it.
func (g *grid) periodogram(ctx context.Context, centre, half float64, count int) []float64 {
	lo, hi := g.stretch(centre, half)
	n := ar.PeriodogramSize(hi - lo)
	power, masses := make([]float64, n/2+1), make([]float64, count)
	var s []float64
	var weight float64
	for _, y := range g.y {
		if ctx.Err() != nil {
			break
		}
		s, weight = g.tapered(y, lo, hi, centre, half)
		ar.Periodogram(power, s)
	}
	cells := 2 * float64(count) / float64(n) // in a step of the transform
	for k, v := range power {
		v *= 2 / (weight * float64(n*len(g.y))) // with the mirror image
		from, to := (float64(k)-0.5)*cells, (float64(k)+0.5)*cells
		for i := max(0, int(from)); i <= min(count-1, int(to)); i++ {
			masses[i] += v * (min(to, float64(i+1)) - max(from, float64(i))) / cells
		}
	}
	return masses
}

// stretch is the places [lo, hi) within half of centre.
func (g *grid) stretch(centre, half float64) (lo, hi int) {
	lo = max(0, int(math.Ceil((centre-half-g.x0)/g.step)))
	hi = min(len(g.missing)-1, int(math.Floor((centre+half-g.x0)/g.step)))
	return lo, hi + 1
}

// tapered is the stretch of an output under a cosine, whose squares sum to
// weight.
func (g *grid) tapered(y []float64, lo, hi int, centre, half float64) (s []float64, weight float64) {
	s = make([]float64, hi-lo)
	for i := range s {
		t := math.Cos(math.Pi / 2 * (g.x0 + float64(lo+i)*g.step - centre) / half)
		s[i] = t * y[lo+i]
		weight += t * t
	}
	return s, weight
}

// startWork is how many operations the fill and the spectra of windows of these
// lengths take at most, and the bytes of the largest spectrum; hidden, once
// more for the longest with some places hidden.
func (g *grid) startWork(lengths []float64, outputs int, hidden bool) (flops, bytes float64) {
	fill, most := g.filling(runs(g.missing, true), lengths[0], outputs).work, 0.0
	flops = fill
	for _, length := range lengths {
		work, held := g.spectraWork(length, outputs)
		flops, most, bytes = flops+work, max(most, work), max(bytes, held)
	}
	if hidden {
		flops += fill + most
	}
	return flops, bytes
}

// spectraWork is startWork of the spectra for one length alone.
func (g *grid) spectraWork(length float64, outputs int) (flops, bytes float64) {
	end := g.x0 + float64(len(g.missing)-1)*g.step
	windows, half := len(layWindows(g.x0, end, length, 0.5, 0).Center), spectrumSegment*length
	if windows == 0 {
		windows, length = 1, end-g.x0+g.step
		half = length
	}
	steps := length / g.step
	places := min(len(g.missing), int(2*half/g.step)+1)
	count, order := cellCount(steps), int(spectrumOrder*steps)
	each, held := ar.PeriodogramWork(places)
	if order <= spectrumLongest {
		order = max(1, min(order, places/3))
		each, held = ar.ModelWork(places, order)+ar.DensitiesWork(count*spectrumSteps, order), float64(3*16*(count*spectrumSteps+order))
	}
	return float64(windows*outputs) * each, held + cellBytes*float64(count)
}

// cellBytes are held for each cell while the heaviest are sought.
const cellBytes = 8 + 24
