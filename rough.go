package vssgp

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
)

// The rough start believes of the data what a straight line between neighbours
// believes: that they are a Brownian motion and noise. Its covariance has two
// free numbers, the size of both. It is for series that no few lines of a
// spectrum describe: see DESIGN.md, "Is the fit better than a line?".
const (
	// roughWindow is the windows' length in (mean) steps, or roughGaps times the
	// longest twentieth of the steps between rows: the windows hold the whole
	// band, for which short ones take least features in a row's reach.
	roughWindow, roughGaps = 48, 8
	// roughBand is the band's end at most, in cycles per mean step.
	roughBand = 1.0
	// roughLength is the length-scale in W: a frequency that is unsure by more
	// makes a high level look like noise.
	roughLength = 3000
	// roughLevel is the frequency, in 1/W, of the component that holds a window's
	// level: its cosine is the gate's, whose squares add up to 1.
	roughLevel = 0.5
	// roughNoise is the starting share of noise in the squared differences of
	// neighbours.
	roughNoise = 0.25
	// roughIterations suffice for two numbers.
	roughIterations = 30
	// roughMost is how many rows it is for: it takes some 4 kB a row.
	roughMost = 100_000
)

// leavesRough reports whether the options leave the rough start open.
func (o *Options) leavesRough(data *Data) bool {
	return o.From == nil && o.init(data) == InitSpectrum && (o.Method == "" || o.Method == VSSGP) && (o.Inference == "" || o.Inference == Exact) &&
		o.Components == 0 && o.Features == 0 && o.Window == WindowAuto && o.WindowCandidates == nil && !o.Shared && o.Fix == nil && o.Tie == nil && data.N <= roughMost
}

// roughly are the options of the rough start.
func (o Options) roughly() Options {
	o.rough, o.Tie = true, []string{"kernel.variance"}
	o.Fix = append([]string{"kernel.lengthscale", "kernel.frequency"}, feature...)
	o.Iterations = min(cmp.Or(o.Iterations, roughIterations), roughIterations)
	return o
}

// startRough lays the spectrum of a Brownian motion over the whole band in
// every window, beside a component for its level.
func (m *Model) startRough(ctx context.Context, data *Data, o Options) error {
	step, band, err := m.spectrumUnits(data, o)
	if err != nil {
		return err
	}
	g := newGrid(m.X.ToModel(data.X), m.Y.ToModel(data.Y), data.D, step, band)
	difference, wide := g.neighbours(m.X.ToModel(data.X), m.Y.ToModel(data.Y))
	length := max(roughWindow*g.step, roughGaps*wide)
	end := g.x0 + float64(len(g.missing)-1)*g.step
	w := layWindows(g.x0, end, length, 0.5, 0)
	if len(w.Center) == 0 {
		length = end - g.x0 + g.step
	}
	unit := g.unit()
	own := g.brownian(length/g.step, difference*(1-roughNoise))
	own = append([]cell{{0, roughLevel * g.step / length, unit}}, own...)
	var cells []cell
	for v := range w.Count() {
		for _, c := range own {
			cells = append(cells, cell{v, c.freq, c.mass})
		}
	}
	p := NewParams(len(cells), spectrumFeatures, 1, data.D)
	p.CoefMean, p.CoefVar = nil, nil
	p.Windows = w
	g.layCells(p, cells, length, unit, o.UniformPhases, rand.New(rand.NewPCG(o.Seed, 0x5bec)))
	for i := range p.Lengthscale {
		p.Lengthscale[i] = roughLength * length
	}
	p.NoisePrecision[0] = o.startNoise(1/(difference*roughNoise/2+spectrumLeast*unit), m.Y)
	m.Params = p
	return ctx.Err()
}

// brownian are cells of a window of so many steps whose masses are as those of
// a Brownian motion with the given mean square of differences over a step.
func (g *grid) brownian(steps, difference float64) []cell {
	band := min(g.band, roughBand)
	count := max(1, int(math.Ceil(band*steps/spectrumCell)))
	cells, sum := make([]cell, count), 0.0
	for i := range cells {
		f := (float64(i) + 0.5) * band / float64(count)
		s := 2 * math.Sin(math.Pi/2*f/band)
		cells[i] = cell{0, f, 1 / (s * s)}
		sum += 2 * cells[i].mass * (1 - math.Cos(2*math.Pi*f))
	}
	for i := range cells {
		cells[i].mass *= difference / sum
	}
	return cells
}

// neighbours are the mean square of the differences of neighbouring rows for
// each step between them, the smaller half, and the step that a twentieth exceed.
func (g *grid) neighbours(x, y []float64) (difference, wide float64) {
	n := len(x)
	d := len(y) / n
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	var steps []float64
	for i := range n - 1 {
		a, b := order[i], order[i+1]
		apart := x[b] - x[a]
		steps = append(steps, apart)
		for j := range d {
			v := y[b*d+j] - y[a*d+j]
			difference += v * v / (max(1, apart/g.step) * float64((n-1)*d))
		}
	}
	slices.Sort(steps)
	return max(difference, spectrumLeast*g.unit()), steps[len(steps)*19/20]
}
