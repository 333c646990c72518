package vssgp

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/fileio/fault"
	"github.com/vssgp/vssgp/internal/heap"
	"github.com/vssgp/vssgp/internal/initialize"
	"github.com/vssgp/vssgp/internal/linalg/blocktri"
	"github.com/vssgp/vssgp/internal/optimize"
	"github.com/vssgp/vssgp/internal/rowspectrum"
	"github.com/vssgp/vssgp/internal/spectral"
	"github.com/vssgp/vssgp/variational"
)

// New returns a model of data with initial values (Options.Init) and without a posterior.
// Errors wrap ErrData, ErrOptions or ErrMemory, or ctx.Err() soon after ctx has ended.
func New(ctx context.Context, data *Data, o Options) (*Model, error) {
	if err := data.Check(); err != nil {
		return nil, err
	}
	pr, err := o.problem(data)
	if err != nil {
		return nil, err
	}
	ctx = cmp.Or(ctx, context.Background())
	if err := pr.balance(ctx); err != nil {
		return nil, err
	}
	m, _, err := pr.initialize(ctx, pr.init, o.Seed)
	return m, err
}

// A problem contains the data in the model's units and the options, which all starts of a
// fit share.
type problem struct {
	o    Options
	data *Data
	init Init
	grid initialize.Grid // of a single input, in the model's units
	x, y Affine          // from the model's units to the data's units
	rows backend.Data    // in the model's units
}

// initTable is the default for three inputs or more, and for two if options exclude a search. Its frequencies
// are drawn at random and not optimized.
const initTable Init = "table"

// initialize returns the initial model of a start, and the bound at its parameters if the
// initialization has evaluated it.
func (pr *problem) initialize(ctx context.Context, init Init, seed uint64) (m *Model, begun *Evaluation, err error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, optimize.Interrupted(ctx, err)
	}
	o := &pr.o
	if o.From != nil {
		m, err = o.from()
		return m, nil, err
	}
	m = pr.model(nil)
	set := pr.settings(seed)
	switch init {
	case InitSearch:
		if err = pr.Fits(spectral.Shape(&pr.rows, pr.pairs())); err == nil {
			m.expand(spectral.Initial(&pr.rows))
		}
	case initTable:
		m.Params, err = initialize.Table(ctx, &pr.rows, set, pr)
	case InitSpectrum:
		m.Params, begun, err = initialize.NewSeries(pr.rows, pr.grid).Spectrum(ctx, set, pr)
	default:
		m.Params, err = initialize.Paper(&pr.rows, set, pr)
	}
	if err := cmp.Or(optimize.Interrupted(ctx, ctx.Err()), err); err != nil {
		return nil, nil, err
	}
	if err := m.Params.Check(); err != nil {
		return nil, nil, fault.Errorf(ErrOptions, "these options and data give no valid model (%v)", err)
	}
	return m, begun, nil
}

// from returns a copy of Options.From, or an error if its parameters do not fit the method.
func (o *Options) from() (*Model, error) {
	m := o.From.clone()
	m.hyper = nil
	if o.Backend != nil {
		m.Backend = o.Backend
	}
	p := m.Params
	if o.Method != SSGP && o.Method != RP {
		return m, nil
	}
	for i, v := range p.FreqVar {
		if v != 0 {
			return nil, badOption("the model to start from has frequency.variance[%d] = %v, must be 0 for method %s", i, v, o.Method)
		}
	}
	if o.Method == SSGP {
		for k := range p.M() {
			if at := k * p.Q; p.K%2 == 1 || (k%2 == 1 && !slices.Equal(p.FreqMean[at:at+p.Q], p.FreqMean[at-p.Q:at])) {
				return nil, badOption("feature %d of the model to start from is not one of a pair of cosine and sine, as method ssgp needs", k)
			}
		}
	}
	return m, nil
}

var _ initialize.Evaluator = (*problem)(nil)

