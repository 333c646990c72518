package vssgp

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sort"

	"github.com/vssgp/vssgp/internal/ar"
	"github.com/vssgp/vssgp/internal/periodogram"
)

const (
	// evenTolerance is how far, in steps, any row may lie from its place on one
	// line of even places: the first of a month lies within 0.1 of a mean month.
	// Only the start looks at the places; features are of the rows' own x.
	evenTolerance = 0.25
	// evenExact is the same for a grid whose first and last row tell its step.
	evenExact = 1e-3
	// evenFewest is the fewest rows whose grid can be told.
	evenFewest = 16
	// fillOrder is the order of the autoregressive fill, in W.
	fillOrder = 0.4
	// fillContext is how far to either side of a gap its model looks, in W.
	fillContext = 1.0
	// evenSparsest is how many places a row may stand for: a grid emptier than
	// that does not show its spectrum.
	evenSparsest = 4
	// bandMost is the highest frequency looked at in uneven rows, in cycles per
	// mean step: bursts of rows tell more than the mean step would.
	bandMost = 16
)

// evenStep is the step of the grid on which the rows of one input lie, some of
// its places possibly empty; 0 where there is no such grid. Places are counted
// from neighbour to neighbour, but held against all rows at once.
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
	step := singleGap(gaps)
	at := make([]float64, d.N)
	for i := range d.N - 1 {
		n := math.Round((x[i+1] - x[i]) / step)
		if n < 1 {
			return 0
		}
		at[i+1] = at[i] + n
	}
	places := at[d.N-1]
	if places > evenSparsest*float64(d.N) {
		return 0
	}
	if ends := (x[d.N-1] - x[0]) / places; furthest(x, at, x[0], ends) <= evenExact*ends {
		return ends
	}
	if first, step := regression(at, x); furthest(x, at, first, step) <= evenTolerance*step {
		return step
	}
	return 0
}

// singleGap is the mean of those of the sorted gaps that are about the median:
// months are 28 to 31 days.
func singleGap(gaps []float64) float64 {
	median, sum, n := gaps[len(gaps)/2], 0.0, 0
	for _, g := range gaps {
		if g > 1.5*median {
			break
		}
		sum += g
		n++
	}
	return sum / float64(n)
}

// furthest is how far any of x lies from its place on the line first + step·at.
func furthest(x, at []float64, first, step float64) (far float64) {
	for i, v := range x {
		far = max(far, math.Abs((v-x[0])-(first-x[0])-step*at[i]))
	}
	return far
}

// regression is the line a + b·t closest to y in squares.
func regression(t, y []float64) (a, b float64) {
	n := float64(len(t))
	var mt, my, tt, ty float64
	for i := range t {
		mt += t[i] / n
		my += (y[i] - y[0]) / n
	}
	for i := range t {
		tt += (t[i] - mt) * (t[i] - mt)
		ty += (t[i] - mt) * (y[i] - y[0] - my)
	}
	b = ty / tt
	return y[0] + my - b*mt, b
}

// varies reports whether there is one input, and it has an extent.
func (d *Data) varies() bool {
	if d.Q != 1 {
		return false
	}
	lo, hi := extent(d.X, 1, 0)
	return hi > lo && !math.IsInf(hi-lo, 0)
}

// unevenStep is the mean step of the rows of one input, and how many cycles in
// it their spectrum can be told up to: half a cycle in the median step. step is
// 0 where they have no extent.
func (d *Data) unevenStep() (step, band float64) {
	if !d.varies() {
		return 0, 0
	}
	x := slices.Clone(d.X)
	sort.Float64s(x)
	var gaps []float64
	for i := range d.N - 1 {
		if g := x[i+1] - x[i]; g > 0 {
			gaps = append(gaps, g)
		}
	}
	sort.Float64s(gaps)
	step = (x[d.N-1] - x[0]) / float64(len(gaps))
	return step, min(max(0.5, 0.5*step/gaps[len(gaps)/2]), bandMost)
}

