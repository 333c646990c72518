package paper

import (
	"context"
	"time"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/bench/internal/baselines"
)

// The initializations of the fits to series.
const (
	paperStart          = "paper"
	bestStart           = "paper, best of 5"
	mixtureStart        = "mixture"
	smallSigmaStart     = "paper, Σ = 0.0001"
	smallSigmaBestStart = smallSigmaStart + ", best of 5"
	spectrumStart       = "spectrum"
	keptStart           = "spectrum, kept"
)

// starts is the number of initializations of which the best is kept.
const starts = 5

// A trial is a method with an initialization. with returns the method for a seed. If draws is false, the fit does not
// depend on the seed.
type trial struct {
	method, start string
	draws         bool
	with          func(seed uint64) baselines.Method
}

// features returns a trial of package vssgp that keeps the best of several initializations. Seeds do not share
// initializations.
func features(method, start string, o vssgp.Options, several uint64) trial {
	o.Restarts = int(several - 1)
	return trial{method, start, true, func(seed uint64) baselines.Method {
		o.Seed = several * seed
		return baselines.Features{Options: o}
	}}
}

// smallSigmaFeatures returns a trial as features does, with the initial Σ smallSigma and without a schedule.
func smallSigmaFeatures(start string, o vssgp.Options, several uint64) trial {
	o.Paper.FrequencyVariance = smallSigma
	return trial{"vssgp", start, true, func(seed uint64) baselines.Method {
		var all bestOf
		for i := range several {
			o.Seed = several*seed + i
			all = append(all, unscheduled{o})
		}
		return all
	}}
}

// smallSigma is the initial Σ, with which a feature extends over a hundred length-scales.
const smallSigma = 0.0001

// unscheduled is a method with a random initialization and no schedule: all parameters are optimized from the first
// iteration on. It passes the initialization as Options.From, because fits from a given model have no schedule.
type unscheduled struct{ vssgp.Options }

// Fit implements baselines.Method.
func (s unscheduled) Fit(ctx context.Context, data *vssgp.Data) (*baselines.Fit, error) {
	from, err := vssgp.New(ctx, data, s.Options)
	if err != nil {
		return nil, err
	}
	s.From, s.Init, s.Paper, s.Windows, s.Batch = from, "", vssgp.PaperOptions{}, vssgp.WindowOptions{}, vssgp.BatchOptions{}
	s.Components, s.Features, s.NoisePrecision, s.UniformPhases, s.Raw = 0, 0, 0, false, false
	return baselines.Features{Options: s.Options}.Fit(ctx, data)
}

// spectrum returns a trial of package vssgp initialized from the data's spectrum. Without windows, the initialization
// is deterministic.
func spectrum(start string, iterations int) trial {
	o := vssgp.Options{Init: vssgp.InitSpectrum, Windows: vssgp.WindowOptions{Length: vssgp.WindowNone}, Iterations: iterations}
	return deterministic("vssgp", start, baselines.Features{Options: o})
}

// deterministic returns a trial of a deterministic method.
func deterministic(method, start string, m baselines.Method) trial {
	return trial{method, start, false, func(uint64) baselines.Method { return m }}
}

// bestOf is a method that runs several methods and returns the fit with the highest bound, with the time of all fits.
type bestOf []baselines.Method

// Fit implements baselines.Method.
func (b bestOf) Fit(ctx context.Context, data *vssgp.Data) (*baselines.Fit, error) {
	var best *baselines.Fit
	var failed error
	var elapsed time.Duration
	for _, m := range b {
		f, err := m.Fit(ctx, data)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil: // another initialization may succeed
			failed = err
			continue
		case best == nil || f.Bound > best.Bound:
			best = f
		}
		elapsed += f.Elapsed
	}
	if best == nil {
		return nil, failed
	}
	best.Elapsed = elapsed
	return best, nil
}
