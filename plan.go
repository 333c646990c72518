package vssgp

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/vssgp/vssgp/internal/cost"
	"github.com/vssgp/vssgp/internal/optimise"
	"github.com/vssgp/vssgp/internal/rowspectrum"
	"github.com/vssgp/vssgp/internal/start"
	"github.com/vssgp/vssgp/variational"
)

// Plan estimates the work and the memory of a fit before it runs. It counts the
// products and sums of spectral.Rows' passes and of the algebra by their formulas;
// sines, cosines and exponentials come on top.
type Plan struct {
	Rows, Inputs, Outputs int // N, Q, D
	Windows               int // 1 if there are none
	Components, Features  int // of all windows
	// AtMost says that windows, components and features, and the figures that follow
	// from them, are upper limits: the start chooses by y, or by trying.
	AtMost bool

	// Tried are the features per component that the default start of several inputs
	// tries at most, ascending; options that give them leave none.
	Tried []int
	// TriedRows is how many rows it tries them on.
	TriedRows int

	Starts int // 1 + Options.Restarts; one more follows if the best fit is worse than straight lines
	// Bounds is the number of evaluations of the bound alone, over all starts, at
	// most; Gradients of those with the gradient. A line search that steps back takes
	// more, convergence fewer. Settings that are tried on excerpts are not counted.
	Bounds, Gradients int
	MiniBatches       int // steps on mini-batches
	// BoundFlops, GradientFlops and MiniBatchFlops are the operations of one each.
	BoundFlops, GradientFlops, MiniBatchFlops float64
	// StartFlops is the number of operations of all starts at most, besides their
	// Bounds: the fill, the spectra and, for mini-batches, the coefficients from some
	// of the rows.
	StartFlops float64

	// RowBytes hold the rows as given and as a backend on this machine keeps them,
	// TableBytes the tables from which the sums over rows probably come, 0 if those
	// take passes over the rows (Result.Sums). MatrixBytes hold one E[ΦᵀΦ], HistoryBytes the optimiser's steps and gradients,
	// StartBytes a start's data on their grid and its spectra. PeakBytes is about the
	// most memory that the process takes besides the program itself, if garbage takes
	// at most a quarter of the memory in use (GOGC=25, which the command sets; with
	// Go's default it takes as much again).
	RowBytes, TableBytes, MatrixBytes, HistoryBytes, StartBytes, PeakBytes float64
}

// Flops is the number of operations of the whole fit.
func (p *Plan) Flops() float64 {
	if p == nil {
		return 0
	}
	return p.StartFlops + float64(p.Bounds)*p.BoundFlops + float64(p.Gradients)*p.GradientFlops + float64(p.MiniBatches)*p.MiniBatchFlops
}

// NewPlan calls NewPlanContext with the background context.
func NewPlan(data *Data, o Options) (*Plan, error) {
	return NewPlanContext(context.Background(), data, o)
}

// NewPlanContext plans Fit with these data and options. Data may lack y (Y nil): the
// plan then counts as many components as the spectrum start may take. With y it
// counts about as many as the start will take, from the spectra of some windows.
// Errors wrap ErrData, ErrOptions, or ctx.Err() once ctx has ended.
func NewPlanContext(ctx context.Context, data *Data, o Options) (*Plan, error) {
	if data == nil {
		return nil, data.Check()
	}
	if data.N < 1 || data.Q < 1 || data.D < 1 || len(data.X) != data.N*data.Q {
		return nil, fmt.Errorf("vssgp: plan for %d rows, %d inputs, %d outputs and %d numbers in x: %w", data.N, data.Q, data.D, len(data.X), ErrData)
	}
	f, err := o.frame(data)
	if err != nil {
		return nil, err
	}
	var tried []variational.Shape
	triedRows := 0
	known, atMost, work := len(data.Y) == data.N*data.D, false, start.Work{}
	switch {
	case o.From != nil:
		work.Shapes = []variational.Shape{variational.ShapeOf(o.From.Params)}
	case f.init == InitSpectrum:
		rows := f.rows
		if !known {
			rows.D, rows.Y = 0, nil
		}
		work = start.NewSeries(rows, f.grid).Work(ctx, f.settings(o.Seed), data.D)
		atMost = o.Components == 0 && !known || o.Window == WindowAuto
		if err := ctx.Err(); err != nil {
			return nil, optimise.Interrupted(ctx, err)
		}
	case f.init == initTable:
		tried, triedRows = start.TableShapes(&f.rows, f.settings(o.Seed))
		work = f.tableWork(tried, triedRows)
		atMost = true
	default:
		work.Shapes = []variational.Shape{start.PaperShape(&f.rows, f.settings(o.Seed))}
	}
	p := f.plan(work)
	p.AtMost = atMost
	p.TriedRows = triedRows
	for _, s := range tried {
		p.Tried = append(p.Tried, s.K)
	}
	slices.Sort(p.Tried)
	p.Tried = slices.Compact(p.Tried)
	return p, nil
}

