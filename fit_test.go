package vssgp

import (
	"bytes"
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/internal/optimize"
	"github.com/vssgp/vssgp/internal/table"
	"github.com/vssgp/vssgp/internal/testkit/modeltest"
	"github.com/vssgp/vssgp/internal/testkit/slow"
	"github.com/vssgp/vssgp/variational"
)

// co2 is the monthly concentration at Mauna Loa.
func co2(t testing.TB) *Data {
	t.Helper()
	rows, err := table.Open("testdata/co2_monthly.csv")
	if err != nil {
		t.Fatal(err)
	}
	d := &Data{N: rows.Rows, Q: 1, D: 1}
	for n := range rows.Rows {
		d.X = append(d.X, rows.Data[2*n])
		d.Y = append(d.Y, rows.Data[2*n+1])
	}
	return d
}

// wave is n evenly spaced samples of two tones, with noise of the given
// standard deviation.
func wave(n int, noise float64) *Data {
	rng := modeltest.NewRNG(uint64(n))
	d := &Data{N: n, Q: 1, D: 1}
	for i := range n {
		x := float64(i) / 10
		d.X = append(d.X, x)
		d.Y = append(d.Y, math.Sin(2*x)+0.5*math.Cos(5*x+1)+noise*rng.NormFloat64())
	}
	return d
}

// mustFit is Fit where it must succeed.
func mustFit(t testing.TB, data *Data, o Options) (*Model, *Result) {
	t.Helper()
	m, r, err := Fit(context.Background(), data, o)
	if err != nil {
		t.Fatal(err)
	}
	return m, r
}

func encoded(t testing.TB, m *Model) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := m.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestFitCO2: from the paper's start each iteration raises the bound, and what
// Progress and Result say is true of the model.
func TestFitCO2(t *testing.T) {
	data := co2(t)
	var seen []Progress
	o := Options{
		Init: InitPaper, Lengthscales: []float64{10, 1}, Periods: []float64{0, 1}, Features: 15, Iterations: 25, Seed: 3,
		Progress: func(p Progress) { seen = append(seen, p) },
	}
	start, err := New(t.Context(), data, o)
	if err != nil {
		t.Fatal(err)
	}
	last := evaluated(t, start, data).Bound
	m, r := mustFit(t, data, o)
	if len(seen) == 0 || r.Bound < last+100 {
		t.Fatalf("%d reports, bound from %g to %g: want a rise by hundreds", len(seen), last, r.Bound)
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
	if r.Kept != 0 || len(r.Starts) != 1 || r.Starts[0].Bound != r.Bound || r.Starts[0].Seed != 3 || r.Device != "cpu" || r.Iterations != len(seen) {
		t.Errorf("result %+v", r)
	}
	p, err := m.Predict(t.Context(), data.X)
	if err != nil {
		t.Fatal(err)
	}
	if rmse := rootMeanSquare(p.Mean, data.Y); rmse > 2 {
		t.Errorf("the fit is %g ppm off the data, want below 2", rmse)
	}
}

// TestResultSums: a result and an evaluation say whether the sums over rows came from tables.
func TestResultSums(t *testing.T) {
	for _, c := range []struct {
		rows int
		o    Options
		want string
	}{
		{1000, Options{Window: WindowNone}, "tables"},
		{1000, Options{Window: 100}, "rows"},
		{400, Options{Window: WindowNone}, "rows"},
		{1000, Options{Window: WindowNone, Inference: Factorized}, "rows"},
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
	e, err := m.Evaluate(context.Background(), data, m.Inference, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func rootMeanSquare(a, b []float64) float64 {
	s := 0.0
	for i, v := range a {
		s += (v - b[i]) * (v - b[i])
	}
	return math.Sqrt(s / float64(len(a)))
}

// fitKinds are fits of each sort, small.
var fitKinds = []struct {
	name string
	o    Options
}{
	{"paper", Options{Init: InitPaper, Features: 70, Iterations: 6}},
	{"spectrum", Options{Window: WindowNone, Iterations: 6}},
	{"spectrum, windows", Options{Window: 8, Components: 6, Iterations: 6}},
	{"paper, windows, uniform phases", Options{Init: InitPaper, Window: 8, Features: 6, Iterations: 6, UniformPhases: true}},
	{"windows each for itself", Options{Init: InitPaper, Window: 8, Features: 6, Iterations: 30, Optimizer: OptimizerWindows}},
	{"factorised, windows each for itself", Options{Inference: Factorized, Init: InitPaper, Window: 8, Features: 6, Iterations: 20, UniformPhases: true, Optimizer: OptimizerWindows}},
	{"ssgp, windows each for itself", Options{Method: SSGP, Init: InitSpectrum, Window: 8, Components: 6, Iterations: 6, Optimizer: OptimizerWindows}},
	{"ssgp", Options{Method: SSGP, Init: InitPaper, Features: 20, Iterations: 6}},
	{"ssgp, spectrum", Options{Method: SSGP, Window: WindowNone, Components: 8, Iterations: 6}},
	{"rp", Options{Method: RP, Features: 20, Iterations: 6}},
	{"factorised", Options{Inference: Factorized, Init: InitPaper, Features: 20, Iterations: 10}},
	{"stochastic", Options{Inference: Stochastic, Init: InitPaper, Features: 20, Iterations: 60, Batch: 20}},
	{"stochastic, contiguous", Options{Inference: Stochastic, Window: 8, Components: 6, Iterations: 60, Batch: 20, Contiguous: true}},
}

// TestSameBits: the seed alone decides the file, not GOMAXPROCS.
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
				t.Errorf("%s: GOMAXPROCS=%d gives another file than 1", c.name, procs)
			}
		}
		c.o.Seed = 111 // not the next: a fit may have started again from there
		if m, _ := mustFit(t, data, c.o); bytes.Equal(encoded(t, m), want) && !strings.Contains(c.name, "spectrum") {
			t.Errorf("%s: another seed gives the same file", c.name)
		}
	}
}

