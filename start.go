package vssgp

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/initialize"
	"github.com/vssgp/vssgp/internal/optimize"
	"github.com/vssgp/vssgp/variational"
)

// New makes a model of data with starting values (Options.Init) and no
// posterior yet. Errors wrap ErrData, ErrOptions or ErrMemory, or ctx.Err() soon
// after ctx has ended.
func New(ctx context.Context, data *Data, o Options) (*Model, error) {
	if err := data.Check(); err != nil {
		return nil, err
	}
	f, err := o.frame(data)
	if err != nil {
		return nil, err
	}
	m, _, err := f.start(cmp.Or(ctx, context.Background()), f.init, o.Seed)
	return m, err
}

// start makes a start's model. begun is the bound there, if it had to be evaluated.
func (f *frame) start(ctx context.Context, init Init, seed uint64) (m *Model, begun *Evaluation, err error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, optimize.Interrupted(ctx, err)
	}
	o := &f.o
	if o.From != nil {
		m, err = o.from()
		return m, nil, err
	}
	m = f.model(nil)
	set := f.settings(seed)
	switch init {
	case initRough:
		m.Params, err = initialize.NewSeries(f.rows, f.grid).Rough(ctx, set, f)
	case initTable:
		m.Params, err = initialize.Table(ctx, &f.rows, set, f)
	case InitSpectrum:
		m.Params, begun, err = initialize.NewSeries(f.rows, f.grid).Spectrum(ctx, set, f)
	default:
		m.Params, err = initialize.Paper(&f.rows, set, f)
	}
	if err := cmp.Or(optimize.Interrupted(ctx, ctx.Err()), err); err != nil {
		return nil, nil, err
	}
	if err := m.Params.Check(); err != nil {
		return nil, nil, fmt.Errorf("vssgp: these options and data give no model (%v): %w", err, ErrOptions)
	}
	return m, begun, nil
}

// from copies Options.From and reports a model of another method.
func (o *Options) from() (*Model, error) {
	m := o.From.clone()
	m.hyper = nil // which is another fit's
	if o.Backend != nil {
		m.Backend = o.Backend
	}
	p := m.Params
	if o.Method != SSGP && o.Method != RP {
		return m, nil
	}
	for i, v := range p.FreqVar {
		if v != 0 {
			return nil, badOption("the model to start from has frequency.variance[%d] = %v, method %s wants 0", i, v, o.Method)
		}
	}
	if o.Method == SSGP {
		for k := range p.M() {
			if at := k * p.Q; p.K%2 == 1 || (k%2 == 1 && !slices.Equal(p.FreqMean[at:at+p.Q], p.FreqMean[at-p.Q:at])) {
				return nil, badOption("the features of the model to start from are no pairs of cosine and sine (feature %d), as method ssgp wants", k)
			}
		}
	}
	return m, nil
}

// A frame tells a start how good parameters are for its fit.
var _ initialize.Judge = (*frame)(nil)

// Bound is the exact bound at p.
func (f *frame) Bound(ctx context.Context, data backend.Data, p *Params) (*Evaluation, error) {
	rows, err := f.model(p).openScaled(ctx, data)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	return rows.Exact(p, false)
}

// Optimized is the selection criterion after some iterations.
func (f *frame) Optimized(ctx context.Context, data backend.Data, p *Params, iterations int) (float64, error) {
	set := f.o.optimize(f.form(p), 0)
	set.Iterations, set.Inference = f.trialIterations(iterations), Exact
	run, err := f.run(ctx, data, f.model(p), set)
	if err != nil {
		return 0, err
	}
	defer run.Close()
	return run.Criterion()
}

// trialIterations is how many of so many iterations a trial takes.
func (f *frame) trialIterations(iterations int) int {
	if f.init == initTable && f.o.Iterations > 0 {
		return min(iterations, f.o.Iterations)
	}
	return iterations
}

