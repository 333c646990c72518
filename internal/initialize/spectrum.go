package initialize

import (
	"context"
	"runtime"
	"slices"

	"github.com/vssgp/vssgp/internal/initialize/autoregression"
	"github.com/vssgp/vssgp/internal/initialize/periodogram"
	"github.com/vssgp/vssgp/variational"
)

// noWindowWork is the maximum N·M² for which a model without windows is a candidate if the data
// are longer than the longest window. An evaluation then takes a tenth of a second.
const noWindowWork = 4e9

// Spectrum initializes a component for each of the heaviest bins of the data's local spectrum. The
// autoregressive spectrum of the data around each window is divided into bins. A bin of mass σ² at
// frequency f becomes a component with variance σ², p = f and a length-scale of several windows.
// Its features are a cosine and a sine about the center of the window, with q(w) = p(w). Before
// any optimization the model is then close to the Gaussian process with that spectrum, whose
// conditional mean is the autoregressive interpolation.
//
// begun is the bound at the parameters if it was evaluated, else nil. Errors are errors of the
// evaluator or wrap ctx.Err().
func (s *Series) Spectrum(ctx context.Context, set Settings, evaluator Evaluator) (p *variational.Params, begun *variational.Evaluation,
	err error) {
	lengths := s.candidates(set)
	if err := evaluator.FitsInitialization(s.bytes(lengths)); err != nil {
		return nil, nil, err
	}
	s.fill(ctx, lengths[0])
	if set.Auto {
		if set, begun, err = s.choose(ctx, lengths, set, evaluator); err != nil {
			return nil, nil, err
		}
	}
	level := noiseLevels[0]
	layout := s.propose(ctx, level, set)
	if err := evaluator.Fits(layout.shape); err != nil {
		return nil, nil, err
	}
	if level, err = s.chooseNoise(ctx, set, evaluator); err != nil {
		return nil, nil, err
	}
	if level != noiseLevels[0] {
		begun = nil // it was evaluated with another noise
		layout = s.propose(ctx, level, set)
		if err := evaluator.Fits(layout.shape); err != nil {
			return nil, nil, err
		}
	}
	return layout.params(), begun, ctx.Err()
}

// bytes estimates the memory of the series and of the spectra for windows of these lengths, as
// computed on all cores.
func (s *Series) bytes(lengths []float64) (most float64) {
	for _, length := range lengths {
		w, length := s.windows(length, 0.5)
		windows := w.Count()
		each, masses := 40*float64(autoregression.PeriodogramSize(min(len(s.missing), int(2*length/s.step)+1))), 0.0
		if s.times != nil {
			bins := s.binCount(length / s.step)
			each, masses = periodogram.Bytes(len(s.times)/windows, bins*spectrumSteps), 8*float64(windows*bins)
		}
		most = max(most, masses+each*float64(min(windows, runtime.GOMAXPROCS(0))))
	}
	return most + float64(len(s.missing)*(8*len(s.y)+1))
}

// candidates returns the window lengths to try in ascending order, followed by 0 if a model
// without windows is tried.
func (s *Series) candidates(set Settings) []float64 {
	if !set.Auto {
		return []float64{set.Window}
	}
	lengths := slices.Clone(set.Candidates)
	if lengths == nil {
		for _, w := range spectrumWindows {
			lengths = append(lengths, w*s.step)
		}
	}
	slices.Sort(lengths)
	if set.Candidates == nil && set.Optimized { // the components of a window end in a gap that is longer
		_, longest := s.gaps()
		lengths = slices.DeleteFunc(lengths, func(w float64) bool { return s.steps(w) < float64(longest) })
	}
	if len(lengths) == 0 {
		return []float64{0}
	}
	// A window at least as long as the data is equivalent to no windows.
	span := float64(len(s.missing)-1) * s.step
	for i, w := range lengths {
		if w >= span {
			return append(lengths[:i:i], 0)
		}
	}
	// Spectral lines that persist throughout the data (days and weeks in hourly rows) need no
	// windows.
	if m := float64(spectrumFeatures * set.maxBins(s.steps(0))); set.Candidates == nil && set.Optimized &&
		float64(len(s.missing))*m*m <= noWindowWork {
		lengths = append(lengths, 0)
	}
	return lengths
}