// Bound returns the exact bound at p.
func (pr *problem) Bound(ctx context.Context, data backend.Data, p *Params) (*Evaluation, error) {
	rows, err := pr.model(p).openScaled(ctx, data)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	return rows.Exact(p, false)
}

// Optimized returns the selection criterion after the given number of iterations.
func (pr *problem) Optimized(ctx context.Context, data backend.Data, p *Params, iterations int) (float64, error) {
	set := pr.o.optimize(pr.init, 0)
	set.Iterations, set.Inference = iterations, Exact
	run, err := pr.run(ctx, data, pr.model(p), set)
	if err != nil {
		return 0, err
	}
	defer run.Close()
	return run.Criterion()
}

// Predicted conditions the model on the known rows and predicts the other rows, asked. It returns
// the sums of the squared errors and of the predicted variances, in the data's units.
func (pr *problem) Predicted(ctx context.Context, known, asked backend.Data, p *Params) (square, variance float64, err error) {
	m := pr.model(p)
	mean, sd, err := m.predictFrom(ctx, known, asked.X)
	if err != nil {
		return 0, 0, err
	}
	for i, sd := range sd {
		row := i % asked.D
		d := m.Y.Offset[row] + m.Y.Scale[row]*asked.Y[i] - mean[i]
		square += d * d
		variance += sd * sd
	}
	return square, variance, nil
}

// problem checks the options, selects the model's units and converts the data, which must
// be valid, to these units. y may be absent. With InitSpectrum the unit of x is the step of
// the data's grid, or the mean step if the rows are uneven.
func (o Options) problem(data *Data) (*problem, error) {
	if err := o.check(data); err != nil {
		return nil, err
	}
	grid := initialize.GridOf(data.X, data.Q)
	pr := &problem{o: o, data: data, init: o.init(grid, data), x: identity(data.Q), y: identity(data.D)}
	switch {
	case o.From != nil:
		pr.x, pr.y = o.From.X, o.From.Y
	case pr.init == InitSpectrum && o.Batch != BatchOptions{} && o.Inference != Stochastic:
		return nil, badOption("batch cannot be combined with inference %s and init %s", cmp.Or(o.Inference, Exact), InitSpectrum)
	case pr.init == InitSearch && data.Q == 2 && !plane(data):
		return nil, badOption("init %s needs two inputs that both vary: use init %s", pr.init, InitPaper)
	case (pr.init == InitSpectrum || pr.init == InitSearch && data.Q == 1) && grid.Step == 0:
		return nil, badOption("init %s needs one input that varies; the data have %d inputs and %d rows: use init %s", pr.init,
			data.Q, data.N, InitPaper)
	case pr.init == InitSpectrum && o.Features%2 == 1:
		return nil, badOption("init %s needs an even number of features per component, got %d", InitSpectrum, o.Features)
	case !o.Raw:
		pr.x = standardize(data.X, data.Q)
		if (pr.init == InitSpectrum || pr.init == InitSearch) && data.Q == 1 {
			pr.x = Affine{Offset: []float64{slices.Min(data.X)}, Scale: []float64{grid.Step}}
		}
		if len(data.Y) > 0 {
			pr.y = standardize(data.Y, data.D)
		}
	}
	pr.grid = initialize.Grid{Step: grid.Step / pr.x.Scale[0], Band: grid.Band}
	pr.rows = backend.Data{N: data.N, Q: data.Q, D: data.D, X: pr.x.ToModel(data.X), Y: pr.y.ToModel(data.Y)}
	if err := o.Priors.check(pr.x, pr.y); err != nil {
		return nil, badOption("%w", err)
	}
	return pr, nil
}

// balanced reports whether all outputs get the same noise in the model's units.
func (pr *problem) balanced() bool {
	return pr.init == initTable || pr.init == InitSearch && pr.data.Q > 1 && pr.o.From == nil
}

