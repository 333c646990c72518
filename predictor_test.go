package vssgp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/internal/testkit/cputime"
	"github.com/vssgp/vssgp/internal/testkit/modeltest"
	"github.com/vssgp/vssgp/variational"
)

// times are the times of n samples, a row each.
func times(n int, step float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = step * float64(i)
	}
	return x
}

// inSlices gives x in slices of so many rows.
func inSlices(x []float64, rows int) iter.Seq2[[]float64, error] {
	return func(yield func([]float64, error) bool) {
		for lo := 0; lo < len(x); lo += rows {
			if !yield(x[lo:min(len(x), lo+rows)], nil) {
				return
			}
		}
	}
}

// TestEach: predictions are the same bits however the rows come, and on a grid,
// under windows too, those of one pass over all rows. The last of the windows
// begins at no multiple of a tile's rows, so that parts of partRows alone would
// cut its tiles elsewhere than one pass does, and have other last bits.
func TestEach(t *testing.T) {
	ctx := context.Background()
	for name, o := range map[string]Options{
		"no windows": {Iterations: NoIterations, Components: 2, Features: 4},
		"windows":    {Iterations: NoIterations, Components: 1, Features: 4, Window: 47.37},
	} {
		m, _, err := Fit(ctx, wave(500, 0.3), o)
		if err != nil {
			t.Fatal(err)
		}
		p, err := m.Predictor(ctx)
		if err != nil {
			t.Fatal(err)
		}
		x := times(3*partRows+777, m.X.Scale[0]*0x1p-8) // a grid that is one in the model's units too; beyond the windows in the end
		for i := range x {
			x[i] += m.X.Offset[0]
		}
		want, err := p.part(ctx, m.X.ToModel(x))
		if err != nil {
			t.Fatal(err)
		}
		for _, rows := range []int{999, partRows, len(x)} {
			next := 0
			for part, err := range p.Each(ctx, inSlices(x, rows)) {
				if err != nil {
					t.Fatal(err)
				}
				end := part.First + part.N
				if part.First != next || !slices.Equal(part.X, x[next:end]) {
					t.Fatalf("%s: a part of rows %d to %d after row %d", name, part.First, end, next)
				}
				if !slices.Equal(part.Mean, want.Mean[next:end]) || !slices.Equal(part.Cov, want.Cov[next:end]) {
					t.Errorf("%s, %d rows at a time: rows %d to %d are others than in one pass", name, rows, next, end)
				}
				if last := end == len(x); !last && part.N > partRows || last && (part.N < lastRows || part.N > partRows+lastRows) {
					t.Errorf("%s: a part of rows %d to %d", name, next, end)
				}
				next = end
			}
			if next != len(x) {
				t.Errorf("%s: %d rows came, want %d", name, next, len(x))
			}
		}
	}
}

