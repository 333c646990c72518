package vssgp

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/internal/optimize"
	"github.com/vssgp/vssgp/internal/testkit/modeltest"
)

// drifting is n samples of six sinusoids whose frequencies and loudness drift,
// with noise: every stretch has a spectrum of its own.
func drifting(n int, seed uint64) *Data {
	rng := modeltest.NewRNG(seed)
	d := &Data{N: n, Q: 1, D: 1}
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
		d.X, d.Y = append(d.X, float64(n)), append(d.Y, y)
	}
	return d
}

// optimizerStarts are two starts with windows of 512 samples.
var optimizerStarts = map[string]Options{
	"spectrum": {Windows: WindowOptions{Length: 512}, Components: 8},
	"paper":    {Windows: WindowOptions{Length: 512}, Init: InitPaper, Paper: PaperOptions{Lengthscales: []float64{200, 200, 200, 200}, Periods: []float64{50, 10, 5, 3}}, Features: 5},
}

// optimaApart is how far apart two optimizers' ends may lie, as a share of their
// rise: the stopping rule leaves a slow tail.
const optimaApart = 0.01

// started is the problem of a fit and the model of its first start.
func started(t testing.TB, data *Data, o Options) (*problem, *Model) {
	t.Helper()
	f, err := o.problem(data)
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := f.initialize(t.Context(), f.init, o.Seed)
	if err != nil {
		t.Fatal(err)
	}
	return f, m
}

// counted is how many evaluations of the bound a stage's optimizer took, and
// the best bound after each.
func counted(t testing.TB, data *Data, o Options, evaluations int) []float64 {
	t.Helper()
	f, m := started(t, data, o)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	set := f.o.optimize(f.init, o.Seed)
	set.Random, set.Iterations = false, evaluations // one stage in which everything moves
	run, err := f.run(ctx, f.rows, m, set)
	if err != nil {
		t.Fatal(err)
	}
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
	if err := run.Begin(nil); err != nil {
		t.Fatal(err)
	}
	if _, err := run.Optimize(); err != nil && ctx.Err() == nil {
		t.Fatal(err)
	}
	return best
}

// TestOptimizersAgree: from near an optimum both end at its bound, within what
// their stopping rule leaves open.
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
	if d := math.Abs(end[0] - end[1]); d > optimaApart*(end[0]-start) {
		t.Errorf("from %.3f global comes to %.3f, windows to %.3f", start, end[0], end[1])
	}
}

// TestOptimizerOfManyWindows: the default, and the reason for it.
func TestOptimizerOfManyWindows(t *testing.T) {
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
			t.Errorf("%d windows: bound %v after %d evaluations, global %v: want more", windows, at[OptimizerWindows], after, at[OptimizerGlobal])
		}
	}
}

// BenchmarkOptimizer reports, over four recordings, the mean bound in nats for
// each 256 rows after so many evaluations (global50, windows50), and how many
// of OptimizerWindows reach what OptimizerGlobal has then (as50); 400 stands
// for never.
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

// BenchmarkContiguousStep is a step of stochastic inference on 512 rows under
// windows of 512, of recordings of different lengths:
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
					set.Random, set.Iterations = false, n // one stage in which everything moves
					run, err := f.run(b.Context(), f.rows, m, set)
					if err != nil {
						b.Fatal(err)
					}
					if err := run.Begin(nil); err != nil {
						b.Fatal(err)
					}
					b.Cleanup(func() { run.Close() })
					return run
				}
				if _, err := steps(1).Optimize(); err != nil {
					b.Fatal(err)
				}
				run := steps(b.N)
				b.ResetTimer()
				if _, err := run.Optimize(); err != nil {
					b.Fatal(err)
				}
			})
		}
	}
}
