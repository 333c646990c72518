package vssgp

import (
	"context"
	"errors"
	"math"
	"testing"
)

// TestBadOptions: options that no fit can be made with are refused.
func TestBadOptions(t *testing.T) {
	data := wave(40, 0.1)
	two := &Data{N: 20, Q: 2, D: 1, X: make([]float64, 40), Y: make([]float64, 20)}
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name string
		data *Data
		o    Options
	}{
		{"method", data, Options{Method: "gp"}},
		{"inference", data, Options{Inference: "mcmc"}},
		{"start", data, Options{Init: "random"}},
		{"components", data, Options{Components: -1}},
		{"features", data, Options{Features: -2}},
		{"iterations", data, Options{Iterations: NoIterations - 1}},
		{"batch", data, Options{Batch: -5}},
		{"restarts", data, Options{Restarts: -1}},
		{"segments", data, Options{Segments: -1}},
		{"posterior", data, Options{Posterior: NoPosterior - 1}},
		{"too many draws", data, Options{Posterior: maxDraws + 1}},
		{"prior without a spread", data, Options{Priors: Priors{Noise: Prior{Median: 1}}}},
		{"prior of a negative length", data, Options{Priors: Priors{Lengthscale: Prior{Median: -1, SD: 1}}}},
		{"prior of NaN", data, Options{Priors: Priors{Amplitude: Prior{Median: nan, SD: 1}}}},
		{"prior beyond numbers", data, Options{Priors: Priors{Amplitude: Prior{Median: 1e-200, SD: 1}}}},
		{"odd pairs", data, Options{Method: SSGP, Init: InitPaper, Features: 5}},
		{"odd pairs for the spectrum", data, Options{Init: InitSpectrum, Features: 3}},
		{"negative window", data, Options{Window: -2}},
		{"window NaN", data, Options{Window: nan}},
		{"window infinite", data, Options{Window: inf}},
		{"window along no input", data, Options{WindowDim: 1}},
		{"window along input -1", data, Options{WindowDim: -1}},
		{"frequency variance", data, Options{FrequencyVariance: -1}},
		{"frequency variance NaN", data, Options{FrequencyVariance: nan}},
		{"frequency variance infinite", data, Options{FrequencyVariance: inf}},
		{"noise", data, Options{NoisePrecision: -1}},
		{"noise NaN", data, Options{NoisePrecision: nan}},
		{"noise infinite", data, Options{NoisePrecision: inf}},
		{"length-scale 0", data, Options{Lengthscales: []float64{1, 0}}},
		{"length-scale NaN", data, Options{Lengthscales: []float64{nan}}},
		{"length-scale infinite", data, Options{Lengthscales: []float64{inf}}},
		{"components beside length-scales", data, Options{Components: 3, Lengthscales: []float64{1}}},
		{"no length-scale", data, Options{Lengthscales: []float64{}}},
		{"period", data, Options{Lengthscales: []float64{1}, Periods: []float64{-1}}},
		{"period NaN", data, Options{Lengthscales: []float64{1}, Periods: []float64{nan}}},
		{"periods without length-scales", data, Options{Periods: []float64{1}}},
		{"too few periods", data, Options{Lengthscales: []float64{1, 2}, Periods: []float64{1}}},
		{"fix", data, Options{Fix: []string{"kernel.variance", "kernel.period"}}},
		{"too many components", data, Options{Components: maxCount + 1}},
		{"too many features", data, Options{Inference: Factorized, Features: maxCount + 1}},
		{"too many features for exact inference", data, Options{Components: MaxExact / 2, Features: 4}},
		{"optimiser", data, Options{Optimizer: "adam"}},
		{"more windows than rows", data, Options{Window: 1e-3}},
		{"a candidate too short", data, Options{Window: WindowAuto, WindowCandidates: []float64{2, 1e-3}}},
		{"a candidate of no length", data, Options{Window: WindowAuto, WindowCandidates: []float64{2, 0}}},
		{"spectrum of two inputs", two, Options{Init: InitSpectrum}},
		{"spectrum of one place", &Data{N: 3, Q: 1, D: 1, X: []float64{2, 2, 2}, Y: make([]float64, 3)}, Options{Init: InitSpectrum}},
		{"spectrum with length-scales", data, Options{Init: InitSpectrum, Lengthscales: []float64{1}}},
	} {
		if _, err := New(t.Context(), c.data, c.o); !errors.Is(err, ErrOptions) {
			t.Errorf("New, %s: error %v, want one that wraps ErrOptions", c.name, err)
		}
		if m, _, err := Fit(context.Background(), c.data, c.o); !errors.Is(err, ErrOptions) || m != nil {
			t.Errorf("Fit, %s: error %v, want one that wraps ErrOptions", c.name, err)
		}
	}
}

// TestWideData: data on their side are refused before anything is made of them.
func TestWideData(t *testing.T) {
	d := &Data{N: 2, Q: MaxInputs + 1, D: 1, X: make([]float64, 2*(MaxInputs+1)), Y: []float64{1, 2}}
	if _, err := New(t.Context(), d, Options{}); !errors.Is(err, ErrData) {
		t.Errorf("%d inputs: %v", d.Q, err)
	}
}
