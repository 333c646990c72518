package vssgp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/backend/backendtest"
	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/optimize"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/modeltest"
	"github.com/vssgp/vssgp/internal/testkit/slow"
	"github.com/vssgp/vssgp/variational"
)

// co2 returns the monthly CO2 concentration at Mauna Loa.
func co2(t testing.TB) *Data {
	t.Helper()
	file := testkit.Must(os.Open("testdata/co2_monthly.csv"))(t)
	defer file.Close()
	rows := testkit.Must(csv.NewReader(file).ReadAll())(t)[1:] // without the names of the columns
	column := func(c int) []float64 {
		return testkit.Numbers(len(rows), func(n int) float64 { return testkit.Must(strconv.ParseFloat(rows[n][c], 64))(t) })
	}
	return &Data{N: len(rows), Q: 1, D: 1, X: column(0), Y: column(1)}
}

// wave returns n evenly spaced samples of two tones, with noise of the given standard
// deviation.
func wave(n int, noise float64) *Data {
	rng := modeltest.NewRNG(uint64(n))
	d := sampled(n, func(x float64) float64 { x /= 10; return math.Sin(2*x) + 0.5*math.Cos(5*x+1) + noise*rng.NormFloat64() })
	for i := range d.X {
		d.X[i] /= 10
	}
	return d
}

// add appends a row of one input and one output.
func add(d *Data, x, y float64) {
	d.X, d.Y, d.N = append(d.X, x), append(d.Y, y), d.N+1
}

// sampled returns samples of f at 0, 1, …, n−1.
func sampled(n int, f func(x float64) float64) *Data {
	x := times(n, 1)
	return &Data{N: n, Q: 1, D: 1, X: x, Y: testkit.Numbers(n, func(i int) float64 { return f(x[i]) })}
}

// mustFit returns the result of Fit and fails the test on an error.
func mustFit(t testing.TB, data *Data, o Options) (*Model, *Result) {
	t.Helper()
	m, r, err := Fit(t.Context(), data, o)
	testkit.OK(t, err)
	return m, r
}

// fitError returns the error of Fit.
func fitError(data *Data, o Options) error {
	_, _, err := Fit(context.Background(), data, o)
	return err
}

func encoded(t testing.TB, m *Model) []byte {
	t.Helper()
	var b bytes.Buffer
	testkit.OK(t, m.Write(&b))
	return b.Bytes()
}

// TestFitCO2 checks that each iteration from the paper's initialization increases the bound,
// and that Progress and Result match the model.
func TestFitCO2(t *testing.T) {
	data := co2(t)
	var seen []Progress
	o := Options{
		Init: InitPaper, Paper: PaperOptions{Lengthscales: []float64{10, 1}, Periods: []float64{0, 1}}, Features: 15, Iterations: 25,
		Seed:     3,
		Progress: func(p Progress) { seen = append(seen, p) },
	}
	start := testkit.Must(New(t.Context(), data, o))(t)
	last := evaluated(t, start, data).Bound
	m, r := mustFit(t, data, o)
	if len(seen) == 0 || r.Bound < last+100 {
		t.Fatalf("%d reports, bound from %g to %g: want an increase by hundreds", len(seen), last, r.Bound)
	}
	for i, p := range seen {
		if p.Bound < last || p.Iteration != i+1 || p.Iterations != 25 || p.Start != 1 || p.Starts != 1 {
			t.Errorf("report %d: %+v after bound %g", i, p, last)
		}
		last = p.Bound
	}
	modeltest.Near(t, "the last report's bound", []float64{last}, []float64{r.Bound}, rounding)
	if e := evaluated(t, m, data); e.Bound != r.Bound || !slices.Equal(e.Terms, r.Terms) {
		t.Errorf("the model's bound is %v, the result's %v, the last report's %v", e.Bound, r.Bound, last)
	}
	if r.Kept != 0 || len(r.Starts) != 1 || r.Starts[0].Bound != r.Bound || r.Starts[0].Seed != 3 || r.Device != "cpu" ||
		r.Iterations != len(seen) {
		t.Errorf("result %+v", r)
	}
	p := testkit.Must(m.Predict(t.Context(), data.X))(t)
	if e := bayes.RMSE(p.Mean, data.Y); e > 2 {
		t.Errorf("the fit is %g ppm off the data, want below 2", e)
	}
}

// TestEndedByContext checks that the result of an interrupted fit does not look like the result of a finished fit.
func TestEndedByContext(t *testing.T) {
	for name, o := range map[string]Options{
		"search": {}, "all rows": {Init: InitPaper, Features: 6},
		"mini-batches": {Init: InitPaper, Features: 6, Inference: Stochastic, Batch: BatchOptions{Rows: 20}},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		o.Progress = func(Progress) { cancel() }
		m, r, err := Fit(ctx, wave(60, 0.2), o)
		if !errors.Is(err, context.Canceled) || m == nil || r.Starts[r.Kept].Ended != "stopped" {
			t.Errorf("%s: result %+v, %v", name, r, err)
		}
	}
}

// TestResultSums checks that a result and an evaluation report whether the sums over rows came from tables.
func TestResultSums(t *testing.T) {
	for _, c := range []struct {
		rows int
		o    Options
		want string
	}{
		{1000, Options{Windows: WindowOptions{Length: WindowNone}}, "tables"},
		{1000, Options{Windows: WindowOptions{Length: 100}}, "rows"},
		{400, Options{Windows: WindowOptions{Length: WindowNone}}, "rows"},
		{1000, Options{Windows: WindowOptions{Length: WindowNone}, Inference: Factorized}, "rows"},
	} {
		tones := modeltest.Tones(c.rows, 0)
		data := &Data{N: tones.N, Q: 1, D: 1, X: tones.X, Y: tones.Y}
		c.o.Init, c.o.Features, c.o.Iterations = InitPaper, 12, 2
		m, r := mustFit(t, data, c.o)
		if e := evaluated(t, m, data); r.Sums != c.want || e.Sums != c.want {
			t.Errorf("%d rows, %+v: the result has sums from %q, an evaluation from %q, want %q", c.rows, c.o, r.Sums, e.Sums, c.want)
		}
	}
}

func evaluated(t testing.TB, m *Model, data *Data) *Evaluation {
	t.Helper()
	return testkit.Must(m.Evaluate(context.Background(), data, m.Inference, nil, false))(t)
}

// fitKinds are small fits of each kind.
var fitKinds = []struct {
	name string
	o    Options
}{
	{"paper", Options{Init: InitPaper, Features: 70, Iterations: 6}},
	{"spectrum", Options{Windows: WindowOptions{Length: WindowNone}, Iterations: 6}},
	{"spectrum, windows", Options{Windows: WindowOptions{Length: 8}, Components: 6, Iterations: 6}},
	{"paper, windows, uniform phases", Options{Init: InitPaper, Windows: WindowOptions{Length: 8}, Features: 6, Iterations: 6,
		UniformPhases: true}},
	{"separate windows", Options{Init: InitPaper, Windows: WindowOptions{Length: 8}, Features: 6, Iterations: 30,
		Optimizer: OptimizerWindows}},
	{"factorized, separate windows", Options{Inference: Factorized, Init: InitPaper, Windows: WindowOptions{Length: 8}, Features: 6,
		Iterations: 20, UniformPhases: true, Optimizer: OptimizerWindows}},
	{"ssgp, separate windows", Options{Method: SSGP, Init: InitSpectrum, Windows: WindowOptions{Length: 8}, Components: 6,
		Iterations: 6, Optimizer: OptimizerWindows}},
	{"ssgp", Options{Method: SSGP, Init: InitPaper, Features: 20, Iterations: 6}},
	{"ssgp, spectrum", Options{Method: SSGP, Windows: WindowOptions{Length: WindowNone}, Components: 8, Iterations: 6}},
	{"rp", Options{Method: RP, Features: 20, Iterations: 6}},
	{"factorized", Options{Inference: Factorized, Init: InitPaper, Features: 20, Iterations: 10}},
	{"stochastic", Options{Inference: Stochastic, Init: InitPaper, Features: 20, Iterations: 60, Batch: BatchOptions{Rows: 20}}},
	{"stochastic, contiguous", Options{Inference: Stochastic, Windows: WindowOptions{Length: 8}, Components: 6, Iterations: 60,
		Batch: BatchOptions{Rows: 20, Contiguous: true}}},
}

// TestSameBits checks that the file depends on the seed and not on GOMAXPROCS.
func TestSameBits(t *testing.T) {
	data := wave(300, 0.1)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, c := range fitKinds {
		var want []byte
		for _, procs := range slow.Pick([]int{1, 2, 5}, []int{1, 3}) {
			runtime.GOMAXPROCS(procs)
			c.o.Seed = 11
			m, _ := mustFit(t, data, c.o)
			if b := encoded(t, m); want == nil {
				want = b
			} else if !bytes.Equal(b, want) {
				t.Errorf("%s: GOMAXPROCS=%d gives a different file than 1", c.name, procs)
			}
		}
		c.o.Seed = 111 // not the next seed, which an extra start may have used
		if m, _ := mustFit(t, data, c.o); bytes.Equal(encoded(t, m), want) && !strings.Contains(c.name, "spectrum") {
			t.Errorf("%s: another seed gives the same file", c.name)
		}
	}
}

