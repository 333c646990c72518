package vssgp

import (
	"context"
	"errors"
	"testing"

	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/internal/cost"
	"github.com/vssgp/vssgp/internal/start"
	"github.com/vssgp/vssgp/spectral"
	"github.com/vssgp/vssgp/variational"
)

// passes counts what a fit asks of its backend, and the largest model in it.
type passes struct {
	spectral.Backend
	moments, pullbacks, factorised, batches, features int
}

func (p *passes) Open(d spectral.Data) (spectral.Rows, error) {
	r, err := p.Backend.Open(d)
	return &countedRows{r, p, d.N}, err
}

type countedRows struct {
	spectral.Rows
	count *passes
	n     int
}

func (r *countedRows) Moments(dst *spectral.Moments, f *spectral.Features) error {
	r.count.moments++
	r.count.features = max(r.count.features, f.M)
	return r.Rows.Moments(dst, f)
}

func (r *countedRows) Pullback(dst, f *spectral.Features, bar *spectral.Moments) error {
	r.count.pullbacks++
	return r.Rows.Pullback(dst, f, bar)
}

func (r *countedRows) Factorised(dst *spectral.FactorisedSums, f *spectral.Features, w *spectral.Weights, rows []int) error {
	if rows == nil {
		r.count.factorised++
	} else {
		r.count.batches++
	}
	return r.Rows.Factorised(dst, f, w, rows)
}

// planned is a series with a stretch missing.
func planned(n int) *Data {
	d := wave(n, 0.3)
	keep := &Data{Q: 1, D: 1}
	for i := range n {
		if i < n/3 || i >= n/3+8 {
			keep.X, keep.Y = append(keep.X, d.X[i]), append(keep.Y, d.Y[i])
			keep.N++
		}
	}
	return keep
}

// TestPlanFit: a fit does what its plan says, by the passes that it asks for.
func TestPlanFit(t *testing.T) {
	data := planned(400)
	for _, c := range []struct {
		name   string
		o      Options
		atMost bool
	}{
		{"default", Options{Iterations: 3}, true},
		{"windows of a choice", Options{Posterior: NoPosterior, Iterations: 3, Window: WindowAuto, WindowCandidates: []float64{6, 10}}, true},
		{"starting values", Options{Iterations: NoIterations, Window: 8}, true},
		{"all said", Options{Iterations: 3, Window: 8, Components: 5, Features: 4, Restarts: 1, UniformPhases: true}, false},
		{"paper", Options{Iterations: 5, Init: InitPaper, Features: 12}, false},
		{"paper in windows", Options{Iterations: 5, Init: InitPaper, Window: 9, Components: 2, Features: 6, Raw: true}, false},
		{"ssgp", Options{Iterations: 4, Method: SSGP, Init: InitPaper, Features: 10}, false},
		{"factorised", Options{Iterations: 4, Inference: Factorised, Window: 8, Components: 3}, false},
		{"stochastic", Options{Iterations: 6, Inference: Stochastic, Window: 8, Components: 3, Batch: 50}, false},
		{"warm", Options{Iterations: 5, Init: InitPaper, Features: 100}, false},
	} {
		count := &passes{Backend: cpu.New()}
		c.o.Backend = count
		p, err := NewPlan(&Data{N: data.N, Q: 1, D: 1, X: data.X}, c.o)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		m, r, err := Fit(context.Background(), data, c.o)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		q := m.Params
		if p.Rows != data.N || p.AtMost != c.atMost || !c.atMost && (p.Windows != q.Windows.Count() || p.Components != q.L || p.Features != q.M()) ||
			count.features > p.Features || q.L > p.Components || q.Windows.Count() > p.Windows {
			t.Errorf("%s: %+v; the fit has %d windows, %d components, %d features, at most %d on the way", c.name, p, q.Windows.Count(), q.L, q.M(), count.features)
		}
		if c.name == "warm" && count.batches == 0 {
			t.Error("warm: no mini-batches: that many features have no warm-up")
		}
		gradients := count.pullbacks + count.factorised
		bounds := count.moments - count.pullbacks
		if c.o.Inference != "" {
			bounds = count.moments
		}
		// Line searches take some more, convergence some fewer; starts that collapse are started again.
		if starts := len(r.Starts); starts == p.Starts && (bounds > p.Bounds || gradients > 2*p.Gradients+2 || count.batches != p.MiniBatches || 2*gradients < p.Gradients) {
			t.Errorf("%s: %d bounds, %d gradients and %d mini-batches, the plan has %d, %d and %d", c.name, bounds, gradients, count.batches, p.Bounds, p.Gradients, p.MiniBatches)
		}
	}
}

