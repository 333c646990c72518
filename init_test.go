package vssgp

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/cputime"
	"github.com/vssgp/vssgp/internal/testkit/modeltest"
	"github.com/vssgp/vssgp/internal/testkit/slow"
	"github.com/vssgp/vssgp/variational"
)

// TestBadOptions checks that invalid options give ErrOptions.
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
		{"batch", data, Options{Batch: BatchOptions{Rows: -5}}},
		{"restarts", data, Options{Restarts: -1}},
		{"segments", data, Options{Windows: WindowOptions{Segments: -1}}},
		{"posterior", data, Options{Posterior: PosteriorOptions{Draws: NoPosterior - 1}}},
		{"too many draws", data, Options{Posterior: PosteriorOptions{Draws: maxDraws + 1}}},
		{"memory limit", data, Options{MemoryLimit: -1}},
		{"prior without a spread", data, Options{Priors: Priors{Noise: Prior{Median: 1}}}},
		{"prior of a negative length", data, Options{Priors: Priors{Lengthscale: Prior{Median: -1, SD: 1}}}},
		{"prior of NaN", data, Options{Priors: Priors{Amplitude: Prior{Median: nan, SD: 1}}}},
		{"prior out of range", data, Options{Priors: Priors{Amplitude: Prior{Median: 1e-200, SD: 1}}}},
		{"odd pairs", data, Options{Method: SSGP, Init: InitPaper, Features: 5}},
		{"odd pairs for the spectrum", data, Options{Init: InitSpectrum, Features: 3}},
		{"negative window", data, Options{Windows: WindowOptions{Length: -2}}},
		{"window NaN", data, Options{Windows: WindowOptions{Length: nan}}},
		{"window infinite", data, Options{Windows: WindowOptions{Length: inf}}},
		{"window along no input", data, Options{Windows: WindowOptions{Dim: 1}}},
		{"window along input -1", data, Options{Windows: WindowOptions{Dim: -1}}},
		{"frequency variance", data, Options{Paper: PaperOptions{FrequencyVariance: -1}}},
		{"frequency variance NaN", data, Options{Paper: PaperOptions{FrequencyVariance: nan}}},
		{"frequency variance infinite", data, Options{Paper: PaperOptions{FrequencyVariance: inf}}},
		{"noise", data, Options{NoisePrecision: -1}},
		{"noise NaN", data, Options{NoisePrecision: nan}},
		{"noise infinite", data, Options{NoisePrecision: inf}},
		{"length-scale 0", data, Options{Paper: PaperOptions{Lengthscales: []float64{1, 0}}}},
		{"length-scale NaN", data, Options{Paper: PaperOptions{Lengthscales: []float64{nan}}}},
		{"length-scale infinite", data, Options{Paper: PaperOptions{Lengthscales: []float64{inf}}}},
		{"components and length-scales", data, Options{Components: 3, Paper: PaperOptions{Lengthscales: []float64{1}}}},
		{"no length-scale", data, Options{Paper: PaperOptions{Lengthscales: []float64{}}}},
		{"period", data, Options{Paper: PaperOptions{Lengthscales: []float64{1}, Periods: []float64{-1}}}},
		{"period NaN", data, Options{Paper: PaperOptions{Lengthscales: []float64{1}, Periods: []float64{nan}}}},
		{"periods without length-scales", data, Options{Paper: PaperOptions{Periods: []float64{1}}}},
		{"too few periods", data, Options{Paper: PaperOptions{Lengthscales: []float64{1, 2}, Periods: []float64{1}}}},
		{"fix", data, Options{Fix: []string{"kernel.variance", "kernel.period"}}},
		{"too many components", data, Options{Components: maxCount + 1}},
		{"too many features", data, Options{Inference: Factorized, Features: maxCount + 1}},
		{"too many features for exact inference", data, Options{Components: variational.MaxExact / 2, Features: 4}},
		{"optimizer", data, Options{Optimizer: "adam"}},
		{"more windows than rows", data, Options{Windows: WindowOptions{Length: 1e-3}}},
		{"a candidate too short", data, Options{Windows: WindowOptions{Length: WindowAuto, Candidates: []float64{2, 1e-3}}}},
		{"a candidate of no length", data, Options{Windows: WindowOptions{Length: WindowAuto, Candidates: []float64{2, 0}}}},
		{"spectrum of two inputs", two, Options{Init: InitSpectrum}},
		{"spectrum of a constant input", &Data{N: 3, Q: 1, D: 1, X: []float64{2, 2, 2}, Y: make([]float64, 3)}, Options{Init: InitSpectrum}},
	} {
		testkit.Fails(t, testkit.Error(New(t.Context(), c.data, c.o)), ErrOptions, "", "New, ", c.name)
		if m, _, err := Fit(context.Background(), c.data, c.o); !errors.Is(err, ErrOptions) || m != nil {
			t.Errorf("Fit, %s: error %v, want one that wraps ErrOptions", c.name, err)
		}
	}
}

