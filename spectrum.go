package vssgp

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sort"
	"sync"

	"github.com/vssgp/vssgp/internal/ar"
	"github.com/vssgp/vssgp/internal/parallel"
)

// The spectrum start: see DESIGN.md, "Starting values", for the reasons and
// for what each of these was chosen against. Lengths are in windows' lengths W
// or in steps of the data's grid.
const (
	spectrumOrder = 0.5 // order of a window's autoregressive spectrum, steps of it in W
	// spectrumLongest is the highest such order: beyond, a recursion of p² steps
	// for each p places is slow, and the stretch's own periodogram is as fine.
	spectrumLongest = 4096
	spectrumSegment = 1.0         // half-length of the stretch it is read from, in W
	spectrumCell    = 0.75        // width of a frequency cell, in 1/W
	spectrumMost    = 0.27        // cells kept in a window at most, in steps of W …
	spectrumCap     = 200         // … and in number
	spectrumFewest  = 8           // and at least
	spectrumFew     = 0.04        // cells kept where they will be optimised, in steps of W: each is three point estimates
	spectrumLength  = 6           // length-scale of a cell's component, in W
	spectrumSpread  = 0.85        // the same where a component has several pairs of features
	spectrumPhase   = math.Pi / 4 // width of a uniform phase
	spectrumSteps   = 8           // density evaluations across a cell
	// spectrumShare is how much of the noise's floor the cells left out may hold.
	spectrumShare = 0.1
	// spectrumNoise medians of its cells' masses is what a window's noise may
	// hold in one of them, where rows are uneven and leak into all.
	spectrumNoise = 8
	// spectrumLeast is the least mass of a cell as a share of the variance.
	spectrumLeast = 1e-12
)

// spectrumFeatures is K where the options leave it open: a cosine and a sine.
const spectrumFeatures = 2

// spectrumWindows are WindowAuto's candidates in steps of the grid where the
// options name none: 32 to 64 ms at 16 kHz.
var spectrumWindows = []float64{512, 768, 1024}

// noWindowWork is the N·M² up to which no windows are such a candidate too, for
// data longer than the longest: an evaluation takes a tenth of a second.
const noWindowWork = 4e9

// startSpectrum lays a component on each of the strongest cells of the data's
// local spectrum. Per window: the autoregressive spectrum of the stretch
// around it, cut into cells; a cell of mass σ² at frequency f is one component
// with p = f, σ² and a length-scale of several windows, whose features are
// cosine and sine about the window's centre with q(w) = p(w). The model then
// is, before any optimisation, close to the Gaussian process with that
// spectrum, whose conditional mean an autoregressive fill computes.
func (m *Model) startSpectrum(ctx context.Context, data *Data, o Options) error {
	step, band, err := m.spectrumUnits(data, o)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return interrupted(ctx, err)
	}
	g := newGrid(m.X.ToModel(data.X), m.Y.ToModel(data.Y), data.D, step, band)
	lengths := g.candidates(o, m.X.Scale[0])
	g.fill(ctx, lengths[0])
	length := lengths[0]
	if o.Window == WindowAuto {
		var s setting
		if s, m.begun, err = m.choose(ctx, data, g, lengths, o); err != nil {
			return err
		}
		length, o = s.length, s.put(o)
	}
	floor := spectrumFloors[0]
	if o.Iterations == NoIterations { // else the noise is the optimiser's
		m.Params = g.start(ctx, m, length, floor, o)
		if err := o.checkMemory(data, m); err != nil {
			return err
		}
		if floor, err = m.bestFloor(ctx, data, g, length, o); err != nil {
			return err
		}
	}
	if floor != spectrumFloors[0] {
		m.begun = nil // that was at another noise
	}
	m.Params = g.start(ctx, m, length, floor, o)
	return nil
}

// spectrumUnits makes x count the steps of the data's grid, or the mean ones of
// uneven rows, and gives the step in the model's units and newGrid's band.
func (m *Model) spectrumUnits(data *Data, o Options) (step, band float64, err error) {
	if step = data.evenStep(); step == 0 {
		step, band = data.unevenStep()
	}
	if step == 0 {
		return 0, 0, fmt.Errorf("vssgp: start %q needs one input that varies; the data have %d inputs and %d rows: use start %q: %w", InitSpectrum, data.Q, data.N, InitPaper, ErrOptions)
	}
	if o.Features%2 == 1 {
		return 0, 0, fmt.Errorf("vssgp: start %q lays cosines and sines in pairs, want an even number of features a component, not %d: %w", InitSpectrum, o.Features, ErrOptions)
	}
	if !o.Raw {
		lo, _ := extent(data.X, 1, 0)
		m.X = Affine{Offset: []float64{lo}, Scale: []float64{step}}
	}
	return step / m.X.Scale[0], band, nil
}

