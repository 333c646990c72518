package vssgp

import (
	"bytes"
	"context"
	"errors"
	"math"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/fileio/safetensors"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/modeltest"
	"github.com/vssgp/vssgp/internal/testkit/slow"
)

// holed returns a function of two inputs of about unit variance, which is a sum of random cosines with length-scales 1
// and 2 at random rows of [0, 10] × [0, 20], with noise, and without the rows of a hole; and rows of the hole with the
// function there.
func holed(n int, noise float64, seed uint64) (known *Data, x, f []float64) {
	rng := modeltest.NewRNG(seed)
	const waves = 300
	a, b, c := make([]float64, waves), make([]float64, waves), make([]float64, waves)
	for i := range waves {
		a[i], b[i], c[i] = rng.NormFloat64(), rng.NormFloat64()/2, 2*math.Pi*rng.Float64()
	}
	known = &Data{Q: 2, D: 1}
	for range n {
		u, v := 10*rng.Float64(), 20*rng.Float64()
		y := 0.0
		for i := range waves {
			y += math.Sqrt(2./waves) * math.Cos(a[i]*u+b[i]*v+c[i])
		}
		if math.Abs(u-5) < 1.5 && math.Abs(v-10) < 3 {
			x, f = append(x, u, v), append(f, 7+3*y)
			continue
		}
		known.N++
		known.X, known.Y = append(known.X, u, v), append(known.Y, 7+3*(y+noise*rng.NormFloat64()))
	}
	return known, x, f
}

// TestSurface checks the length-scales, the noise, the intervals in a hole, and that the standard deviation returns to
// the prior away from the data.
func TestSurface(t *testing.T) {
	covered, most := 0.0, 0.0
	fits := slow.Pick(12, 4)
	for seed := range fits {
		known, x, f := holed(200, 0.1, uint64(seed)+1)
		m, r := mustFit(t, known, Options{})
		c := m.Components()
		never := []float64{math.Inf(1), math.Inf(1)}
		if len(c) != 1 || c[0].Kind != "rbf" || !slices.Equal(c[0].Period, never) || r.Init != InitSearch {
			t.Fatalf("components %+v", c)
		}
		for q, l := range c[0].Lengthscale {
			if math.Abs(math.Log(l/[]float64{1, 2}[q])) > 0.4 {
				t.Errorf("length-scales %v, want 1 and 2", c[0].Lengthscale)
			}
		}
		testkit.Near(t, m.NoiseSD()[0], 0.3, 0.1, "noise")
		e := testkit.Must(m.Evaluate(t.Context(), known, Exact, nil, false))(t)
		testkit.Near(t, e.Bound, r.Bound, 1e-6, "bound")
		p := testkit.Must(m.Predict(t.Context(), x))(t)
		covered += bayes.Coverage(p.Mean, p.SD(false), f) / float64(fits)
		most = max(most, slices.Max(p.SD(false)))
		away := []float64{12.5, 10, 5, 25, 14, 10, 14.5, 29, 100, 10, 5, -300, 5, 2}
		far := testkit.Must(m.Predict(t.Context(), away))(t)
		for i, sd := range far.SD(false)[:6] {
			testkit.Near(t, sd, c[0].SD[0], 0.2*c[0].SD[0], "standard deviation away from the data at", i)
		}
		if want := []bool{true, true, true, true, true, true, false}; !slices.Equal(far.Beyond, want) {
			t.Errorf("marked %v, want %v", far.Beyond, want)
		}
		if far.Mean[4] != far.Mean[5] {
			t.Errorf("the mean is %g and %g far from the data", far.Mean[4], far.Mean[5])
		}
	}
	if covered < 0.9 || covered > 0.99 || most < 1 {
		t.Errorf("the intervals cover %g of the holes; the largest standard deviation is %g", covered, most)
	}
}

