package vssgp

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/vssgp/vssgp/internal/optimise"
	"github.com/vssgp/vssgp/internal/start"
	"github.com/vssgp/vssgp/spectral"
	"github.com/vssgp/vssgp/variational"
)

// New makes a model of data with starting values (Options.Init) and no
// posterior yet. Errors wrap ErrData or ErrOptions.
func New(data *Data, o Options) (*Model, error) {
	f, err := o.frame(data)
	if err != nil {
		return nil, err
	}
	m, _, err := f.start(context.Background(), f.init, o.Seed)
	return m, err
}

// start is a start's model, and the bound there if it had to be evaluated.
func (f *frame) start(ctx context.Context, init Init, seed uint64) (m *Model, begun *Evaluation, err error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, optimise.Interrupted(ctx, err)
	}
	o := &f.o
	if o.From != nil {
		m, err = o.from()
		return m, nil, err
	}
	m = f.model(nil)
	set, j := f.settings(seed), judge{f}
	switch init {
	case initRough:
		m.Params, err = start.NewSeries(f.rows, f.gridStep()).Rough(ctx, set, j)
	case InitSpectrum:
		m.Params, begun, err = start.NewSeries(f.rows, f.gridStep()).Spectrum(ctx, set, j)
	default:
		if err = j.Fits(start.PaperShape(&f.rows, set)); err == nil {
			m.Params = start.Paper(&f.rows, set)
		}
	}
	if err := cmp.Or(optimise.Interrupted(ctx, ctx.Err()), err); err != nil {
		return nil, nil, err
	}
	if err := m.Params.Check(); err != nil {
		return nil, nil, fmt.Errorf("vssgp: these options and data give no model (%v): %w", err, ErrOptions)
	}
	return m, begun, nil
}

// from is a copy of Options.From, if it is of the method asked for.
func (o *Options) from() (*Model, error) {
	m := o.From.clone()
	if o.Backend != nil {
		m.Backend = o.Backend
	}
	p := m.Params
	if o.Method != SSGP && o.Method != RP {
		return m, nil
	}
	for i, v := range p.FreqVar {
		if v != 0 {
			return nil, fmt.Errorf("vssgp: the model to start from has frequency.variance[%d] = %v, method %s wants 0: %w", i, v, o.Method, ErrOptions)
		}
	}
	if o.Method == SSGP {
		for k := range p.M() {
			if at := k * p.Q; p.K%2 == 1 || (k%2 == 1 && !slices.Equal(p.FreqMean[at:at+p.Q], p.FreqMean[at-p.Q:at])) {
				return nil, fmt.Errorf("vssgp: the features of the model to start from are no pairs of cosine and sine (feature %d), as method ssgp wants: %w", k, ErrOptions)
			}
		}
	}
	return m, nil
}

// A judge tells a start what a fit in its frame would make of parameters.
type judge struct{ *frame }

var _ start.Judge = judge{}

// Bound is the exact bound at p.
func (j judge) Bound(ctx context.Context, data spectral.Data, p *Params) (*Evaluation, error) {
	rows, err := j.model(p).openScaled(ctx, data)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	return rows.Exact(p, false)
}

// Optimised is the selection criterion after some iterations.
func (j judge) Optimised(ctx context.Context, data spectral.Data, p *Params, iterations int) (float64, error) {
	set := j.o.optimise(InitSpectrum, 0)
	set.Iterations, set.Inference = iterations, Exact
	m := j.model(p)
	run, err := optimise.New(ctx, data, p, m.settingOf(&j.o), set)
	if err != nil {
		return 0, dataError(err)
	}
	defer run.Close()
	return run.Criterion()
}

// Predicted is the squared error and the predicted variance over the rows asked
// for, in the data's units, summed, given the known ones.
func (j judge) Predicted(ctx context.Context, known, asked spectral.Data, p *Params) (square, variance float64, err error) {
	m := j.model(p)
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
// both in the model's units: mean and standard deviation [n,D] of the observed y,
// in the data's. Covariances are held of some rows at a time.
func (m *Model) predictFrom(ctx context.Context, known spectral.Data, x []float64) (mean, sd []float64, err error) {
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

// Fits refuses a shape whose fit would take more memory than the limit, before
// anything of that size is made.
func (j judge) Fits(shape variational.Shape) error {
	o := &j.o
	if o.MemoryLimit <= 0 {
		return nil
	}
	p := j.plan(shape)
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