// TestOptionPairs checks that contradictory options give an error that names both.
func TestOptionPairs(t *testing.T) {
	data := wave(40, 0.1)
	from := testkit.Must(New(t.Context(), data, Options{Components: 2}))(t)
	for _, c := range []struct {
		o             Options
		first, second string
	}{
		{Options{Batch: BatchOptions{Rows: 5}}, "batch", "inference exact"},
		{Options{Batch: BatchOptions{Contiguous: true}, Inference: Factorized}, "batch", "init spectrum"},
		{Options{Optimizer: OptimizerGlobal, Inference: Stochastic}, "optimizer", "inference stochastic"},
		{Options{Windows: WindowOptions{Segments: 4}, Inference: Factorized}, "segments", "inference factorized"},
		{Options{Fix: []string{"coefficient.mean"}}, "fix", "inference exact"},
		{Options{Optimizer: OptimizerWindows, Windows: WindowOptions{Length: WindowNone}}, "optimizer", "window none"},
		{Options{Windows: WindowOptions{Length: WindowNone, Segments: 4}}, "segments", "window none"},
		{Options{Windows: WindowOptions{Length: WindowNone, Shared: true}}, "shared", "window none"},
		{Options{Windows: WindowOptions{Length: 2, Candidates: []float64{2}}}, "candidates", "length"},
		{Options{Windows: WindowOptions{Candidates: []float64{2}}, Init: InitPaper}, "candidates", "init paper"},
		{Options{Method: SSGP, UniformPhases: true}, "uniform phases", "method ssgp"},
		{Options{Tie: []string{"kernel.variance"}, Fix: []string{"kernel.variance"}}, "fix", "tie"},
		{Options{Components: 3, Paper: PaperOptions{Lengthscales: []float64{1}}}, "components", "length-scale"},
		{Options{Paper: PaperOptions{Periods: []float64{1}}}, "periods", "length-scales"},
		{Options{Init: InitSpectrum, Paper: PaperOptions{Lengthscales: []float64{1}}}, "length-scales", "init spectrum"},
		{Options{From: from, Init: InitPaper}, "init", "model to start from"},
		{Options{From: from, Components: 2}, "components", "model to start from"},
		{Options{From: from, Features: 2}, "features", "model to start from"},
		{Options{From: from, Windows: WindowOptions{Length: 2}}, "window", "model to start from"},
		{Options{From: from, Paper: PaperOptions{Lengthscales: []float64{1}}}, "length-scales", "model to start from"},
		{Options{From: from, NoisePrecision: 2}, "noise precision", "model to start from"},
		{Options{From: from, UniformPhases: true}, "uniform phases", "model to start from"},
		{Options{From: from, Raw: true}, "raw", "model to start from"},
		{Options{From: from, Batch: BatchOptions{Rows: 2}}, "batch", "model to start from"},
	} {
		err := testkit.Error(New(t.Context(), data, c.o))
		testkit.Fails(t, err, ErrOptions, c.first, c.first, " with ", c.second)
		testkit.Fails(t, err, ErrOptions, c.second, c.first, " with ", c.second)
	}
}