// tableWork is the work of a table's start, whose fit is counted with the largest
// shape that it tries. Its trials hold a part of the rows, in the model's units and
// in a backend's order, and otherwise no more than the fit that follows.
func (f *frame) tableWork(tried []variational.Shape, rows int) (w start.Work) {
	d := f.data
	for _, s := range tried {
		set := f.o.optimise(f.formOf(s.PointFrequencies), f.o.Seed)
		set.Iterations = f.trialIterations(start.TableIterations)
		run := optimise.NewWork(rows, s, set, false)
		one := cost.Evaluate(s.Offsets(), s.Windows.NewLayout(f.rows.X, rows, s.Q).Runs, s.Q, s.D)
		w.Flops += float64(run.Gradients)*one.Gradient + run.MeanFlops + one.Bound +
			float64(run.MiniBatches)*one.Factorised*float64(run.BatchRows)/float64(rows)
	}
	largest := slices.MaxFunc(tried, func(a, b variational.Shape) int { return cmp.Compare(a.M(), b.M()) })
	w.Shapes = []variational.Shape{largest}
	w.Bytes = 2 * 8 * float64(rows*(d.Q+d.D))
	return w
}

// evaluation counts the operations of bounds over all rows, and the bytes of the tables if the exact one has its sums over rows
// from tables.
func (f *frame) evaluation(s *variational.Shape) (e cost.Evaluation, tableBytes float64) {
	offset := s.Offsets()
	e = cost.Evaluate(offset, s.Windows.NewLayout(f.rows.X, f.data.N, s.Q).Runs, s.Q, s.D)
	backend := f.model(nil).backend().Name()
	if s.Q > 1 || s.Windows.Count() > 1 || backend != "cpu" && backend != "cpu on ranks" {
		return e, 0
	}
	pays, flops, bytes := rowspectrum.Expect(f.data.N, s.M(), s.D, f.grid.Band)
	if !pays {
		return e, 0
	}
	e.Bound = flops + cost.Factor(offset)
	e.Gradient = e.Bound + cost.Inverse(offset)
	return e, bytes
}

// plan adds a fit's work and memory to a start's.
func (f *frame) plan(work start.Work) *Plan {
	o, d := &f.o, f.data
	p := &Plan{Rows: d.N, Inputs: d.Q, Outputs: d.D, Starts: 1 + o.Restarts}
	exact := cmp.Or(o.Inference, Exact) == Exact
	for _, s := range work.Shapes { // of which the one that takes most counts
		e, _ := f.evaluation(&s)
		if !exact {
			e.Gradient = e.Factorised
		}
		if e.Gradient >= p.GradientFlops {
			p.BoundFlops, p.GradientFlops, p.MiniBatchFlops = e.Bound, e.Gradient, e.Factorised
			p.Windows, p.Components, p.Features = s.Windows.Count(), s.L(), s.M()
		}
	}
	// Take the memory of the middle shape: only trying tells which one the start will
	// choose, and windows of 32 and of 64 ms need within √2 of the memory of those
	// between them.
	slices.SortStableFunc(work.Shapes, func(a, b variational.Shape) int {
		return cmp.Compare(cost.MatrixBytes(a.Offsets()), cost.MatrixBytes(b.Offsets()))
	})
	shape := work.Shapes[len(work.Shapes)/2]
	run := optimise.NewWork(d.N, shape, o.optimise(f.init, o.Seed), o.From != nil && len(o.From.Params.CoefVar) > 0)
	heldOut := o.Iterations != NoIterations && f.holdsOut(cmp.Or(o.Inference, Exact), shape.M(), len(shape.Windows.Center) > 0)

	about, _ := f.posteriorSize(shape, o.optimise(f.formOf(shape.PointFrequencies), o.Seed))
	p.Gradients = (work.Gradients+run.Gradients)*p.Starts + 2*about
	p.MiniBatches = run.MiniBatches * p.Starts
	p.MiniBatchFlops *= float64(run.BatchRows) / float64(d.N)
	p.StartFlops = (work.Flops + run.MeanFlops) * float64(p.Starts)
	bounds := work.Settings + work.Trials
	if exact {
		bounds++ // where the optimisation ends
	}
	if run.Bound {
		bounds++
	}
	p.Bounds = bounds * p.Starts
	if heldOut {
		p.Bounds++
	}
	p.HistoryBytes, p.StartBytes = run.HistoryBytes, work.Bytes
	if heldOut || run.Exact || work.Settings+work.Trials > 0 {
		p.MatrixBytes = cost.MatrixBytes(shape.Offsets())
	}
	if exact {
		_, p.TableBytes = f.evaluation(&shape)
	}
	// Rows are as given; in the model's units, and again in the order of the windows.
	p.RowBytes = 3*f.givenBytes() + 8*float64(d.N)*cost.RowNumbers(shape.Windows.Count())
	p.PeakBytes = f.peak(p, &shape, &work, heldOut)
	return p
}

