package optimize

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/internal/optimize/lbfgs"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/modeltest"
	"github.com/vssgp/vssgp/variational"
)

// TestSameBitsOnAnyCores checks that coordinates, parameters and gradients have the same bits on any number of
// cores, tied or not, and that an invalid number is found in any block.
func TestSameBitsOnAnyCores(t *testing.T) {
	p, _ := modeltest.Kind{Name: "cores", N: 10, L: 6000, K: 3, Q: 1, D: 1, Windows: 150}.Make()
	for _, ties := range []Ties{{}, {Shared: true}, {Tensors: tieable}} {
		c := coordinatesOf(p, everything, ties, 2, variational.NoiseLevel{Condition: 1e-9})
		numbers := func() (all []float64) {
			v, g, to := make([]float64, c.n), make([]float64, c.n), p.Clone()
			c.read(v, p)
			for i := range v {
				v[i] += math.Sin(float64(i))
			}
			c.write(to, v)
			c.pull(g, to, p.Clone())
			for _, tensor := range to.Tensors() {
				all = append(all, *tensor.Data...)
			}
			return append(all, g...)
		}
		testkit.SameOnCores(t, fmt.Sprintf("ties %+v", ties), numbers)
	}
	for _, i := range []int{0, 8191, 8192, 17_999} {
		bad := p.Clone()
		bad.FreqVar[i], bad.FreqVar[17_999] = -1, math.NaN()
		if err := bad.Check(); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("[%d] is", i)) {
			t.Errorf("entry %d is wrong: %v", i, err)
		}
	}
}

// BenchmarkHost measures the time of an iteration of L-BFGS without the bound, for 3 750 windows
// of 40 features with eight coordinates each.
func BenchmarkHost(b *testing.B) {
	p, _ := modeltest.Kind{Name: "host", N: 10, L: 150_000, K: 1, Q: 1, D: 1, Windows: 3750}.Make()
	grad := p.Clone()
	c := coordinatesOf(p, append(hyperparameters, FeatureTensors...), Ties{}, 2, variational.NoiseLevel{Condition: 1e-9})
	c.setPriors(p, Priors{})
	v, g := make([]float64, c.n), make([]float64, c.n)
	c.read(v, p)
	near := func(x, g []float64) (float64, error) { // the maximum is at 0
		f := 0.0
		for i, x := range x {
			steep := 1 + float64(i%7)
			g[i] = -steep * x
			f -= steep * x * x / 2
		}
		return f, nil
	}
	step := func(blocks []lbfgs.Block) func() {
		s := &lbfgs.State{X: append([]float64(nil), v...), G: make([]float64, c.n)}
		s.F, _ = near(s.X, s.G)
		set := lbfgs.Settings{Blocks: blocks, PerBlockGain: -1e300, Gain: -1e300}
		return func() {
			set.Iterations = max(s.Iterations, lbfgs.Memory) + 1 // all pairs are stored
			testkit.Must(lbfgs.Maximize(near, s, set))(b)
		}
	}
	together, perWindow := step(nil), step(c.blocks(p, 0))
	together()
	perWindow()
	for _, part := range []struct {
		name string
		do   func()
	}{
		{"write", func() { c.write(p, v) }},
		{"check", func() { p.Check() }},
		{"pull", func() { c.pull(g, p, grad) }},
		{"prior", func() { c.logPrior(c.spans, v, g, 1) }},
		{"function", func() { near(v, g) }},
		{"together", together},
		{"per window", perWindow},
	} {
		for _, cores := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/cores=%d", part.name, cores), func(b *testing.B) {
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