// TestPaperStart checks that the initial parameters match the options, which are in the data's
// units, with and without scaling.
func TestPaperStart(t *testing.T) {
	data := wave(100, 0.1)
	for _, o := range []Options{
		{Raw: true}, {}, {Windows: WindowOptions{Length: 2}}, {Windows: WindowOptions{Length: 2}, Raw: true, UniformPhases: true},
		{Method: RP}, {Method: SSGP, Windows: WindowOptions{Length: 2}},
	} {
		o.Init, o.Features, o.Seed = InitPaper, 6, 2
		o.Paper.Lengthscales, o.Paper.Periods, o.NoisePrecision = []float64{3, 0.5}, []float64{0, 0.25}, 25
		m := testkit.Must(New(t.Context(), data, o))(t)
		p := m.Params
		v := p.Windows.Count()
		if p.K != 6 || p.L != 2*v || (o.Windows.Length > 0) != (v > 1) || m.Inference != Exact {
			t.Errorf("%+v: %d components of %d in %d windows, want 2 of 6 in each", o, p.L, p.K, v)
		}
		sx, sy := m.X.Scale[0], m.Y.Scale[0]
		if o.Raw && (sx != 1 || sy != 1 || m.X.Offset[0] != 0 || m.Y.Offset[0] != 0) {
			t.Errorf("%+v: units %v, %v", o, m.X, m.Y)
		}
		total := 0.0
		for i := range p.L {
			modeltest.Near(t, "length-scale", []float64{p.Lengthscale[i] * sx}, []float64{o.Paper.Lengthscales[i%2]}, rounding)
			modeltest.Near(t, "frequency", []float64{p.Frequency[i] / sx}, []float64{[]float64{0, 4}[i%2]}, rounding)
			total += p.Variance[i] * sy * sy / float64(v)
		}
		modeltest.Near(t, "noise precision", []float64{p.NoisePrecision[0] / (sy * sy)}, []float64{25}, rounding)
		checkUnderWindows(t, p, "paper")
		y := 0.0
		for _, v := range m.Y.ToModel(data.Y) {
			y += v * v * sy * sy / float64(data.N)
		}
		modeltest.Near(t, "variance", []float64{total}, []float64{y}, rounding)
	}
}

// checkUnderWindows checks that every window has components and that every z is inside its
// window.
func checkUnderWindows(t *testing.T, p *Params, what string) {
	t.Helper()
	w := &p.Windows
	if len(w.Center) == 0 {
		return
	}
	owned := make([]bool, len(w.Center))
	for i, v := range p.ComponentWindow {
		owned[v] = true
		for k := i * p.K; k < (i+1)*p.K; k++ {
			if z := p.Location[k*p.Q+w.Dim]; math.Abs(z-w.Center[v]) > w.Length/2*(1+1e-12) {
				t.Errorf("%s: z[%d] is %g from its window's center, the length is %g", what, k, z-w.Center[v], w.Length)
			}
		}
	}
	for v, ok := range owned {
		if !ok {
			t.Errorf("%s: window %d has no component", what, v)
		}
	}
}

// TestSpectrumStart checks that the initial components have the frequencies and the power of the
// data's tones, also if rows of the grid are missing.
func TestSpectrumStart(t *testing.T) {
	full := wave(400, 0.05)
	holed := &Data{N: 0, Q: 1, D: 1}
	for i := range full.N {
		if i%100 < 90 {
			add(holed, full.X[i], full.Y[i])
		}
	}
	for name, c := range map[string]struct {
		data *Data
		o    Options
	}{
		"plain":   {full, Options{Init: InitSpectrum}},
		"holes":   {holed, Options{Init: InitSpectrum}},
		"windows": {holed, Options{Windows: WindowOptions{Length: 10}}},
		"raw":     {full, Options{Init: InitSpectrum, Raw: true}},
		"pairs":   {full, Options{Features: 4, Components: 12}},
		"ssgp":    {full, Options{Method: SSGP}},
		"uniform": {full, Options{UniformPhases: true}},
	} {
		m := testkit.Must(New(t.Context(), c.data, c.o))(t)
		p := m.Params
		checkUnderWindows(t, p, name)
		if uniform := p.PhaseUpper[0] != p.PhaseLower[0]; uniform != c.o.UniformPhases {
			t.Errorf("%s: uniform phases: %v", name, uniform)
		}
		v := float64(p.Windows.Count())
		power, near2, near5 := 0.0, 0.0, 0.0
		for i := range p.L {
			f := p.Frequency[i] / m.X.Scale[0]
			if f < 0 || f > 5*(1+1e-9) {
				t.Errorf("%s: component %d at %g cycles per unit, want 0 to half a cycle per sample, 5", name, i, f)
			}
			s := p.Variance[i] * m.Y.Scale[0] * m.Y.Scale[0] / v
			power += s
			if math.Abs(2*math.Pi*f-2) < 1.2 {
				near2 += s
			}
			if math.Abs(2*math.Pi*f-5) < 1.2 {
				near5 += s
			}
		}
		if power < 0.4 || power > 0.9 || near2 < 0.8*0.5 || near5 < 0.08 {
			t.Errorf("%s: power %.3g, of which %.3g near the first tone and %.3g near the second; want about 0.63, 0.5 and 0.125", name,
				power, near2, near5)
		}
		noiseOnly := -0.5 * float64(c.data.N) * (math.Log(2*math.Pi*0.625) + 1)
		if b := evaluated(t, m, c.data).Bound + float64(c.data.N)*-math.Log(m.Y.Scale[0]); c.o.Features == 0 && b < noiseOnly {
			t.Errorf("%s: the initial bound is %g, the bound of noise alone %g", name, b, noiseOnly)
		}
	}
}

