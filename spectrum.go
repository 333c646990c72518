package vssgp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sort"

	"github.com/vssgp/vssgp/internal/ar"
)

// The spectrum start: see DESIGN.md, "Starting values", for the derivation and
// for what each of these was chosen against.
const (
	spectrumWindow  = 384  // W in samples for WindowAuto
	spectrumOrder   = 128  // of the autoregressive spectrum of a window
	spectrumSegment = 1.5  // half-length of the stretch it is read from, in W
	spectrumCell    = 0.75 // width of a frequency cell, in 1/W
	spectrumCells   = 100  // cells kept in each window
	spectrumLength  = 4    // length-scale of a cell's component, in W
	spectrumSteps   = 16   // density evaluations across a cell
	// spectrumLeast is the least mass of a cell, as a share of the variance.
	spectrumLeast = 1e-12
	// spectrumShort is the number of rows below which WindowAuto takes none.
	spectrumShort = 2 * spectrumWindow
)

// spectrumFloor is the least starting noise, as a share of the data's variance.
var spectrumFloor = 0.0225

// startSpectrum lays a component on each of the strongest cells of the data's
// local spectrum. Per window: the autoregressive spectrum of the stretch
// around it, cut into cells; a cell of mass σ² at frequency f is one component
// with p = f, σ² and a length-scale of several windows, whose features are
// cosine and sine about the window's centre with q(w) = p(w). The model then
// is, before any optimisation, close to the Gaussian process with that
// spectrum, whose conditional mean an autoregressive fill computes.
func (m *Model) startSpectrum(data *Data, o Options) error {
	step := data.evenStep()
	if step == 0 {
		return fmt.Errorf("vssgp: start %q needs one input on an even grid, most of its places filled; the data have %d inputs and %d rows: use start %q: %w", InitSpectrum, data.Q, data.N, InitPaper, ErrOptions)
	}
	k := o.Features
	if k == 0 {
		k = 2
	}
	if k%2 == 1 {
		return fmt.Errorf("vssgp: start %q lays cosines and sines in pairs, want an even number of features a component, not %d: %w", InitSpectrum, k, ErrOptions)
	}
	if !o.Raw {
		m.X = Affine{Offset: []float64{data.X[0]}, Scale: []float64{step}}
		for _, v := range data.X {
			m.X.Offset[0] = min(m.X.Offset[0], v)
		}
	}
	g := newGrid(m.X.toModel(data.X), m.Y.toModel(data.Y), data.D, step/m.X.Scale[0])
	g.fill()
	length := o.Window / m.X.Scale[0]
	if o.Window == WindowAuto {
		length = 0
		if len(g.missing) > spectrumShort {
			length = spectrumWindow * g.step
		}
	}
	w := layWindows(g.x0, g.x0+float64(len(g.missing)-1)*g.step, length, 0)
	if len(w.Center) == 0 {
		length = float64(len(g.missing)) * g.step
		w.Center = nil
	}
	n := o.Components
	if n == 0 {
		n = min(spectrumCells, len(g.missing)/4)
	}
	cells, dropped := g.cells(w.Center, length, n)
	p := NewParams(len(cells), k, 1, data.D)
	p.CoefMean, p.CoefVar = nil, nil
	p.Windows = w
	unit := g.variance()
	if unit == 0 {
		unit = 1 // constant data: any small covariance explains them
	}
	p.layCells(cells, length, g, unit, rand.New(rand.NewPCG(o.Seed, 0x5bec)))
	p.NoisePrecision[0] = o.startNoise(1/max(dropped, spectrumFloor*unit), m.Y)
	if o.Method == SSGP || o.Method == RP {
		for i := range p.FreqVar {
			p.FreqVar[i] = 0
		}
	}
	m.Params = p
	return nil
}

// cell is a stretch of a window's spectrum: its frequency in cycles per sample
// and its mass, in units of y².
type cell struct {
	window     int
	freq, mass float64
}