// TestSurfaceFile checks that a loaded model predicts the same bits and continues, that the file describes components
// by two lengths, and that damaged components are rejected.
func TestSurfaceFile(t *testing.T) {
	known, x, _ := holed(150, 0.1, 3)
	m, r := mustFit(t, known, Options{Posterior: PosteriorOptions{Draws: 3}})
	x = append(x, 12, 10, 30, 10)
	path := filepath.Join(t.TempDir(), "m.safetensors")
	testkit.OK(t, m.Save(path))
	loaded := testkit.Must(Load(path))(t)
	p, q := testkit.Must(m.Predict(t.Context(), x))(t), testkit.Must(loaded.Predict(t.Context(), x))(t)
	if !slices.Equal(p.Mean, q.Mean) || !slices.Equal(p.Cov, q.Cov) || !bytes.Equal(encoded(t, loaded), encoded(t, m)) {
		t.Error("the loaded model is another one")
	}
	const draws = 300
	square := 0.0
	for i, y := range testkit.Must(loaded.Draw(t.Context(), x, draws, 1))(t) {
		if i == 0 && !slices.Equal(y, testkit.Must(m.Draw(t.Context(), x, 1, 1))(t)[0]) {
			t.Error("the loaded model has other draws")
		}
		d := y[len(y)-1] - p.Mean[len(y)-1]
		square += d * d / draws
	}
	sd := p.SD(false)[len(p.Mean)-1]
	testkit.Near(t, math.Sqrt(square), sd, 0.2*sd, "standard deviation of draws away from the data")
	h, lines := loaded.Posterior(), m.Frequencies()
	if len(h.Draws) != 3 || len(h.Lengthscale) != 2*m.Params.L || len(lines) != 0 {
		t.Errorf("%d draws, %d standard deviations of lengths, frequencies %v", len(h.Draws), len(h.Lengthscale), lines)
	}
	f := testkit.Must(m.file())(t)
	if text := f.Metadata["components"]; !strings.Contains(text, `"lengths":[`) || strings.Contains(text, `"length":`) {
		t.Errorf("components %s", text)
	}
	for what, text := range map[string]string{
		"a length for each of two inputs": `{"components":[{"kind":"rbf","sd":1,"length":2}],"noise":1}`,
		`component kind "ou"`:             `{"components":[{"kind":"ou","sd":1,"lengths":[1,2]}],"noise":1}`,
	} {
		f.Metadata["components"] = text
		_, err := fromFile(f)
		testkit.Fails(t, err, ErrParams, what)
	}
	again, more := mustFit(t, known, Options{From: loaded})
	if more.Init != InitSearch || more.Bound < r.Bound-0.1 || len(again.Components()) != len(m.Components()) {
		t.Errorf("the fit from bound %g has bound %g", r.Bound, more.Bound)
	}
	same, _ := mustFit(t, known, Options{From: m, Iterations: NoIterations})
	if !reflect.DeepEqual(same.Components(), m.Components()) {
		t.Errorf("without iterations %+v becomes %+v", m.Components(), same.Components())
	}
	one, _ := mustFit(t, wave(60, 0.1), Options{Posterior: PosteriorOptions{Draws: NoPosterior}})
	if text := testkit.Must(one.file())(t).Metadata["components"]; strings.Contains(text, "lengths") {
		t.Errorf("components of one input %s", text)
	}
	damaged := testkit.Must(one.file())(t)
	damaged.Metadata["components"] = `{"components":[{"kind":"rbf","sd":1,"lengths":[1,2]}],"noise":1}`
	_, err := fromFile(&safetensors.File{Tensors: damaged.Tensors, Metadata: damaged.Metadata})
	testkit.Fails(t, err, ErrParams, "two inputs")
}

// TestDrawCount checks that the draws of a search have at most searchNumbers entries, that series have at least
// minDraws draws, and that maps with large models have none unless they are requested.
func TestDrawCount(t *testing.T) {
	for _, c := range []struct{ inputs, features, requested, want int }{
		{2, 60, 0, 20}, {2, 1000, 0, 5}, {2, 1118, 0, 4}, {2, 1120, 0, 0}, {2, 2502, 0, 0}, {2, 2502, 7, 7},
		{1, 60, 0, 20}, {1, 1000, 0, 5}, {1, 1120, 0, 4}, {1, 2502, 0, 4}, {1, 2502, 30, 30},
	} {
		f := &fit{problem: &problem{o: Options{Posterior: PosteriorOptions{Draws: c.requested}}}}
		if n := f.drawCount(NewParams(c.features/2, 2, c.inputs, 1)); n != c.want {
			t.Errorf("%+v: %d draws", c, n)
		}
	}
}

// TestSurfaceBits checks that a fit with two inputs does not depend on the number of cores, or on interruptions after
// which it resumes, and that an interrupted fit returns its best model.
func TestSurfaceBits(t *testing.T) {
	known, x, _ := holed(120, 0.1, 4)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	runtime.GOMAXPROCS(1)
	m, r := mustFit(t, known, Options{Seed: 4})
	want := encoded(t, m)
	runtime.GOMAXPROCS(3)
	o := Options{Seed: 4, Checkpoint: CheckpointOptions{Path: filepath.Join(t.TempDir(), "c"), Every: time.Hour}}
	if m, _ := mustFit(t, known, o); !bytes.Equal(encoded(t, m), want) {
		t.Error("three cores give another model than one")
	}
	for stop := 1; stop <= r.Iterations; stop++ {
		ctx, cancel := context.WithCancel(t.Context())
		o.Progress = func(p Progress) {
			if p.Iteration == stop {
				cancel()
			}
		}
		m, _, err := Fit(ctx, known, o)
		if !errors.Is(err, context.Canceled) || m == nil || !m.Fitted() {
			t.Fatalf("stopped at %d: %v, %v", stop, m, err)
		}
		if p := testkit.Must(m.Predict(t.Context(), x))(t); p.N != len(x)/2 {
			t.Errorf("stopped at %d: %d predictions", stop, p.N)
		}
		o.Progress, o.Checkpoint.Resume = nil, true
		again, result := mustFit(t, known, o)
		if !bytes.Equal(encoded(t, again), want) || result.Resumed < 0 || result.Starts[0].Ended != "converged" {
			t.Errorf("stopped at %d and resumed: another model", stop)
		}
		o.Checkpoint.Resume = false
	}
}

// TestSurfaceMemory checks that a memory limit reduces the number of features.
func TestSurfaceMemory(t *testing.T) {
	known, _, _ := holed(200, 0.1, 5)
	free, _ := mustFit(t, known, Options{})
	less, _ := mustFit(t, known, Options{MemoryLimit: 2e6})
	if free.Params.M() < 130 || less.Params.M() > 122 {
		t.Errorf("%d features with much memory, and %d with little", free.Params.M(), less.Params.M())
	}
	testkit.Fails(t, fitError(known, Options{MemoryLimit: 1e5}), ErrMemory, "needs about")
}
