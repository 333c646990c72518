package vssgp

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// contiguous are models under windows and the sizes of their mini-batches.
var contiguous = []struct {
	kind kind
	size int
	gap  float64 // rows beyond 2 are moved so far: windows without rows between
	ties ties
}{
	{kind{name: "windows", n: 14, l: 4, k: 2, q: 1, d: 2, windows: 3}, 4, 0, ties{}},
	{kind{name: "windows", n: 14, l: 4, k: 2, q: 1, d: 2, windows: 3}, 1, 0, ties{}},
	{kind{name: "windows", n: 14, l: 4, k: 2, q: 1, d: 2, windows: 3}, 14, 0, ties{}},
	{kind{name: "shared components", n: 14, l: 7, k: 2, q: 1, d: 1, windows: 3}, 4, 0, ties{shared: true}},
	{kind{name: "tied variances", n: 14, l: 5, k: 2, q: 1, d: 1, windows: 3}, 3, 0, ties{tensors: []string{"kernel.variance"}}},
	{kind{name: "windows over two inputs", n: 12, l: 4, k: 2, q: 2, d: 1, windows: 3, fixed: true}, 5, 0, ties{}},
	{kind{name: "windows without rows", n: 8, l: 6, k: 1, q: 1, d: 1, windows: 6}, 3, 0, ties{}},
	{kind{name: "a gap", n: 11, l: 9, k: 2, q: 1, d: 1, windows: 9}, 3, 9, ties{}},
	{kind{name: "a gap", n: 11, l: 9, k: 2, q: 1, d: 1, windows: 9}, 1, 9, ties{}},
	{kind{name: "windows without components", n: 12, l: 4, k: 2, q: 1, d: 1, windows: 6, skip: 2}, 3, 0, ties{}},
	{kind{name: "one window", n: 8, l: 2, k: 2, q: 1, d: 1, windows: 1}, 3, 0, ties{}},
	{kind{name: "no windows", n: 8, l: 2, k: 2, q: 1, d: 1}, 3, 0, ties{}},
}

// TestContiguousUnbiased: the mean over all contiguous mini-batches of the
// bound, and of its gradient by the chart's coordinates, is the full one's.
func TestContiguousUnbiased(t *testing.T) {
	for _, c := range contiguous {
		name := fmt.Sprintf("%s, %d rows of %d", c.kind.name, c.size, c.kind.n)
		p, data := c.kind.make()
		for i, x := range data.X {
			if c.gap > 0 && x > 2 {
				data.X[i] += c.gap
			}
		}
		f, err := newFitting(context.Background(), mustModel(t, p), data, Options{Batch: c.size, Contiguous: true})
		if err != nil {
			t.Fatal(err)
		}
		ch := newChart(p, everything, c.ties, 2)
		shared, own := ch.byWindow(p)
		full, err := f.held.factorised(p, nil, true)
		if err != nil {
			t.Fatal(err)
		}
		want, sum, g := make([]float64, ch.n), make([]float64, ch.n), make([]float64, ch.n)
		ch.pull(want, p, full.Gradient)
		b := f.newBatches()
		mean, bound, terms := 0.0, full.Bound, 0.0
		for at := range data.N {
			m := b.from(at)
			lo, hi := m.components(p)
			e, err := f.held.batch(p.components(lo, hi), m.rows, m.weight, true)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			mean += e.Bound / float64(data.N)
			terms = max(terms, math.Abs(e.Bound))
			spans := m.spans(ch.spans, shared, own)
			ch.pullSpans(spans, g, p, e.Gradient, lo)
			for _, s := range spans {
				lo, hi := ch.coordinates(s)
				for i := lo; i < hi; i++ {
					sum[i] += g[i] / float64(data.N)
				}
			}
		}
		f.close()
		if math.Abs(mean-bound) > 1e-12*terms {
			t.Errorf("%s: mean of the estimates %.15g, the bound is %.15g", name, mean, bound)
		}
		near(t, name+": mean gradient", sum, want, 1e-12)
	}
}