// TestPlanTables: with tables an evaluation's cost does not grow with the rows, and the plan counts their memory; windows, several
// inputs and other devices have none.
func TestPlanTables(t *testing.T) {
	plan := func(n, q int, o Options) *Plan {
		data := &Data{N: n, Q: q, D: 1, X: make([]float64, n*q)}
		for i := range data.X {
			data.X[i] = float64(i)
		}
		o.Init, o.Features, o.Iterations = InitPaper, 400, 20
		p, err := NewPlan(data, o)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	few, many := plan(10_000, 1, Options{}), plan(300_000, 1, Options{})
	if few.GradientFlops != many.GradientFlops || many.GradientFlops > 1e9 || many.Flops() > 1e11 {
		t.Errorf("a gradient takes %g and %g operations, a fit %g", few.GradientFlops, many.GradientFlops, many.Flops())
	}
	if perRow := many.TableBytes / 300_000; !(perRow > 100 && perRow < 400) || many.PeakBytes < many.TableBytes+many.RowBytes {
		t.Errorf("%g bytes of tables a row, %g of %g at the peak", perRow, many.TableBytes, many.PeakBytes)
	}
	for _, p := range []*Plan{plan(10_000, 2, Options{}), plan(10_000, 1, Options{Window: 5000}), plan(10_000, 1, Options{Backend: elsewhere{cpu.New()}})} {
		if p.TableBytes != 0 || p.GradientFlops < 10*few.GradientFlops {
			t.Errorf("%d inputs, %d windows: %g bytes of tables, %g operations for a gradient", p.Inputs, p.Windows, p.TableBytes, p.GradientFlops)
		}
	}
}

// elsewhere is a backend that is not the CPU.
type elsewhere struct{ spectral.Backend }

func (elsewhere) Name() string { return "elsewhere" }

// TestPlanCosts: by hand, of one dense model: N = 100, M = 2·6 = 12.
func TestPlanCosts(t *testing.T) {
	data := planned(108)
	o := Options{Init: InitPaper, Lengthscales: []float64{1, 2}, Features: 6, Iterations: 10, Fix: []string{"frequency.mean", "frequency.variance", "inducing.location"}}
	p, err := NewPlan(data, o)
	if err != nil {
		t.Fatal(err)
	}
	const n, m = 100, 12
	bound := cost.Moments(n, m, 1) + m*m*m/3.
	if p.BoundFlops != bound || p.GradientFlops != bound+cost.Pullback(n, m)+2*m*m*m/3. || p.MatrixBytes != 8*m*m {
		t.Errorf("%+v", p)
	}
	// Free are σ², l and p of two components and τ, with the pairs of eight steps and six more: before that the noise is held.
	if want := 8. * 7 * (2*8 + 8); p.HistoryBytes != want || p.Flops() != float64(p.Bounds)*p.BoundFlops+float64(p.Gradients)*p.GradientFlops {
		t.Errorf("history %v, want %v", p.HistoryBytes, want)
	}
	from, err := New(data, o)
	if err != nil {
		t.Fatal(err)
	}
	if q, err := NewPlan(data, Options{From: from, Iterations: 10}); err != nil || q.Features != m || q.BoundFlops != bound {
		t.Errorf("from a model: %+v, %v", q, err)
	}
	for _, bad := range []*Data{{N: 0, Q: 1, D: 1}, {N: 3, Q: 1, D: 1, X: []float64{1}}} {
		if _, err := NewPlan(bad, o); !errors.Is(err, ErrData) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	if _, err := NewPlan(data, Options{Components: -1}); !errors.Is(err, ErrOptions) {
		t.Errorf("%v", err)
	}
	place := &Data{N: 3, Q: 1, D: 1, X: []float64{2, 2, 2}}
	if _, err := NewPlan(place, Options{Init: InitSpectrum}); !errors.Is(err, ErrOptions) {
		t.Errorf("%v", err)
	}
}

// TestPlanParts: by hand, of one dense model: the coefficients' start from a part of
// the rows, exactly and by conjugate gradients.
func TestPlanParts(t *testing.T) {
	for _, c := range []struct {
		rows, features int
		inference      Inference
		want           float64
	}{
		{70_000, 12, Stochastic, cost.Moments(65536, 12, 1) + 12*12*12/3.},
		{10_000, 1200, Factorised, (variational.ConjugateSteps + 1) * cost.Factorised(8192, 1200, 1, 1)},
	} {
		data := &Data{N: c.rows, Q: 1, D: 1, X: times(c.rows, 0.1)}
		p, err := NewPlan(data, Options{Init: InitPaper, Components: 1, Features: c.features, Inference: c.inference, Restarts: 1})
		if err != nil {
			t.Fatal(err)
		}
		if p.StartFlops != 2*c.want {
			t.Errorf("%d rows, %d features: two starts take %v, want %v", c.rows, c.features, p.StartFlops, 2*c.want)
		}
	}
}

// TestPlanOfStarts: a plan has what the start says of its fill and its spectra, for
// every start once, and holds it once.
func TestPlanOfStarts(t *testing.T) {
	data := planned(108)
	o := Options{Window: WindowNone, Restarts: 2}
	p, err := NewPlan(data, o)
	if err != nil {
		t.Fatal(err)
	}
	f, err := o.frame(data)
	if err != nil {
		t.Fatal(err)
	}
	w := start.NewSeries(f.rows, f.grid).Work(t.Context(), f.settings(0), 1)
	if p.StartFlops != 3*w.Flops || p.StartBytes != w.Bytes || !(w.Flops > 0) || !(w.Bytes > 9*108) { // a number and whether it is missing
		t.Errorf("three starts take %v and hold %v, want %v and %v", p.StartFlops, p.StartBytes, 3*w.Flops, w.Bytes)
	}
}

// TestPlanKnown: with y the plan counts about the components that the start takes, of a few windows or of many.
func TestPlanKnown(t *testing.T) {
	for _, n := range []int{900, 20000} {
		data := wave(n, 0.01)
		o := Options{Iterations: NoIterations, Window: 150 * (data.X[1] - data.X[0]), Init: InitSpectrum, NoisePrecision: 30}
		without, err := NewPlan(&Data{N: data.N, Q: 1, D: 1, X: data.X}, o)
		if err != nil {
			t.Fatal(err)
		}
		with, err := NewPlan(data, o)
		if err != nil {
			t.Fatal(err)
		}
		m, err := New(data, o)
		if err != nil {
			t.Fatal(err)
		}
		if r := float64(with.Features) / float64(m.Params.M()); !without.AtMost || with.AtMost || r < 0.8 || r > 1.25 || 2*with.Features > without.Features || with.Windows != m.Params.Windows.Count() {
			t.Errorf("%d rows: the start has %d features in %d windows, planned with y %d in %d, without %d", n, m.Params.M(), m.Params.Windows.Count(), with.Features, with.Windows, without.Features)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := NewPlanContext(ctx, planned(400), Options{Window: 40}); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context: %v", err)
	}
}

// TestPredictionPlan: by hand, of one window, and what no plan can be made of.
func TestPredictionPlan(t *testing.T) {
	m, _ := mustFit(t, planned(100), Options{Init: InitPaper, Features: 12, Iterations: 2})
	p, err := m.PredictionPlan(1000)
	if err != nil {
		t.Fatal(err)
	}
	if p.Rows != 1000 || p.Part != 1000 || p.Features != 12 || p.MatrixBytes != 8*12*12 || p.Flops != cost.Inverse([]int{0, 12})+cost.Predict(1000, 12, 1) || p.RowBytes != 8*1000*8 || p.PeakBytes < p.RowBytes+3*p.MatrixBytes {
		t.Errorf("%+v", p)
	}
	many, err := m.PredictionPlan(100_000_000)
	if err != nil || many.PeakBytes > 20e6 || many.Flops < 1e5*p.Flops/2 {
		t.Errorf("of many rows: %+v, %v", many, err)
	}
	if _, err := m.PredictionPlan(0); !errors.Is(err, ErrData) {
		t.Errorf("no rows: %v", err)
	}
	bare := *m
	bare.exact = nil
	if _, err := bare.PredictionPlan(10); !errors.Is(err, ErrUnfitted) {
		t.Errorf("no posterior: %v", err)
	}
	if _, err := (*Model)(nil).PredictionPlan(10); !errors.Is(err, ErrParams) {
		t.Errorf("no model: %v", err)
	}
}

// TestHeldInterrupted: rows that take long to be brought in order are not waited for.
func TestHeldInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	m, err := New(wave(100, 0.1), Options{Init: InitPaper})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.open(ctx, wave(200_001, 0.1)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
