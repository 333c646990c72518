package vssgp

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"

	"github.com/vssgp/vssgp/internal/cost"
	"github.com/vssgp/vssgp/internal/lbfgs"
	"github.com/vssgp/vssgp/spectral"
)

// Plan is what a fit is going to compute and hold, told beforehand. Counts of
// operations are of products and sums, by the formulas of spectral.Rows' passes
// and of the algebra; sines, cosines and exponentials come on top.
type Plan struct {
	Rows, Inputs, Outputs int // N, Q, D
	Windows               int // 1 where there are none
	Components, Features  int // of all windows
	// AtMost says that windows, components and features, and what follows from
	// them, are the most that the start may choose: how many it takes it reads
	// from the data.
	AtMost bool

	Starts int // Options.Restarts and one; one more follows where the best is worse than lines
	// Bounds are evaluations of the bound alone, of all starts, at most, and
	// Gradients those with the gradient; a line search that steps back takes
	// more, convergence fewer. Settings tried on excerpts are not counted.
	Bounds, Gradients int
	MiniBatches       int // steps on mini-batches
	// BoundFlops, GradientFlops and MiniBatchFlops are operations of one each.
	BoundFlops, GradientFlops, MiniBatchFlops float64
	// StartFlops are operations of all starts at most, their Bounds apart: of
	// the fill, the spectra and, of mini-batches, the coefficients from a part
	// of the rows.
	StartFlops float64

	// RowBytes are the rows as they are given and as a backend on this machine
	// holds them; MatrixBytes E[ΦᵀΦ], once; HistoryBytes the optimiser's steps
	// and gradients; PeakBytes about what the process has in memory at its peak
	// beyond the program itself (10 to 20 MB), where the collector is told to
	// leave no more than a quarter of what is in use (GOGC=25, as the command has
	// it; Go's own setting leaves as much again).
	RowBytes, MatrixBytes, HistoryBytes, PeakBytes float64
	StartBytes                                     float64 // of a start's data on their grid and its spectra, before there is a model
}

// Flops is the operations of the whole fit.
func (p *Plan) Flops() float64 {
	if p == nil {
		return 0
	}
	return p.StartFlops + float64(p.Bounds)*p.BoundFlops + float64(p.Gradients)*p.GradientFlops + float64(p.MiniBatches)*p.MiniBatchFlops
}

// NewPlan is the plan of Fit with these data, of which it looks at N, Q, D and
// X alone, and options. Errors wrap ErrData or ErrOptions.
func NewPlan(data *Data, o Options) (*Plan, error) {
	if data == nil {
		return nil, data.Check()
	}
	if data.N < 1 || data.Q < 1 || data.D < 1 || len(data.X) != data.N*data.Q {
		return nil, fmt.Errorf("vssgp: plan for %d rows, %d inputs, %d outputs and %d numbers in x: %w", data.N, data.Q, data.D, len(data.X), ErrData)
	}
	if err := o.check(data); err != nil {
		return nil, err
	}
	b := &planner{data: data, o: o, plan: &Plan{Rows: data.N, Inputs: data.Q, Outputs: data.D, Starts: 1 + o.Restarts}}
	m := &Model{X: identity(data.Q)}
	switch {
	case o.From != nil:
		b.consider(o.From.X, o.From.Params)
	case o.init(data) == InitSpectrum:
		if err := b.spectrum(m); err != nil {
			return nil, err
		}
	default:
		b.paper(m)
	}
	b.stages()
	b.bytes()
	return b.plan, nil
}

// planner puts a plan together from the code that makes models.
type planner struct {
	data   *Data
	o      Options
	plan   *Plan
	params *Params // of the largest model there may be
	offset []int
	bounds int  // the start's own evaluations
	matrix bool // whether any evaluation is of the exact bound
}