// grid is the data of one input in the model's units on even places, missing
// ones filled; of uneven rows only their count and extent, beside the rows.
type grid struct {
	x0, step float64
	y        [][]float64 // [D][places]
	missing  []bool
	of       *grid // what it was cut from, nil if nothing

	band   float64     // the spectrum's end in cycles per step: ½ of even rows
	times  []float64   // of uneven rows, rising; nil: even
	values [][]float64 // [D] of uneven rows

	spectra spectra
}

// newGrid lays rows on places a step apart or, where there is a band, keeps them
// as they are.
func newGrid(x, y []float64, d int, step, band float64) *grid {
	lo, hi := extent(x, 1, 0)
	if band > 0 {
		return newUneven(x, y, d, step, band)
	}
	first := lo + offGrid(x, lo, step)
	g := &grid{x0: first, step: step, band: 0.5, missing: make([]bool, int(math.Round((hi-first)/step))+1)}
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

// offGrid is by how much the grid that x lie about is off lo, in the mean of
// directions: 0 where that is next to nothing.
func offGrid(x []float64, lo, step float64) float64 {
	var s, c float64
	for _, v := range x {
		sin, cos := math.Sincos(2 * math.Pi * math.Remainder((v-lo)/step, 1))
		s, c = s+sin, c+cos
	}
	if off := math.Atan2(s, c) / (2 * math.Pi); math.Abs(off) > evenExact {
		return off * step
	}
	return 0
}

// newUneven is the rows by their times, step the mean one.
func newUneven(x, y []float64, d int, step, band float64) *grid {
	lo, hi := extent(x, 1, 0)
	g := &grid{x0: lo, step: step, band: band, missing: make([]bool, int(math.Round((hi-lo)/step))+1), y: make([][]float64, d), values: make([][]float64, d)}
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	for i := range g.missing {
		g.missing[i] = true
	}
	for _, n := range order {
		g.times = append(g.times, x[n])
		g.missing[g.place(x[n])] = false
		for j := range d {
			g.values[j] = append(g.values[j], y[n*d+j])
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
func (g *grid) fill(ctx context.Context, length float64) {
	if g.times != nil {
		return // nothing lies on places
	}
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
	part := &grid{x0: g.x0 + float64(lo)*g.step, step: g.step, band: g.band, missing: g.missing[lo:hi], of: g}
	if g.times != nil {
		from, to := g.within(part.x0-g.step/2, part.x0+(float64(hi-lo)-0.5)*g.step)
		part.times, part.y = g.times[from:to:to], g.y
		for _, v := range g.values {
			part.values = append(part.values, v[from:to])
		}
		return part
	}
	for _, y := range g.y {
		part.y = append(part.y, y[lo:hi])
	}
	return part
}

// unevenBand is newGrid's.
func (g *grid) unevenBand() float64 {
	if g.times == nil {
		return 0
	}
	return g.band
}

// within are the uneven rows [from, to) at times from lo to below hi.
func (g *grid) within(lo, hi float64) (from, to int) {
	return sort.SearchFloat64s(g.times, lo), sort.SearchFloat64s(g.times, hi)
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
	for _, v := range g.values {
		s += dotSelf(v)
		n += len(v)
	}
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

// unevenMasses are cellMasses of uneven rows within half of centre: nothing
// once ctx has ended.
func (g *grid) unevenMasses(ctx context.Context, centre, half float64, count int) []float64 {
	masses := make([]float64, count)
	from, to := g.within(centre-half, centre+half)
	if to-from < 2 {
		return masses
	}
	times, weights := g.times[from:to], make([]float64, to-from)
	for i, x := range times {
		w := math.Cos(math.Pi / 2 * (x - centre) / half)
		weights[i] = max(w*w, 1e-6)
	}
	for _, v := range g.values {
		m, err := periodogram.Masses(ctx, times, v[from:to], weights, g.band/g.step, count, spectrumSteps)
		if err != nil {
			return masses
		}
		for i, a := range m {
			masses[i] += a / float64(len(g.values))
		}
	}
	return masses
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
