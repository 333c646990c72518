package vssgp

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"

	"github.com/vssgp/vssgp/internal/cost"
	"github.com/vssgp/vssgp/internal/optimise"
	"github.com/vssgp/vssgp/internal/start"
	"github.com/vssgp/vssgp/variational"
)

// Plan is what a fit is going to compute and hold, told beforehand. Counts of
// operations are of products and sums, by the formulas of spectral.Rows' passes
// and of the algebra; sines, cosines and exponentials come on top.
type Plan struct {
	Rows, Inputs, Outputs int // N, Q, D
	Windows               int // 1 if there are none
	Components, Features  int // of all windows
	// AtMost says that windows, components and features, and the figures that follow
	// from them, are the most that the start may choose. It chooses by y, or by
	// trying.
	AtMost bool

	Starts int // Options.Restarts and one; one more follows if the best is worse than straight lines
	// Bounds are evaluations of the bound alone, of all starts, at most; Gradients
	// are evaluations with the gradient. A line search that steps back takes more,
	// convergence fewer. Settings that are tried on excerpts are not counted.
	Bounds, Gradients int
	MiniBatches       int // steps on mini-batches
	// BoundFlops, GradientFlops and MiniBatchFlops are operations of one each.
	BoundFlops, GradientFlops, MiniBatchFlops float64
	// StartFlops are the operations of all starts at most, besides their Bounds: the
	// fill, the spectra and, for mini-batches, the coefficients from some of the rows.
	StartFlops float64

	// RowBytes are for the rows as given, and as a backend on this machine holds
	// them; MatrixBytes for E[ΦᵀΦ], once; HistoryBytes for the optimiser's steps and
	// gradients; StartBytes for a start's data on their grid and its spectra.
	// PeakBytes is about the most memory that the process takes besides the program
	// itself, if the garbage collector leaves at most a quarter of the memory in use
	// (GOGC=25, which the command sets; Go's default leaves as much again).
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
	f := &frame{o: o, data: data, grid: start.GridOf(data.X, data.Q)}
	if err := f.scale(); err != nil {
		return nil, err
	}
	p := &planner{frame: f}
	switch {
	case o.From != nil:
		p.shapes, p.fitted = []variational.Shape{variational.ShapeOf(o.From.Params)}, len(o.From.Params.CoefVar) > 0
	case f.init == InitSpectrum:
		rows, known := f.rows, len(data.Y) == data.N*data.D
		if !known {
			rows.D, rows.Y = 0, nil
		}
		p.start = start.NewSeries(rows, f.gridStep()).Work(ctx, f.settings(o.Seed), data.D)
		if err := ctx.Err(); err != nil {
			return nil, optimise.Interrupted(ctx, err)
		}
		p.shapes, p.atMost = p.start.Shapes, o.Components == 0 && !known || o.Window == WindowAuto
	default:
		p.shapes = []variational.Shape{start.PaperShape(&f.rows, f.settings(o.Seed))}
	}
	return p.plan(), nil
}

// plan is that of a fit that has chosen its shape.
func (f *frame) plan(shape variational.Shape) *Plan {
	return (&planner{frame: f, shapes: []variational.Shape{shape}}).plan()
}

// planner puts a plan together from what the rooms say of their work.
type planner struct {
	*frame
	shapes []variational.Shape // that the start may choose
	start  start.Work          // of the spectrum start
	fitted bool                // whether the start brings coefficients along
	atMost bool
}

func (p *planner) plan() *Plan {
	o, d := &p.o, p.data
	out := &Plan{Rows: d.N, Inputs: d.Q, Outputs: d.D, Starts: 1 + o.Restarts, AtMost: p.atMost}
	for i := range p.shapes {
		p.passes(out, &p.shapes[i])
	}
	// Memory is that of the middle shape. Only trying tells which it will be, and
	// windows of 32 and of 64 ms hold within √2 of those between them.
	size := func(s variational.Shape) float64 { return cost.MatrixBytes(s.Offsets()) }
	slices.SortStableFunc(p.shapes, func(a, b variational.Shape) int { return cmp.Compare(size(a), size(b)) })
	shape := p.shapes[len(p.shapes)/2]

	run := optimise.NewWork(d.N, shape, o.optimise(p.init, o.Seed), p.fitted)
	inference := cmp.Or(o.Inference, Exact)
	out.Gradients = (p.start.Gradients + run.Gradients) * out.Starts
	out.MiniBatches = run.MiniBatches * out.Starts
	out.MiniBatchFlops *= float64(run.BatchRows) / float64(d.N)
	out.StartFlops = (p.start.Flops + run.MeanFlops) * float64(out.Starts)
	bounds := p.start.Settings + p.start.Trials
	if inference == Exact {
		bounds++ // where the optimisation ends
	}
	if run.Bound {
		bounds++
	}
	out.Bounds = bounds * out.Starts
	heldOut := o.Iterations != NoIterations && p.holdsOut(inference, shape.M(), len(shape.Windows.Center) > 0)
	if heldOut {
		out.Bounds++
	}
	out.HistoryBytes, out.StartBytes = run.HistoryBytes, p.start.Bytes
	matrix := heldOut || run.Exact || p.start.Settings+p.start.Trials > 0
	if matrix {
		out.MatrixBytes = cost.MatrixBytes(shape.Offsets())
	}
	out.RowBytes = p.givenBytes() + p.heldBytes(&shape)
	p.peak(out, &shape, matrix, heldOut)
	return out
}