// grid is the data on their even grid, missing places filled.
type grid struct {
	x0, step float64
	y        [][]float64 // [D][places]
	missing  []bool
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
		at := min(max(int(math.Round((v-lo)/step)), 0), len(g.missing)-1)
		g.missing[at] = false
		for j := range d {
			g.y[j][at] = y[n*d+j]
		}
	}
	return g
}

// fill interpolates the missing places autoregressively.
func (g *grid) fill() {
	order := min(spectrumOrder, len(g.missing)/4)
	for _, y := range g.y {
		ar.Fill(y, g.missing, order)
	}
}

func (g *grid) middle() float64 { return g.x0 + g.step*float64(len(g.missing)-1)/2 }

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

// density is the mean over the outputs of the autoregressive spectra of the
// places within half of centre, tapered by a cosine.
func (g *grid) density(centre, half float64) []ar.Model {
	lo := max(0, int(math.Ceil((centre-half-g.x0)/g.step)))
	hi := min(len(g.missing)-1, int(math.Floor((centre+half-g.x0)/g.step)))
	order := max(1, min(spectrumOrder, (hi-lo+1)/3))
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

// cells are the n heaviest cells of each window's spectrum, ordered by window
// and frequency, and the mean over the windows of the mass left out.
func (g *grid) cells(centres []float64, length float64, n int) (kept []cell, dropped float64) {
	half := spectrumSegment * length
	if len(centres) == 0 {
		centres, half = []float64{g.middle()}, length
	}
	width := spectrumCell / (length / g.step)
	count := max(1, int(math.Ceil(0.5/width)))
	width = 0.5 / float64(count)
	n = min(n, count)
	for v, c := range centres {
		models := g.density(c, half)
		all := make([]cell, count)
		for i := range all {
			all[i] = cell{window: v, freq: (float64(i) + 0.5) * width, mass: mass(models, float64(i)*width, width)}
		}
		sort.SliceStable(all, func(i, j int) bool { return all[i].mass > all[j].mass })
		for _, a := range all[n:] {
			dropped += a.mass / float64(len(centres))
		}
		top := all[:n]
		sort.Slice(top, func(i, j int) bool { return top[i].freq < top[j].freq })
		kept = append(kept, top...)
	}
	return kept, dropped
}

// mass is the variance that [f, f+width] and its mirror image hold, by the
// midpoint rule.
func mass(models []ar.Model, f, width float64) float64 {
	s := 0.0
	for _, m := range models {
		for i := range spectrumSteps {
			s += m.Density(f + (float64(i)+0.5)*width/spectrumSteps)
		}
	}
	return 2 * s * width / float64(spectrumSteps*len(models))
}

// layCells makes a component of each cell. Further pairs of a component are
// spread over its cell.
func (p *Params) layCells(cells []cell, length float64, g *grid, unit float64, rng *rand.Rand) {
	if len(p.Windows.Center) > 0 {
		p.ComponentWindow = make([]int, p.L)
	}
	for i, c := range cells {
		centre := g.middle()
		if p.ComponentWindow != nil {
			p.ComponentWindow[i] = c.window
			centre = p.Windows.Center[c.window]
		}
		l := spectrumLength * length
		p.Variance[i] = max(c.mass, spectrumLeast*unit)
		p.Lengthscale[i] = l
		p.Frequency[i] = c.freq / g.step
		for j := range p.K {
			k := i*p.K + j
			p.Location[k] = centre
			p.FreqVar[k] = 1
			if j >= 2 { // further pairs, somewhere else in the cell
				p.FreqMean[k] = p.FreqMean[k-j%2]
				if j%2 == 0 {
					p.FreqMean[k] = 2 * math.Pi * l * spectrumCell / length * (rng.Float64() - 0.5)
				}
			}
			p.PhaseLower[k] = -float64(j%2) * math.Pi / 2
			p.PhaseUpper[k] = p.PhaseLower[k]
		}
	}
}