// Predicted sums the squared errors and the predicted variances over the rows asked
// for, given the known ones, in the data's units.
func (f *frame) Predicted(ctx context.Context, known, asked backend.Data, p *Params) (square, variance float64, err error) {
	m := f.model(p)
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

// predictFrom conditions the model on known rows and predicts at others, x [n,Q],
// both in the model's units. It returns the mean and the standard deviation [n,D] of
// the observed y in the data's units. It holds the covariances of some rows at a time.
func (m *Model) predictFrom(ctx context.Context, known backend.Data, x []float64) (mean, sd []float64, err error) {
	rows, err := m.openScaled(ctx, known)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	e, err := rows.Exact(m.Params, false)
	if err != nil {
		return nil, nil, err
	}
	m.adopt(e)
	predictor, err := m.Predictor(ctx)
	if err != nil {
		return nil, nil, err
	}
	for part := range slices.Chunk(x, rowsOfPart(known.D)*known.Q) {
		p, err := predictor.part(ctx, part)
		if err != nil {
			return nil, nil, err
		}
		mean, sd = append(mean, p.Mean...), append(sd, p.SD(true)...)
	}
	return mean, sd, nil
}

// A frame holds what all starts of a fit share: data in the model's units, and the
// options.
type frame struct {
	o    Options
	data *Data
	init Init
	grid initialize.Grid // of one input, in the model's units
	x, y Affine          // between the data's units and the model's
	rows backend.Data    // in the model's units
}

// initRough is the start that follows where the spectrum's fit is worse than
// straight lines. initTable is the default for several inputs: it chooses between
// the paper's start, InitPaper, and initDrawn, whose frequencies are drawn and kept.
const (
	initRough Init = "rough"
	initTable Init = "table"
	initDrawn Init = "drawn"
)

// form is the start whose optimization parameters of the fit's start take: what
// initTable chose shows in them.
func (f *frame) form(p *Params) Init { return f.formOf(p.FreqVar[0] == 0) }

func (f *frame) formOf(points bool) Init {
	switch {
	case f.init == initTable && points:
		return initDrawn
	case f.init == initTable:
		return InitPaper
	}
	return f.init
}

// frame checks the options, chooses the model's units and brings checked data to
// them; y may be absent. The spectrum start counts x in steps of the data's grid, or
// the mean ones of uneven rows.
func (o Options) frame(data *Data) (*frame, error) {
	if err := o.check(data); err != nil {
		return nil, err
	}
	grid := initialize.GridOf(data.X, data.Q)
	f := &frame{o: o, data: data, init: o.init(grid, data), x: identity(data.Q), y: identity(data.D)}
	switch {
	case o.From != nil:
		f.x, f.y = o.From.X, o.From.Y
	case f.init == InitSpectrum && grid.Step == 0:
		return nil, badOption("start %q needs one input that varies; the data have %d inputs and %d rows: use start %q", InitSpectrum, data.Q, data.N, InitPaper)
	case f.init == InitSpectrum && o.Features%2 == 1:
		return nil, badOption("start %q lays cosines and sines in pairs, want an even number of features a component, not %d", InitSpectrum, o.Features)
	case !o.Raw:
		f.x = standardize(data.X, data.Q)
		if f.init == InitSpectrum {
			f.x = Affine{Offset: []float64{slices.Min(data.X)}, Scale: []float64{grid.Step}}
		}
		if len(data.Y) > 0 {
			f.y = standardize(data.Y, data.D)
		}
	}
	f.grid = initialize.Grid{Step: grid.Step / f.x.Scale[0], Band: grid.Band}
	f.rows = backend.Data{N: data.N, Q: data.Q, D: data.D, X: f.x.ToModel(data.X), Y: f.y.ToModel(data.Y)}
	if err := o.Priors.check(f.x, f.y); err != nil {
		return nil, badOption("%w", err)
	}
	return f, nil
}

// init is the start that the options ask for, or the default for the data.
func (o *Options) init(grid initialize.Grid, data *Data) Init {
	switch {
	case o.Init != "":
		return o.Init
	case grid.Step > 0 && o.Method != RP && o.Lengthscales == nil && o.FrequencyVariance == 0 && o.Features%2 == 0:
		return InitSpectrum
	case o.leavesTable(data):
		return initTable
	}
	return InitPaper
}

// leavesTable reports whether the options leave the features of a table to the data.
func (o *Options) leavesTable(data *Data) bool {
	return data.Q > 1 && data.N >= initialize.HeldFewest && o.From == nil && (o.Method == "" || o.Method == VSSGP) &&
		(o.Inference == "" || o.Inference == Exact) && o.Components == 0 && o.Features == 0 && o.Window <= 0 && o.Iterations != NoIterations &&
		o.Lengthscales == nil && o.Periods == nil && o.FrequencyVariance == 0 && !o.UniformPhases && o.Fix == nil && o.Tie == nil
}

// model is a model of the frame's data, in its units.
func (f *frame) model(p *Params) *Model {
	return &Model{Params: p, Inference: Exact, X: f.x, Y: f.y, XNames: f.data.XNames, YNames: f.data.YNames, Backend: f.o.Backend}
}

// manyFeatures is K of a fit on mini-batches of manyRows or more, one component and no windows. A step costs in proportion to K, and the
// paper's 50 are too few for what so many rows show (docs/experiments.md, "Tables").
const manyFeatures, manyRows = 200, 10_000

// settings are the options of a start in the model's units.
func (f *frame) settings(seed uint64) initialize.Settings {
	o := &f.o
	s := initialize.Settings{
		Method: o.Method, Components: o.Components, Features: o.Features, UniformPhases: o.UniformPhases,
		Optimized: o.Iterations != NoIterations, Noise: o.NoisePrecision * f.y.Scale[0] * f.y.Scale[0], Seed: seed,
		Dim: o.WindowDim, Window: max(0, o.Window) / f.x.Scale[o.WindowDim], Auto: o.Window == WindowAuto,
		Shared: o.Shared, FrequencyVariance: o.FrequencyVariance,
	}
	for _, w := range o.WindowCandidates {
		s.Candidates = append(s.Candidates, w/f.x.Scale[0])
	}
	if f.init == InitPaper || f.init == initTable {
		s.Lengthscales, s.Frequencies = f.paperScales()
	}
	if o.Inference == Stochastic && f.init == InitPaper && s.Window == 0 && len(s.Lengthscales) == 1 && f.data.N >= manyRows {
		s.Features = cmp.Or(s.Features, manyFeatures)
	}
	return s
}

// paperScales are the length-scales and frequencies [L][Q] of a window's
// components. The default length-scale is a tenth of each input's range, times √Q
// since distances grow with it; further components are shorter by fours.
func (f *frame) paperScales() (lengths, frequencies [][]float64) {
	o, data := &f.o, f.data
	n := len(o.Lengthscales)
	if o.Lengthscales == nil {
		n = max(1, o.Components)
	}
	lengths, frequencies = make([][]float64, n), make([][]float64, n)
	for i := range n {
		for q, unit := range f.x.Scale {
			lo, hi := (&backend.Data{Q: data.Q, X: data.X}).Extent(q)
			l, p := (hi-lo)/10*math.Sqrt(float64(data.Q))/math.Pow(4, float64(i)), 0.0
			if l == 0 { // a constant input: any length-scale will do that its unit can express
				l = min(1, cmp.Or(math.Abs(lo), 1))
			}
			if o.Lengthscales != nil {
				l = o.Lengthscales[i]
			}
			if o.Periods != nil && o.Periods[i] > 0 && !math.IsInf(o.Periods[i], 0) {
				p = unit / o.Periods[i]
			}
			lengths[i], frequencies[i] = append(lengths[i], l/unit), append(frequencies[i], p)
		}
	}
	return lengths, frequencies
}

// holdsOut reports whether a fit of m features can be compared with straight lines
// at the cost of about one bound: it has one input, and its matrix is no larger than
// those that the fit has computed.
func (f *frame) holdsOut(inference Inference, m int, windows bool) bool {
	small := inference == Exact || m <= optimize.DirectLimit || windows
	return small && f.data.N >= initialize.HeldFewest && f.grid.Step > 0
}

// optimize are the options of a run from the given start.
func (o *Options) optimize(init Init, seed uint64) optimize.Settings {
	s := optimize.Settings{
		Inference: o.Inference, Method: o.Method, Random: (init == InitPaper || init == initTable) && o.From == nil,
		Iterations: o.Iterations, Batch: o.Batch, Contiguous: o.Contiguous, Along: o.WindowDim,
		Fix: o.Fix, Ties: optimize.Ties{Twins: o.Method == SSGP, Shared: o.Shared, Tensors: o.Tie}, Seed: seed,
	}
	if o.Posterior > 0 && o.Iterations == 0 && o.Inference != Stochastic {
		s.Iterations = modeIterations
	}
	switch o.Optimizer {
	case OptimizerGlobal:
		s.PerWindow = math.MaxInt
	case OptimizerWindows:
		s.PerWindow = 2
	}
	if init == initDrawn {
		s.Method, s.Ties.Twins, s.Fix = SSGP, true, []string{variational.FrequencyMean}
	}
	if init == initRough { // two free numbers
		s.Ties.Tensors = []string{"kernel.variance"}
		s.Fix = append([]string{"kernel.lengthscale", "kernel.frequency"}, optimize.FeatureTensors...)
		s.Iterations = min(cmp.Or(o.Iterations, roughIterations), roughIterations)
	}
	return s
}

// run opens rows for an optimization of the model.
func (f *frame) run(ctx context.Context, rows backend.Data, m *Model, set optimize.Settings) (*optimize.Run, error) {
	s := m.setting()
	s.Segments = f.o.Segments
	set.Priors = f.o.Priors.of(f.x, f.y, &f.rows, m.Params)
	run, err := optimize.New(ctx, rows, m.Params, s, set)
	return run, dataError(err)
}

// modeIterations bring most fits to a mode, about which the hyper-parameters are
// drawn.
const modeIterations = 1500

// roughIterations are enough for two numbers.
const roughIterations = 30

// leavesRough reports whether the options allow the rough start.
func (f *frame) leavesRough() bool {
	o := &f.o
	return o.From == nil && f.init == InitSpectrum && (o.Method == "" || o.Method == VSSGP) && (o.Inference == "" || o.Inference == Exact) &&
		o.Components == 0 && o.Features == 0 && o.Window == WindowAuto && o.WindowCandidates == nil && !o.Shared && o.Fix == nil && o.Tie == nil && f.data.N <= initialize.RoughMost
}
