package ranks_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/modeltest"
	"github.com/vssgp/vssgp/internal/testkit/slow"
)

// chirp returns n rows of a rising tone with noise and gaps, with one position in ten omitted.
func chirp(n int) *vssgp.Data {
	rng := rand.New(rand.NewPCG(7, 11))
	d := &vssgp.Data{Q: 1, D: 1}
	for i := range n {
		if i%40 >= 36 {
			continue
		}
		x := float64(i)
		y := math.Sin(0.2*x+2e-5*x*x) + 0.3*math.Sin(0.71*x) + 0.1*rng.NormFloat64()
		d.X, d.Y, d.N = append(d.X, x), append(d.Y, y), d.N+1
	}
	return d
}

// wide returns rows of three inputs and two outputs.
func wide(n int) *vssgp.Data {
	rng := rand.New(rand.NewPCG(3, 5))
	d := &vssgp.Data{N: n, Q: 3, D: 2}
	for range n {
		s := 0.0
		for range d.Q {
			x := rng.NormFloat64()
			d.X = append(d.X, x)
			s += math.Sin(x)
		}
		d.Y = append(d.Y, s+0.1*rng.NormFloat64(), s*s+0.1*rng.NormFloat64())
	}
	return d
}

type fitCase struct {
	name string
	data *vssgp.Data
	o    vssgp.Options
}

func fitCases() []fitCase {
	return []fitCase{
		{"exact", chirp(700), vssgp.Options{Windows: vssgp.WindowOptions{Length: vssgp.WindowNone}, Components: 10}},
		{"exact, three inputs", wide(301), vssgp.Options{Components: 2, Features: 20, Init: vssgp.InitPaper, Iterations: 20}},
		{"windows", chirp(3000), vssgp.Options{Windows: vssgp.WindowOptions{Length: 100}, Components: 3}},
		{"few windows", chirp(500), vssgp.Options{Windows: vssgp.WindowOptions{Length: 100}, Components: 3, Iterations: 20}},
		{"factorized", chirp(700), vssgp.Options{Components: 10, Inference: vssgp.Factorized}},
		{"factorized, windows", chirp(3000), vssgp.Options{Windows: vssgp.WindowOptions{Length: 100}, Components: 3, Inference: vssgp.Factorized, Iterations: 20}},
		{"stochastic", chirp(700), vssgp.Options{Components: 10, Inference: vssgp.Stochastic, Iterations: 60, Batch: vssgp.BatchOptions{Rows: 50}}},
		{"stochastic, windows", chirp(3000), vssgp.Options{Windows: vssgp.WindowOptions{Length: 100}, Components: 3, Inference: vssgp.Stochastic, Batch: vssgp.BatchOptions{Contiguous: true, Rows: 50}, Iterations: 60}},
	}
}

// trace is the record of a fit.
type trace struct {
	bounds []float64
	model  *vssgp.Model
}

func fitOn(t *testing.T, c fitCase, n int) trace {
	t.Helper()
	var tr trace
	o := c.o
	if o.Iterations == 0 {
		o.Iterations = 50
	}
	o.Seed = 4
	o.Progress = func(p vssgp.Progress) { tr.bounds = append(tr.bounds, p.Bound) }
	o.Backend = cpu.New()
	if n > 0 {
		g := group(t, n)
		defer g.Close()
		o.Backend = g
	}
	m, _, err := vssgp.Fit(context.Background(), c.data, o)
	if err != nil {
		t.Fatalf("%d ranks: %v", n, err)
	}
	tr.model = m
	return tr
}

// TestSameBitsOnAnyRanks checks that any number of ranks gives the same bounds and model, bit for bit. One
// process, whose sums have another order, starts with the same bound.
func TestSameBitsOnAnyRanks(t *testing.T) {
	for i, c := range fitCases() {
		if !slow.Tests && i%2 == 1 {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			plain, one := fitOn(t, c, 0), fitOn(t, c, 1)
			if a, b := plain.bounds[0], one.bounds[0]; math.Abs(a-b) > 1e-11*math.Abs(a) {
				t.Errorf("first bound %.17g in one process, %.17g on one rank", a, b)
			}
			drift := math.Abs(plain.bounds[len(plain.bounds)-1]/one.bounds[len(one.bounds)-1] - 1)
			t.Logf("%d bounds, M = %d, V = %d; at the end one rank is %.1e from one process", len(one.bounds), one.model.Params.M(), one.model.Params.Windows.Count(), drift)
			for _, n := range slow.Pick([]int{2, 3, 4}, []int{3}) {
				many := fitOn(t, c, n)
				if !slices.Equal(one.bounds, many.bounds) {
					t.Fatalf("%d ranks: bounds %v, one rank %v", n, many.bounds, one.bounds)
				}
				for i, x := range one.model.Params.Tensors() {
					if y := many.model.Params.Tensors()[i]; !slices.Equal(*x.Data, *y.Data) {
						t.Errorf("%d ranks: %s differs", n, x.Name)
					}
				}
			}
		})
	}
}