// TestBatchLeavesOthersAlone: a contiguous mini-batch neither reads nor moves
// windows that it does not meet, and how many there are leaves what it
// computes as it is.
func TestBatchLeavesOthersAlone(t *testing.T) {
	c := kind{name: "long", n: 40, l: 24, k: 2, q: 1, d: 1, windows: 12}
	p, data := c.make()
	for i := range data.X {
		data.X[i] = 24 * float64(i) / 40
	}
	f, err := newFitting(context.Background(), mustModel(t, p), data, Options{Batch: 3, Contiguous: true})
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	for at := range data.N - 3 {
		m := f.newBatches().from(at)
		if n := len(m.met); n < 2 || n > 4 {
			t.Fatalf("rows %v meet windows %v, want two to four", m.rows, m.met)
		}
		spoilt := p.Clone()
		for i, v := range p.ComponentWindow {
			if !slices.Contains(m.met, v) {
				part := spoilt.components(i, i+1)
				for _, tensor := range part.Tensors() {
					for j := range *tensor.Data {
						if entries(tensor, part.L) > 0 {
							(*tensor.Data)[j] = math.NaN()
						}
					}
				}
			}
		}
		lo, hi := m.components(spoilt)
		if hi-lo > 2*len(m.met) {
			t.Errorf("rows %v: components %d to %d for windows %v, which have two each", m.rows, lo, hi, m.met)
		}
		e, err := f.held.batch(spoilt.components(lo, hi), m.rows, m.weight, true)
		if err != nil {
			t.Fatalf("rows %v: %v", m.rows, err)
		}
		whole, err := f.held.batch(p, m.rows, m.weight, false)
		if err != nil || math.Abs(e.Bound-whole.Bound) > 1e-13*math.Abs(whole.Bound) {
			t.Errorf("rows %v: %.15g of their windows, %.15g of all (%v)", m.rows, e.Bound, whole.Bound, err)
		}
	}
	before := p.Clone()
	f.o.Inference = Stochastic
	if _, err := f.stochastic(stage{"all", everything, 1, true}); err != nil {
		t.Fatal(err)
	}
	met := append([]int{-1}, f.newBatches().next().met...)
	moved := windowsMoved(before, p)
	for _, v := range moved {
		if !slices.Contains(met, v) {
			t.Errorf("a step on windows %v moved window %d", met, v)
		}
	}
	if len(moved) != len(met) {
		t.Errorf("a step on windows %v moved %v", met, moved)
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
				data, o := drifting(256*windows, 1), optimiserStarts["paper"]
				o.Inference, o.Contiguous = Stochastic, contiguous
				m, err := New(data, o)
				if err != nil {
					b.Fatal(err)
				}
				p := m.Params
				p.CoefMean, p.CoefVar = make([]float64, p.M()), slices.Repeat([]float64{1}, p.M())
				f, err := newFitting(context.Background(), m, data, o)
				if err != nil {
					b.Fatal(err)
				}
				defer f.close()
				f.o.Iterations = 1
				if _, err := f.stochastic(stage{"all", everything, 1, true}); err != nil {
					b.Fatal(err)
				}
				b.ResetTimer()
				if _, err := f.stochastic(stage{"all", everything, b.N, true}); err != nil {
					b.Fatal(err)
				}
			})
		}
	}
}

// TestContiguousStarts: a contiguous mini-batch begins at every row now and then,
// the last among them.
func TestContiguousStarts(t *testing.T) {
	b := &batches{order: make([]int, 9), size: 2, contiguous: true, rng: rand.New(rand.NewPCG(1, 1))}
	for i := range b.order {
		b.order[i] = i
	}
	b.out.rows = make([]int, b.size)
	begun := map[int]int{}
	for range 900 {
		begun[b.next().rows[0]]++
	}
	for i := range b.order {
		if begun[i] < 50 {
			t.Errorf("of 900 mini-batches of 9 rows %d begin with row %d, want about 100", begun[i], i)
		}
	}
}