// givenBytes are the rows of x and y as they are given.
func (f *frame) givenBytes() float64 { return 8 * float64(f.data.N*(f.data.Q+f.data.D)) }

const (
	// grown is the capacity of a slice that grew by append, as a share of its length.
	grown = 1.125
	// fillShare is how much of a matrix fills in, at most, where it is factored
	// in segments.
	fillShare = 0.5
	// paramCopies is how many sets of parameters a fit holds: the model, a trial, the
	// gradient, effective features and their gradient.
	paramCopies = 5
)

// peak is the most bytes that any part of a fit holds.
func (f *frame) peak(p *Plan, s *variational.Shape, work *start.Work, heldOut bool) float64 {
	offset, given, matrix := s.Offsets(), f.givenBytes(), p.MatrixBytes
	// A matrix is summed, factored and inverted in its own memory. A dense one needs
	// as much workspace, one in segments the blocks that fill in.
	beside := 0.0
	switch {
	case len(offset) == 2:
		beside = matrix
	case f.o.Segments > 2:
		beside = fillShare * matrix
	}
	params := 8 * float64(s.Numbers())
	// An evaluation with a gradient, and at the end the posterior that is kept beside
	// it. The best of earlier starts has a posterior, too.
	exact := cmp.Or(f.o.Inference, Exact) == Exact
	fit := p.RowBytes + p.TableBytes + paramCopies*params + p.HistoryBytes + matrix
	if exact && p.Gradients > 0 {
		fit += matrix + beside
	}
	if exact && p.Starts > 1 {
		fit += matrix + params
	}
	// Rows that are asked for are predicted by a posterior of the others: its
	// factor, and a copy of that to be inverted.
	asked := grown*given + p.RowBytes - given + 2*matrix + beside + paramCopies*params
	trial, held := 0.0, 0.0
	if work.Trials > 0 {
		trial = given + p.StartBytes + asked
		if work.Settings > 0 {
			trial += matrix
		}
	}
	if heldOut {
		held = given + 8*float64(p.Rows) + asked + paramCopies*params
		if exact {
			held += p.TableBytes + 2*matrix // the best fit's, and the workspace of its evaluations
		}
	}
	rows := cost.FewRows
	if matrix > 0 {
		rows = cost.TileRows
	}
	return cost.Peak(max(fit, trial, held, given+p.StartBytes)+cost.Tiles(offset, p.Rows, rows, matrix > 0), matrix)
}

// Fits refuses a shape whose fit would need more memory than the limit, before
// anything of that size is made.
func (f *frame) Fits(shape variational.Shape) error {
	o := &f.o
	if o.MemoryLimit <= 0 {
		return nil
	}
	p := f.plan(start.Work{Shapes: []variational.Shape{shape}})
	if p.PeakBytes <= o.MemoryLimit {
		return nil
	}
	perWindow := float64(p.Components) / float64(p.Windows)
	want := "fewer rows"
	if fixed := p.RowBytes; fixed < o.MemoryLimit { // the matrix grows with the square
		n := int(perWindow * math.Sqrt((o.MemoryLimit-fixed)/(p.PeakBytes-fixed)))
		want = fmt.Sprintf("about %d components a window at most, shorter windows, or excerpts", max(1, n))
	}
	return fmt.Errorf("vssgp: %d rows under %d windows of %.3g components need about %s, of which %s are to be had; want %s: %w",
		p.Rows, p.Windows, perWindow, gib(p.PeakBytes), gib(o.MemoryLimit), want, ErrMemory)
}