// TestWindowAuto checks that the candidate with the highest initial bound is selected, and that
// a candidate as long as the data means no windows.
func TestWindowAuto(t *testing.T) {
	data := wave(300, 0.1) // 30 units of x
	for name, lengths := range map[string][]float64{"three": {12, 4, 8}, "one": {6}, "too long": {40, 60}, "long among them": {5, 100}} {
		best, bound := &Model{}, math.Inf(-1)
		for _, w := range lengths {
			m := testkit.Must(New(t.Context(), data, Options{Windows: WindowOptions{Length: w}, Components: 5}))(t)
			if b := evaluated(t, m, data).Bound; b > bound {
				best, bound = m, b
			}
		}
		got := testkit.Must(New(t.Context(), data, Options{Windows: WindowOptions{Length: WindowAuto, Candidates: lengths},
			Components: 5}))(t)
		if w := got.Params.Windows; !w.Equal(&best.Params.Windows) || evaluated(t, got, data).Bound != bound {
			t.Errorf("%s: chose %d windows of %v, the best has %d of %v", name, len(w.Center), w.Length, len(best.Params.Windows.Center),
				best.Params.Windows.Length)
		}
	}
}

// TestDefaultInit checks that the default is InitSpectrum for one input with any spacing, and
// InitPaper otherwise.
func TestDefaultInit(t *testing.T) {
	even := wave(100, 0.1)
	uneven := &Data{N: 100, Q: 1, D: 1, Y: even.Y}
	for i := range 100 {
		uneven.X = append(uneven.X, float64(i*i))
	}
	for name, c := range map[string]struct {
		data *Data
		o    Options
		want Init
	}{
		"even": {even, Options{Features: 8}, InitSpectrum}, "uneven": {uneven, Options{Features: 8}, InitSpectrum},
		"constant input":      {&Data{N: 20, Q: 1, D: 1, X: make([]float64, 20), Y: even.Y[:20]}, Options{Features: 8}, InitPaper},
		"given length-scales": {even, Options{Features: 8, Paper: PaperOptions{Lengthscales: []float64{1}}}, InitPaper},
		"frequency variance":  {even, Options{Features: 8, Paper: PaperOptions{FrequencyVariance: 0.1}}, InitPaper},
		"random projections":  {even, Options{Features: 8, Method: RP}, InitPaper},
	} {
		got := testkit.Must(New(t.Context(), c.data, c.o))(t)
		c.o.Init = c.want
		want := testkit.Must(New(t.Context(), c.data, c.o))(t)
		modeltest.Near(t, name, got.Params.Location, want.Params.Location, 0)
	}
}

// TestPaperFrequencyVariance checks the initial Σ, which is 0 for point frequencies.
func TestPaperFrequencyVariance(t *testing.T) {
	data := &Data{N: 4, Q: 1, D: 1, X: []float64{0, 1, 2, 5}, Y: []float64{1, 3, 2, 0}}
	for _, c := range []struct {
		o    Options
		want float64
	}{
		{Options{Init: InitPaper}, 0.001},
		{Options{Init: InitPaper, Paper: PaperOptions{FrequencyVariance: 0.25}}, 0.25},
		{Options{Init: InitPaper, Paper: PaperOptions{FrequencyVariance: 0.25}, Method: SSGP}, 0},
	} {
		m := testkit.Must(New(t.Context(), data, c.o))(t)
		for k, v := range m.Params.FreqVar {
			if v != c.want {
				t.Fatalf("%+v: Σ[%d] = %v, want %v", c.o, k, v, c.want)
			}
		}
	}
}