// TestNoiseless checks that series which a model fits exactly, whose squared errors need a separate
// pass, give the same result on any number of ranks.
func TestNoiseless(t *testing.T) {
	slow.Race(t)
	for _, s := range modeltest.Noiseless()[:slow.Pick(5, 2)] {
		t.Run(s.Name, func(t *testing.T) {
			c := fitCase{s.Name, &vssgp.Data{N: len(s.X), Q: 1, D: 1, X: s.X, Y: s.Y}, vssgp.Options{}}
			if s.Paper {
				c.o.Init = vssgp.InitPaper
			}
			one, two := fitOn(t, c, 1), fitOn(t, c, 2)
			if !slices.Equal(one.bounds, two.bounds) {
				t.Errorf("two ranks: bounds %v, one rank %v", two.bounds, one.bounds)
			}
			two.model.Backend = nil // its ranks have ended
			p := testkit.Must(two.model.Predict(t.Context(), s.X))(t)
			s.Check(t, p.Mean, p.SD(true))
		})
	}
}

// TestEvaluate checks that bound, terms, gradient and predictions equal the results of one process and
// are the same on any number of ranks.
func TestEvaluate(t *testing.T) {
	for _, c := range fitCases() {
		t.Run(c.name, func(t *testing.T) {
			c.o.Iterations = 3
			m := fitOn(t, c, 0).model
			want := testkit.Must(m.Evaluate(t.Context(), c.data, m.Inference, nil, true))(t)
			wantP := testkit.Must(m.Predict(t.Context(), c.data.X))(t)
			var one *vssgp.Evaluation
			for _, n := range []int{1, 2, 3, 4, 5} {
				t.Run(fmt.Sprintf("%d ranks", n), func(t *testing.T) {
					g := group(t, n)
					defer g.Close()
					on := *m
					on.Backend = g
					got := sameEvaluation(t, &on, c.data, want)
					if one == nil {
						one = got
					}
					for i, x := range one.Gradient.Tensors() {
						if !slices.Equal(*got.Gradient.Tensors()[i].Data, *x.Data) || got.Bound != one.Bound {
							t.Errorf("%s: differs from one rank", x.Name)
						}
					}
					gotP := testkit.Must(on.Predict(t.Context(), c.data.X))(t)
					modeltest.Near(t, "mean", gotP.Mean, wantP.Mean, 1e-12)
					modeltest.Near(t, "cov", gotP.Cov, wantP.Cov, 1e-12)
				})
			}
		})
	}
}

// sameEvaluation returns a model's evaluation after comparing its terms and gradient with want.
func sameEvaluation(t *testing.T, m *vssgp.Model, data *vssgp.Data, want *vssgp.Evaluation) *vssgp.Evaluation {
	t.Helper()
	got := testkit.Must(m.Evaluate(t.Context(), data, m.Inference, nil, true))(t)
	for i, term := range want.Terms {
		modeltest.Near(t, term.Name, []float64{got.Terms[i].Value}, []float64{term.Value}, 1e-11)
	}
	for i, x := range want.Gradient.Tensors() {
		modeltest.Near(t, x.Name, *got.Gradient.Tensors()[i].Data, *x.Data, 1e-9)
	}
	return got
}

// TestEmptyWindows checks models in which whole shards and separators have no features.
func TestEmptyWindows(t *testing.T) {
	data := chirp(3000)
	m := testkit.Must(vssgp.New(t.Context(), data, vssgp.Options{Components: 2, Windows: vssgp.WindowOptions{Length: 100}}))(t)
	p := m.Params
	for i := range p.ComponentWindow {
		switch v := p.ComponentWindow[i]; {
		case v < 12:
			p.ComponentWindow[i] = v / 4 * 4
		case v < 35:
			p.ComponentWindow[i] = 12
		}
	}
	want := testkit.Must(m.Evaluate(t.Context(), data, vssgp.Exact, nil, true))(t)
	for _, n := range []int{1, 2, 3} {
		g := group(t, n)
		m.Backend = g
		sameEvaluation(t, m, data, want)
		testkit.OK(t, g.Close())
	}
}