// gib writes a number of bytes with three digits.
func gib(bytes float64) string {
	if bytes < 1<<30 {
		return fmt.Sprintf("%.3g MiB", bytes/(1<<20))
	}
	return fmt.Sprintf("%.3g GiB", bytes/(1<<30))
}

// PredictionPlan estimates the work and the memory of a Predictor before it runs;
// counts and bytes are as in Plan.
type PredictionPlan struct {
	Rows, Inputs, Outputs         int // N, Q, D
	Part                          int // the most rows that are predicted at a time
	Windows, Components, Features int // of all windows

	// Flops counts the posterior's covariance and all rows, as if they lay evenly
	// under the windows.
	Flops float64
	// RowBytes hold a part of the rows and their predictions, MatrixBytes the
	// posterior's covariance once. PeakBytes is about the most memory that the
	// process takes, the model included, besides the program itself.
	RowBytes, MatrixBytes, PeakBytes float64
}

// modelCopies is how many sets of parameters a prediction holds: the file's, the
// model's, the features and their panels.
const modelCopies = 4

// PredictionPlan plans a Predictor's Each for n rows. Errors wrap ErrParams,
// ErrUnfitted or, without rows, ErrData.
func (m *Model) PredictionPlan(n int) (*PredictionPlan, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	if !m.Fitted() {
		return nil, fmt.Errorf("vssgp: predict: fit the model, or condition it on data, first: %w", ErrUnfitted)
	}
	if n < 1 {
		return nil, fmt.Errorf("vssgp: plan for the prediction of %d rows, want at least one: %w", n, ErrData)
	}
	p, shape := m.Params, variational.ShapeOf(m.Params)
	out := &PredictionPlan{Rows: n, Inputs: p.Q, Outputs: p.D, Windows: p.Windows.Count(), Components: p.L, Features: p.M()}
	offset, q, d := shape.Offsets(), float64(p.Q), float64(p.D)
	exact, matrices := m.Inference != Factorised, 0.0
	if exact {
		out.MatrixBytes, matrices = cost.MatrixBytes(offset), 2 // the factor, and a copy to be inverted
		if out.Windows == 1 {
			matrices++ // to invert it in
		}
		out.Flops = cost.Inverse(offset)
	}
	cells := max(1, len(offset)-2)
	for v := range cells {
		rows, features := float64(n)/float64(cells), float64(offset[min(v+2, len(offset)-1)]-offset[v])
		if exact {
			out.Flops += cost.Predict(rows, features, d)
		} else {
			out.Flops += 2 * rows * features * d
		}
	}
	out.Part = min(n, rowsOfPart(p.D)+lastRows)
	numbers := 3*q + d + d*d + cost.RowNumbers(out.Windows) // as they came, in the model's units and in order; the predictions
	out.RowBytes = 8 * float64(out.Part) * numbers
	params := 0
	for _, t := range p.Tensors() {
		params += len(*t.Data)
	}
	held := out.RowBytes + matrices*out.MatrixBytes + 8*modelCopies*float64(params) + cost.Tiles(offset, out.Part, cost.FewRows, exact)
	out.PeakBytes = cost.Peak(held, out.MatrixBytes)
	return out, nil
}

const (
	// posteriorFlops is what standard deviations of the hyper-parameters may cost if
	// no draws are asked for: well under a second on a core. Taking a matrix of n rows
	// apart costs eigenFlops·n³, each as much as passFlops in a pass over the rows.
	posteriorFlops, eigenFlops, passFlops = 6e8, 25, 8
	// posteriorMost is the most coordinates.
	posteriorMost = 3000
)

// posteriorSize is the number of coordinates about a fit of which the posterior takes
// two gradients each, or why there is none.
func (f *frame) posteriorSize(s variational.Shape, set optimise.Settings) (n int, none string) {
	o := &f.o
	n = optimise.PosteriorSize(s, set)
	pass, _ := f.evaluation(&s)
	flops := 2*float64(n)*pass.Gradient/passFlops + eigenFlops*math.Pow(float64(n), 3)
	switch {
	case o.Posterior == NoPosterior:
		return 0, "not asked for"
	case o.Iterations == NoIterations || n == 0:
		return 0, "the starting values are kept"
	case o.Inference == Stochastic:
		return 0, "mini-batches do not end at a mode of the bound"
	case n > posteriorMost:
		return 0, fmt.Sprintf("%d coordinates, want at most %d", n, posteriorMost)
	case o.Posterior == 0 && flops > posteriorFlops:
		return 0, "it would take long beside the fit; ask for draws"
	}
	return n, ""
}