// TestStartUnits checks that the settings of an initialization are in the model's units and
// depend on the options.
func TestStartUnits(t *testing.T) {
	data := wave(301, 0)
	for i := range data.X {
		data.X[i] = 2 * float64(i)
	}
	for _, c := range []struct {
		o          Options
		auto       bool
		window     float64
		candidates []float64
	}{
		{Options{Windows: WindowOptions{Length: 80}}, false, 40, nil}, {Options{Windows: WindowOptions{Length: WindowNone}}, false, 0, nil},
		{Options{Windows: WindowOptions{Candidates: []float64{100, 20, 50}}}, true, 0, []float64{50, 10, 25}}, {Options{}, true, 0, nil},
	} {
		c.o.NoisePrecision = 3
		f := testkit.Must(c.o.problem(data))(t)
		set := f.settings(7)
		if set.Auto != c.auto || set.Window != c.window || !slices.Equal(set.Candidates, c.candidates) || !set.Optimized || set.Seed != 7 ||
			set.Noise != 3*f.y.Scale[0]*f.y.Scale[0] {
			t.Errorf("%+v: %+v", c.o, set)
		}
		if g := f.grid; g.Step != 1 || g.Band != 0 {
			t.Errorf("the grid is %+v, want even steps of 1", g)
		}
	}
	f := testkit.Must(Options{Iterations: NoIterations}.problem(data))(t)
	if f.settings(0).Optimized {
		t.Error("Optimized is set without iterations")
	}
}

// dataOf returns rows as Data.
func dataOf(rows *backend.Data) *Data {
	return &Data{N: rows.N, Q: rows.Q, D: rows.D, X: rows.X, Y: rows.Y}
}

// TestChoosesWindow checks that long windows are selected for a stationary sound and short ones
// for a changing sound, on all data and on excerpts, with and without optimization.
func TestChoosesWindow(t *testing.T) {
	lengths := []float64{64, 512}
	for _, n := range []int{4096, 2 * 8 * 4 * 512 * 2} {
		if n > 1<<14 && !slow.Tests {
			continue
		}
		for _, c := range []struct{ every, want int }{{1 << 20, 512}, {96, 64}} {
			for iterations, components := range map[int]int{NoIterations: 12, 2: 4} {
				o := Options{Init: InitSpectrum, Windows: WindowOptions{Length: WindowAuto, Candidates: lengths}, Iterations: iterations,
					Components: components, Features: 2}
				data := dataOf(modeltest.ChangingTones(n, c.every))
				m := testkit.Must(New(t.Context(), data, o))(t)
				if got := m.Params.Windows.Length * m.X.Scale[0]; math.Abs(got-float64(c.want)) > 1e-9 {
					t.Errorf("%d samples, new sound every %d, iterations %d: windows of %g, want %d", n, c.every, iterations, got, c.want)
				}
			}
		}
	}
}

// TestCriterion compares the criterion with the bound of a fit with the same number of
// iterations minus the number of point estimates.
func TestCriterion(t *testing.T) {
	const window, components, iterations = 64, 5, 10
	data := dataOf(modeltest.ChangingTones(700, 90))
	for _, c := range []struct {
		name   string
		o      Options
		points func(l, m int) int
	}{
		{"separate windows", Options{}, func(l, m int) int { return 3*l + 1 }},
		{"shared", Options{Windows: WindowOptions{Shared: true}}, func(l, m int) int { return 3*components + 1 }},
		{"tied, noise fixed", Options{Tie: []string{"kernel.lengthscale"}, Fix: []string{"noise.precision"}},
			func(l, m int) int { return 2*l + 1 }},
		{"ssgp", Options{Method: SSGP}, func(l, m int) int { return 3*l + 1 + m/2 }},
	} {
		o := c.o
		o.Init, o.Windows.Length, o.Components, o.Features = InitSpectrum, window, components, 2
		o.Iterations = iterations
		m, r := mustFit(t, data, o)
		f := testkit.Must(o.problem(data))(t)
		begun, _, err := f.initialize(t.Context(), InitSpectrum, 0)
		testkit.OK(t, err)
		got := testkit.Must(f.Optimized(t.Context(), f.rows, begun.Params, iterations))(t)
		p := m.Params
		want := r.Bound - float64(c.points(p.L, p.M()))
		if math.Abs(got-want) > 1e-9*math.Abs(want) {
			t.Errorf("%s: criterion %v, want %v", c.name, got, want)
		}
	}
}

// TestChoosesNone checks that stationary sinusoids get no windows and few components, for any
// number of rows.
func TestChoosesNone(t *testing.T) {
	for _, n := range slow.Pick([]int{1300, 3000}, []int{1300}) {
		rng := modeltest.NewRNG(uint64(n))
		d := sampled(n, func(x float64) float64 {
			return math.Sin(2*math.Pi*x/24) + 0.5*math.Cos(2*math.Pi*x/168) + 0.3*rng.NormFloat64()
		})
		m := testkit.Must(New(t.Context(), d, Options{Init: InitSpectrum}))(t)
		if p := m.Params; len(p.Windows.Center) > 0 || p.L < 2 || p.L > 8 {
			t.Errorf("%d rows of two lines: %d windows, %d components", n, len(p.Windows.Center), p.L)
		}
	}
}

