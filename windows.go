package vssgp

import (
	"errors"
	"math"
	"slices"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/initialize"
	"github.com/vssgp/vssgp/internal/optimize"
	"github.com/vssgp/vssgp/internal/optimize/checkpoint"
	"github.com/vssgp/vssgp/internal/spectral"
)

const (
	// changeSegments is the number of parts of a series in which the standard deviations of the components are fitted again, to find out
	// whether the spectrum changes. It changes if the log evidence gains more than changeGain nats per number observed.
	changeSegments = 8
	changeGain     = 0.01
	// The noise of a model with windows is doubled up to noiseDoublings times, until it predicts held-out rows best: its many point
	// estimates make it too certain.
	noiseDoublings = 6
)

// tryWindows fits a model with windows if the spectrum of the data changes, and keeps it if it predicts held-out intervals as long as the
// data's gaps better than the model of the search. kernel is the model of the search.
func (f *fit) tryWindows(kernel *spectral.Model) error {
	if f.o.Windows.Length != WindowAuto {
		return nil
	}
	lengths := initialize.WindowLengths(f.rows, f.grid)
	if len(lengths) == 0 {
		return nil
	}
	changes, err := f.changes(kernel)
	if err != nil || !changes {
		return optimize.Interrupted(f.ctx, err)
	}
	o := f.o
	o.Init, o.Posterior.Draws, o.Checkpoint = InitSpectrum, NoPosterior, CheckpointOptions{}
	for _, l := range lengths {
		o.Windows.Candidates = append(o.Windows.Candidates, l*f.x.Scale[0])
	}
	m, r, err := Fit(f.ctx, f.data, o)
	if errors.Is(err, ErrMemory) || errors.Is(err, ErrBound) && f.ctx.Err() == nil {
		return nil
	}
	if err != nil {
		return err
	}
	f.progress.Starts++
	f.progress.Start++
	f.progress.Results = append(f.progress.Results, checkpoint.Result{Seed: o.Seed, Bound: checkpoint.Number(r.Bound), Ended: r.Starts[r.Kept].Ended})
	better, err := f.calibrate(m)
	if err != nil || !better {
		return optimize.Interrupted(f.ctx, err)
	}
	rows, err := m.openScaled(f.ctx, f.rows)
	if err != nil {
		return err
	}
	defer rows.Close()
	e, err := m.conditioned(rows, &f.rows)
	if err != nil {
		return optimize.Interrupted(f.ctx, err)
	}
	f.best = &attempt{end: checkpoint.Best{Iterations: r.Iterations, At: *e}, model: m, prior: r.LogPrior}
	f.progress.Kept = len(f.progress.Results) - 1
	f.res.NoPosterior = "a model with windows predicts better"
	return nil
}

// changes reports whether the spectrum changes: the components' standard deviations differ between parts of the data.
func (f *fit) changes(kernel *spectral.Model) (bool, error) {
	lo, hi := f.rows.Extent(0)
	parts := make([][]int, changeSegments)
	for n, x := range f.rows.X {
		i := min(int(changeSegments*(x-lo)/(hi-lo)), changeSegments-1)
		parts[i] = append(parts[i], n)
	}
	gain := 0.0
	for _, part := range parts {
		data := f.rows.Some(part)
		if first, last := data.Extent(0); data.N < 2 || first == last {
			continue
		}
		rows, err := f.best.model.openScaled(f.ctx, data)
		if err != nil {
			return false, err
		}
		own, err := spectral.New(f.ctx, &data, rows, func(spectral.Candidate) {}).Refit(*kernel)
		rows.Close()
		if err != nil {
			return false, err
		}
		gain += own
	}
	return gain > changeGain*float64(len(f.rows.Y)), nil
}

// calibrate sets the noise of a model with windows to the multiple that predicts held-out rows best, and reports whether it then predicts
// them better than the best model so far.
func (f *fit) calibrate(m *Model) (better bool, err error) {
	known, asked := initialize.HeldOut(f.rows, f.grid)
	if asked.N == 0 {
		return false, nil
	}
	was, err := f.best.model.density(f, known, asked)
	if err != nil {
		return false, err
	}
	best, noise := math.Inf(-1), m.Params.NoisePrecision[0]
	for k := range noiseDoublings + 1 {
		trial := m.clone()
		trial.Params.NoisePrecision[0] = noise / math.Pow(2, float64(k))
		density, err := trial.density(f, known, asked)
		if err != nil {
			return false, err
		}
		if !(density > best) {
			break
		}
		best, m.Params.NoisePrecision[0] = density, trial.Params.NoisePrecision[0]
	}
	return best > was, nil
}

// density returns the mean log density of the asked rows, given the known ones, in the data's units.
func (m *Model) density(f *fit, known, asked backend.Data) (float64, error) {
	mean, sd, err := m.clone().predictFrom(f.ctx, known, asked.X)
	if err != nil {
		return 0, err
	}
	y := slices.Clone(asked.Y)
	m.Y.toData(y)
	return -bayes.NLPD(mean, sd, y), nil
}