// candidates are the window lengths to try, rising, in the model's units; 0 is
// no windows.
func (g *grid) candidates(o Options, scale float64) []float64 {
	if o.Window != WindowAuto {
		return []float64{max(0, o.Window) / scale}
	}
	var lengths []float64
	for _, w := range o.WindowCandidates {
		lengths = append(lengths, w/scale)
	}
	if lengths == nil {
		for _, w := range spectrumWindows {
			lengths = append(lengths, w*g.step)
		}
	}
	sort.Float64s(lengths)
	// A window as long as the data is no window; longer ones are the same.
	span := float64(len(g.missing)-1) * g.step
	for i, w := range lengths {
		if w >= span {
			return append(lengths[:i:i], 0)
		}
	}
	// Lines that last as long as the data (hours with days and weeks) want none.
	if m := float64(spectrumFeatures * o.mostCells(g.steps(0))); o.WindowCandidates == nil && o.Iterations != NoIterations && float64(len(g.missing))*m*m <= noWindowWork {
		lengths = append(lengths, 0)
	}
	return lengths
}

// start is the starting values for windows of the given length and a noise of
// at least floor times the data's variance.
func (g *grid) start(ctx context.Context, m *Model, length, floor float64, o Options) *Params {
	end := g.x0 + float64(len(g.missing)-1)*g.step
	rng := rand.New(rand.NewPCG(o.Seed, 0x5bec))
	share := 0.5
	if o.Seed != 0 { // other starts: the windows elsewhere
		share = rng.Float64()
	}
	w := layWindows(g.x0, end, length, share, 0)
	if len(w.Center) == 0 {
		length = end - g.x0 + g.step
	}
	unit := g.unit()
	cells, dropped := g.cells(ctx, w.Center, length, floor*unit, o)
	k := cmp.Or(o.Features, spectrumFeatures)
	p := NewParams(len(cells), k, 1, len(g.y))
	p.CoefMean, p.CoefVar = nil, nil
	p.Windows = w
	g.layCells(p, cells, length, unit, o.UniformPhases, rng)
	p.NoisePrecision[0] = o.startNoise(1/(dropped+floor*unit), m.Y)
	if o.Method == SSGP || o.Method == RP {
		clear(p.FreqVar)
	}
	return p
}

// cell is a stretch of a window's spectrum: its frequency in cycles per step
// and its mass, in units of y².
type cell struct {
	window     int
	freq, mass float64
}

// cells are the heaviest cells of each window's spectrum, ordered by window
// and frequency, and the mean over the windows of the mass left out.
func (g *grid) cells(ctx context.Context, centres []float64, length, floor float64, o Options) (kept []cell, dropped float64) {
	half := spectrumSegment * length
	if len(centres) == 0 {
		centres, half = []float64{g.x0 + float64(len(g.missing)-1)*g.step/2}, length
	}
	steps := length / g.step
	for _, r := range g.ranks(ctx, centres, half, steps, o.mostCells(steps), o.Shared) {
		keep, rest := o.split(r, spectrumShare*floor)
		dropped += rest / float64(len(centres))
		at := len(kept)
		kept = append(kept, r.cells[:keep]...)
		top := kept[at:]
		sort.Slice(top, func(i, j int) bool { return top[i].freq < top[j].freq })
	}
	return kept, dropped
}

// ranked are the cells of a window that may be kept, heaviest first, and the
// mass of all others.
type ranked struct {
	cells []cell
	rest  float64
	lines int // of uneven rows, how many of the cells stand out of the noise's
}

// spectra are those that were asked for last: floors are tried on the same.
type spectra struct {
	windows, most int
	half          float64
	shared        bool
	ranks         []ranked
}

// ranks are the cells of each window's spectrum, most of them at most; shared,
// those of the windows' mean spectrum in each. Once ctx has ended they are
// cells of no mass, which are not kept.
func (g *grid) ranks(ctx context.Context, centres []float64, half, steps float64, most int, shared bool) []ranked {
	s := &g.spectra
	if s.ranks != nil && s.windows == len(centres) && s.half == half && s.most == most && s.shared == shared {
		return s.ranks
	}
	*s = spectra{len(centres), most, half, shared, make([]ranked, len(centres))}
	count, order := g.cellCount(steps), int(spectrumOrder*steps)
	long := order > spectrumLongest
	transforms := sync.Pool{New: func() any { return ar.NewTransform(count*spectrumSteps, order) }}
	masses := make([][]float64, len(centres)) // kept for the mean alone
	parallel.For(len(centres), runtime.GOMAXPROCS(0), func(v int) {
		var own []float64
		switch {
		case ctx.Err() != nil:
			own = make([]float64, count)
		case g.times != nil:
			own = g.unevenMasses(ctx, centres[v], half, count)
		case long:
			own = g.periodogram(ctx, centres[v], half, count)
		default:
			t := transforms.Get().(*ar.Transform)
			defer transforms.Put(t)
			own = cellMasses(t, g.density(centres[v], half, order), count)
		}
		if shared {
			masses[v] = own
			return
		}
		s.ranks[v] = g.rank(own, v, most)
	})
	if shared {
		mean := meanOf(masses)
		for v := range s.ranks {
			s.ranks[v] = g.rank(mean, v, most)
		}
	}
	ranks := s.ranks
	if ctx.Err() != nil {
		s.ranks = nil
	}
	return ranks
}