// balance changes the units of the outputs after the first, so that all outputs have the same noise in
// the model's units. Without it a precise output would get the noise of the others.
func (pr *problem) balance(ctx context.Context) error {
	if !pr.balanced() || pr.data.D == 1 || pr.o.Raw {
		return nil
	}
	factors, err := initialize.OutputFactors(ctx, &pr.rows, pr.settings(pr.o.Seed), pr)
	if err != nil {
		return optimize.Interrupted(ctx, err)
	}
	for d, f := range factors {
		pr.y.Scale[d] *= f
	}
	pr.rows.Y = pr.y.ToModel(pr.data.Y)
	return nil
}

// init returns the initialization that the options request, or the default for the data.
func (o *Options) init(grid initialize.Grid, data *Data) Init {
	switch {
	case o.Init != "":
		return o.Init
	case o.continues(), o.searches(grid, data):
		return InitSearch
	case grid.Step > 0 && o.Method != RP && o.Paper.Lengthscales == nil && o.Paper.FrequencyVariance == 0 && o.Features%2 == 0:
		return InitSpectrum
	case o.selectsFeatures(data):
		return initTable
	}
	return InitPaper
}

// selectsFeatures reports whether initTable is the default: there are several inputs, and no
// option determines the features.
func (o *Options) selectsFeatures(data *Data) bool {
	return data.Q > 1 && data.N >= initialize.TableFewest && o.From == nil && (o.Method == "" || o.Method == VSSGP) &&
		(o.Inference == "" || o.Inference == Exact) && o.Components == 0 && o.Features == 0 && o.Windows.Length <= 0 &&
		o.Iterations != NoIterations &&
		o.Paper.Lengthscales == nil && o.Paper.Periods == nil && o.Paper.FrequencyVariance == 0 && !o.UniformPhases && o.Fix == nil &&
		o.Tie == nil
}

// model returns a model of the problem with parameters p.
func (pr *problem) model(p *Params) *Model {
	return &Model{Params: p, Inference: Exact, X: pr.x, Y: pr.y, XNames: pr.data.XNames, YNames: pr.data.YNames, Backend: pr.o.Backend}
}

// manyFeatures is the default K of a fit on mini-batches if there are at least manyRows rows, one
// component and no windows. The paper's 50 features underfit so many rows, and the cost of a step
// is proportional to K (docs/experiments.md, "Tables").
const manyFeatures, manyRows = 200, 10_000

// settings returns the settings of the initialization in the model's units.
func (pr *problem) settings(seed uint64) initialize.Settings {
	o := &pr.o
	s := initialize.Settings{
		Method: o.Method, Components: o.Components, Features: o.Features, UniformPhases: o.UniformPhases,
		Optimized: o.Iterations != NoIterations, Noise: o.NoisePrecision * pr.y.Scale[0] * pr.y.Scale[0], Seed: seed,
		Dim: o.Windows.Dim, Window: max(0, o.Windows.Length) / pr.x.Scale[o.Windows.Dim], Auto: o.Windows.Length == WindowAuto,
		Shared: o.Windows.Shared, FrequencyVariance: o.Paper.FrequencyVariance,
	}
	for _, w := range o.Windows.Candidates {
		s.Candidates = append(s.Candidates, w/pr.x.Scale[0])
	}
	if pr.init == InitPaper {
		s.Lengthscales, s.Frequencies = pr.paperScales()
	}
	if pr.balanced() {
		s.Priors = initialize.TablePriors(o.Priors.of(pr.x, pr.y, &pr.rows, &Params{L: initialize.TableParts}))
	}
	if o.Inference == Stochastic && pr.init == InitPaper && s.Window == 0 && len(s.Lengthscales) == 1 && pr.data.N >= manyRows {
		s.Features = cmp.Or(s.Features, manyFeatures)
	}
	return s
}

