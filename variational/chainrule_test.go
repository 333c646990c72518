package variational

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/testkit"
)

// chainShapes are the shapes of models with large host costs: windows×components×K features.
var chainShapes = []struct{ windows, components, k int }{{37_500, 40, 1}, {1, 32, 32}}

// chainParams draws a model with one input and one output.
func chainParams(windows, components, k int) *Params {
	rng := rand.New(rand.NewPCG(1, 2))
	p := NewParams(windows*components, k, 1, 1)
	for _, t := range p.Tensors() {
		for i := range *t.Data {
			(*t.Data)[i] = 0.1 + rng.Float64()
		}
	}
	for i := range p.PhaseUpper {
		p.PhaseUpper[i] = p.PhaseLower[i] + 2*math.Pi*rng.Float64()
	}
	if windows == 1 {
		return p
	}
	p.Windows = backend.Windows{Length: 2}
	for v := range windows {
		p.Windows.Center = append(p.Windows.Center, float64(v))
		for range components {
			p.ComponentWindow = append(p.ComponentWindow, v)
		}
	}
	return p
}

// idle is a backend that computes nothing, so that an evaluation measures the host alone.
type idle struct{}

func (idle) Name() string                                              { return "idle" }
func (idle) Open(backend.Data) (backend.Rows, error)                   { return idle{}, nil }
func (idle) Close() error                                              { return nil }
func (idle) CanSolve(*backend.Features) bool                           { return true }
func (idle) Moments(*backend.Moments, *backend.Features) error         { return nil }
func (idle) Pullback(_, _ *backend.Features, _ *backend.Moments) error { return nil }
func (idle) Factorized(s *backend.FactorizedSums, _ *backend.Features, _ *backend.Weights, _ []int) error {
	s.Value = 1
	return nil
}
func (idle) Predict(*backend.Prediction, *backend.Features, *backend.Posterior) error { return nil }
func (idle) Solve(*backend.Solution, *backend.Features, float64) error                { return nil }
func (idle) PullbackSolved(_, _ *backend.Features, _ backend.SolvedAdjoint) error     { return nil }

// idleRows opens a row for p on the idle backend, and returns the features' adjoint, which
// its pullbacks do not change.
func idleRows(t testing.TB, p *Params) (*Rows, *backend.Features) {
	t.Helper()
	data := backend.Data{N: 1, Q: 1, D: 1, X: []float64{0}, Y: []float64{100}, Windows: p.Windows}
	r := testkit.Must(Open(t.Context(), data, Setting{Backend: idle{}}))(t)
	f := p.Features()
	sums, s := r.workspace.sumsOf(f, 1), r.workspace.solutionOf(f, 1)
	bar := r.workspace.adjointOf(f)
	for i, a := range [][]float64{s.C, s.Mean, sums.Weights.Mean, sums.Weights.Var} {
		fill(a, i)
	}
	for _, f := range []*backend.Features{bar, sums.Features} {
		for i, a := range f.Fields() {
			fill(a.Data, i)
		}
	}
	return r, bar
}

func fill(a []float64, seed int) {
	for i := range a {
		a[i] = math.Sin(float64(i+seed)) / 100
	}
}

// TestSameBitsOnAnyCores checks that an evaluation, the noise level and the residual have the same bits for
// any number of cores, with several blocks of components and windows.
func TestSameBitsOnAnyCores(t *testing.T) {
	for _, p := range []*Params{chainParams(301, 40, 1), chainParams(70, 11, 3), chainParams(1, 700, 5)} {
		r, _ := idleRows(t, p)
		weight := make([]float64, p.Windows.Count())
		fill(weight, 1)
		numbers := func() (all []float64) {
			for _, evaluate := range []func() (*Evaluation, error){
				func() (*Evaluation, error) { return r.Exact(p, true) },
				func() (*Evaluation, error) { return r.Factorized(p, nil, nil, true) },
				func() (*Evaluation, error) { return r.Factorized(p, nil, weight, true) },
			} {
				e := testkit.Must(evaluate())(t)
				all = append(all, e.Bound)
				for _, tensor := range e.Gradient.Tensors() {
					all = append(all, *tensor.Data...)
				}
			}
			f := p.Features()
			s, size := dotExact(f.Freq, f.Decay)
			return append(all, s, size, sumSquares(f.Freq), NoiseLevel{Condition: 1}.At(p), r.spread(f, f.Offsets(), f.Freq, 1, 1e9))
		}
		testkit.SameOnCores(t, fmt.Sprint(p.M(), " features"), numbers)
	}
}

// TestLogarithms checks values whose product overflows, underflows or is not finite.
func TestLogarithms(t *testing.T) {
	all := []float64{1e-300, 1e300, 5e-324, 2, 1, math.MaxFloat64, 0.3}
	for range 1000 {
		all = append(all, 1e-3, 7, 0.9)
	}
	logs, want := newLogarithms(), 0.0
	for _, v := range all {
		logs.add(v)
		want += math.Log(v)
	}
	if got := logs.sum(); math.Abs(got-want) > 1e-13*1e4 {
		t.Errorf("Σ log v = %.17g, want %.17g", got, want)
	}
	for _, v := range []float64{math.NaN(), math.Inf(1), -1} {
		logs := newLogarithms()
		logs.add(v)
		if got, want := logs.sum(), math.Log(v); got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("log %v = %v, want %v", v, got, want)
		}
	}
}

func BenchmarkChainRule(b *testing.B) {
	for _, c := range chainShapes {
		p := chainParams(c.windows, c.components, c.k)
		r, bar := idleRows(b, p)
		f, w := r.workspace.featuresOf(p), &r.workspace
		solution := w.solutionOf(f, 1)
		for _, part := range []struct {
			name string
			do   func()
		}{
			{"features", func() { w.featuresOf(p) }},
			{"kl", func() { p.kl(nil, featureKL, nil) }},
			{"gradient", func() { p.pull(w.gradientOf(p), chain{scale: 1, features: bar, kl: featureKL}) }},
			{"residual", func() { r.residual(f, f.Offsets(), solution, 1) }},
			{"exact", func() { r.Exact(p, true) }},
			{"factorized", func() { r.Factorized(p, nil, nil, true) }},
		} {
			for _, cores := range []int{1, 2} {
				b.Run(fmt.Sprintf("%d/%s/cores=%d", p.M(), part.name, cores), func(b *testing.B) {
					defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
					b.ReportAllocs()
					for b.Loop() {
						part.do()
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*p.M()), "ns/feature")
				})
			}
		}
	}
}