func meanOf(all [][]float64) []float64 {
	mean := make([]float64, len(all[0]))
	for _, a := range all {
		for i, x := range a {
			mean[i] += x / float64(len(all))
		}
	}
	return mean
}

// split says how many of a window's cells to keep, and the mass of the rest: as
// many as asked for, else few where they will be optimised, else all but those
// that the noise hides.
func (o *Options) split(r ranked, hidden float64) (keep int, rest float64) {
	fewest := cmp.Or(o.Components, min(spectrumFewest, len(r.cells)))
	keep, rest = len(r.cells), r.rest
	for keep > fewest && (keep > r.lines || rest+r.cells[keep-1].mass < hidden) {
		keep--
		rest += r.cells[keep].mass
	}
	return keep, rest
}

// cellCount is how many cells the spectrum of a window of so many steps is cut
// into.
func (g *grid) cellCount(steps float64) int {
	return max(1, int(math.Ceil(g.band*steps/spectrumCell)))
}

// mostCells is how many of them a window may keep.
func (o *Options) mostCells(steps float64) int {
	if n := cmp.Or(o.Components, o.most); n != 0 {
		return n
	}
	share := spectrumFew
	if o.Iterations == NoIterations {
		share = spectrumMost
	}
	return max(spectrumFewest, min(spectrumCap, int(share*steps)))
}

// cellMasses are the masses of the cells that [0, ½] cycles per step is cut
// into: the variance that each and its mirror image hold, by the midpoint rule,
// in the mean over the outputs.
func cellMasses(t *ar.Transform, models []ar.Model, count int) []float64 {
	masses, width := make([]float64, count), 0.5/float64(count)
	for _, m := range models {
		for i, d := range t.Densities(m) {
			masses[i/spectrumSteps] += d
		}
	}
	for i := range masses {
		masses[i] *= 2 * width / float64(spectrumSteps*len(models))
	}
	return masses
}

// rank is the heaviest of window v's cells.
func (g *grid) rank(masses []float64, v, most int) (r ranked) {
	cells, width := make([]cell, len(masses)), g.band/float64(len(masses))
	for i, mass := range masses {
		cells[i] = cell{v, (float64(i) + 0.5) * width, mass}
	}
	slices.SortFunc(cells, func(a, b cell) int { return cmp.Or(cmp.Compare(b.mass, a.mass), cmp.Compare(a.freq, b.freq)) })
	keep := min(most, len(cells))
	r.lines = keep
	if g.times != nil {
		noise := spectrumNoise * cells[len(cells)/2].mass
		for r.lines > 0 && cells[r.lines-1].mass <= noise {
			r.lines--
		}
	}
	r.cells = slices.Clone(cells[:keep])
	for _, a := range cells[keep:] {
		r.rest += a.mass
	}
	return r
}

// layCells makes a component of each cell. One pair sits on the cell's middle,
// with q(w) = p(w); several are drawn from a p(w) as wide as the cell, each
// surer of its frequency than that.
func (g *grid) layCells(p *Params, cells []cell, length, unit float64, uniform bool, rng *rand.Rand) {
	if len(p.Windows.Center) > 0 {
		p.ComponentWindow = make([]int, p.L)
	}
	middle := g.x0 + float64(len(g.missing)-1)*g.step/2
	l, sigma := spectrumLength*length, 1.0
	if p.K > 2 {
		l = spectrumSpread * length
		sigma = math.Pow(spectrumSpread/spectrumLength, 2) // the same reach
	}
	half := 0.0
	if uniform {
		half = spectrumPhase / 2
	}
	for i, c := range cells {
		centre := middle
		if p.ComponentWindow != nil {
			p.ComponentWindow[i] = c.window
			centre = p.Windows.Center[c.window]
		}
		p.Variance[i] = max(c.mass, spectrumLeast*unit)
		p.Lengthscale[i] = l
		p.Frequency[i] = c.freq / g.step
		for j := range p.K {
			k := i*p.K + j
			p.Location[k] = centre
			p.FreqVar[k] = sigma
			switch {
			case p.K > 2 && j%2 == 0:
				p.FreqMean[k] = rng.NormFloat64()
			case p.K > 2:
				p.FreqMean[k] = p.FreqMean[k-1]
			}
			phase := -float64(j%2) * math.Pi / 2
			p.PhaseLower[k], p.PhaseUpper[k] = phase-half, phase+half
		}
	}
}