// paperScales returns the length-scales and frequencies [L][Q] of a window's components.
// The default length-scale is a tenth of each input's range, times √Q because distances
// grow with √Q. Each further component is shorter by a factor of four.
func (pr *problem) paperScales() (lengths, frequencies [][]float64) {
	o, data := &pr.o, pr.data
	n := len(o.Paper.Lengthscales)
	if o.Paper.Lengthscales == nil {
		n = max(1, o.Components)
	}
	lengths, frequencies = make([][]float64, n), make([][]float64, n)
	for i := range n {
		for q, unit := range pr.x.Scale {
			lo, hi := (&backend.Data{Q: data.Q, X: data.X}).Extent(q)
			l, p := (hi-lo)/10*math.Sqrt(float64(data.Q))/math.Pow(4, float64(i)), 0.0
			if l == 0 { // a constant input: any length-scale is valid that its unit can represent
				l = min(1, cmp.Or(math.Abs(lo), 1))
			}
			if o.Paper.Lengthscales != nil {
				l = o.Paper.Lengthscales[i]
			}
			if o.Paper.Periods != nil && o.Paper.Periods[i] > 0 && !math.IsInf(o.Paper.Periods[i], 0) {
				p = unit / o.Paper.Periods[i]
			}
			lengths[i], frequencies[i] = append(lengths[i], l/unit), append(frequencies[i], p)
		}
	}
	return lengths, frequencies
}

// optimize returns the settings of an optimization after the given initialization.
func (o *Options) optimize(init Init, seed uint64) optimize.Settings {
	s := optimize.Settings{
		Inference: o.Inference, Method: o.Method, Random: init == InitPaper && o.From == nil,
		Iterations: o.Iterations, Batch: o.Batch.Rows, Contiguous: o.Batch.Contiguous, Along: o.Windows.Dim,
		Fix: o.Fix, Ties: optimize.Ties{Twins: o.Method == SSGP, Shared: o.Windows.Shared, Tensors: o.Tie}, Seed: seed,
	}
	if o.Posterior.Draws > 0 && o.Iterations == 0 && o.Inference != Stochastic {
		s.Iterations = modeIterations
	}
	switch o.Optimizer {
	case OptimizerGlobal:
		s.PerWindow = math.MaxInt
	case OptimizerWindows:
		s.PerWindow = 2
	}
	if init == initTable {
		s.Method, s.Ties.Twins, s.Fix = SSGP, true, []string{variational.FrequencyMean, "kernel.frequency"}
		s.Iterations = cmp.Or(s.Iterations, tableIterations)
	}
	return s
}

// run returns an optimization of the model on the given rows.
func (pr *problem) run(ctx context.Context, rows backend.Data, m *Model, set optimize.Settings) (*optimize.Run, error) {
	s := m.setting()
	s.Segments = pr.o.Windows.Segments
	set.Priors = pr.o.Priors.of(pr.x, pr.y, &pr.rows, m.Params)
	run, err := optimize.New(ctx, rows, m.Params, s, set)
	return run, dataError(err)
}

// modeIterations is the maximum number of iterations of a fit with posterior draws, which
// needs to reach a mode.
const modeIterations = 1500

// tableIterations is the maximum number of iterations from initTable, which begins near the optimum.
const tableIterations = 30

const (
	// A core computes the features of tileRows rows at a time, in tilePanels arrays.
	tileRows, tilePanels = 256, 2
	// paramCopies is the number of parameter sets of a fit: the model, a trial step, the gradient, the effective features and their
	// gradient.
	paramCopies = 5
)

