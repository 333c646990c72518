package baselines

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/vssgp/vssgp"
)

// A whole fit from mini-batches of a tenth of the rows comes within half a nat
// of VFE's optimum, hundreds of nats above the start.
func TestSVGPLearns(t *testing.T) {
	data := noisyData(1000, 1, 2, 4)
	o := Options{Covariance: SE(1, 0.5)}
	vfe, err := SPGP{Options: o, Inducing: 20}.Fit(bg, data)
	if err != nil {
		t.Fatal(err)
	}
	o.Iterations = NoIterations
	start, err := SPGP{Options: o, Inducing: 20}.Fit(bg, data)
	if err != nil {
		t.Fatal(err)
	}
	o.Iterations = 600
	seen := vssgp.Progress{}
	o.Progress = func(p vssgp.Progress) { seen = p }
	fit, err := SVGP{Options: o, Inducing: 20, Batch: 100}.Fit(bg, data)
	if err != nil {
		t.Fatal(err)
	}
	if start.Bound > vfe.Bound-200 || math.Abs(fit.Bound-vfe.Bound) > 0.5 || math.Abs(fit.NoiseSD/vfe.NoiseSD-1) > 0.01 {
		t.Errorf("bound %.2f, VFE %.2f, start %.2f; noise %.3f, VFE %.3f", fit.Bound, vfe.Bound, start.Bound, fit.NoiseSD, vfe.NoiseSD)
	}
	if fit.Iterations != 600 || seen.Iteration != 600 || math.Abs(seen.Bound-fit.Bound) > 200 {
		t.Errorf("%d iterations, last report %+v, bound %v", fit.Iterations, seen, fit.Bound)
	}
}

func TestSVGPSameBits(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	data := noisyData(400, 2, 1, 4)
	var want *Fit
	for _, threads := range []int{1, 2, 5} {
		runtime.GOMAXPROCS(threads)
		fit, err := SVGP{Options: Options{Covariance: SE(2, 1), Iterations: 30}, Inducing: 70, Batch: 150}.Fit(bg, data)
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = fit
		}
		if fit.Bound != want.Bound || !slices.Equal(fit.Model.(*SparseModel).Locations(), want.Model.(*SparseModel).Locations()) {
			t.Errorf("%d threads: bound %v, with one %v", threads, fit.Bound, want.Bound)
		}
	}
	other, err := SVGP{Options: Options{Covariance: SE(2, 1), Iterations: 30, Seed: 1}, Inducing: 70, Batch: 150}.Fit(bg, data)
	if err != nil || other.Bound == want.Bound {
		t.Errorf("another seed: bound %v, %v; want another than %v", other.Bound, err, want.Bound)
	}
}

// A step to where there is no bound is taken back, also if it is the last.
func TestSVGPTakesBadStepsBack(t *testing.T) {
	p, err := prepare(noisyData(60, 1, 1, 4), Options{Covariance: SE(1, 1)})
	if err != nil {
		t.Fatal(err)
	}
	in, err := p.inducing(8, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	bad := in.first()
	for i := range bad {
		bad[i] = 1e4
	}
	w := newSteps(p, in, 60, usualRate)
	if why, err := w.all(bg, 5); err != nil {
		t.Fatal(why, err)
	}
	for _, of := range []int{10, 10} {
		w.move(bad)
		if why, err := w.all(bg, of); err != nil {
			t.Fatal(why, err)
		}
		if f, err := w.finish(); err != nil || f < -100 || w.taken != 10 {
			t.Errorf("after a bad step: bound %v, %v after %d steps", f, err, w.taken)
		}
	}
	w = newSteps(p, in, 60, usualRate)
	w.move(bad)
	if why, err := w.all(bg, 5); why != "" || !errors.Is(err, vssgp.ErrBound) {
		t.Errorf("bad start: %q, %v; want vssgp.ErrBound", why, err)
	}
}

func TestSVGPSurvives(t *testing.T) {
	data := noisyData(50, 1, 1, 5)
	for name, z := range map[string][]float64{"two the same": {1, 1, 3, 5}, "far away": {1e6, 2e6, -1e6, 4}, "one": {3}} {
		fit, err := SVGP{Options: Options{Covariance: SE(1, 0.8), Iterations: 50}, Locations: z, Batch: 7}.Fit(bg, data)
		if err != nil || !finite(fit.Bound) {
			t.Errorf("%s: %+v, %v", name, fit, err)
		}
	}
}

func TestSVGPOptions(t *testing.T) {
	for name, s := range map[string]SVGP{
		"batch negative": {Batch: -1}, "batch of more rows": {Batch: 11}, "inducing": {Inducing: 11},
		"rate negative": {Rate: -1}, "rate NaN": {Rate: math.NaN()}, "rate too large": {Rate: 2},
		"precision": {Options: Options{NoisePrecision: -1}},
	} {
		if _, err := s.Fit(bg, noisyData(10, 1, 1, 1)); !errors.Is(err, vssgp.ErrOptions) {
			t.Errorf("%s: %v, want vssgp.ErrOptions", name, err)
		}
	}
	fit, err := SVGP{Locations: []float64{1, 2}, FixLocations: true, Options: Options{Iterations: 40}}.Fit(bg, noisyData(10, 1, 1, 1))
	if err != nil || !slices.Equal(fit.Model.(*SparseModel).Locations(), []float64{1, 2}) {
		t.Errorf("fixed locations: %v, %v", fit, err)
	}
}

// NoIterations is VFE at the starting values.
func TestSVGPWithoutSteps(t *testing.T) {
	data := noisyData(60, 1, 1, 2)
	o := Options{Covariance: SE(1, 1), Iterations: NoIterations}
	vfe, err := SPGP{Options: o, Inducing: 8}.Fit(bg, data)
	if err != nil {
		t.Fatal(err)
	}
	fit, err := SVGP{Options: o, Inducing: 8, Batch: 13}.Fit(bg, data)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "bound", fit.Bound, vfe.Bound, 1e-11)
}

func TestSVGPInterrupted(t *testing.T) {
	for _, after := range []int{0, svgpReport} {
		ctx, cancel := context.WithCancel(bg)
		defer cancel()
		o := Options{Covariance: SE(1, 1), Progress: func(p vssgp.Progress) { cancel() }}
		if after == 0 {
			cancel()
		}
		fit, err := SVGP{Options: o, Inducing: 8}.Fit(ctx, noisyData(60, 1, 1, 2))
		if !errors.Is(err, context.Canceled) || fit == nil || fit.Iterations != after {
			t.Fatalf("after %d: %+v, %v", after, fit, err)
		}
		if _, err := fit.Model.Predict(t.Context(), column(1)); err != nil {
			t.Error(err)
		}
	}
}

// BenchmarkSVGPStep is a step at the size of the paper's comparison on audio.
func BenchmarkSVGPStep(b *testing.B) {
	data := noisyData(16000, 1, 1, 1)
	for i := range data.X {
		data.X[i] = float64(i)
	}
	p, err := prepare(data, Options{Covariance: SE(1, 10, 50)})
	if err != nil {
		b.Fatal(err)
	}
	in, err := p.inducing(800, nil, false)
	if err != nil {
		b.Fatal(err)
	}
	w := newSteps(p, in, 512, usualRate)
	w.of = 2000
	for b.Loop() {
		w.draw()
		if _, err := w.step(); err != nil {
			b.Fatal(err)
		}
		w.advance(w.rate)
	}
}