// spectrum looks at every window length that the spectrum start may take.
func (b *planner) spectrum(m *Model) error {
	step, band, err := m.spectrumUnits(b.data, b.o)
	if err != nil {
		return err
	}
	g := newGrid(m.X.ToModel(b.data.X), nil, 0, step, band)
	lengths := g.candidates(b.o, m.X.Scale[0])
	auto := b.o.Window == WindowAuto
	if settings, _ := g.mostTried(&b.o, len(lengths), g.steps(lengths[len(lengths)-1])); auto && g.excerpt(lengths) == len(g.missing) {
		b.bounds += settings
		if b.o.Iterations != NoIterations {
			b.plan.Gradients += settings * (evidenceIterations + 1)
		}
	}
	hidden := b.o.Iterations == NoIterations && b.o.NoisePrecision == 0 && len(g.trialGaps()) > 0
	b.plan.StartFlops, b.plan.StartBytes = g.startWork(lengths, b.data.D, hidden)
	b.plan.StartBytes += float64(len(g.missing) * (8*b.data.D + 1))
	if hidden {
		b.bounds += len(spectrumFloors) - 1
	}
	b.matrix = b.bounds > 0
	end := g.x0 + float64(len(g.missing)-1)*g.step
	for _, length := range lengths {
		w := layWindows(g.x0, end, length, 0.5, 0)
		if len(w.Center) == 0 {
			length = end - g.x0 + g.step
		}
		steps := length / g.step
		components := min(b.o.mostCells(steps), g.cellCount(steps))
		if auto {
			_, components = g.mostTried(&b.o, len(lengths), steps)
		}
		b.consider(m.X, b.o.skeleton(b.data, w, components, cmp.Or(b.o.Features, spectrumFeatures)))
	}
	b.plan.AtMost = b.o.Components == 0 || auto
	return nil
}

// paper is the paper's start, which has all its numbers from the options.
func (b *planner) paper(m *Model) {
	if !b.o.Raw {
		m.X = standardise(b.data.X, b.data.Q)
	}
	lengths, _ := b.o.paperScales(b.data)
	w := b.o.paperWindows(m.X.ToModel(b.data.X), b.data.Q, m.X.Scale)
	b.consider(m.X, b.o.skeleton(b.data, w, len(lengths), cmp.Or(b.o.Features, paperFeatures)))
}

// skeleton is parameters of the shape of a start's, with each window's number
// of components, free where those would be.
func (o *Options) skeleton(data *Data, w spectral.Windows, components, k int) *Params {
	p := NewParams(components*w.Count(), k, data.Q, data.D)
	p.Windows = w
	if len(w.Center) > 0 {
		p.ComponentWindow = make([]int, p.L)
		for i := range p.ComponentWindow {
			p.ComponentWindow[i] = i / components
		}
	}
	fill := func(a []float64) {
		for i := range a {
			a[i] = 1
		}
	}
	fill(p.Lengthscale)
	if o.Method != SSGP && o.Method != RP {
		fill(p.FreqVar)
	}
	if o.UniformPhases {
		fill(p.PhaseUpper)
	}
	return p
}

// consider takes a model in, if none before needs more work.
func (b *planner) consider(x Affine, p *Params) {
	offset := p.Features().Offsets()
	bound, gradient, factorised := cost.Factor(offset), cost.Inverse(offset), 0.0
	d, q := float64(p.D), float64(p.Q)
	for _, r := range p.Windows.NewLayout(x.ToModel(b.data.X), b.data.N, p.Q).Runs {
		n, m := float64(r.Hi-r.Lo), float64(offset[r.End]-offset[r.First])
		bound += cost.Moments(n, m, d)
		gradient += cost.Pullback(n, m)
		factorised += cost.Factorised(n, m, q, d)
	}
	gradient += bound
	if b.inference() != Exact {
		b.plan.MiniBatchFlops = factorised // of all rows, until stages knows the batch
		gradient = factorised
	}
	if b.params != nil && gradient < b.plan.GradientFlops {
		return
	}
	b.params, b.offset = p, offset
	b.plan.BoundFlops, b.plan.GradientFlops, b.plan.MiniBatchFlops = bound, gradient, factorised
	b.plan.Windows, b.plan.Components, b.plan.Features = p.Windows.Count(), p.L, p.M()
}

func (b *planner) inference() Inference { return cmp.Or(b.o.Inference, Exact) }

