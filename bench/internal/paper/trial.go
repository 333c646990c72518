package paper

import (
	"context"
	"time"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/bench/internal/baselines"
)

// The starts of the series' fits.
const (
	paperStart     = "paper"
	bestStart      = "paper, best of 5"
	mixtureStart   = "mixture"
	surerStart     = "paper, Σ = 0.0001"
	surerBestStart = surerStart + ", best of 5"
	spectrumStart  = "spectrum"
	keptStart      = "spectrum, kept"
)

// starts is how many starts the best is taken of.
const starts = 5

// A trial is a method with a start. If draws is set, with returns a different fit for every seed; otherwise fits are the same each time.
type trial struct {
	method, start string
	draws         bool
	with          func(seed uint64) baselines.Method
}

// features is package vssgp from o's start, or the one with the highest bound of several. No two seeds share starts.
func features(method, start string, o vssgp.Options, several uint64) trial {
	o.Restarts = int(several - 1)
	return trial{method, start, true, func(seed uint64) baselines.Method {
		o.Seed = several * seed
		return baselines.Features{Options: o}
	}}
}

// surerFeatures is the same from random starts with features surer of their frequencies.
func surerFeatures(start string, o vssgp.Options, several uint64) trial {
	o.Paper.FrequencyVariance = surerVariance
	return trial{"vssgp", start, true, func(seed uint64) baselines.Method {
		var all bestOf
		for i := range several {
			o.Seed = several*seed + i
			all = append(all, surer{o})
		}
		return all
	}}
}

// surerVariance is where Σ starts: a feature lives for a hundred length-scales.
const surerVariance = 0.0001

// surer is a random start without a schedule, as a model to start from has none: all parameters move from the first iteration on.
type surer struct{ vssgp.Options }

// Fit implements baseline.Method.
func (s surer) Fit(ctx context.Context, data *vssgp.Data) (*baselines.Fit, error) {
	from, err := vssgp.New(ctx, data, s.Options)
	if err != nil {
		return nil, err
	}
	s.From, s.Init, s.Paper, s.Windows, s.Batch = from, "", vssgp.PaperOptions{}, vssgp.WindowOptions{}, vssgp.BatchOptions{}
	s.Components, s.Features, s.NoisePrecision, s.UniformPhases, s.Raw = 0, 0, 0, false, false
	return baselines.Features{Options: s.Options}.Fit(ctx, data)
}

// spectrum is package vssgp from the data's spectrum, which without windows leaves nothing to draw.
func spectrum(start string, iterations int) trial {
	o := vssgp.Options{Init: vssgp.InitSpectrum, Windows: vssgp.WindowOptions{Length: vssgp.WindowNone}, Iterations: iterations}
	return settled("vssgp", start, baselines.Features{Options: o})
}

// settled is a method that draws nothing.
func settled(method, start string, m baselines.Method) trial {
	return trial{method, start, false, func(uint64) baselines.Method { return m }}
}

// bestOf keeps the fit with the highest bound. Its time is the time of all fits.
type bestOf []baselines.Method

// Fit implements baseline.Method.
func (b bestOf) Fit(ctx context.Context, data *vssgp.Data) (*baselines.Fit, error) {
	var best *baselines.Fit
	var failed error
	var elapsed time.Duration
	for _, m := range b {
		f, err := m.Fit(ctx, data)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil: // another start may do
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
