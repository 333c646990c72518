package vssgp

import (
	"cmp"
	"context"
	"fmt"
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
	// from y, or finds out by trying.
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
	// and gradients; StartBytes a start's data on their grid and its spectra;
	// PeakBytes about what the process has in memory at its peak beyond the
	// program itself, where the collector is told to leave no more than a quarter
	// of what is in use (GOGC=25, as the command has it; Go's own setting leaves
	// as much again).
	RowBytes, MatrixBytes, HistoryBytes, StartBytes, PeakBytes float64
}

// Flops is the operations of the whole fit.
func (p *Plan) Flops() float64 {
	if p == nil {
		return 0
	}
	return p.StartFlops + float64(p.Bounds)*p.BoundFlops + float64(p.Gradients)*p.GradientFlops + float64(p.MiniBatches)*p.MiniBatchFlops
}

// NewPlan is NewPlanContext without an end.
func NewPlan(data *Data, o Options) (*Plan, error) {
	return NewPlanContext(context.Background(), data, o)
}

// NewPlanContext is the plan of Fit with these data and options. Data without y
// (Y nil) will do: the plan then counts as many components as the spectrum start
// may take, and with y about as many as it is going to, from the spectra of some
// windows. Errors wrap ErrData, ErrOptions, or ctx.Err() once ctx has ended.
func NewPlanContext(ctx context.Context, data *Data, o Options) (*Plan, error) {
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
		if err := b.spectrum(ctx, m); err != nil {
			return nil, err
		}
	default:
		b.paper(m)
	}
	b.settle()
	b.stages()
	b.bytes()
	return b.plan, nil
}

// planner puts a plan together from the code that makes models.
type planner struct {
	data   *Data
	o      Options
	plan   *Plan
	models []*Params // that the start may choose
	params *Params   // the one of them whose memory is told
	offset []int     // its windows' features
	bounds int       // the start's own evaluations
	matrix bool      // whether any evaluation is of the exact bound
	begun  bool      // whether windows are chosen by bounds of all data, of which the best stays
	hidden bool      // whether the start hides some rows and tries how much noise tells them
	out    bool      // whether the fit is held against lines in the end
}

// spectrum looks at every window length that the spectrum start may take.
func (b *planner) spectrum(ctx context.Context, m *Model) error {
	step, band, err := m.spectrumUnits(b.data, b.o)
	if err != nil {
		return err
	}
	known := len(b.data.Y) > 0 && len(b.data.Y) == b.data.N*b.data.D
	var y []float64
	d := 0
	if known {
		y, d = standardise(b.data.Y, b.data.D).ToModel(b.data.Y), b.data.D
	}
	g := newGrid(m.X.ToModel(b.data.X), y, d, step, band)
	lengths := g.candidates(b.o, m.X.Scale[0])
	g.fill(ctx, lengths[0])
	auto := b.o.Window == WindowAuto
	if settings, _ := g.mostTried(&b.o, len(lengths), g.steps(lengths[len(lengths)-1])); auto && g.excerpt(lengths) == len(g.missing) {
		b.bounds += settings
		b.begun = settings > 0
		if b.o.Iterations != NoIterations {
			b.plan.Gradients += settings * (evidenceIterations + 1)
		}
	}
	floor := spectrumFloors[0]
	b.hidden = b.o.Iterations == NoIterations && b.o.NoisePrecision == 0 && len(g.trialGaps()) > 0
	b.plan.StartFlops, b.plan.StartBytes = g.startWork(lengths, b.data.D, b.hidden)
	b.plan.StartBytes += float64(len(g.missing) * (8*b.data.D + 1))
	if b.hidden {
		b.bounds += len(spectrumFloors) - 1
		floor = spectrumFloors[1] // which is tried in any case
	}
	b.matrix = b.bounds > 0
	end := g.x0 + float64(len(g.missing)-1)*g.step
	for _, length := range lengths {
		w := layWindows(g.x0, end, length, 0.5, 0)
		if len(w.Center) == 0 {
			length = end - g.x0 + g.step
		}
		steps := length / g.step
		o := b.o
		o.most = min(o.mostCells(steps), g.cellCount(steps))
		if auto {
			_, o.most = g.mostTried(&b.o, len(lengths), steps)
		}
		components := slices.Repeat([]int{o.most}, w.Count())
		if known {
			components = g.kept(ctx, w.Center, length, floor, o)
		}
		b.consider(m.X, b.o.skeleton(b.data, w, components, cmp.Or(b.o.Features, spectrumFeatures)))
	}
	b.plan.AtMost = b.o.Components == 0 && !known || auto
	return interrupted(ctx, ctx.Err())
}