// stages counts evaluations and the optimiser's memory by the schedule.
func (b *planner) stages() {
	f := &fitting{o: b.o, data: b.data, model: &Model{Params: b.params}}
	inference, coordinates := b.inference(), 0
	stages := f.stages(inference)
	stochastic := slices.ContainsFunc(stages, func(s stage) bool { return s.stochastic })
	for _, s := range stages {
		n := newChart(b.params, s.free, b.o.ties(), 1).n
		switch {
		case n == 0:
		case s.stochastic:
			b.plan.MiniBatches += s.iterations
		default:
			b.plan.Gradients += s.iterations + 1
			coordinates = max(coordinates, n)
		}
	}
	if inference == Exact {
		b.bounds++ // where the optimisation ends
		b.matrix = true
	}
	if (inference != Exact || stochastic) && len(b.coefficients()) == 0 {
		rows, direct := f.meanFrom()
		b.matrix = b.matrix || direct
		if rows == b.data.N {
			b.bounds++
		} else {
			b.plan.StartFlops += b.meanWork(rows, direct)
		}
	}
	b.plan.StartFlops *= float64(b.plan.Starts)
	b.plan.Bounds = b.bounds * b.plan.Starts
	if b.o.Iterations != NoIterations && (&Model{Inference: inference, Params: b.params}).holdsOut(b.data) {
		b.plan.Bounds++
	}
	b.plan.Gradients *= b.plan.Starts
	b.plan.MiniBatches *= b.plan.Starts
	b.plan.MiniBatchFlops *= float64(f.batchSize()) / float64(b.data.N)
	// Pairs, and the point and the gradient where the optimiser stands, where it tries and where it came from.
	b.plan.HistoryBytes = 8 * float64(coordinates) * (2*lbfgs.Memory + 6)
}

// meanWork is the operations of the coefficients' start from some of the rows,
// which only models without windows have.
func (b *planner) meanWork(rows int, direct bool) float64 {
	n, m, d := float64(rows), float64(b.params.M()), float64(b.params.D)
	if direct {
		return cost.Moments(n, m, d) + cost.Factor(b.offset)
	}
	return (conjugateSteps + 1) * cost.Factorised(n, m, float64(b.params.Q), d)
}

// coefficients are those that a model to start from brings along.
func (b *planner) coefficients() []float64 {
	if b.o.From == nil {
		return nil
	}
	return b.o.From.Params.CoefVar
}

const (
	// rowNumbers is how many numbers go with each row besides its x and y: its
	// place in the order of windows and back, its gates.
	rowNumbers = 5
	// rowCopies is how often x and y are held: as given, in the model's units,
	// in the order of the windows.
	rowCopies = 3
	// matrixCopies is how many matrices are held at once: the moments, which
	// become factor and inverse, the moments of the posterior to be kept, room to
	// compute in for each of both, and the best posterior so far.
	matrixCopies = 5
	// tileRows and tilePanels are the rows and the arrays of a tile: what a core
	// has of the features that it sums at a time.
	tileRows, tilePanels = 256, 3
	// collected is how much there is of what is held with what the collector has
	// not yet freed: half of what the command lets it leave.
	collected = 1.125
	// fillShare is how much of a matrix fills in, at most, where it is factored
	// in segments.
	fillShare = 0.5
	// paramCopies is how many sets of parameters there are: the model, a trial,
	// the gradient, effective features and theirs.
	paramCopies = 5
)

func (b *planner) bytes() {
	p, n := b.plan, float64(b.data.N)
	p.RowBytes = 8 * n * (rowCopies*float64(p.Inputs+p.Outputs) + rowNumbers)
	if b.matrix {
		p.MatrixBytes = cost.MatrixBytes(b.offset)
	}
	fill := 0.0
	if b.o.Segments > 2 {
		fill = fillShare * p.MatrixBytes
	}
	numbers := 0
	for _, t := range b.params.Tensors() {
		numbers += len(*t.Data)
	}
	tiles := 0
	for v := range len(b.offset) - 1 {
		tiles = max(tiles, b.offset[min(v+2, len(b.offset)-1)]-b.offset[v])
	}
	tiles *= 8 * tileRows * tilePanels * min(runtime.GOMAXPROCS(0), 1+b.data.N/tileRows)
	model := matrixCopies*p.MatrixBytes + fill + p.HistoryBytes + 8*paramCopies*float64(numbers) + float64(tiles)
	p.PeakBytes = collected * (p.RowBytes + max(model, p.StartBytes))
}