// TestEachErrors: an error of the rows ends the predictions, and so do rows that
// are cut.
func TestEachErrors(t *testing.T) {
	m, _, err := Fit(context.Background(), wave(60, 0.3), Options{Iterations: NoIterations})
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Predictor(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	var last error
	for part, err := range p.Each(context.Background(), func(yield func([]float64, error) bool) { _ = yield([]float64{1}, nil) && yield(nil, broken) }) {
		if last = err; part != nil {
			t.Error("a part before the error")
		}
	}
	if !errors.Is(last, broken) {
		t.Errorf("%v", last)
	}
	wide := &Data{N: 20, Q: 2, D: 1, X: times(40, 0.1), Y: times(20, 0.3)}
	if m, _, err = Fit(context.Background(), wide, Options{Iterations: NoIterations, Features: 4}); err != nil {
		t.Fatal(err)
	}
	if p, err = m.Predictor(context.Background()); err != nil {
		t.Fatal(err)
	}
	last = nil
	for _, last = range p.Each(context.Background(), inSlices(times(9, 0.1), 3)) {
	}
	if !errors.Is(last, ErrData) {
		t.Errorf("three numbers for rows of two inputs: %v", last)
	}
	if _, err := m.Predict(t.Context(), []float64{1, 2, 3}); !errors.Is(err, ErrData) {
		t.Errorf("three numbers for two rows: %v", err)
	}
	if _, err := m.Predict(t.Context(), nil); !errors.Is(err, ErrData) {
		t.Errorf("no rows: %v", err)
	}
}

// TestPredictJoins: a prediction that was made in parts is the one of a single
// pass, covariances between outputs and those in the model's units included.
func TestPredictJoins(t *testing.T) {
	one := wave(60, 0.3)
	for _, unit := range []float64{1, 1e-300} {
		data := &Data{N: one.N, Q: 1, D: 2, X: one.X}
		for i, v := range one.Y {
			data.Y = append(data.Y, v*unit, (v+float64(i)/30)*unit)
		}
		m, _, err := Fit(t.Context(), data, Options{Iterations: NoIterations, Components: 2})
		if err != nil {
			t.Fatal(err)
		}
		p, err := m.Predictor(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		x := times(partRows+lastRows+5, 1e-4)
		want, err := p.part(t.Context(), m.X.ToModel(x))
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.Predict(t.Context(), x)
		if err != nil {
			t.Fatal(err)
		}
		modeltest.Near(t, "mean", scaled(got.Mean, 1/unit), scaled(want.Mean, 1/unit), 1e-12)
		modeltest.Near(t, "standard deviation", scaled(got.SD(true), 1/unit), scaled(want.SD(true), 1/unit), 1e-12)
		modeltest.Near(t, "covariance", got.Cov, want.Cov, 1e-12)
		if (got.own != nil) != (unit != 1) || (want.own != nil) != (unit != 1) || got.N != len(x) {
			t.Fatalf("in a unit of %v: %d rows, covariances in the model's units %v and %v", unit, got.N, got.own != nil, want.own != nil)
		}
		if got.own != nil {
			modeltest.Near(t, "covariance in the model's units", got.own.cov, want.own.cov, 1e-12)
		}
	}
}

// TestPartRows: with many outputs a part has fewer rows, in memory bounded by its
// covariances, down to one step.
func TestPartRows(t *testing.T) {
	for d, want := range map[int]int{1: 65536, 8: 65536, 40: 2560, 1000: 256} {
		if got := rowsOfPart(d); got != want {
			t.Errorf("%d outputs: %d rows, want %d", d, got, want)
		}
	}
}

// meddling looks at what is opened, and changes what is predicted.
type meddling struct {
	backend.Backend
	open    func(*backend.Data)
	predict func(*backend.Prediction)
}

type meddlingRows struct {
	backend.Rows
	of *meddling
}

func (b *meddling) Open(d backend.Data) (backend.Rows, error) {
	b.open(&d)
	r, err := b.Backend.Open(d)
	return &meddlingRows{r, b}, err
}

func (r *meddlingRows) Predict(dst *backend.Prediction, f *backend.Features, p *backend.Posterior) error {
	err := r.Rows.Predict(dst, f, p)
	r.of.predict(dst)
	return err
}

// TestPredictBackend: rounding below zero is no variance; a backend is told when
// to stop, and one that does not has no prediction.
func TestPredictBackend(t *testing.T) {
	m, _, err := Fit(t.Context(), wave(60, 0.3), Options{Iterations: NoIterations})
	if err != nil {
		t.Fatal(err)
	}
	b := &meddling{Backend: cpu.New(), open: func(*backend.Data) {}, predict: func(p *backend.Prediction) { p.Cov[1] = -1e-9 }}
	m.Backend = b
	p, err := m.Predict(t.Context(), []float64{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	if p.Cov[1] != p.Noise[0] || !(p.Cov[0] > p.Noise[0]) {
		t.Errorf("variances %v beside a noise of %v", p.Cov, p.Noise[0])
	}
	ctx, cancel := context.WithCancel(t.Context())
	told := false
	b.open = func(d *backend.Data) {
		told = d.Stop != nil && d.Stop() == nil
		cancel()
		told = told && errors.Is(d.Stop(), context.Canceled)
		d.Stop = nil
	}
	q, err := m.Predictor(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if p, err := q.Predict(ctx, []float64{1, 2}); !told || !errors.Is(err, context.Canceled) || p != nil {
		t.Errorf("told %v: prediction %v, error %v", told, p, err)
	}
}

// TestDraws: a function is the same whichever are asked for before it, and at rows
// together or by themselves.
func TestDraws(t *testing.T) {
	m, _, err := Fit(t.Context(), wave(60, 0.3), Options{Iterations: NoIterations, Components: 2})
	if err != nil {
		t.Fatal(err)
	}
	x := times(2*variational.ChunkRows+40, 0.01)
	at := func(d *Draws, i int, x []float64) []float64 {
		y, err := d.At(t.Context(), i, x)
		if err != nil {
			t.Fatal(err)
		}
		return y
	}
	draws := func() *Draws {
		d, err := m.Draws(3)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	d := draws()
	first, second, third := at(d, 0, x), at(d, 1, x), at(d, 2, x)
	if slices.Equal(first, second) || slices.Equal(second, third) {
		t.Error("one function twice")
	}
	if d := draws(); !slices.Equal(at(d, 2, x), third) || !slices.Equal(at(d, 0, x), first) || !slices.Equal(at(d, 1, x), second) {
		t.Error("asked for in another order they are others")
	}
	for _, n := range []int{0, variational.ChunkRows, len(x) - 40, len(x) - 1} {
		if !slices.Equal(at(d, 1, x[n:n+1]), second[n:n+1]) {
			t.Errorf("row %d by itself is another", n)
		}
	}
}

// TestContexts: what is long ends with its context, and soon.
func TestContexts(t *testing.T) {
	const n = 40000
	data := wave(n, 0.3)
	m, _, err := Fit(context.Background(), wave(400, 0.3), Options{Init: InitPaper, Features: 500, Iterations: NoIterations})
	if err != nil {
		t.Fatal(err)
	}
	x := data.X
	for name, work := range map[string]func(ctx context.Context) error{
		"Predict": func(ctx context.Context) error { _, err := m.Predict(ctx, x); return err },
		"PredictJoint": func(ctx context.Context) error {
			_, _, err := m.PredictJoint(ctx, data.X[:4000])
			return err
		},
		"Draw":      func(ctx context.Context) error { _, err := m.Draw(ctx, x, 50, 1); return err },
		"Evaluate":  func(ctx context.Context) error { _, err := m.Evaluate(ctx, data, Exact, nil, true); return err },
		"Condition": func(ctx context.Context) error { _, err := m.Condition(ctx, data); return err },
	} {
		ctx, cancel := context.WithCancel(context.Background())
		var at time.Duration
		time.AfterFunc(20*time.Millisecond, func() { at = cputime.Now(); cancel() })
		err := work(ctx)
		ended := cputime.Now()
		<-ctx.Done()
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want it cancelled", name, err)
		}
		if late := ended - at; late > 5*time.Second {
			t.Errorf("%s: it worked for %v after it was cancelled", name, late)
		}
	}
	if e, err := m.Condition(t.Context(), wave(400, 0.3)); err != nil || e == nil || !m.Fitted() {
		t.Errorf("after all that: %v", err)
	}
}

// TestConcurrentUse: several goroutines use one model, one predictor and one Data at a time, and get what one alone gets. The race detector
// watches.
func TestConcurrentUse(t *testing.T) {
	data := wave(80, 0.1)
	m, _, err := Fit(t.Context(), data, Options{Features: 6, Iterations: 5, Window: 5, Posterior: 2})
	if err != nil {
		t.Fatal(err)
	}
	one, err := m.Predictor(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	x := []float64{1, 2, 30}
	want, err := m.Predict(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			p, err := m.Predict(t.Context(), x)
			if err != nil || !slices.Equal(p.Mean, want.Mean) || !slices.Equal(p.Cov, want.Cov) {
				t.Errorf("Predict: %v, or other numbers", err)
			}
			_, rows := one.Predict(t.Context(), x)
			_, _, joint := m.PredictJoint(t.Context(), x)
			_, drawn := m.Draw(t.Context(), x, 2, 1)
			_, bound := m.Evaluate(t.Context(), data, Exact, nil, true)
			_, _, again := Fit(t.Context(), data, Options{From: m, Iterations: 2, Posterior: NoPosterior})
			_, density := want.LogDensity(t.Context(), []float64{0, 0, 0})
			for name, err := range map[string]error{"Predictor": rows, "PredictJoint": joint, "Draw": drawn, "Evaluate": bound, "Fit": again, "LogDensity": density, "Write": m.Write(io.Discard)} {
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
			m.Components()
			m.Frequencies()
			want.Quantile(0.9, true)
		})
	}
	all.Wait()
}

// TestQuantileProbability: a probability that is none, such as a percentage, panics.
func TestQuantileProbability(t *testing.T) {
	p := &Prediction{N: 1, D: 1, Mean: []float64{0}, Cov: []float64{1}, Noise: []float64{0}}
	for _, probability := range []float64{95, 0, 1, -0.1, math.NaN()} {
		func() {
			defer func() {
				if text := fmt.Sprint(recover()); !strings.Contains(text, fmt.Sprintf("probability %v", probability)) {
					t.Errorf("%v: panic %q", probability, text)
				}
			}()
			t.Errorf("%v: %v", probability, p.Quantile(probability, true))
		}()
	}
	if q := p.Quantile(0.975, true); math.Abs(q[0]-1.959964) > 1e-6 {
		t.Errorf("quantile %v", q)
	}
}

// TestHeldInterrupted: rows that take long to be brought in order are not waited for.
func TestHeldInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	m, err := New(t.Context(), wave(100, 0.1), Options{Init: InitPaper})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.open(ctx, wave(200_001, 0.1)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