// memory returns upper estimates of the peak memory of a fit of shape s, in bytes: the part that grows with the rows and the part that
// grows with the features.
func (pr *problem) memory(s *variational.Shape) (rows, features float64) {
	n, offset, exact := float64(pr.data.N), s.Offsets(), cmp.Or(pr.o.Inference, Exact) == Exact
	windows := len(s.Windows.Center) > 0

	rows = pr.rowBytes()
	if exact {
		_, _, tables := pr.tables(s)
		rows += tables
	}
	matrices := 0.0 // number of matrices of the size of E[ΦᵀΦ]
	switch {
	case exact:
		matrices = 3
	case s.M() <= optimize.DirectLimit:
		matrices = 2
	}
	switch { // the workspace of the factor and the inverse
	case matrices > 0 && !windows:
		matrices++
	case matrices > 0 && pr.o.Windows.Segments > 2: // fill-in
		matrices += 0.5
	}
	most := 0.0 // maximum number of features that are active in a row
	for v := range len(offset) - 1 {
		most = max(most, float64(offset[min(v+2, len(offset)-1)]-offset[v]))
	}
	tile := tileRows * tilePanels * most
	if windows {
		tile += most * most
	}
	features = 8*(paramCopies*float64(s.Numbers())+matrices*blocktri.Size(offset)+tile*min(float64(runtime.GOMAXPROCS(0)), 1+n/tileRows)) +
		optimize.HistoryBytes(*s, pr.o.optimize(pr.init, pr.o.Seed))
	return heap.Factor * rows, heap.Factor * features
}

// rowBytes returns the memory of the rows in bytes: four copies (the user's data, the model's units, and two more in a backend or without
// the held-out rows), and eight numbers per row for the order and the windows.
func (pr *problem) rowBytes() float64 { return 8 * float64(pr.data.N*(4*(pr.data.Q+pr.data.D)+8)) }

// tables reports whether the exact bound computes its sums over rows from Fourier tables, and estimates the operations and the bytes of the
// tables.
func (pr *problem) tables(s *variational.Shape) (cheaper bool, flops, bytes float64) {
	backend, passCost := pr.model(nil).backend().Name(), rowspectrum.CPU
	if strings.HasPrefix(backend, "cuda") {
		passCost = rowspectrum.Card
	} else if backend != "cpu" && backend != "cpu on ranks" {
		return false, 0, 0
	}
	if s.Windows.Count() > 1 {
		return false, 0, 0
	}
	if cheaper, flops, bytes = rowspectrum.Expect(pr.data.N, s.Q, s.M(), s.D, pr.grid.Band, passCost); !cheaper {
		return false, 0, 0
	}
	return cheaper, flops, bytes
}

// Fits returns an error that wraps ErrMemory if a fit of the shape needs more than Options.MemoryLimit.
func (pr *problem) Fits(shape variational.Shape) error {
	rows, features := pr.memory(&shape)
	limit, windows := pr.o.MemoryLimit, shape.Windows.Count()
	if limit <= 0 || rows+features <= limit {
		return nil
	}
	if rows > features || rows > limit {
		return fmt.Errorf("a fit of %d rows needs about %s of memory, mostly for the rows, but only %s may be used; use fewer rows: %w",
			pr.data.N, heap.Size(rows+features), heap.Size(limit), ErrMemory)
	}
	each := float64(shape.L()) / float64(windows)
	most := max(1, int(each*math.Sqrt((limit-rows)/features))) // memory grows with its square
	return fmt.Errorf("a fit of %d rows in %d windows of %.3g components needs about %s of memory, mostly for the components, "+
		"but only %s may be used; use at most about %d components per window, shorter windows, or excerpts: %w",
		pr.data.N, windows, each, heap.Size(rows+features), heap.Size(limit), most, ErrMemory)
}

// FitsInitialization returns an error that wraps ErrMemory if rows and spectra of the given size in bytes exceed Options.MemoryLimit.
func (pr *problem) FitsInitialization(bytes float64) error {
	limit, need := pr.o.MemoryLimit, heap.Factor*(pr.rowBytes()+bytes)
	if limit <= 0 || need <= limit {
		return nil
	}
	return fmt.Errorf("the spectrum of %d rows needs about %s of memory, but only %s may be used; use fewer rows, shorter windows, "+
		"or init %s: %w", pr.data.N, heap.Size(need), heap.Size(limit), InitPaper, ErrMemory)
}