// TestChoiceInterrupted checks that cancellation during the choice returns the context's error.
func TestChoiceInterrupted(t *testing.T) {
	f := testkit.Must(Options{Init: InitSpectrum, Windows: WindowOptions{Length: WindowAuto, Candidates: []float64{128}},
		Iterations: 5}.problem(dataOf(modeltest.ChangingTones(3000, 100))))(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := f.initialize(ctx, f.init, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

// TestBestNoiseLevel checks that the initial noise is smaller for tones than for noise, and that
// the error bars match.
func TestBestNoiseLevel(t *testing.T) {
	series := func(noise float64) *Data {
		rng := rand.New(rand.NewPCG(4, 4))
		d := &Data{Q: 1, D: 1}
		for i := range 1500 {
			if i%300 >= 140 && i%300 < 170 {
				continue
			}
			v := math.Sin(0.21*float64(i)) + 0.5*math.Sin(0.47*float64(i)+1)
			add(d, float64(i), v+noise*rng.NormFloat64())
		}
		return d
	}
	tau := func(noise float64) float64 {
		m := testkit.Must(New(t.Context(), series(noise), Options{Init: InitSpectrum, Windows: WindowOptions{Length: 300},
			Iterations: NoIterations}))(t)
		return m.Params.NoisePrecision[0]
	}
	if clean, loud := tau(0.001), tau(1); !(clean > 3*loud) || loud > 1/0.04 {
		t.Errorf("initial precision %v for tones, %v for tones in noise", clean, loud)
	}
	// If windows are chosen, each candidate has already been evaluated at another noise level
	// than its final one.
	data := series(0.001)
	m, r := mustFit(t, data, Options{Init: InitSpectrum, Windows: WindowOptions{Length: WindowAuto, Candidates: []float64{300, 400}},
		Iterations: NoIterations})
	if want := evaluated(t, m, data).Bound; r.Bound != want {
		t.Errorf("the reported initial bound is %v, want %v", r.Bound, want)
	}
}

// TestPredictFrom compares predictions in several parts, with many outputs, with the predictions
// of a conditioned model for all rows at once.
func TestPredictFrom(t *testing.T) {
	p, data := made(kind{Name: "many outputs", N: 600, L: 2, K: 3, Q: 1, D: 140})
	p.CoefMean, p.CoefVar = nil, nil
	if rows := maxPartRows(data.D); data.N <= rows {
		t.Fatalf("%d rows are one part of %d", data.N, rows)
	}
	want, err := conditioned(t, p, data).Predict(t.Context(), data.X)
	testkit.OK(t, err)
	known := backend.Data{N: data.N, Q: data.Q, D: data.D, X: data.X, Y: data.Y}
	mean, sd, err := mustModel(t, p).predictFrom(t.Context(), known, data.X)
	testkit.OK(t, err)
	modeltest.Near(t, "mean", mean, want.Mean, rounding)
	modeltest.Near(t, "deviation", sd, want.SD(true), rounding)
}

// surface returns data with two inputs: a smooth function plus noise.
func surface(n int, noise float64) *Data {
	d := &Data{N: n, Q: 2, D: 1}
	for i := range n {
		a, b := math.Mod(float64(i)*0.618034, 1), math.Mod(float64(i)*0.414214, 1)
		d.X = append(d.X, a, b)
		d.Y = append(d.Y, math.Sin(5*a)*math.Cos(3*b)+noise*math.Sin(float64(77*i*i)))
	}
	return d
}

// TestTable checks that with several inputs the drawn frequencies are not optimized and the fit is better
// than noise. Options for the features disable this initialization.
func TestTable(t *testing.T) {
	data := surface(120, 0.1)
	m, _ := mustFit(t, data, Options{Iterations: 60, Seed: 3})
	p := m.Params
	if p.L != 2 || p.M() < data.N || p.FreqVar[0] != 0 {
		t.Fatalf("L = %d, K = %d, Σ = %v", p.L, p.K, p.FreqVar[0])
	}
	drawn, err := New(t.Context(), data, Options{Iterations: 60, Seed: 3})
	testkit.OK(t, err)
	if !slices.Equal(drawn.Params.FreqMean, p.FreqMean) {
		t.Error("the drawn frequencies have changed")
	}
	e, err := m.Evaluate(t.Context(), data, Exact, nil, false)
	start, startErr := drawn.Evaluate(t.Context(), data, Exact, nil, false)
	if err != nil || startErr != nil || !(e.Bound > -60 && e.Bound > start.Bound) {
		t.Errorf("bound %+v, %v; of the start %+v, %v", e, err, start, startErr)
	}
	for name, o := range map[string]Options{
		"features": {Features: 6}, "components": {Components: 1}, "length-scales": {Paper: PaperOptions{Lengthscales: []float64{1}}},
		"start":     {Init: InitPaper},
		"method":    {Method: SSGP},
		"inference": {Inference: Factorized}, "phases": {UniformPhases: true}, "fixed": {Fix: []string{"frequency.mean"}},
		"no iterations": {Iterations: NoIterations}, "windows": {Windows: WindowOptions{Length: 0.3}},
	} {
		if f, err := o.problem(data); err != nil || f.init != InitPaper {
			t.Errorf("%s: start %v, %v", name, f.init, err)
		}
	}
	if f, err := (Options{}).problem(wave(60, 0.1)); err != nil || f.init != InitSearch {
		t.Errorf("one input: start %v, %v", f.init, err)
	}
}

// TestTableBits checks that a fit of several inputs does not depend on the number of cores or on
// interruptions.
func TestTableBits(t *testing.T) {
	data := surface(60, 0.1)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	runtime.GOMAXPROCS(1)
	o := Options{Iterations: 12, Seed: 5, MemoryLimit: 2e6}
	o.Posterior.Draws = NoPosterior // its passes ignore cancellation
	m, _, passes, err := fitStopped(data, o, 0)
	testkit.OK(t, err)
	want := encoded(t, m)
	runtime.GOMAXPROCS(3)
	if m, _ := mustFit(t, data, o); !bytes.Equal(encoded(t, m), want) {
		t.Error("three cores give a different file than one")
	}
	for _, n := range []int{passes / 2, passes - 4, passes - 9, passes - 2}[:slow.Pick(4, 2)] {
		o := o
		o.Checkpoint.Path, o.Checkpoint.Resume = filepath.Join(t.TempDir(), "part"), true
		if m, _, cut, err := fitUntilDone(t, data, o, n); err != nil || cut == 0 || !bytes.Equal(encoded(t, m), want) {
			t.Errorf("stopped %d times, after %d of %d passes: a different model, or %v", cut, n, passes, err)
		}
	}
}

// TestTableMemory checks that a fit with a memory limit has fewer features.
func TestTableMemory(t *testing.T) {
	data := surface(90, 0.1)
	f, err := (Options{Features: 100}).problem(data)
	testkit.OK(t, err)
	rows, features := f.memory(&variational.Shape{Components: []int{1}, K: 100, Q: data.Q, D: data.D})
	m, _, err := Fit(t.Context(), data, Options{Iterations: 9, MemoryLimit: rows + features})
	testkit.OK(t, err)
	if n := m.Params.M(); n < 50 || n > 200 {
		t.Errorf("%d features with memory for 100 learned ones", n)
	}
}

// TestTablePosterior checks that drawn frequencies are not part of the posterior.
func TestTablePosterior(t *testing.T) {
	o := Options{Posterior: PosteriorOptions{Draws: 3}, Seed: 3, MemoryLimit: 5e6, Iterations: modeIterations}
	m, r := mustFit(t, surface(120, 0.1), o)
	if m.Params.FreqVar[0] != 0 || r.NoPosterior != "" {
		t.Fatalf("Σ = %v, no posterior: %s", m.Params.FreqVar[0], r.NoPosterior)
	}
	for _, d := range m.Posterior().Draws {
		if !slices.Equal(d.Params.FreqMean, m.Params.FreqMean) || slices.Equal(d.Params.Lengthscale, m.Params.Lengthscale) {
			t.Error("a draw has other frequencies, or the same length-scales")
		}
	}
}

// polled is a context that counts its polls and records the maximum processor time between two
// polls. It ends at poll number end if end is not 0.
type polled struct {
	context.Context
	mu      sync.Mutex
	n, end  int
	last    time.Duration
	longest time.Duration
}

func (l *polled) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.n++
	now := cputime.Now()
	l.longest = max(l.longest, now-l.last)
	l.last = now
	if l.end > 0 && l.n >= l.end {
		return context.Canceled
	}
	return nil
}

// TestStartCanceled checks that an initialization polls its context regularly and returns no
// model if it ends. The processor time between two polls must be less than a quarter of the
// total, so each case's dominant stage must poll. The test repeats an attempt that garbage
// collection may have delayed. It uses two processors, because many processors can finish a
// stage between two polls.
func TestStartCanceled(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	many := dataOf(modeltest.Tones(1<<10, 0)) // uneven rows of many tones, which take several rounds
	for i := range many.X {
		many.X[i] += 0.4 * math.Sin(float64(i*i))
		for k := range 30 {
			many.Y[i] += math.Pow(0.8, float64(k)) * math.Sin(0.09*float64(k+1)*many.X[i])
		}
	}
	for name, c := range map[string]struct {
		data *Data
		o    Options
	}{
		"fill": {dataOf(modeltest.Tones(1<<12, 0.4)), Options{Windows: WindowOptions{Length: WindowNone}}},
		"hidden rows": {dataOf(modeltest.Tones(1<<11, 0.4)),
			Options{Windows: WindowOptions{Length: WindowNone}, Iterations: NoIterations}},
		"spectra":        {dataOf(modeltest.Tones(1<<14, 0)), Options{Windows: WindowOptions{Length: 512}}},
		"uneven rows":    {many, Options{Windows: WindowOptions{Length: WindowNone}}},
		"uneven windows": {many, Options{Windows: WindowOptions{Length: 128}}},
	} {
		c.o.Inference = Stochastic
		start := func(end int) (l *polled, share float64, err error) {
			began := cputime.Now()
			l = &polled{Context: t.Context(), end: end, last: began}
			f := testkit.Must(c.o.problem(c.data))(t)
			_, _, err = f.initialize(l, f.init, 0)
			l.longest = max(l.longest, cputime.Now()-l.last)
			return l, float64(l.longest) / float64(cputime.Now()-began), err
		}
		least, all := 1.0, 0
		for try := 0; try < 10 && least >= 0.25; try++ {
			l, share, err := start(0)
			testkit.OK(t, err)
			least, all = min(least, share), l.n
		}
		if least >= 0.25 {
			t.Errorf("%s: for %.2f of the time it does not poll its context", name, least)
		}
		for _, end := range []int{1, 2, all / 2, all} {
			if l, _, err := start(end); !errors.Is(err, context.Canceled) || end == 1 && l.n > 3 { // building the error polls, too
				t.Errorf("%s, ended at poll %d of %d: error %v after %d polls, want the context's error, and no initialization if it has ended before",
					name, end, all, err, l.n)
			}
		}
	}
}

// TestStochasticOfMany fits more rows than the initial mean is computed from.
func TestStochasticOfMany(t *testing.T) {
	d := dataOf(modeltest.Tones(1<<16+100, 0))
	m, _ := mustFit(t, d, Options{Windows: WindowOptions{Length: WindowNone}, Components: 2, Inference: Stochastic, Iterations: 2})
	if !m.Fitted() {
		t.Error("no posterior")
	}
}

// TestTableOutputs checks that each output of a table has its own noise and that its intervals cover new
// rows, for drawn frequencies and after a search.
func TestTableOutputs(t *testing.T) {
	for init, o := range map[Init]Options{initTable: {MemoryLimit: 1e7, Iterations: 30}, InitSearch: {MemoryLimit: 1e7}} {
		tableOutputs(t, init, o)
	}
}

func tableOutputs(t *testing.T, init Init, o Options) {
	t.Helper()
	noise := []float64{0.02, 0.4, 3}
	rng := rand.New(rand.NewPCG(1, 2))
	sample := func(n int) *Data {
		d := &Data{N: n, Q: 2, D: len(noise)}
		for range n {
			a, b := rng.Float64(), rng.Float64()
			d.X = append(d.X, a, b)
			for k, sd := range noise {
				d.Y = append(d.Y, float64(1+9*(k/2))*math.Sin(4*a+float64(k))*math.Cos(3*b)+sd*rng.NormFloat64())
			}
		}
		return d
	}
	m, r := mustFit(t, sample(200), o)
	testkit.Equal(t, r.Init, init)
	test := sample(1000)
	at := testkit.Must(m.Predict(t.Context(), test.X))(t)
	sd := at.SD(true)
	for k, want := range noise {
		covered, square := 0.0, 0.0
		for i := k; i < len(sd); i += len(noise) {
			if math.Abs(at.Mean[i]-test.Y[i]) <= 1.96*sd[i] {
				covered += 1 / float64(test.N)
			}
			square += at.Noise[k] / float64(test.N)
		}
		if covered < 0.92 || covered > 0.98 {
			t.Errorf("%s, output %d: the 95 %% intervals cover %.3f", init, k, covered)
		}
		testkit.Near(t, math.Sqrt(square), want, 0.2*want, string(init)+", noise of output ", k)
	}
}
