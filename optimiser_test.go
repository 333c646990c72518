package vssgp

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"
)

// drifting is n samples of six sinusoids whose frequencies and loudness drift,
// with noise: every stretch has a spectrum of its own.
func drifting(n int, seed uint64) *Data {
	rng := newRNG(seed)
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

// optimiserStarts are two starts with windows of 512
// samples.
var optimiserStarts = map[string]Options{
	"spectrum": {Window: 512, Components: 8},
	"paper":    {Window: 512, Init: InitPaper, Lengthscales: []float64{200, 200, 200, 200}, Periods: []float64{50, 10, 5, 3}, Features: 5},
}

// optimaApart is how far apart two optimisers' ends may lie, as a share of their
// rise: the stopping rule leaves a slow tail.
const optimaApart = 0.01

// counted is how many evaluations of the bound a stage's optimiser took, and
// the best bound after each.
func counted(t testing.TB, data *Data, o Options, evaluations int) []float64 {
	t.Helper()
	m, err := New(data, o)
	if err != nil {
		t.Fatal(err)
	}
	f, err := newFitting(context.Background(), m, data, o)
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	f.ctx = ctx
	var best []float64
	f.evaluated = func(bound float64) {
		if n := len(best); n > 0 {
			bound = max(bound, best[n-1])
		}
		if best = append(best, bound); len(best) == evaluations {
			cancel()
		}
	}
	if _, err := f.ascend(stage{"all", f.unfixed(f.freeTensors()), evaluations, false}, Exact); err != nil && ctx.Err() == nil {
		t.Fatal(err)
	}
	return best
}

// TestBlocksOwnTheirWindows: every coordinate belongs to one block; moving a
// window's moves the parameters of that window's components and no others.
func TestBlocksOwnTheirWindows(t *testing.T) {
	for _, c := range []struct {
		kind kind
		free []string
		ties ties
	}{
		{kind{name: "b1", n: 9, l: 7, k: 2, q: 1, d: 2, windows: 3}, everything, ties{}},
		{kind{name: "b2", n: 9, l: 7, k: 4, q: 2, d: 1, windows: 4, fixed: true, variance: -1}, everything, ties{twins: true}},
		{kind{name: "b3", n: 9, l: 5, k: 3, q: 1, d: 1, windows: 6, skip: 2}, feature, ties{}},
		{kind{name: "b4", n: 9, l: 5, k: 3, q: 1, d: 1, windows: 6}, []string{"noise.precision"}, ties{}},
		{kind{name: "b5", n: 9, l: 9, k: 2, q: 1, d: 1, windows: 3}, everything, ties{shared: true}},
		{kind{name: "b6", n: 9, l: 9, k: 2, q: 1, d: 1, windows: 3}, hyper, ties{tensors: tieable}},
	} {
		p, _ := c.kind.make()
		if c.ties.twins {
			paired(p)
		}
		ch := newChart(p, c.free, c.ties, 2)
		v := make([]float64, ch.n)
		ch.read(v, p)
		owned := make([]int, ch.n)
		for _, b := range ch.blocks(p) {
			moved := slices.Clone(v)
			for _, r := range b.Own {
				for i := r.Lo; i < r.Hi; i++ {
					owned[i]++
					moved[i] += 0.1
				}
			}
			to := p.Clone()
			ch.write(to, moved)
			w := windowsMoved(p, to)
			one := len(w) == 1 && w[0] >= 0
			if tied := c.ties.shared || c.ties.tensors != nil; one == b.Shared || (!tied && len(w) != 1) {
				t.Errorf("%s: a block (shared: %v) moves windows %v, want one alone", c.kind.name, b.Shared, w)
			}
		}
		for i, n := range owned {
			if n != 1 {
				t.Errorf("%s: coordinate %d is in %d blocks, want one", c.kind.name, i, n)
			}
		}
	}
}

// windowsMoved are the windows whose parameters differ by more than rounding;
// −1 stands for what no window owns.
func windowsMoved(a, b *Params) []int {
	var moved []int
	other := b.Tensors()
	for t, tensor := range a.Tensors() {
		for i, x := range *tensor.Data {
			if math.Abs((*other[t].Data)[i]-x) <= 1e-12*math.Abs(x) {
				continue
			}
			w := -1
			if tensor.Name != "noise.precision" {
				w = a.ComponentWindow[i*a.L/len(*tensor.Data)]
			}
			if !slices.Contains(moved, w) {
				moved = append(moved, w)
			}
		}
	}
	return moved
}

// TestOptimisersAgree: from near an optimum both end at its bound, within what
// their stopping rule leaves open.
func TestOptimisersAgree(t *testing.T) {
	data := drifting(256*6, 1)
	o := optimiserStarts["spectrum"]
	o.Iterations = 2000
	from, _ := mustFit(t, data, o)
	rng := newRNG(5)
	for i := range from.Params.Location {
		from.Params.Location[i] += 0.2 * rng.NormFloat64()
		from.Params.FreqVar[i] *= math.Exp(0.2 * rng.NormFloat64())
	}
	start := evaluated(t, from, data).Bound
	var end [2]float64
	for i, by := range []Optimiser{OptimiserGlobal, OptimiserWindows} {
		_, r := mustFit(t, data, Options{From: from, Optimiser: by, Iterations: 2000})
		if end[i] = r.Bound; r.Starts[0].Ended != "converged" {
			t.Errorf("%s: ended %q after %d iterations", by, r.Starts[0].Ended, r.Iterations)
		}
	}
	t.Logf("from %.3f: global to %.3f, windows to %.3f", start, end[0], end[1])
	if d := math.Abs(end[0] - end[1]); d > optimaApart*(end[0]-start) {
		t.Errorf("from %.3f global comes to %.3f, windows to %.3f", start, end[0], end[1])
	}
}

// TestOptimiserOfManyWindows: the default, and the reason for it.
func TestOptimiserOfManyWindows(t *testing.T) {
	const after = 25
	for windows, want := range map[int]Optimiser{8: OptimiserGlobal, 40: OptimiserWindows} {
		data := drifting(256*windows, 1)
		at := map[Optimiser]float64{}
		for _, by := range []Optimiser{"", OptimiserGlobal, OptimiserWindows} {
			o := optimiserStarts["spectrum"]
			o.Optimiser = by
			best := counted(t, data, o, after)
			at[by] = best[len(best)-1]
		}
		if at[""] != at[want] {
			t.Errorf("%d windows: the default reaches %v, %s %v", windows, at[""], want, at[want])
		}
		if windows >= apartWindows && at[OptimiserWindows] <= at[OptimiserGlobal] {
			t.Errorf("%d windows: bound %v after %d evaluations, global %v: want more", windows, at[OptimiserWindows], after, at[OptimiserGlobal])
		}
	}
}

// BenchmarkOptimiser reports, over four recordings, the mean bound in nats for
// each 256 rows after so many evaluations (global50, windows50), and how many
// of OptimiserWindows reach what OptimiserGlobal has then (as50); 400 stands
// for never.
//
//	go test -run '^$' -bench Optimiser -benchtime 1x .
func BenchmarkOptimiser(b *testing.B) {
	const sets, most = 4, 400
	marks := []int{10, 25, 50, 100, 200, most}
	for _, start := range []string{"spectrum", "paper"} {
		for _, windows := range []int{4, 16, 64, 256} {
			b.Run(fmt.Sprintf("%s/windows=%d", start, windows), func(b *testing.B) {
				share := 1 / float64(sets*windows)
				for range b.N {
					mean := map[Optimiser][]float64{}
					for _, by := range []Optimiser{OptimiserGlobal, OptimiserWindows} {
						mean[by] = make([]float64, most)
						for seed := range uint64(sets) {
							o := optimiserStarts[start]
							o.Optimiser = by
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
						reached, _ := slices.BinarySearch(mean[OptimiserWindows], mean[OptimiserGlobal][n-1])
						b.ReportMetric(float64(min(reached+1, most)), fmt.Sprintf("as%d", n))
					}
				}
			})
		}
	}
}
