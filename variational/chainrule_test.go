package variational

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/vssgp/vssgp/spectral"
)

// chainShapes are models whose evaluations cost the host something: windows×components×K
// features.
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
	p.Windows = spectral.Windows{Length: 2}
	for v := range windows {
		p.Windows.Center = append(p.Windows.Center, float64(v))
		for range components {
			p.ComponentWindow = append(p.ComponentWindow, v)
		}
	}
	return p
}

// idle is a backend that leaves whatever it is to fill in as it is, so that an evaluation
// is the host's share alone.
type idle struct{}

func (idle) Name() string                                                { return "idle" }
func (idle) Open(spectral.Data) (spectral.Rows, error)                   { return idle{}, nil }
func (idle) Close() error                                                { return nil }
func (idle) CanSolve(*spectral.Features) bool                            { return true }
func (idle) Moments(*spectral.Moments, *spectral.Features) error         { return nil }
func (idle) Pullback(_, _ *spectral.Features, _ *spectral.Moments) error { return nil }
func (idle) Factorised(s *spectral.FactorisedSums, _ *spectral.Features, _ *spectral.Weights, _ []int) error {
	s.Value = 1
	return nil
}
func (idle) Predict(*spectral.Prediction, *spectral.Features, *spectral.Posterior) error { return nil }
func (idle) Solve(*spectral.Solution, *spectral.Features, float64) error                 { return nil }
func (idle) PullbackSolved(_, _ *spectral.Features, _ spectral.SolvedAdjoint) error      { return nil }

func BenchmarkChainRule(b *testing.B) {
	for _, c := range chainShapes {
		p := chainParams(c.windows, c.components, c.k)
		r, err := Open(b.Context(), spectral.Data{N: 1, Q: 1, D: 1, X: []float64{0}, Y: []float64{100}, Windows: p.Windows}, Setting{Backend: idle{}})
		if err != nil {
			b.Fatal(err)
		}
		f, w := r.workspace.featuresOf(p), &r.workspace
		bar, solution := w.adjointOf(f), w.solutionOf(f, 1)
		for _, a := range bar.Fields() {
			for i := range a.Data {
				a.Data[i] = 1 / float64(i+1)
			}
		}
		for _, part := range []struct {
			name string
			do   func()
		}{
			{"features", func() { w.featuresOf(p) }},
			{"kl", func() { p.kl(nil, featureKL, nil) }},
			{"gradient", func() { p.pull(w.gradientOf(p), chain{scale: 1, features: bar, kl: featureKL}) }},
			{"residual", func() { r.residual(f, f.Offsets(), solution, 1) }},
			{"exact", func() { r.Exact(p, true) }},
			{"factorised", func() { r.Factorised(p, nil, nil, true) }},
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