// keptWindows is how many windows' spectra a plan looks at.
const keptWindows = 64

// kept is how many components the start lays in each window [V]: in some of
// them, whose neighbours are taken to be like them.
func (g *grid) kept(ctx context.Context, centres []float64, length, floor float64, o Options) []int {
	n := max(1, len(centres))
	stride := (n + keptWindows - 1) / keptWindows
	var some []float64
	for v := 0; v < len(centres); v += stride {
		some = append(some, centres[v])
	}
	cells, _ := g.cells(ctx, some, length, floor*g.unit(), o)
	kept := make([]int, max(1, len(some)))
	for _, c := range cells {
		kept[c.window]++
	}
	components := make([]int, n)
	for v := range components {
		components[v] = kept[v/stride]
	}
	return components
}

// paper is the paper's start, which has all its numbers from the options.
func (b *planner) paper(m *Model) {
	if !b.o.Raw {
		m.X = standardise(b.data.X, b.data.Q)
	}
	lengths, _ := b.o.paperScales(b.data)
	w := b.o.paperWindows(m.X.ToModel(b.data.X), b.data.Q, m.X.Scale)
	b.consider(m.X, b.o.skeleton(b.data, w, slices.Repeat([]int{len(lengths)}, w.Count()), cmp.Or(b.o.Features, paperFeatures)))
}

// skeleton is parameters of the shape of a start's, with each window's number
// of components [V], free where those would be.
func (o *Options) skeleton(data *Data, w spectral.Windows, components []int, k int) *Params {
	var own []int
	for v, n := range components {
		own = append(own, slices.Repeat([]int{v}, n)...)
	}
	p := NewParams(len(own), k, data.Q, data.D)
	p.Windows = w
	if len(w.Center) > 0 {
		p.ComponentWindow = own
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

// settle takes the middle one of the models for what is held: which it will be,
// trying tells, and windows of 32 and of 64 ms hold within √2 of what those
// between them do.
func (b *planner) settle() {
	size := func(p *Params) float64 { return cost.MatrixBytes(p.Features().Offsets()) }
	slices.SortStableFunc(b.models, func(p, q *Params) int { return cmp.Compare(size(p), size(q)) })
	b.params = b.models[len(b.models)/2]
	b.offset = b.params.Features().Offsets()
}

// consider takes in a model that the start may choose, and its work, if none
// before needs more.
func (b *planner) consider(x Affine, p *Params) {
	b.models = append(b.models, p)
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
	if gradient < b.plan.GradientFlops {
		return
	}
	b.plan.BoundFlops, b.plan.GradientFlops, b.plan.MiniBatchFlops = bound, gradient, factorised
	b.plan.Windows, b.plan.Components, b.plan.Features = p.Windows.Count(), p.L, p.M()
}

func (b *planner) inference() Inference { return cmp.Or(b.o.Inference, Exact) }

// stages counts evaluations and the optimiser's memory by the schedule.
func (b *planner) stages() {
	f := &fitting{o: b.o, data: b.data, model: &Model{Params: b.params}}
	inference := b.inference()
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
			// Pairs, and the point and the gradient where the optimiser stands, where it tries and where it came from.
			b.plan.HistoryBytes = max(b.plan.HistoryBytes, 8*float64(n*(2*min(lbfgs.Memory, s.iterations)+6)))
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
	if b.out = b.o.Iterations != NoIterations && (&Model{Inference: inference, Params: b.params}).holdsOut(b.data); b.out {
		b.plan.Bounds++
		b.matrix = true
	}
	b.plan.Gradients *= b.plan.Starts
	b.plan.MiniBatches *= b.plan.Starts
	b.plan.MiniBatchFlops *= float64(f.batchSize()) / float64(b.data.N)
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