// TestMethodsKeepTheirKind: SSGP's and RP's frequencies stay points, SSGP's
// pairs tied, RP's where they were drawn; VSSGP's are neither.
func TestMethodsKeepTheirKind(t *testing.T) {
	data := wave(300, 0.1)
	for _, c := range fitKinds {
		start, err := New(t.Context(), data, c.o)
		if err != nil {
			t.Fatal(err)
		}
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
				t.Errorf("%s: features %d and %d are no cosine and sine", c.name, k-1, k)
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

// startBound is the bound that a fit starts from.
func startBound(t *testing.T, m *Model, data *Data, o Options) float64 {
	t.Helper()
	_, run := running(t, m, data, o)
	if err := run.Begin(nil); err != nil {
		t.Fatal(err)
	}
	e, err := run.Evaluate()
	if err != nil {
		t.Fatal(err)
	}
	return e.Bound
}

// running is the frame of a fit and the run of its start m.
func running(t *testing.T, m *Model, data *Data, o Options) (*frame, *optimize.Run) {
	t.Helper()
	f, err := o.frame(data)
	if err != nil {
		t.Fatal(err)
	}
	run, err := f.run(context.Background(), f.rows, m, o.optimize(f.init, o.Seed))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { run.Close() })
	return f, run
}

// TestFix: a fixed tensor keeps its bits, the others move.
func TestFix(t *testing.T) {
	data := wave(60, 0.1)
	o := Options{Init: InitPaper, Lengthscales: []float64{1}, Periods: []float64{3}, Features: 6, Iterations: 4, UniformPhases: true}
	coefficients := variational.Names(func(t Tensor) bool { return t.Group == variational.Coefficients })
	for _, name := range variational.Names(nil) {
		if name == "phase.upper" {
			continue // goes with phase.lower
		}
		o.Fix, o.Inference = []string{name}, Exact
		if slices.Contains(coefficients, name) {
			o.Inference = Factorized
		}
		if name == "phase.lower" {
			o.Fix = append(o.Fix, "phase.upper")
		}
		start, err := New(t.Context(), data, o)
		if err != nil {
			t.Fatal(err)
		}
		startBound(t, start, data, o) // gives start its coefficients
		m, _ := mustFit(t, data, o)
		was := start.Params.Tensors()
		for i, tensor := range m.Params.Tensors() {
			if o.Inference == Exact && slices.Contains(coefficients, tensor.Name) {
				continue
			}
			if same := slices.Equal(*tensor.Data, *was[i].Data); same != slices.Contains(o.Fix, tensor.Name) {
				t.Errorf("fixed %v: %s is unchanged: %v", o.Fix, tensor.Name, same)
			}
		}
	}
	o.Fix, o.Inference = variational.Names(nil), Factorized
	if _, r := mustFit(t, data, o); r.Iterations != 0 || r.Starts[0].Ended != "nothing to optimise" {
		t.Errorf("all fixed: %d iterations, ended %q", r.Iterations, r.Starts[0].Ended)
	}
}

// TestNoIterations keeps the starting values and takes the posterior that goes
// with them.
func TestNoIterations(t *testing.T) {
	data := wave(100, 0.1)
	for _, inference := range []Inference{Exact, Factorized, Stochastic} {
		o := Options{Iterations: NoIterations, Inference: inference}
		start, err := New(t.Context(), data, o)
		if err != nil {
			t.Fatal(err)
		}
		m, r := mustFit(t, data, o)
		for i, tensor := range m.Params.Tensors()[:9] {
			modeltest.Near(t, string(inference)+": "+tensor.Name, *tensor.Data, *start.Params.Tensors()[i].Data, 0)
		}
		if start.Fitted() || !m.Fitted() || r.Iterations != 0 || r.Bound != evaluated(t, m, data).Bound {
			t.Errorf("%s: %+v; fitted before: %v, after: %v", inference, r, start.Fitted(), m.Fitted())
		}
	}
}

// TestCancel: a context that ends gives its error and the best model so far,
// usable; one that has ended before the start has made a model gives none.
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
				t.Errorf("%s, cancelled after %d: model %v, result %v", c.name, after, m != nil, r != nil)
			}
			if m == nil {
				continue
			}
			if len(r.Starts) != 1 || after > 0 && r.Iterations > 60 || evaluated(t, m, data).Bound != r.Bound {
				t.Errorf("%s, cancelled after %d: %+v", c.name, after, r)
			}
			if _, err := m.Predict(t.Context(), data.X); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	}
}

// TestManyFeaturesStart: with more features than are solved for directly the mean
// is near the exact one.
func TestManyFeaturesStart(t *testing.T) {
	data := &Data{N: 400, Q: 1, D: 1}
	for i := range data.N {
		data.X = append(data.X, float64(i))
		data.Y = append(data.Y, math.Sin(0.2*float64(i)))
	}
	o := Options{Init: InitPaper, Lengthscales: []float64{4}, Features: optimize.DirectLimit + 1, NoisePrecision: 20, Iterations: NoIterations}
	fill := func(inference Inference) []float64 {
		o.Inference = inference
		m, _, err := Fit(t.Context(), data, o)
		if err != nil {
			t.Fatal(err)
		}
		p, err := m.Predict(t.Context(), data.X)
		if err != nil {
			t.Fatal(err)
		}
		return p.Mean
	}
	exact, off := fill(Exact), 0.0
	for i, v := range fill(Factorized) {
		off += (v - exact[i]) * (v - exact[i])
	}
	// Conjugate gradients end early: this much of the error is left.
	if rms := math.Sqrt(off / float64(data.N)); rms > 5e-3 {
		t.Errorf("the start's mean is %v off the exact one", rms)
	}
}
