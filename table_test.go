package vssgp

import (
	"bytes"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit/slow"
	"github.com/vssgp/vssgp/variational"
)

// surface is a table of two inputs: a smooth function if noise is small.
func surface(n int, noise float64) *Data {
	d := &Data{N: n, Q: 2, D: 1}
	for i := range n {
		a, b := math.Mod(float64(i)*0.618034, 1), math.Mod(float64(i)*0.414214, 1)
		d.X = append(d.X, a, b)
		d.Y = append(d.Y, math.Sin(5*a)*math.Cos(3*b)+noise*math.Sin(float64(77*i*i)))
	}
	return d
}

// TestTableChooses: several inputs get their K from the data, drawn frequencies that
// stay as they were drawn, and a better fit than noise. Options that say anything of
// the features leave nothing to choose.
func TestTableChooses(t *testing.T) {
	data := surface(120, 0.1)
	m, _ := mustFit(t, data, Options{Iterations: 60, Seed: 3})
	p := m.Params
	if p.L != 1 || p.K < 50 || p.FreqVar[0] != 0 {
		t.Fatalf("K = %d, Σ = %v", p.K, p.FreqVar[0])
	}
	drawn, err := New(t.Context(), data, Options{Method: SSGP, Init: InitPaper, Features: p.K, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(drawn.Params.FreqMean, p.FreqMean) {
		t.Error("the frequencies are not those that were drawn")
	}
	e, err := m.Evaluate(t.Context(), data, Exact, nil, false)
	start, startErr := drawn.Evaluate(t.Context(), data, Exact, nil, false)
	if err != nil || startErr != nil || !(e.Bound > -60 && e.Bound > start.Bound+10) {
		t.Errorf("bound %+v, %v; of the start %+v, %v", e, err, start, startErr)
	}
	for name, o := range map[string]Options{
		"features": {Features: 6}, "components": {Components: 1}, "length-scales": {Lengthscales: []float64{1}}, "start": {Init: InitPaper},
		"inference": {Inference: Factorized}, "phases": {UniformPhases: true}, "fixed": {Fix: []string{"frequency.mean"}},
		"no iterations": {Iterations: NoIterations}, "windows": {Window: 0.3},
	} {
		if f, err := o.frame(data); err != nil || f.init != InitPaper {
			t.Errorf("%s: start %v, %v", name, f.init, err)
		}
	}
	if f, err := (Options{}).frame(wave(60, 0.1)); err != nil || f.init != InitSpectrum {
		t.Errorf("one input: start %v, %v", f.init, err)
	}
}

// TestTableBits: neither the cores nor interruptions change what a table is fitted by.
func TestTableBits(t *testing.T) {
	data := surface(60, 0.1)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	runtime.GOMAXPROCS(1)
	o := Options{Iterations: 12, Seed: 5, Posterior: NoPosterior} // whose passes nothing stops
	m, _, passes, err := fitStopped(data, o, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := encoded(t, m)
	runtime.GOMAXPROCS(3)
	if m, _ := mustFit(t, data, o); !bytes.Equal(encoded(t, m), want) {
		t.Error("three cores give another file than one")
	}
	for _, n := range []int{passes / 2, passes - 4, passes - 9, passes - 2}[:slow.Pick(4, 2)] {
		o := o
		o.Checkpoint, o.Resume = filepath.Join(t.TempDir(), "part"), true
		if m, _, cut, err := fitUntilDone(t, data, o, n); err != nil || cut == 0 || !bytes.Equal(encoded(t, m), want) {
			t.Errorf("stopped %d times, after %d of %d passes: another model, or %v", cut, n, passes, err)
		}
	}
}

// TestTableMemory: a memory limit below the need of the largest settings leaves the smaller ones.
func TestTableMemory(t *testing.T) {
	data := surface(90, 0.1)
	f, err := (Options{Features: 100}).frame(data)
	if err != nil {
		t.Fatal(err)
	}
	rows, features := f.memory(&variational.Shape{Components: []int{1}, K: 100, Q: data.Q, D: data.D})
	m, _, err := Fit(t.Context(), data, Options{Iterations: 9, MemoryLimit: rows + features})
	if err != nil || m.Params.K > 100 {
		t.Errorf("K = %v with memory for 100, %v", m, err)
	}
}

// TestTablePosterior: drawn frequencies stay, so that few hyper-parameters have a posterior.
func TestTablePosterior(t *testing.T) {
	m, r := mustFit(t, surface(120, 0.1), Options{Posterior: 3, Seed: 3})
	if m.Params.FreqVar[0] != 0 || r.NoPosterior != "" {
		t.Fatalf("Σ = %v, no posterior: %s", m.Params.FreqVar[0], r.NoPosterior)
	}
	for _, d := range m.Posterior().Draws {
		if !slices.Equal(d.Params.FreqMean, m.Params.FreqMean) || slices.Equal(d.Params.Lengthscale, m.Params.Lengthscale) {
			t.Error("a draw has other frequencies, or the same length-scales")
		}
	}
}