// passes takes in the operations of a shape that the start may choose, if none
// before needs more.
func (p *planner) passes(out *Plan, s *variational.Shape) {
	offset := s.Offsets()
	bound, gradient, factorised := cost.Factor(offset), cost.Inverse(offset), 0.0
	d, q := float64(s.D), float64(s.Q)
	for _, r := range s.Windows.NewLayout(p.rows.X, p.rows.N, s.Q).Runs {
		n, m := float64(r.Hi-r.Lo), float64(offset[r.End]-offset[r.First])
		bound += cost.Moments(n, m, d)
		gradient += cost.Pullback(n, m)
		factorised += cost.Factorised(n, m, q, d)
	}
	gradient += bound
	if cmp.Or(p.o.Inference, Exact) != Exact {
		gradient = factorised
	}
	if gradient < out.GradientFlops {
		return
	}
	out.BoundFlops, out.GradientFlops, out.MiniBatchFlops = bound, gradient, factorised
	out.Windows, out.Components, out.Features = s.Windows.Count(), s.L(), s.M()
}

const (
	// tileRows and tilePanels are the rows and the arrays of a tile: what a core
	// has of the features that it sums at a time, and factorisedRows the rows of
	// one of a factorised bound.
	tileRows, tilePanels, factorisedRows = 256, 2, 64
	// grown is the capacity of slices that grow by append, as a share of their length.
	grown = 1.125
	// fillShare is how much of a matrix fills in, at most, where it is factored
	// in segments.
	fillShare = 0.5
	// paramCopies is how many sets of parameters there are: the model, a trial,
	// the gradient, effective features and theirs.
	paramCopies = 5
)

// givenBytes are the rows of x and y as they are given.
func (p *planner) givenBytes() float64 { return 8 * float64(p.data.N*(p.data.Q+p.data.D)) }

// heldBytes are the rows as the CPU holds them: x and y in the model's units and
// again in the order of the windows, that order and each row's place and window
// in it, and the gates of two windows with their inverse squares.
func (p *planner) heldBytes(s *variational.Shape) float64 {
	numbers := 3.0
	if s.Windows.Count() > 1 {
		numbers += 4
	}
	return 2*p.givenBytes() + 8*float64(p.data.N)*numbers
}

// peak is the most that any part of a fit holds.
func (p *planner) peak(out *Plan, s *variational.Shape, needed, heldOut bool) {
	given, held, matrix := p.givenBytes(), out.RowBytes-p.givenBytes(), out.MatrixBytes
	// A matrix is summed, factored and inverted in its own memory; where it is
	// dense the computation has as much, and what fills in.
	offset, beside := s.Offsets(), 0.0
	switch {
	case len(offset) == 2:
		beside = matrix
	case p.o.Segments > 2:
		beside = fillShare * matrix
	}
	params := 8 * float64(s.Numbers())
	// What an evaluation with a gradient needs; and at the end, beside it, the
	// posterior that is kept. The best of earlier starts has one, too.
	exact := p.o.Inference == "" || p.o.Inference == Exact
	fit := paramCopies*params + out.HistoryBytes + matrix
	if exact && out.Gradients > 0 {
		fit += matrix + beside
	}
	if exact && out.Starts > 1 {
		fit += matrix + params
	}
	most := out.RowBytes + fit
	// Rows that are asked for are predicted by a posterior of the others: its
	// factor, and a copy of that to be inverted.
	asked := grown*given + held + 2*matrix + beside + paramCopies*params
	if p.start.Trials > 0 {
		trial := given + out.StartBytes + asked
		if p.start.Settings > 0 {
			trial += matrix
		}
		most = max(most, trial)
	}
	if heldOut {
		if exact {
			asked += 2 * matrix // the best fit's, and what its evaluations had, which is lent on
		}
		most = max(most, given+8*float64(p.data.N)+asked+paramCopies*params)
	}
	rows := factorisedRows
	if needed {
		rows = tileRows
	}
	most = max(most, given+out.StartBytes) + tileBytes(offset, p.data.N, rows, needed)
	// An array that goes beyond what may be left is there before the collector
	// has freed as much: a matrix is the largest.
	out.PeakBytes = max(cost.Collected*most, most+matrix)
}

// tileBytes are a tile of so many of n rows for each core, with the features of
// two windows, and where there are windows and a matrix those blocks of it in
// the order that a product reads them in.
func tileBytes(offset []int, n, rows int, matrix bool) float64 {
	most := 0
	for v := range len(offset) - 1 {
		most = max(most, offset[min(v+2, len(offset)-1)]-offset[v])
	}
	numbers := rows * tilePanels
	if matrix && len(offset) > 2 {
		numbers += most
	}
	return 8 * float64(numbers) * float64(most) * float64(min(runtime.GOMAXPROCS(0), 1+n/tileRows))
}

// gib is a number of bytes to three digits.
func gib(bytes float64) string {
	if bytes < 1<<30 {
		return fmt.Sprintf("%.3g MiB", bytes/(1<<20))
	}
	return fmt.Sprintf("%.3g GiB", bytes/(1<<30))
}
