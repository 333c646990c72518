package vssgp

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/testkit/modeltest"
	"github.com/vssgp/vssgp/internal/testkit/slow"
)

// dataOf are rows as a caller gives them.
func dataOf(rows *backend.Data) *Data {
	return &Data{N: rows.N, Q: rows.Q, D: rows.D, X: rows.X, Y: rows.Y}
}

// TestChoosesWindow: long windows for a sound that stays, short ones for one
// that changes; on all data and on excerpts, with the optimizer and
// without.
func TestChoosesWindow(t *testing.T) {
	lengths := []float64{64, 512}
	for _, n := range []int{4096, 2 * 8 * 4 * 512 * 2} {
		if n > 1<<14 && !slow.Tests {
			continue
		}
		for _, c := range []struct{ every, want int }{{1 << 20, 512}, {96, 64}} {
			for iterations, components := range map[int]int{NoIterations: 12, 2: 4} {
				o := Options{Init: InitSpectrum, Window: WindowAuto, WindowCandidates: lengths, Iterations: iterations, Components: components, Features: 2}
				data := dataOf(modeltest.ChangingTones(n, c.every))
				m, err := New(t.Context(), data, o)
				if err != nil {
					t.Fatal(err)
				}
				if got := m.Params.Windows.Length * m.X.Scale[0]; math.Abs(got-float64(c.want)) > 1e-9 {
					t.Errorf("%d samples, new sound every %d, iterations %d: windows of %g, want %d", n, c.every, iterations, got, c.want)
				}
			}
		}
	}
}

// TestCriterion is by hand: the bound of a fit of those iterations, less one for
// each point estimate.
func TestCriterion(t *testing.T) {
	const window, components, iterations = 64, 5, 10
	data := dataOf(modeltest.ChangingTones(700, 90))
	for _, c := range []struct {
		name   string
		o      Options
		points func(l, m int) int
	}{
		{"each window its own", Options{}, func(l, m int) int { return 3*l + 1 }},
		{"shared", Options{Shared: true}, func(l, m int) int { return 3*components + 1 }},
		{"tied, noise fixed", Options{Tie: []string{"kernel.lengthscale"}, Fix: []string{"noise.precision"}}, func(l, m int) int { return 2*l + 1 }},
		{"ssgp", Options{Method: SSGP}, func(l, m int) int { return 3*l + 1 + m/2 }},
	} {
		o := c.o
		o.Init, o.Window, o.Components, o.Features = InitSpectrum, window, components, 2
		o.Iterations = iterations
		m, r, err := Fit(context.Background(), data, o)
		if err != nil {
			t.Fatal(err)
		}
		f, err := o.frame(data)
		if err != nil {
			t.Fatal(err)
		}
		begun, _, err := f.start(t.Context(), InitSpectrum, 0)
		if err != nil {
			t.Fatal(err)
		}
		got, err := f.Optimized(t.Context(), f.rows, begun.Params, iterations)
		if err != nil {
			t.Fatal(err)
		}
		p := m.Params
		want := r.Bound - float64(c.points(p.L, p.M()))
		if math.Abs(got-want) > 1e-9*math.Abs(want) {
			t.Errorf("%s: criterion %v, want %v", c.name, got, want)
		}
	}
}

// TestChoosesNone: lines that last want no windows and not many more components
// than there are lines, whatever the rows' number is to the windows tried.
func TestChoosesNone(t *testing.T) {
	for _, n := range slow.Pick([]int{1300, 3000}, []int{1300}) {
		rng := modeltest.NewRNG(uint64(n))
		d := &Data{N: n, Q: 1, D: 1}
		for i := range n {
			x := float64(i)
			d.X = append(d.X, x)
			d.Y = append(d.Y, math.Sin(2*math.Pi*x/24)+0.5*math.Cos(2*math.Pi*x/168)+0.3*rng.NormFloat64())
		}
		m, err := New(t.Context(), d, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if p := m.Params; len(p.Windows.Center) > 0 || p.L < 2 || p.L > 8 {
			t.Errorf("%d rows of two lines: %d windows, %d components", n, len(p.Windows.Center), p.L)
		}
	}
}

// TestChoiceInterrupted: an interruption ends it with its error.
func TestChoiceInterrupted(t *testing.T) {
	f, err := Options{Init: InitSpectrum, Window: WindowAuto, WindowCandidates: []float64{128}, Iterations: 5}.frame(dataOf(modeltest.ChangingTones(3000, 100)))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := f.start(ctx, f.init, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

// TestBestNoiseLevel: tones that can be predicted start with less noise than noise
// does, and with the error bars to match.
func TestBestNoiseLevel(t *testing.T) {
	series := func(noise float64) *Data {
		rng := rand.New(rand.NewPCG(4, 4))
		d := &Data{Q: 1, D: 1}
		for i := range 1500 {
			if i%300 >= 140 && i%300 < 170 {
				continue
			}
			v := math.Sin(0.21*float64(i)) + 0.5*math.Sin(0.47*float64(i)+1)
			d.X, d.Y, d.N = append(d.X, float64(i)), append(d.Y, v+noise*rng.NormFloat64()), d.N+1
		}
		return d
	}
	tau := func(noise float64) float64 {
		m, err := New(t.Context(), series(noise), Options{Init: InitSpectrum, Window: 300, Iterations: NoIterations})
		if err != nil {
			t.Fatal(err)
		}
		return m.Params.NoisePrecision[0]
	}
	if clean, loud := tau(0.001), tau(1); !(clean > 3*loud) || loud > 1/0.04 {
		t.Errorf("starting precision %v for tones, %v for tones in noise", clean, loud)
	}
	// Where windows are chosen each start has been evaluated already, at a noise level
	// that is not the one that it ends with.
	data := series(0.001)
	m, r, err := Fit(t.Context(), data, Options{Init: InitSpectrum, Window: WindowAuto, WindowCandidates: []float64{300, 400}, Iterations: NoIterations})
	if err != nil {
		t.Fatal(err)
	}
	if want := evaluated(t, m, data).Bound; r.Bound != want {
		t.Errorf("the start's bound is said to be %v, it is %v", r.Bound, want)
	}
}

// TestPredictFrom: rows of many outputs come in several parts, with the means and
// deviations that a conditioned model predicts for them all at once.
func TestPredictFrom(t *testing.T) {
	p, data := made(kind{Name: "many outputs", N: 600, L: 2, K: 3, Q: 1, D: 140})
	p.CoefMean, p.CoefVar = nil, nil
	if rows := rowsOfPart(data.D); data.N <= rows {
		t.Fatalf("%d rows are one part of %d", data.N, rows)
	}
	want, err := conditioned(t, p, data).Predict(t.Context(), data.X)
	if err != nil {
		t.Fatal(err)
	}
	known := backend.Data{N: data.N, Q: data.Q, D: data.D, X: data.X, Y: data.Y}
	mean, sd, err := mustModel(t, p).predictFrom(t.Context(), known, data.X)
	if err != nil {
		t.Fatal(err)
	}
	modeltest.Near(t, "mean", mean, want.Mean, rounding)
	modeltest.Near(t, "deviation", sd, want.SD(true), rounding)
}