// TestMethodConstraints checks that SSGP and RP keep point frequencies, SSGP keeps its pairs
// tied, and RP keeps the drawn frequencies. VSSGP has none of these constraints.
func TestMethodConstraints(t *testing.T) {
	data := wave(300, 0.1)
	for _, c := range fitKinds {
		start := testkit.Must(New(t.Context(), data, c.o))(t)
		m, r := mustFit(t, data, c.o)
		p, was := m.Params, start.Params
		if c.o.Inference != Stochastic && r.Bound <= startBound(t, start, data, c.o) {
			t.Errorf("%s: bound %g, no better than at the start", c.name, r.Bound)
		}
		if point := c.o.Method == SSGP || c.o.Method == RP; point != (slices.Max(p.FreqVar) == 0) {
			t.Errorf("%s: Σ up to %g", c.name, slices.Max(p.FreqVar))
		}
		for k := 1; c.o.Method == SSGP && k < p.M(); k += 2 {
			turn := math.Cos(p.PhaseLower[k-1] - p.PhaseLower[k])
			if p.FreqMean[k] != p.FreqMean[k-1] || p.Location[k] != p.Location[k-1] || math.Abs(turn) > 1e-12 {
				t.Errorf("%s: features %d and %d are not a cosine and sine pair", c.name, k-1, k)
			}
		}
		if slices.Equal(p.FreqMean, was.FreqMean) != (c.o.Method == RP) {
			t.Errorf("%s: frequencies kept: %v", c.name, c.o.Method != RP)
		}
		if uniform := p.PhaseUpper[0] != p.PhaseLower[0]; uniform != c.o.UniformPhases {
			t.Errorf("%s: uniform phases: %v", c.name, uniform)
		}
		want := Exact
		if c.o.Inference != "" {
			want = Factorized
		}
		if m.Inference != want {
			t.Errorf("%s: the model's inference is %s, want %s", c.name, m.Inference, want)
		}
		if _, err := m.Predict(t.Context(), data.X); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// startBound returns the initial bound of a fit.
func startBound(t *testing.T, m *Model, data *Data, o Options) float64 {
	t.Helper()
	_, run := running(t, m, data, o)
	testkit.OK(t, run.Begin(nil))
	e := testkit.Must(run.Evaluate())(t)
	return e.Bound
}

// running returns the problem of a fit and the optimization run from model m.
func running(t *testing.T, m *Model, data *Data, o Options) (*problem, *optimize.Run) {
	t.Helper()
	f := testkit.Must(o.problem(data))(t)
	run := testkit.Must(f.run(context.Background(), f.rows, m, o.optimize(f.init, o.Seed)))(t)
	t.Cleanup(func() { run.Close() })
	return f, run
}

// TestFixedTensorsKeepTheirBits checks that fixed tensors keep their bits and that the others change.
func TestFixedTensorsKeepTheirBits(t *testing.T) {
	data := wave(60, 0.1)
	o := Options{Init: InitPaper, Paper: PaperOptions{Lengthscales: []float64{1}, Periods: []float64{3}}, Features: 6, Iterations: 4,
		UniformPhases: true}
	coefficients := variational.Names(func(t Tensor) bool { return t.Group == variational.Coefficients })
	for _, name := range variational.Names(nil) {
		o.Fix, o.Inference = []string{name}, Exact
		if slices.Contains(coefficients, name) {
			o.Inference = Factorized
		}
		if name == "phase.lower" {
			o.Fix = append(o.Fix, "phase.upper")
		}
		start := testkit.Must(New(t.Context(), data, o))(t)
		startBound(t, start, data, o) // sets the coefficients of start
		m, _ := mustFit(t, data, o)
		was := start.Params.Tensors()
		for i, tensor := range m.Params.Tensors() {
			if o.Inference == Exact && slices.Contains(coefficients, tensor.Name) {
				continue
			}
			fixed := slices.Contains(o.Fix, tensor.Name) || name == "phase.upper" && tensor.Name == "phase.lower" // the ends move together
			if same := slices.Equal(*tensor.Data, *was[i].Data); same != fixed {
				t.Errorf("fixed %v: %s is unchanged: %v", o.Fix, tensor.Name, same)
			}
		}
	}
	o.Fix, o.Inference = variational.Names(nil), Factorized
	if _, r := mustFit(t, data, o); r.Iterations != 0 || r.Starts[0].Ended != "nothing to optimize" {
		t.Errorf("all fixed: %d iterations, ended %q", r.Iterations, r.Starts[0].Ended)
	}
}

// TestNoIterations checks that a fit without iterations keeps the initial values and computes
// their posterior.
func TestNoIterations(t *testing.T) {
	data := wave(100, 0.1)
	for _, inference := range []Inference{Exact, Factorized, Stochastic} {
		o := Options{Iterations: NoIterations, Inference: inference}
		start := testkit.Must(New(t.Context(), data, o))(t)
		m, r := mustFit(t, data, o)
		for i, tensor := range m.Params.Tensors()[:9] {
			modeltest.Near(t, string(inference)+": "+tensor.Name, *tensor.Data, *start.Params.Tensors()[i].Data, 0)
		}
		if start.Fitted() || !m.Fitted() || r.Iterations != 0 || r.Bound != evaluated(t, m, data).Bound {
			t.Errorf("%s: %+v; fitted before: %v, after: %v", inference, r, start.Fitted(), m.Fitted())
		}
	}
}

// TestCancel checks that a canceled fit returns the context's error and the best model so far,
// or no model if it was canceled during the initialization.
func TestCancel(t *testing.T) {
	data := wave(200, 0.1)
	for _, c := range fitKinds {
		for _, after := range []int{0, 2} {
			ctx, cancel := context.WithCancel(context.Background())
			o := c.o
			o.Iterations, o.Restarts = 5000, 2
			o.Progress = func(p Progress) {
				if p.Iteration >= after {
					cancel()
				}
			}
			if after == 0 {
				cancel()
			}
			m, r, err := Fit(ctx, data, o)
			cancel()
			if !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: error %v, want one line that wraps context.Canceled", c.name, err)
			}
			if (m == nil) != (after == 0) || (r == nil) != (m == nil) {
				t.Errorf("%s, canceled after %d: model %v, result %v", c.name, after, m != nil, r != nil)
			}
			if m == nil {
				continue
			}
			if len(r.Starts) != 1 || after > 0 && r.Iterations > 60 || evaluated(t, m, data).Bound != r.Bound {
				t.Errorf("%s, canceled after %d: %+v", c.name, after, r)
			}
			if _, err := m.Predict(t.Context(), data.X); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	}
}

// TestCancelAnywhere ends fits at several polls of their context. Each returns either no model and no
// result, or a model that predicts and the result of its bound. Models are returned once a start has a
// bound.
func TestCancelAnywhere(t *testing.T) {
	data := wave(60, 0.1)
	for kind, o := range []Options{
		{Iterations: 4, Restarts: 1}, {Init: InitPaper, Features: 10, Iterations: 4, Inference: Factorized},
		{Init: InitPaper, Features: 10, Iterations: 4, Inference: Stochastic, Batch: BatchOptions{Rows: 20}},
		{Iterations: NoIterations},
	} {
		for _, saved := range []bool{false, true} {
			fit := func(end int) (*Model, *Result, *polled, error) {
				l := &polled{Context: t.Context(), end: end}
				if o.Checkpoint = (CheckpointOptions{}); saved {
					o.Checkpoint.Path = filepath.Join(t.TempDir(), "c")
				}
				m, r, err := Fit(l, data, o)
				return m, r, l, err
			}
			_, _, l, err := fit(0)
			testkit.OK(t, err)
			models := 0
			for i := range 12 {
				end := 1 + i*(l.n-1)/11
				m, r, _, err := fit(end)
				if err != nil && !errors.Is(err, context.Canceled) || (m == nil) != (r == nil) || m == nil && err == nil ||
					end == 1 && m != nil {
					t.Errorf("fit %d, checkpoint %v, ended at poll %d of %d: model %v, result %v, error %v", kind, saved, end, l.n,
						m != nil, r != nil, err)
				}
				if m == nil {
					if models > 0 {
						t.Errorf("fit %d, checkpoint %v, ended at poll %d of %d: no model, unlike earlier", kind, saved, end, l.n)
					}
					continue
				}
				models++
				if _, err := m.Predict(t.Context(), data.X); err != nil || len(r.Starts) == 0 ||
					evaluated(t, m, data).Bound != r.Bound {
					t.Errorf("fit %d, checkpoint %v, ended at poll %d of %d: prediction %v, result %+v", kind, saved, end, l.n, err, r)
				}
			}
			if models == 0 && o.Iterations > 0 {
				t.Errorf("fit %d, checkpoint %v: no model of %d polls", kind, saved, l.n)
			}
		}
	}
}

// TestManyFeaturesStart checks that the initial mean is near the exact mean if there are too
// many features for a direct solution.
func TestManyFeaturesStart(t *testing.T) {
	data := sampled(400, func(x float64) float64 { return math.Sin(0.2 * x) })
	o := Options{Init: InitPaper, Paper: PaperOptions{Lengthscales: []float64{4}}, Features: optimize.DirectLimit + 1, NoisePrecision: 20,
		Iterations: NoIterations}
	fill := func(inference Inference) []float64 {
		o.Inference = inference
		m, _ := mustFit(t, data, o)
		p := testkit.Must(m.Predict(t.Context(), data.X))(t)
		return p.Mean
	}
	// Conjugate gradients end early, which leaves this error.
	if rms := bayes.RMSE(fill(Factorized), fill(Exact)); rms > 5e-3 {
		t.Errorf("the initial mean differs from the exact mean by %v", rms)
	}
}

// drifting returns n samples of six sinusoids whose frequencies and amplitudes drift, with
// noise. The spectrum changes over time.
func drifting(n int, seed uint64) *Data {
	rng := modeltest.NewRNG(seed)
	d := &Data{Q: 1, D: 1}
	var freq, angle [6]float64
	for i := range freq {
		freq[i], angle[i] = 0.01+0.07*float64(i)+0.03*rng.Float64(), 6*rng.Float64()
	}
	for n := range n {
		y := 0.1 * rng.NormFloat64()
		for j := range freq {
			freq[j] += 2e-5 * rng.NormFloat64()
			angle[j] += 2 * math.Pi * freq[j]
			y += (1 + 0.5*math.Sin(float64(n)/(400+100*float64(j)))) / (1 + 0.3*float64(j)) * math.Sin(angle[j])
		}
		add(d, float64(n), y)
	}
	return d
}

// optimizerStarts are two initializations with windows of 512 samples.
var optimizerStarts = map[string]Options{
	"spectrum": {Windows: WindowOptions{Length: 512}, Components: 8},
	"paper": {Windows: WindowOptions{Length: 512}, Init: InitPaper,
		Paper: PaperOptions{Lengthscales: []float64{200, 200, 200, 200}, Periods: []float64{50, 10, 5, 3}}, Features: 5},
}

// optimaTolerance is the tolerance for the final bounds of two optimizers, relative to the
// increase of the bound. The stopping rule ends the fits before full convergence.
const optimaTolerance = 0.01

// started returns the problem of a fit and the initial model of its first start.
func started(t testing.TB, data *Data, o Options) (*problem, *Model) {
	t.Helper()
	f := testkit.Must(o.problem(data))(t)
	m, _, err := f.initialize(t.Context(), f.init, o.Seed)
	testkit.OK(t, err)
	return f, m
}

// counted returns the best bound after each evaluation of one optimization stage.
func counted(t testing.TB, data *Data, o Options, evaluations int) []float64 {
	t.Helper()
	f, m := started(t, data, o)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	set := f.o.optimize(f.init, o.Seed)
	set.Random, set.Iterations = false, evaluations // one stage in which all parameters are free
	run := testkit.Must(f.run(ctx, f.rows, m, set))(t)
	defer run.Close()
	var best []float64
	run.Evaluated = func(bound float64) {
		if n := len(best); n > 0 {
			bound = max(bound, best[n-1])
		}
		if best = append(best, bound); len(best) == evaluations {
			cancel()
		}
	}
	testkit.OK(t, run.Begin(nil))
	if _, err := run.Optimize(); err != nil && ctx.Err() == nil {
		t.Fatal(err)
	}
	return best
}

// TestOptimizersAgree checks that both optimizers reach the same bound from near an optimum,
// within the tolerance of the stopping rule.
func TestOptimizersAgree(t *testing.T) {
	data := drifting(256*6, 1)
	o := optimizerStarts["spectrum"]
	o.Iterations = 2000
	from, _ := mustFit(t, data, o)
	rng := modeltest.NewRNG(5)
	for i := range from.Params.Location {
		from.Params.Location[i] += 0.2 * rng.NormFloat64()
		from.Params.FreqVar[i] *= math.Exp(0.2 * rng.NormFloat64())
	}
	start := evaluated(t, from, data).Bound
	var end [2]float64
	for i, by := range []Optimizer{OptimizerGlobal, OptimizerWindows} {
		_, r := mustFit(t, data, Options{From: from, Optimizer: by, Iterations: 2000})
		if end[i] = r.Bound; r.Starts[0].Ended != "converged" {
			t.Errorf("%s: ended %q after %d iterations", by, r.Starts[0].Ended, r.Iterations)
		}
	}
	t.Logf("from %.3f: global to %.3f, windows to %.3f", start, end[0], end[1])
	if d := math.Abs(end[0] - end[1]); d > optimaTolerance*(end[0]-start) {
		t.Errorf("from %.3f global reaches %.3f, windows to %.3f", start, end[0], end[1])
	}
}

// TestDefaultOptimizer checks the default optimizer, and that it is faster with many windows.
func TestDefaultOptimizer(t *testing.T) {
	const after = 25
	for windows, want := range map[int]Optimizer{8: OptimizerGlobal, 40: OptimizerWindows} {
		data := drifting(256*windows, 1)
		at := map[Optimizer]float64{}
		for _, by := range []Optimizer{"", OptimizerGlobal, OptimizerWindows} {
			o := optimizerStarts["spectrum"]
			o.Optimizer = by
			best := counted(t, data, o, after)
			at[by] = best[len(best)-1]
		}
		if at[""] != at[want] {
			t.Errorf("%d windows: the default reaches %v, %s %v", windows, at[""], want, at[want])
		}
		if windows >= optimize.PerWindow && at[OptimizerWindows] <= at[OptimizerGlobal] {
			t.Errorf("%d windows: bound %v after %d evaluations, global %v: want more", windows, at[OptimizerWindows], after,
				at[OptimizerGlobal])
		}
	}
}

// BenchmarkOptimizer reports means over four recordings: the bound in nats per 256 rows after
// the given number of evaluations (global50, windows50), and the number of evaluations with
// which OptimizerWindows reaches OptimizerGlobal's bound at that point (as50). 400 means never.
//
//	go test -run '^$' -bench Optimizer -benchtime 1x .
func BenchmarkOptimizer(b *testing.B) {
	const sets, most = 4, 400
	marks := []int{10, 25, 50, 100, 200, most}
	for _, start := range []string{"spectrum", "paper"} {
		for _, windows := range []int{4, 16, 64, 256} {
			b.Run(fmt.Sprintf("%s/windows=%d", start, windows), func(b *testing.B) {
				share := 1 / float64(sets*windows)
				for range b.N {
					mean := map[Optimizer][]float64{}
					for _, by := range []Optimizer{OptimizerGlobal, OptimizerWindows} {
						mean[by] = make([]float64, most)
						for seed := range uint64(sets) {
							o := optimizerStarts[start]
							o.Optimizer = by
							best := counted(b, drifting(256*windows, seed+1), o, most)
							for i := range mean[by] {
								mean[by][i] += share * best[min(i, len(best)-1)]
							}
						}
						for _, n := range marks {
							b.ReportMetric(mean[by][n-1], fmt.Sprintf("%s%d", by, n))
						}
					}
					for _, n := range marks {
						reached, _ := slices.BinarySearch(mean[OptimizerWindows], mean[OptimizerGlobal][n-1])
						b.ReportMetric(float64(min(reached+1, most)), fmt.Sprintf("as%d", n))
					}
				}
			})
		}
	}
}

// BenchmarkContiguousStep measures a step of stochastic inference on 512 rows with windows of
// 512, for recordings of different lengths:
//
//	go test -run '^$' -bench ContiguousStep -benchtime 500x .
func BenchmarkContiguousStep(b *testing.B) {
	for _, windows := range []int{16, 256, 4096} {
		for _, contiguous := range []bool{false, true} {
			b.Run(fmt.Sprintf("windows=%d/contiguous=%v", windows, contiguous), func(b *testing.B) {
				data, o := drifting(256*windows, 1), optimizerStarts["paper"]
				o.Inference, o.Batch.Contiguous = Stochastic, contiguous
				f, m := started(b, data, o)
				p := m.Params
				p.CoefMean, p.CoefVar = make([]float64, p.M()), slices.Repeat([]float64{1}, p.M())
				steps := func(n int) *optimize.Run {
					set := o.optimize(f.init, o.Seed)
					set.Random, set.Iterations = false, n // one stage in which all parameters are free
					run := testkit.Must(f.run(b.Context(), f.rows, m, set))(b)
					testkit.OK(b, run.Begin(nil))
					b.Cleanup(func() { run.Close() })
					return run
				}
				testkit.Must(steps(1).Optimize())(b)
				run := steps(b.N)
				b.ResetTimer()
				testkit.Must(run.Optimize())(b)
			})
		}
	}
}

// calendar returns CO2-like data: a trend, a season and noise at the first of each month,
// including leap days. A tenth of the months is missing.
func calendar() (known, asked *Data) {
	rng := modeltest.NewRNG(4)
	known, asked = &Data{Q: 1, D: 1}, &Data{Q: 1, D: 1}
	for i := range 400 {
		t := time.Date(1960, time.Month(1+i), 1, 0, 0, 0, 0, time.UTC)
		begin := time.Date(t.Year(), 1, 1, 0, 0, 0, 0, time.UTC)
		x := float64(t.Year()) + t.Sub(begin).Hours()/begin.AddDate(1, 0, 0).Sub(begin).Hours()
		y := 300 + 1.2*(x-1960) + 3*math.Sin(2*math.Pi*x) + 0.3*rng.NormFloat64()
		to := known
		if i > 0 && i < 399 && rng.IntN(10) == 0 {
			to = asked
		}
		add(to, x, y)
	}
	return known, asked
}

// timesAtRandom returns 800 rows with a daily and a weekly cycle over 32 days, and the true
// values at a hundred other times.
func timesAtRandom() (known, asked *Data) {
	rng := modeltest.NewRNG(5)
	known, asked = &Data{Q: 1, D: 1}, &Data{Q: 1, D: 1}
	for i := range 900 {
		x := 0.5 + 31*rng.Float64()
		y := math.Sin(2*math.Pi*x) + 1.5*math.Sin(2*math.Pi*x/7+1)
		to := known
		if i >= 800 {
			to = asked
		} else {
			y += 0.5 * rng.NormFloat64()
		}
		add(to, x, y)
	}
	return known, asked
}

// TestOneInputAnySpacing checks that the default options predict calendar months and random
// times to within the noise, with several components.
func TestOneInputAnySpacing(t *testing.T) {
	for name, c := range map[string]struct {
		data func() (known, asked *Data)
		most float64
	}{"calendar": {calendar, 0.45}, "at random": {timesAtRandom, 0.25}} {
		known, asked := c.data()
		m, _ := mustFit(t, known, Options{Iterations: 60})
		p := testkit.Must(m.Predict(t.Context(), asked.X))(t)
		if e := bayes.RMSE(p.Mean, asked.Y); e > c.most || m.Params.L < 2 {
			t.Errorf("%s: RMSE %.3g with %d components, want at most %g with several", name, e, m.Params.L, c.most)
		}
	}
}

// TestLowestAlias checks the frequency of a default fit to times at which higher frequencies are
// almost the same.
func TestLowestAlias(t *testing.T) {
	repeated := func(jitter float64) func(i int) float64 {
		rng := modeltest.NewRNG(59)
		return func(i int) float64 { return float64(i*37%200/5) + jitter*rng.Float64() }
	}
	for name, at := range map[string]func(i int) float64{
		"1e-9": repeated(1e-9), "1e-3": repeated(1e-3),
		"bursts": func(i int) float64 { return 10*float64(i/10) + 0.02*float64(i%10) },
	} {
		rng, d := modeltest.NewRNG(5), &Data{Q: 1, D: 1}
		x := testkit.Numbers(200, at)
		f := 3.3 / (slices.Max(x) - slices.Min(x))
		for _, x := range x {
			add(d, x, math.Sin(2*math.Pi*f*x)+0.05*rng.NormFloat64())
		}
		m, _, err := Fit(t.Context(), d, Options{})
		testkit.OK(t, err)
		testkit.Near(t, m.Frequencies()[0].Mean[0], f, 0.1*f, name)
	}
}

// TestUnevenOrder checks that the initialization does not depend on the order of the rows.
func TestUnevenOrder(t *testing.T) {
	known, _ := timesAtRandom()
	back := &Data{N: known.N, Q: 1, D: 1, X: slices.Clone(known.X), Y: slices.Clone(known.Y)}
	slices.Reverse(back.X)
	slices.Reverse(back.Y)
	a := testkit.Must(New(t.Context(), known, Options{Windows: WindowOptions{Length: WindowNone}}))(t)
	b := testkit.Must(New(t.Context(), back, Options{Windows: WindowOptions{Length: WindowNone}}))(t)
	modeltest.Near(t, "frequency", a.Params.Frequency, b.Params.Frequency, rounding)
	modeltest.Near(t, "variance", a.Params.Variance, b.Params.Variance, 1e-6)
}

// randomWalk returns a random walk of n steps.
func randomWalk(n int) *Data { return dataOf(modeltest.Walk(n)) }

// TestCrossValidate compares each fold's score with a fit of the other rows.
func TestCrossValidate(t *testing.T) {
	data, o := wave(45, 0.2), Options{Init: InitPaper, Features: 8, Iterations: 5, Seed: 3}
	c := testkit.Must(CrossValidate(t.Context(), data, Folds{K: 3, Contiguous: true}, o))(t)
	for i := range 3 {
		var known, asked Data
		for n, x := range data.X {
			to := &known
			if n/15 == i {
				to = &asked
			}
			to.N, to.Q, to.D, to.X, to.Y = to.N+1, 1, 1, append(to.X, x), append(to.Y, data.Y[n])
		}
		m, _ := mustFit(t, &known, o)
		p := testkit.Must(m.Predict(t.Context(), asked.X))(t)
		mse, density := 0.0, 0.0
		for n, l := range testkit.Must(p.LogDensity(t.Context(), asked.Y))(t) {
			mse, density = mse+math.Pow(asked.Y[n]-p.Mean[n], 2)/15, density+l/15
		}
		modeltest.Near(t, "RMSE and density", []float64{c.RMSE.Folds[i], c.LogDensity.Folds[i]}, []float64{math.Sqrt(mse), density}, 1e-12)
	}
	a, b, d := c.RMSE.Folds[0], c.RMSE.Folds[1], c.RMSE.Folds[2]
	mean := (a + b + d) / 3
	sd := math.Sqrt(((a-mean)*(a-mean) + (b-mean)*(b-mean) + (d-mean)*(d-mean)) / 2)
	modeltest.Near(t, "mean and error", []float64{c.RMSE.Mean, c.RMSE.StdErr}, []float64{mean, sd / math.Sqrt(3)}, 1e-12)

	seeded := testkit.Must(CrossValidate(t.Context(), data, Folds{K: 3}, o))(t)
	testkit.Equal(t, testkit.Must(CrossValidate(t.Context(), data, Folds{K: 3}, o))(t), seeded, "the same seed")
	if slices.Equal(seeded.RMSE.Folds, c.RMSE.Folds) {
		t.Error("shuffled folds equal the contiguous folds")
	}
	for _, k := range []int{-1, 1, 46} {
		testkit.Fails(t, testkit.Error(CrossValidate(t.Context(), data, Folds{K: k}, o)), ErrOptions, "folds", k)
	}
	testkit.Fails(t, testkit.Error(CrossValidate(t.Context(), data, Folds{}, Options{Method: "gp"})), ErrOptions, "fold 1 of 5", "method")
	o.Checkpoint.Path = "part"
	testkit.Fails(t, testkit.Error(CrossValidate(t.Context(), data, Folds{}, o)), ErrOptions, "checkpoint")
	testkit.Fails(t, testkit.Error(CrossValidate(t.Context(), nil, Folds{}, o)), ErrData, "nil")
}

// TestWindowZero checks that the zero value is WindowAuto and that WindowNone gives no windows.
func TestWindowZero(t *testing.T) {
	data := randomWalk(700)
	m := testkit.Must(New(t.Context(), data, Options{Iterations: 5}))(t)
	auto := testkit.Must(New(t.Context(), data, Options{Iterations: 5, Windows: WindowOptions{Length: WindowAuto}}))(t)
	none := testkit.Must(New(t.Context(), data, Options{Iterations: 5, Windows: WindowOptions{Length: WindowNone}}))(t)
	modeltest.Near(t, "frequency", m.Params.Frequency, auto.Params.Frequency, 0)
	if none.Params.Windows.Count() != 1 || none.Params.L == m.Params.L {
		t.Errorf("%d windows of none, %d components with and %d without", none.Params.Windows.Count(), m.Params.L, none.Params.L)
	}
}

// TestRestarts checks that the best start is returned, that each start has its own seed, and
// that a start equals a fit with its seed.
func TestRestarts(t *testing.T) {
	data := wave(80, 0.2)
	o := Options{Init: InitPaper, Features: 6, Iterations: 12, Restarts: 3, Seed: 5}
	m, r := mustFit(t, data, o)
	if len(r.Starts) != 4 {
		t.Fatalf("%d starts, want 4", len(r.Starts))
	}
	best := 0
	for s, start := range r.Starts {
		testkit.Equal(t, start.Seed, 5+uint64(s), "seed of start ", s)
		if start.Bound > r.Starts[best].Bound {
			best = s
		}
	}
	if r.Kept != best || r.Bound != r.Starts[best].Bound {
		t.Errorf("kept start %d of %+v", r.Kept, r.Starts)
	}
	o.Restarts, o.Seed = 0, r.Starts[best].Seed
	if one, _ := mustFit(t, data, o); !bytes.Equal(encoded(t, one), encoded(t, m)) {
		t.Error("the kept start differs from a fit with its seed")
	}
}

// TestCollapsed checks that the two bad optima are recognized, and
// that constant data are not taken for a bad optimum.
func TestCollapsed(t *testing.T) {
	noise := wave(60, 100)
	for name, c := range map[string]struct {
		data   *Data
		o      Options
		cause  string
		starts int
	}{
		"noise": {noise, Options{Init: InitPaper, Features: 4, Iterations: 60, Priors: NoPriors()}, "noise", 1},
		"noise, with restarts": {noise, Options{Init: InitPaper, Features: 4, Iterations: 60, Restarts: 1, Priors: NoPriors()},
			"noise", 2},
		"short reach": {wave(60, 0.1), Options{
			Init: InitPaper, Features: 5, Iterations: 5, Paper: PaperOptions{Lengthscales: []float64{0.001}}, NoisePrecision: 100,
			Fix: []string{"kernel.lengthscale", "frequency.variance", "noise.precision"},
		}, "reach", 1},
		"good":     {wave(60, 0.1), Options{Components: 8, Iterations: 5}, "", 1},
		"constant": {&Data{N: 3, Q: 1, D: 1, X: []float64{1, 2, 3}, Y: []float64{7, 7, 7}}, Options{Features: 4, Iterations: 3}, "", 1},
	} {
		m, r := mustFit(t, c.data, c.o)
		if len(r.Starts) != c.starts {
			t.Errorf("%s: %d starts, want %d", name, len(r.Starts), c.starts)
		}
		for _, s := range r.Starts {
			if collapsed := strings.HasPrefix(s.Ended, "collapsed: "); collapsed != (c.cause != "") || !strings.Contains(s.Ended, c.cause) {
				t.Errorf("%s: ended %q", name, s.Ended)
			}
		}
		if m == nil || math.IsNaN(r.Bound) {
			t.Errorf("%s: no model", name)
		}
	}
}

// TestFitContinuesFromModel checks that a fit continues from a saved model and does not change that model.
func TestFitContinuesFromModel(t *testing.T) {
	data := wave(80, 0.1)
	first, r := mustFit(t, data, Options{Init: InitPaper, Features: 8, Iterations: 8})
	before := encoded(t, first)
	loaded := testkit.Must(read(before))(t)
	for _, inference := range []Inference{Exact, Factorized} {
		further, r2 := mustFit(t, data, Options{From: loaded, Iterations: 8, Inference: inference})
		if inference == Exact && r2.Bound <= r.Bound {
			t.Errorf("continuing from %g gives %g", r.Bound, r2.Bound)
		}
		if further.Inference != inference || further.Params.M() != 8 || further.X.Offset[0] != first.X.Offset[0] {
			t.Errorf("%s: continued as %s with %d features", inference, further.Inference, further.Params.M())
		}
		if !bytes.Equal(encoded(t, loaded), before) {
			t.Errorf("%s: the model that it started from has changed", inference)
		}
	}
	p, _ := made(kind{Name: "turned", N: 1, L: 1, K: 3, Q: 1, D: 1})
	p.CoefMean, p.CoefVar = nil, nil
	for k := range p.PhaseLower {
		p.PhaseLower[k], p.PhaseUpper[k] = p.PhaseLower[k]-20, p.PhaseUpper[k]-20
	}
	turned, _ := mustFit(t, data, Options{From: mustModel(t, p), Iterations: 2})
	for k, a := range turned.Params.PhaseLower {
		if a < 0 || a >= 2*math.Pi {
			t.Errorf("phase.lower[%d] is %v after a fit, want it in the first turn", k, a)
		}
	}
	other := &Data{N: 2, Q: 2, D: 1, X: make([]float64, 4), Y: make([]float64, 2)}
	testkit.Fails(t, fitError(other, Options{From: loaded}), ErrData, "", "data with other inputs")
}

// TestKeptAmongCollapsed checks that the best bound is kept among collapsed starts and among the others.
func TestKeptAmongCollapsed(t *testing.T) {
	for seed := range uint64(6) {
		_, r := mustFit(t, wave(60, 100), Options{Init: InitPaper, Features: 4, Iterations: 60, Restarts: 2, Seed: seed})
		for s, start := range r.Starts {
			collapsed := func(s int) bool { return strings.HasPrefix(r.Starts[s].Ended, "collapsed") }
			if start.Bound > r.Starts[r.Kept].Bound && collapsed(s) == collapsed(r.Kept) {
				t.Errorf("kept start %d with bound %v, start %d has %v", r.Kept, r.Starts[r.Kept].Bound, s, start.Bound)
			}
		}
	}
}

// flaky returns a backend whose moments are NaN in calls from+1 to to. calls counts them.
func flaky(from, to int, calls *int) backend.Backend {
	return &backendtest.Spy{Backend: cpu.New(), Moments: func(m *backend.Moments) {
		if *calls++; *calls > from && *calls <= to {
			for i := range m.C {
				m.C[i] = math.NaN()
			}
		}
	}}
}

// TestStartWithoutBound checks that a start without a bound counts as collapsed and does not end the fit.
func TestStartWithoutBound(t *testing.T) {
	data := wave(40, 0.1)
	calls, again := 0, 0
	o := Options{Init: InitPaper, Features: 4, Iterations: 3, Backend: flaky(0, 0, &calls)}
	mustFit(t, data, o)
	for name, from := range map[string]int{"first": 0, "second": calls} { // the first and the last call
		again = 0
		o.Backend, o.Restarts = flaky(from, from+2, &again), 2
		m, r, err := Fit(context.Background(), data, o)
		if err != nil || m == nil {
			t.Errorf("%s start has no bound: error %v, want the best of the others", name, err)
			continue
		}
		if len(r.Starts) != 3 {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// TestFromOtherMethod checks fits that continue from a model of another method or backend.
func TestFromOtherMethod(t *testing.T) {
	data := wave(40, 0.1)
	p, _ := made(kind{Name: "odd", N: 1, L: 1, K: 3, Q: 1, D: 1})
	p.CoefMean, p.CoefVar = nil, nil
	m := mustModel(t, p)
	_, _, err := Fit(t.Context(), data, Options{From: m, Method: SSGP, Iterations: 2})
	testkit.Fails(t, err, ErrOptions, "", "SSGP from three features with Σ > 0")
	p, _ = made(kind{Name: "even", N: 1, L: 1, K: 4, Q: 1, D: 1})
	p.CoefMean, p.CoefVar = nil, nil
	got, _, err := Fit(t.Context(), data, Options{From: mustModel(t, p), Method: SSGP, Iterations: 2})
	if err == nil && got.Params.FreqVar[0] != 0 {
		t.Errorf("SSGP from a model with Σ > 0: no error, Σ = %v", got.Params.FreqVar[0])
	}
	calls := 0
	if _, _, err := Fit(context.Background(), data, Options{From: mustModel(t, p), Backend: flaky(0, 0, &calls),
		Iterations: 2}); err != nil || calls == 0 {
		t.Errorf("From and Backend: %d passes on the requested backend, error %v", calls, err)
	}
}

// TestLengthscalesOfRanges checks that default length-scales are proportional to the inputs' ranges.
func TestLengthscalesOfRanges(t *testing.T) {
	d := &Data{N: 50, Q: 2, D: 1}
	for i := range 50 {
		d.X = append(d.X, float64(i)/50, 1e4*float64(i*i%50))
		d.Y = append(d.Y, math.Sin(float64(i)))
	}
	m := testkit.Must(New(t.Context(), d, Options{Init: InitPaper}))(t)
	if r := m.Params.Lengthscale[0] / m.Params.Lengthscale[1]; r > 10 || r < 0.1 {
		t.Errorf("default length-scales in model units (each input has sd 1): %v", m.Params.Lengthscale)
	}
}

// poorCoefficients returns a fitted model with a poor factorized posterior of the
// coefficients, and the factorized bound with the best coefficients.
func poorCoefficients(t *testing.T, data *Data) (m *Model, best float64) {
	t.Helper()
	m, _ = mustFit(t, data, Options{Init: InitPaper, Features: 8, Iterations: 15})
	rows, err := m.open(t.Context(), data)
	testkit.OK(t, err)
	defer rows.Close()
	p := m.Params
	diag, mean, err := rows.SolveMean(p)
	testkit.OK(t, err)
	p.CoefMean, p.CoefVar = mean, make([]float64, p.M())
	for i := range p.CoefVar {
		p.CoefVar[i] = 1 / (1 + p.NoisePrecision[0]*diag[i])
	}
	e := testkit.Must(rows.Factorized(p, nil, nil, false))(t)
	m.Inference = Factorized
	for i := range p.CoefVar {
		p.CoefMean[i], p.CoefVar[i] = 0, 1
	}
	return m, e.Bound
}

// TestFactorizedReachesBest checks that with all other parameters fixed both optimizers reach
// the bound of the best diagonal posterior, which is known in closed form, within a tolerance.
func TestFactorizedReachesBest(t *testing.T) {
	data := wave(80, 0.2)
	from, best := poorCoefficients(t, data)
	poor := evaluated(t, from, data).Bound
	start := from.clone()
	start.Params.CoefMean, start.Params.CoefVar = nil, nil
	modeltest.Near(t, "initial bound of the fit", []float64{startBound(t, start, data, Options{Inference: Factorized, From: start})},
		[]float64{best}, rounding)
	for name, c := range map[string]struct {
		o      Options
		within float64 // nats
	}{
		"L-BFGS":                  {Options{Inference: Factorized, Iterations: 300}, 0.01},
		"RMSProp":                 {Options{Inference: Stochastic, Iterations: 3000, Batch: BatchOptions{Rows: 20}}, 1},
		"RMSProp, contiguous":     {Options{Inference: Stochastic, Iterations: 3000, Batch: BatchOptions{Rows: 20, Contiguous: true}}, 1},
		"RMSProp, 5 rows a batch": {Options{Inference: Stochastic, Iterations: 3000, Batch: BatchOptions{Rows: 5}}, 3},
	} {
		c.o.From, c.o.Fix = from, variational.Names(func(t Tensor) bool { return t.Group != variational.Coefficients })
		_, r := mustFit(t, data, c.o)
		if r.Bound > best+1e-9*math.Abs(best) || r.Bound < best-c.within {
			t.Errorf("%s: bound %.6g from %.6g, the best is %.6g: want within %g of it", name, r.Bound, poor, best, c.within)
		}
	}
}

// TestFactorizedBelowItsExact checks that with free parameters both inferences increase the
// bound and stay below the exact bound of the same parameters.
func TestFactorizedBelowItsExact(t *testing.T) {
	data := wave(80, 0.2)
	_, exact := mustFit(t, data, Options{Init: InitPaper, Features: 8, Iterations: 60})
	for name, c := range map[string]struct {
		o      Options
		within float64
	}{
		"factorized": {Options{Inference: Factorized, Iterations: 200}, 60},
		"stochastic": {Options{Inference: Stochastic, Iterations: 3000, Batch: BatchOptions{Rows: 40}}, 60},
	} {
		c.o.Init, c.o.Features = InitPaper, 8
		start := testkit.Must(New(t.Context(), data, c.o))(t)
		from := startBound(t, start, data, c.o)
		m, r := mustFit(t, data, c.o)
		above := testkit.Must(m.Evaluate(t.Context(), data, Exact, nil, false))(t)
		if r.Bound <= from || r.Bound >= above.Bound {
			t.Errorf("%s: bound %.5g from %.5g; the exact bound there is %.5g", name, r.Bound, from, above.Bound)
		}
		if r.Bound < exact.Bound-c.within {
			t.Errorf("%s: bound %.5g, exact inference reaches %.5g: want within %g", name, r.Bound, exact.Bound, c.within)
		}
	}
}

// TestStochasticFeatures checks that fits on mini-batches of many rows have more features than the paper's 50 by default.
func TestStochasticFeatures(t *testing.T) {
	table := func(n int) *Data { return &Data{N: n, Q: 2, D: 1, X: varied(2 * n), Y: varied(n)} }
	for name, c := range map[string]struct {
		data *Data
		o    Options
		want int
	}{
		"few rows":        {table(100), Options{}, 50},
		"many rows":       {table(manyRows), Options{}, manyFeatures},
		"given":           {table(manyRows), Options{Features: 30}, 30},
		"two components":  {table(manyRows), Options{Components: 2}, 50},
		"with windows":    {table(manyRows), Options{Windows: WindowOptions{Length: 0.5}}, 50},
		"exact inference": {table(manyRows), Options{Inference: Exact, Init: InitPaper}, 50},
	} {
		c.o.Inference = cmp.Or(c.o.Inference, Stochastic)
		m := testkit.Must(New(t.Context(), c.data, c.o))(t)
		if m.Params.K != c.want {
			t.Errorf("%s: K = %d, want %d", name, m.Params.K, c.want)
		}
	}
}

// varied returns n numbers in [0, 1).
func varied(n int) []float64 {
	return testkit.Numbers(n, func(i int) float64 { return math.Mod(float64(i)*math.Phi, 1) })
}

// TestRandomSchedule checks the stages after a random initialization. The noise precision is
// fixed in the first stage and free in the second, unless it is fixed by an option, given by a
// model or not optimized in stages by the method. Fits with many features have a warm-up.
func TestRandomSchedule(t *testing.T) {
	data := sampled(60, func(x float64) float64 { return math.Sin(0.3 * x) })
	paper := Options{Init: InitPaper, Paper: PaperOptions{Lengthscales: []float64{8}}, Features: 6, NoisePrecision: 50, Iterations: 20}
	many := func(o *Options) { o.Features = 100 } // the smallest number with a warm-up
	for name, c := range map[string]struct {
		change      func(o *Options)
		fixed, warm bool
	}{
		"paper":            {func(*Options) {}, true, false},
		"factorized":       {func(o *Options) { o.Inference = Factorized }, true, false},
		"stochastic":       {func(o *Options) { o.Inference = Stochastic }, true, false},
		"fixed":            {func(o *Options) { o.Fix = []string{"noise.precision"} }, false, false},
		"ssgp":             {func(o *Options) { o.Method = SSGP }, false, false},
		"spectrum":         {func(o *Options) { o.Init, o.Paper.Lengthscales, o.NoisePrecision = InitSpectrum, nil, 0 }, false, false},
		"many":             {many, true, true},
		"many, factorized": {func(o *Options) { many(o); o.Inference = Factorized }, true, true},
		"many, stochastic": {func(o *Options) { many(o); o.Inference = Stochastic }, true, false},
		"many, ssgp":       {func(o *Options) { many(o); o.Method = SSGP }, false, false},
	} {
		o := paper
		c.change(&o)
		sawFixed, sawWarm := false, false
		o.Progress = func(p Progress) {
			fixed := strings.HasSuffix(p.Stage, ", noise fixed")
			sawFixed, sawWarm = sawFixed || fixed, sawWarm || strings.HasPrefix(p.Stage, "warm-up")
			if moved := math.Abs(p.NoiseSD*math.Sqrt(50)-1) > 1e-9; fixed && moved {
				t.Errorf("%s: the noise changed while it was fixed, to sd %v", name, p.NoiseSD)
			}
		}
		m, _ := mustFit(t, data, o)
		if sawFixed != c.fixed || sawWarm != c.warm {
			t.Errorf("%s: the noise was fixed: %v, want %v; a warm-up: %v, want %v", name, sawFixed, c.fixed, sawWarm, c.warm)
		}
		if (m.Inference == Factorized) != (o.Inference == Factorized || o.Inference == Stochastic) {
			t.Errorf("%s: the model's inference is %s", name, m.Inference)
		}
		if sd := m.Y.Scale[0] / math.Sqrt(m.Params.NoisePrecision[0]); c.fixed && math.Abs(sd*math.Sqrt(50)-1) < 1e-9 {
			t.Errorf("%s: the noise never changed", name)
		}
	}
}

// TestSegmentsOption checks that a fit with many segments reaches nearly the same bound as a
// fit with two, and that the bits do not depend on the number of cores.
func TestSegmentsOption(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	_, data := made(kind{Name: "fit in segments", N: 400, L: 1, K: 1, Q: 1, D: 1})
	for n := range data.X {
		data.X[n] = float64(n)
		data.Y[n] = math.Sin(0.3*data.X[n]) + 0.1*data.Y[n]
	}
	fit := func(segments, cores int) *Result {
		t.Helper()
		runtime.GOMAXPROCS(cores)
		_, r := mustFit(t, data, Options{Windows: WindowOptions{Length: 40, Segments: segments}, Components: 3, Iterations: 8,
			Optimizer: OptimizerGlobal})
		return r
	}
	ends, cut := fit(0, 2), fit(4, 1)
	if d := math.Abs(cut.Bound - ends.Bound); d == 0 || d > 1e-6*math.Abs(ends.Bound) {
		t.Errorf("bound %v in many segments, %v in two; want nearly the same", cut.Bound, ends.Bound)
	}
	for _, cores := range []int{2, 4} {
		if r := fit(4, cores); r.Bound != cut.Bound {
			t.Errorf("bound %v on %d cores, %v on one", r.Bound, cores, cut.Bound)
		}
	}
	if r := fit(1000, 2); math.Abs(r.Bound-ends.Bound) > 1e-6*math.Abs(ends.Bound) {
		t.Errorf("bound %v in the maximum number of segments, %v in two", r.Bound, ends.Bound)
	}
}

// TestNoiseless fits data with little or no noise, without priors. It checks that the bound's terms are finite, that the term fit is not
// positive, that the noise ends at its floor and that the model reproduces the data.
func TestNoiseless(t *testing.T) {
	for i, s := range modeltest.Noiseless() {
		if !slow.Tests && i%2 == 1 {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			o := Options{Raw: s.Raw, Priors: NoPriors()}
			if s.Paper {
				o.Init = InitPaper
			}
			data := &Data{N: len(s.X), Q: 1, D: 1, X: s.X, Y: s.Y}
			m, r := mustFit(t, data, o)
			modeltest.CheckTerms(t, r.Terms)
			if (r.NoiseFloor > 0) == s.Rich {
				t.Errorf("the reported noise floor is %g, the noise is %g", r.NoiseFloor, m.NoiseSD()[0])
			}
			p := testkit.Must(m.Predict(t.Context(), data.X))(t)
			s.Check(t, p.Mean, p.SD(true))
		})
	}
}

// lines returns data with cosines (frequency, amplitude) in noise, in the given units.
func lines(n int, span, noise, unitX, unitY float64, cosines ...[2]float64) *Data {
	random := rand.New(rand.NewPCG(5, 0))
	d := &Data{Q: 1, D: 1}
	for i := range n {
		x := span * float64(i) / float64(n-1)
		y := noise * random.NormFloat64()
		for j, c := range cosines {
			y += c[1] * math.Cos(2*math.Pi*c[0]*x+float64(j)+0.7)
		}
		add(d, x*unitX, y*unitY)
	}
	return d
}

// nearest returns the most confident feature whose frequency is within 1/(2·span) of f.
func nearest(m *Model, f, span float64) *Frequency {
	for _, one := range m.Frequencies() {
		if math.Abs(one.Mean[0]-f) < 0.5/span {
			return &one
		}
	}
	return nil
}

// TestFrequencyTheory checks that a frequency's standard deviation agrees with sampling theory, √6·σ/(π·a·T·√N), within a factor of
// two. Without priors the standard deviation of q(w) alone is too small by a factor of at least 20.
func TestFrequencyTheory(t *testing.T) {
	const n, span, noise = 400, 100.0, 0.3
	for _, c := range []struct {
		name    string
		o       Options
		x, y    float64
		cosines [][2]float64
		spread  bool // whether q(w) contributes its share
	}{
		{"one", Options{Components: 1, Features: 2}, 1, 1, [][2]float64{{0.083, 1}}, true},
		{"in other units", Options{Components: 1, Features: 2}, 30, 1e4, [][2]float64{{0.083, 1}}, true},
		{"two", Options{Components: 3, Features: 2}, 1, 1, [][2]float64{{0.083, 1}, {0.21, 0.5}}, true},
		{"no priors", Options{Components: 1, Features: 2, Priors: NoPriors()}, 1, 1, [][2]float64{{0.083, 1}}, false},
		{"ssgp", Options{Method: SSGP, Components: 1, Features: 2}, 1, 1, [][2]float64{{0.083, 1}}, false},
		{"factorized", Options{Inference: Factorized, Components: 1, Features: 2}, 1, 1, [][2]float64{{0.083, 1}}, true},
	} {
		o := c.o
		o.Windows.Length = WindowNone
		m, r := mustFit(t, lines(n, span, noise, c.x, c.y, c.cosines...), o)
		if r.NoPosterior != "" {
			t.Errorf("%s: no posterior: %s", c.name, r.NoPosterior)
			continue
		}
		for _, line := range c.cosines {
			theory := math.Sqrt(6) * noise / (math.Pi * line[1] * span * math.Sqrt(n)) / c.x
			f := nearest(m, line[0]/c.x, span*c.x)
			if f == nil {
				t.Fatalf("%s: no feature near %v", c.name, line[0])
			}
			if ratio := f.SD[0] / theory; ratio < 0.5 || ratio > 2 {
				t.Errorf("%s: frequency %v +- %.3g, theory %.3g", c.name, f.Mean[0], f.SD[0], theory)
			}
			if math.Abs(f.Mean[0]-line[0]/c.x) > 4*theory {
				t.Errorf("%s: frequency %v, want %v +- %.3g", c.name, f.Mean[0], line[0]/c.x, theory)
			}
			if c.spread && f.Spread[0] < 0.1*theory {
				t.Errorf("%s: q(w) has collapsed to %.3g of theory", c.name, f.Spread[0]/theory)
			}
			if c.name == "no priors" && f.Spread[0] > 0.05*theory {
				t.Errorf("%s: q(w) has kept %.3g of theory; want the defect", c.name, f.Spread[0]/theory)
			}
		}
		if (r.LogPrior == 0) != (c.name == "no priors") {
			t.Errorf("%s: log prior %v", c.name, r.LogPrior)
		}
	}
}

// TestPriorUnits checks that given priors and the default priors do not depend on the data's units.
func TestPriorUnits(t *testing.T) {
	for name, given := range map[string]func(x, y float64) Priors{
		"weak": func(x, y float64) Priors { return Priors{} },
		"given": func(x, y float64) Priors {
			return Priors{Amplitude: Prior{Median: y, SD: 1}, Lengthscale: Prior{Median: 20 * x, SD: 0.7},
				Noise: Prior{Median: 0.2 * y, SD: 0.5}}
		},
	} {
		fit := func(x, y float64) (*Model, *Result) {
			return mustFit(t, lines(100, 10, 0.1, x, y, [2]float64{0.5, 1}),
				Options{Components: 1, Features: 2, Windows: WindowOptions{Length: WindowNone}, Priors: given(x, y)})
		}
		m, r := fit(1, 1)
		if name == "given" { // the coordinates are log σ², log l and log τ⁻¹
			c, want := m.Components()[0], 0.0
			for _, v := range [][3]float64{{math.Pow(c.SD[0], 2), 1, 2}, {c.Lengthscale[0], 20, 0.7},
				{math.Pow(m.NoiseSD()[0], 2), 0.04, 1}} {
				z := math.Log(v[0]/v[1]) / v[2]
				want -= 0.5*z*z + math.Log(v[2]*math.Sqrt(2*math.Pi))
			}
			if math.Abs(r.LogPrior-want) > 1e-6 {
				t.Errorf("log prior %v, want %v", r.LogPrior, want)
			}
		}
		scaled, s := fit(4, 1<<10) // powers of two, so that rounding is the same
		if math.Abs(r.LogPrior-s.LogPrior) > 1e-6 || math.Abs(r.Bound-s.Bound) > 1e-6 {
			t.Errorf("%s: bound and log prior %v, %v, in other units %v, %v", name, r.Bound, r.LogPrior, s.Bound, s.LogPrior)
		}
		if a, b := m.Components()[0].Lengthscale[0], scaled.Components()[0].Lengthscale[0]/4; math.Abs(a/b-1) > 1e-6 {
			t.Errorf("%s: length-scale %v, in other units %v", name, a, b)
		}
	}
}

// TestPriorStrength checks that a narrow prior determines the parameter in the data's units and that a wide prior has no effect.
func TestPriorStrength(t *testing.T) {
	data := lines(100, 10, 0.1, 3, 50, [2]float64{0.5, 1})
	o := Options{Components: 1, Features: 2, Windows: WindowOptions{Length: WindowNone}}
	sure := func(median float64) Prior { return Prior{Median: median, SD: 1e-3} }
	o.Priors = Priors{Amplitude: sure(70), Lengthscale: sure(9), Noise: sure(11)}
	m, _ := mustFit(t, data, o)
	c := m.Components()[0]
	for _, v := range [][2]float64{{c.SD[0], 70}, {c.Lengthscale[0], 9}, {m.NoiseSD()[0], 11}} {
		if math.Abs(v[0]/v[1]-1) > 0.02 {
			t.Errorf("%v, want the median %v of a narrow prior", v[0], v[1])
		}
	}
	o.Priors = NoPriors()
	_, none := mustFit(t, data, o)
	vague := Prior{Median: 1, SD: 1e6}
	o.Priors = Priors{vague, vague, vague}
	if _, r := mustFit(t, data, o); math.Abs(r.Bound-none.Bound) > 0.01 {
		t.Errorf("bound %v without priors and %v with wide priors", none.Bound, r.Bound)
	}
}

// withPosterior returns a fit of one sinusoid with draws of its hyper-parameters.
func withPosterior(t testing.TB, o Options) (*Model, *Data) {
	t.Helper()
	data := lines(120, 12, 0.3, 1, 1, [2]float64{0.5, 1})
	o.Components, o.Features, o.Windows.Length = 1, 2, WindowNone
	m, r := mustFit(t, data, o)
	if r.NoPosterior != "" {
		t.Fatal(r.NoPosterior)
	}
	return m, data
}

// posteriorAt returns the prediction that averages over a model's draws.
func posteriorAt(t testing.TB, m *Model, x ...float64) *Prediction {
	t.Helper()
	p := testkit.Must(m.PosteriorPredictor(t.Context()))(t)
	return testkit.Must(p.Predict(t.Context(), x))(t)
}

// TestPosteriorFile checks that a loaded model has the same posterior and its draws give bit-identical predictions.
func TestPosteriorFile(t *testing.T) {
	for _, o := range []Options{{Posterior: PosteriorOptions{Draws: 3}}, {Posterior: PosteriorOptions{Draws: 3}, Inference: Factorized},
		{}} {
		m, _ := withPosterior(t, o)
		b := encoded(t, m)
		back := testkit.Must(read(b))(t)
		if !bytes.Equal(encoded(t, back), b) {
			t.Error("saving a loaded model gives different bytes")
		}
		h, was := back.Posterior(), m.Posterior()
		if h == nil || !slices.Equal(h.Features, was.Features) || !slices.Equal(h.Noise, was.Noise) || len(h.Draws) != o.Posterior.Draws {
			t.Fatalf("posterior %+v, want %+v", h, was)
		}
		if o.Posterior.Draws == 0 {
			continue
		}
		a, c := posteriorAt(t, back, 0.1, 6, 20), posteriorAt(t, m, 0.1, 6, 20)
		if !slices.Equal(a.Mean, c.Mean) || !slices.Equal(a.Cov, c.Cov) {
			t.Errorf("predictions %v and %v", a, c)
		}
	}
}

// TestBadPosteriorFiles checks the errors for a posterior that does not match its model.
func TestBadPosteriorFiles(t *testing.T) {
	m, _ := withPosterior(t, Options{Posterior: PosteriorOptions{Draws: 2}})
	for name, spoil := range map[string]func(m *Model){
		"a negative standard deviation": func(m *Model) { m.hyper.Noise = []float64{-1} },
		"a shape":                       func(m *Model) { m.hyper.Variance = []float64{1, 2} },
	} {
		c := m.clone()
		h := *m.hyper
		c.hyper = &h
		spoil(c)
		f := testkit.Must(c.file())(t)
		if one := f.Tensors["posterior.kernel.variance"]; len(one.Data) == 2 {
			one.Shape = []int{2}
			f.Tensors["posterior.kernel.variance"] = one
		}
		testkit.Fails(t, testkit.Error(read(encode(t, f))), ErrParams, "", name)
	}
	f := layout(t, m)
	delete(f.Tensors, "draw.001.coefficient.mean")
	testkit.Fails(t, testkit.Error(read(encode(t, f))), ErrParams, "", "a draw without coefficients")
}

// TestPosteriorPredict compares the mixture's moments and quantiles with values computed from its components, and with draws. It checks
// that the mixture's interval is wider far from the data.
func TestPosteriorPredict(t *testing.T) {
	const draws = 40
	m, _ := withPosterior(t, Options{Posterior: PosteriorOptions{Draws: draws}})
	x := []float64{3, 12.5, 60}
	p := posteriorAt(t, m, x...)
	single := testkit.Must(m.Predict(t.Context(), x))(t)
	lower, upper, sd := p.Quantile(0.025, true), p.Quantile(0.975, true), p.SD(true)
	for i := range x {
		mean, square, within := 0.0, 0.0, 0.0
		var one *Prediction
		for _, d := range m.Posterior().Draws {
			one = testkit.Must(d.Predict(t.Context(), x))(t)
			mean += one.Mean[i] / draws
			square += (one.Cov[i] + one.Mean[i]*one.Mean[i]) / draws
			s := math.Sqrt(one.Cov[i])
			within += 0.5 * (math.Erf((upper[i]-one.Mean[i])/s/math.Sqrt2) - math.Erf((lower[i]-one.Mean[i])/s/math.Sqrt2)) / draws
		}
		if math.Abs(p.Mean[i]-mean) > 1e-12 || math.Abs(p.Cov[i]-(square-mean*mean)) > 1e-10 || math.Abs(within-0.95) > 1e-6 {
			t.Errorf("at %v: mean %v, variance %v, %v within; want %v, %v, .95", x[i], p.Mean[i], p.Cov[i], within, mean, square-mean*mean)
		}
	}
	if far := len(x) - 1; sd[far] < single.SD(true)[far] {
		t.Errorf("at %v the mixture's sd is %v, the sd of the fit alone %v", x[far], sd[far], single.SD(true)[far])
	}
	all := testkit.Must(m.PosteriorDraws(1))(t)
	var mean, square float64
	const functions = 2000
	for i := range functions {
		y := testkit.Must(all.At(context.Background(), i, x[1:2]))(t)
		mean, square = mean+y[0]/functions, square+y[0]*y[0]/functions
	}
	if got, want := math.Sqrt(square-mean*mean), p.SD(false)[1]; math.Abs(got/want-1) > 0.1 || math.Abs(mean-p.Mean[1]) > 0.1*want {
		t.Errorf("functions at %v scatter by %v about %v, want %v about %v", x[1], got, mean, want, p.Mean[1])
	}
	other := lines(120, 12, 0.3, 1, -1, [2]float64{0.5, 1})
	testkit.Must(m.Condition(t.Context(), other))(t)
	testkit.Near(t, posteriorAt(t, m, x...).Mean[0], -p.Mean[0], 0.1, "the draws' mean, conditioned on data of the other sign")
}

// TestPosteriorUnits checks that the mixture's standard deviations scale with the unit if variances overflow or underflow.
func TestPosteriorUnits(t *testing.T) {
	const unit = 0x1p-600
	var sds, upper [2][]float64
	for i, unit := range []float64{1, unit} {
		m, r := mustFit(t, lines(120, 12, 0.3, 1, unit, [2]float64{0.5, 1}),
			Options{Components: 1, Features: 2, Windows: WindowOptions{Length: WindowNone}, Posterior: PosteriorOptions{Draws: 5}})
		if r.NoPosterior != "" {
			t.Fatal(r.NoPosterior)
		}
		at := posteriorAt(t, m, 3, 60)
		sds[i], upper[i] = at.SD(true), at.Quantile(0.9, true)
	}
	for i, sd := range sds[0] {
		if math.Abs(sds[1][i]/unit/sd-1) > 1e-6 || math.Abs(upper[1][i]/unit/upper[0][i]-1) > 1e-6 {
			t.Errorf("sd %v and quantile %v, want %v and %v of the unit", sds[1][i]/unit, upper[1][i]/unit, sd, upper[0][i])
		}
	}
}

// TestNoPosterior checks that a fit without a posterior reports the reason and gives no standard deviations.
func TestNoPosterior(t *testing.T) {
	data := lines(120, 12, 0.3, 1, 1, [2]float64{0.5, 1})
	for name, o := range map[string]Options{
		"not requested": {Posterior: PosteriorOptions{Draws: NoPosterior}}, "starting values": {Iterations: NoIterations},
		"mini-batches":     {Inference: Stochastic, Iterations: 20},
		"few mini-batches": {Posterior: PosteriorOptions{Draws: 3}, Inference: Stochastic, Iterations: 5, Features: 6},
		"nats below":       {Iterations: 1, Init: InitPaper, Features: 10, Posterior: PosteriorOptions{Draws: 3}},
		"":                 {Fix: []string{"kernel.frequency", "frequency.mean"}},
	} {
		o.Windows.Length = WindowNone
		m, r := mustFit(t, data, o)
		if name != "" && !strings.Contains(r.NoPosterior, strings.TrimPrefix(name, "few ")) ||
			(m.Posterior() == nil) != (r.NoPosterior != "") {
			t.Errorf("%q: %q, posterior %v", name, r.NoPosterior, m.Posterior())
		}
		for _, f := range m.Frequencies() {
			if f.SD != nil {
				t.Fatalf("%q: frequency %v has the standard deviation %v", name, f.Mean, f.SD)
			}
		}
		for _, err := range []error{testkit.Error(m.PosteriorPredictor(t.Context())), testkit.Error(m.PosteriorDraws(1))} {
			if o.Posterior.Draws > 0 { // the reason is not that no draws were requested
				testkit.Fails(t, err, ErrUnfitted, r.NoPosterior, name)
			}
			named := strings.Contains(fmt.Sprint(err), "Options.Posterior.Draws")
			if !errors.Is(err, ErrUnfitted) || named != (o.Posterior.Draws <= 0) {
				t.Errorf("%q: without draws: %v", name, err)
			}
		}
	}
	var none *Model
	if none.Posterior() != nil || (*Prediction)(nil).Quantile(0.5, true) != nil {
		t.Error("an invalid model has a posterior")
	}
}
