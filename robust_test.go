package vssgp

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/internal/testkit/modeltest"
)

// Among collapsed starts the best bound is kept, and so it is among the others.
func TestRobustKeptAmongCollapsed(t *testing.T) {
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

// flaky is a backend whose Moments fail between two counts of calls.
type flaky struct {
	backend.Backend
	calls, from, to int
}

type flakyRows struct {
	backend.Rows
	b *flaky
}

func (b *flaky) Open(d backend.Data) (backend.Rows, error) {
	r, err := b.Backend.Open(d)
	return &flakyRows{r, b}, err
}

func (r *flakyRows) Moments(dst *backend.Moments, f *backend.Features) error {
	err := r.Rows.Moments(dst, f)
	if r.b.calls++; r.b.calls > r.b.from && r.b.calls <= r.b.to {
		for i := range dst.C {
			dst.C[i] = math.NaN()
		}
	}
	return err
}

// A start without a bound is a collapsed start, not the fit's end.
func TestRobustFailedStart(t *testing.T) {
	data := wave(40, 0.1)
	count := &flaky{Backend: cpu.New()}
	o := Options{Init: InitPaper, Features: 4, Iterations: 3, Backend: count}
	mustFit(t, data, o)
	for name, b := range map[string]*flaky{
		"first":  {Backend: cpu.New(), to: 2}, // its start and its end
		"second": {Backend: cpu.New(), from: count.calls, to: count.calls + 2},
	} {
		o.Backend, o.Restarts = b, 2
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

// From with another method, and with a backend.
func TestRobustFrom(t *testing.T) {
	data := wave(40, 0.1)
	p, _ := made(kind{Name: "odd", N: 1, L: 1, K: 3, Q: 1, D: 1})
	p.CoefMean, p.CoefVar = nil, nil
	m := mustModel(t, p)
	func() {
		defer func() {
			if r := recover(); r != nil {
				t.Errorf("SSGP from three features: panic %v, want ErrOptions", r)
			}
		}()
		if _, _, err := Fit(context.Background(), data, Options{From: m, Method: SSGP, Iterations: 2}); !errors.Is(err, ErrOptions) {
			t.Errorf("SSGP from three features with Σ > 0: error %v, want ErrOptions", err)
		}
	}()
	p, _ = made(kind{Name: "even", N: 1, L: 1, K: 4, Q: 1, D: 1})
	p.CoefMean, p.CoefVar = nil, nil
	got, _, err := Fit(context.Background(), data, Options{From: mustModel(t, p), Method: SSGP, Iterations: 2})
	if err == nil && got.Params.FreqVar[0] != 0 {
		t.Errorf("SSGP from a model with Σ > 0: no error, and Σ stays %v", got.Params.FreqVar[0])
	}
	b := &flaky{Backend: cpu.New()}
	if _, _, err := Fit(context.Background(), data, Options{From: mustModel(t, p), Backend: b, Iterations: 2}); err != nil || b.calls == 0 {
		t.Errorf("From and Backend: %d passes on the backend asked for, error %v", b.calls, err)
	}
}

// Constant or single inputs.
func TestRobustConstantInput(t *testing.T) {
	for name, d := range map[string]*Data{
		"one row":             {N: 1, Q: 1, D: 1, X: []float64{3}, Y: []float64{2}},
		"constant x":          {N: 3, Q: 1, D: 1, X: []float64{3, 3, 3}, Y: []float64{2, 1, 2}},
		"constant first of 2": {N: 3, Q: 2, D: 1, X: []float64{3, 1, 3, 2, 3, 3}, Y: []float64{2, 1, 2}},
	} {
		_, _, err := Fit(context.Background(), d, Options{Iterations: 2})
		if errors.Is(err, ErrParams) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// UniformPhases with the spectrum start.
func TestRobustUniformSpectrum(t *testing.T) {
	m, err := New(t.Context(), wave(100, 0.1), Options{UniformPhases: true})
	if err == nil && m.Params.PhaseUpper[0] == m.Params.PhaseLower[0] {
		t.Error("uniform phases asked for, fixed ones given")
	}
}

// Fixing phase.upper alone.
func TestRobustFixUpper(t *testing.T) {
	data := wave(60, 0.1)
	o := Options{Init: InitPaper, Features: 4, Iterations: 4, UniformPhases: true, Fix: []string{"phase.upper"}}
	start, err := New(t.Context(), data, o)
	if err != nil {
		t.Fatal(err)
	}
	m, _ := mustFit(t, data, o)
	modeltest.Near(t, "phase.upper", m.Params.PhaseUpper, start.Params.PhaseUpper, 0)
}

// A negative number of draws.
func TestRobustDraw(t *testing.T) {
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("panic: %v", r)
		}
	}()
	p, _ := made(modeltest.FindKind(t, "one feature"))
	if _, err := mustModel(t, p).Draw(t.Context(), make([]float64, 1), -1, 1); err == nil {
		t.Error("-1 draws: no error")
	}
}

// Window.input with rubbish behind the number.
func TestRobustWindowInput(t *testing.T) {
	f := layout(t, fileModels(t)["windows along 1"])
	f.Metadata["window.input"] = "1abc"
	if _, err := read(encode(t, f)); !errors.Is(err, ErrParams) {
		t.Errorf("window.input 1abc: error %v, want ErrParams", err)
	}
}

// Default length-scales with inputs of very different ranges.
func TestRobustRanges(t *testing.T) {
	d := &Data{N: 50, Q: 2, D: 1}
	for i := range 50 {
		d.X = append(d.X, float64(i)/50, 1e4*float64(i*i%50))
		d.Y = append(d.Y, math.Sin(float64(i)))
	}
	m, err := New(t.Context(), d, Options{Init: InitPaper})
	if err != nil {
		t.Fatal(err)
	}
	if r := m.Params.Lengthscale[0] / m.Params.Lengthscale[1]; r > 10 || r < 0.1 {
		t.Errorf("default length-scales in model units (each input has sd 1): %v", m.Params.Lengthscale)
	}
}
