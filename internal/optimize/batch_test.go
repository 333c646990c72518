package optimize

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/modeltest"
	"github.com/vssgp/vssgp/variational"
)

// contiguous are models with windows and their mini-batch sizes.
var contiguous = []struct {
	kind modeltest.Kind
	size int
	gap  float64 // added to x > 2, which leaves windows without rows
	ties Ties
}{
	{modeltest.Kind{Name: "windows", N: 14, L: 4, K: 2, Q: 1, D: 2, Windows: 3}, 4, 0, Ties{}},
	{modeltest.Kind{Name: "windows", N: 14, L: 4, K: 2, Q: 1, D: 2, Windows: 3}, 1, 0, Ties{}},
	{modeltest.Kind{Name: "windows", N: 14, L: 4, K: 2, Q: 1, D: 2, Windows: 3}, 14, 0, Ties{}},
	{modeltest.Kind{Name: "shared components", N: 14, L: 7, K: 2, Q: 1, D: 1, Windows: 3}, 4, 0, Ties{Shared: true}},
	{modeltest.Kind{Name: "tied variances", N: 14, L: 5, K: 2, Q: 1, D: 1, Windows: 3}, 3, 0, Ties{Tensors: []string{"kernel.variance"}}},
	{modeltest.Kind{Name: "windows over two inputs", N: 12, L: 4, K: 2, Q: 2, D: 1, Windows: 3, Fixed: true}, 5, 0, Ties{}},
	{modeltest.Kind{Name: "windows without rows", N: 8, L: 6, K: 1, Q: 1, D: 1, Windows: 6}, 3, 0, Ties{}},
	{modeltest.Kind{Name: "a gap", N: 11, L: 9, K: 2, Q: 1, D: 1, Windows: 9}, 3, 9, Ties{}},
	{modeltest.Kind{Name: "a gap", N: 11, L: 9, K: 2, Q: 1, D: 1, Windows: 9}, 1, 9, Ties{}},
	{modeltest.Kind{Name: "windows without components", N: 12, L: 4, K: 2, Q: 1, D: 1, Windows: 6, Skip: 2}, 3, 0, Ties{}},
	{modeltest.Kind{Name: "one window", N: 8, L: 2, K: 2, Q: 1, D: 1, Windows: 1}, 3, 0, Ties{}},
	{modeltest.Kind{Name: "no windows", N: 8, L: 2, K: 2, Q: 1, D: 1}, 3, 0, Ties{}},
}

// newRun returns a run of p on the CPU, with data in the model's units.
func newRun(t testing.TB, data *backend.Data, p *variational.Params, s Settings) *Run {
	t.Helper()
	r := testkit.Must(New(t.Context(), *data, p, variational.Setting{Backend: cpu.New()}, s))(t)
	t.Cleanup(func() { r.Close() })
	return r
}

// TestContiguousUnbiased checks that the mean over all contiguous mini-batches of the bound, its
// gradient and the gradient of the log prior equal the values for all rows.
func TestContiguousUnbiased(t *testing.T) {
	for _, c := range contiguous {
		name := fmt.Sprintf("%s, %d rows of %d", c.kind.Name, c.size, c.kind.N)
		p, data := c.kind.Make()
		for i, x := range data.X {
			if c.gap > 0 && x > 2 {
				data.X[i] += c.gap
			}
		}
		r := newRun(t, data, p, Settings{Batch: c.size, Contiguous: true})
		coords := NewCoordinates(p, everything, c.ties, 2)
		coords.setPriors(p, somePriors(p.Q))
		shared, own := coords.byWindow(p)
		v, prior, sumPrior := make([]float64, coords.n), make([]float64, coords.n), make([]float64, coords.n)
		coords.read(v, p)
		coords.logPrior(coords.spans, v, prior, 1)
		full := testkit.Must(r.Rows.Factorized(p, nil, nil, true))(t)
		want, sum, g := make([]float64, coords.n), make([]float64, coords.n), make([]float64, coords.n)
		coords.pull(want, p, full.Gradient)
		b := r.newBatches()
		mean, bound, terms := 0.0, full.Bound, 0.0
		for at := range data.N {
			m := b.from(at)
			m.pullPrior(coords, v, sumPrior, shared, own)
			lo, hi := m.components(p)
			e, err := r.Rows.Factorized(p.Components(lo, hi), m.rows, m.weight, true)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			mean += e.Bound / float64(data.N)
			terms = max(terms, math.Abs(e.Bound))
			spans := m.spans(coords.spans, shared, own)
			coords.pullSpans(spans, g, p, e.Gradient, lo)
			for _, s := range spans {
				lo, hi := coords.coordinates(s)
				for i := lo; i < hi; i++ {
					sum[i] += g[i] / float64(data.N)
				}
			}
		}
		if math.Abs(mean-bound) > 1e-12*terms {
			t.Errorf("%s: mean of the estimates %.15g, the bound is %.15g", name, mean, bound)
		}
		modeltest.Near(t, name+": mean gradient", sum, want, 1e-12)
		for i := range sumPrior {
			sumPrior[i] /= float64(data.N)
		}
		modeltest.Near(t, name+": mean gradient of the prior", sumPrior, prior, 1e-12)
	}
}

// TestBatchLeavesOthersAlone checks that a contiguous mini-batch neither reads nor updates
// windows that it does not overlap, and that its bound does not depend on their number.
func TestBatchLeavesOthersAlone(t *testing.T) {
	c := modeltest.Kind{Name: "long", N: 40, L: 24, K: 2, Q: 1, D: 1, Windows: 12}
	p, data := c.Make()
	for i := range data.X {
		data.X[i] = 24 * float64(i) / 40
	}
	r := newRun(t, data, p, Settings{Batch: 3, Contiguous: true})
	for at := range data.N - 3 {
		m := r.newBatches().from(at)
		if n := len(m.met); n < 2 || n > 4 {
			t.Fatalf("rows %v meet windows %v, want two to four", m.rows, m.met)
		}
		spoilt := p.Clone()
		for i, v := range p.ComponentWindow {
			if !slices.Contains(m.met, v) {
				part := spoilt.Components(i, i+1)
				for _, tensor := range part.Tensors() {
					for j := range *tensor.Data {
						if tensor.PerComponent(part.L) > 0 {
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
		e, err := r.Rows.Factorized(spoilt.Components(lo, hi), m.rows, m.weight, true)
		if err != nil {
			t.Fatalf("rows %v: %v", m.rows, err)
		}
		whole, err := r.Rows.Factorized(p, m.rows, m.weight, false)
		if err != nil || math.Abs(e.Bound-whole.Bound) > 1e-13*math.Abs(whole.Bound) {
			t.Errorf("rows %v: %.15g of their windows, %.15g of all (%v)", m.rows, e.Bound, whole.Bound, err)
		}
	}
	before := p.Clone()
	r.Inference = variational.Stochastic
	testkit.Must(r.take(stage{"all", everything, 1, true}))(t)
	met := append([]int{-1}, r.newBatches().next().met...)
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

// standardErrors is the maximum distance of an estimate from its mean, in standard errors.
const standardErrors = 5

// TestBatches checks that all rows are equally likely, that the rows of a batch are distinct,
// that contiguous ones are neighbors, and that the estimate of the bound is unbiased.
func TestBatches(t *testing.T) {
	p, data := modeltest.Kind{Name: "batches", N: 37, L: 1, K: 5, Q: 1, D: 1}.Make()
	all := testkit.Must(opened(t, data).Factorized(p, nil, nil, false))(t)
	full := all.Bound
	rank := make([]int, data.N)
	for n := range rank {
		for _, x := range data.X {
			if x < data.X[n] {
				rank[n]++
			}
		}
	}
	for _, contiguous := range []bool{false, true} {
		r := newRun(t, data, p, Settings{Batch: 8, Contiguous: contiguous, Seed: 4})
		b := r.newBatches()
		const draws = 6000
		count := make([]float64, data.N)
		var sum, square float64
		for range draws {
			rows := b.next().rows
			checkBatch(t, rows, rank, contiguous)
			for _, n := range rows {
				count[n]++
			}
			e := testkit.Must(r.Rows.Factorized(p, rows, nil, false))(t)
			sum += e.Bound - full
			square += (e.Bound - full) * (e.Bound - full)
		}
		if z := math.Abs(sum/draws) / math.Sqrt(square) * draws; z > standardErrors {
			t.Errorf("contiguous %v: the estimate is %.1f standard errors from the bound", contiguous, z)
		}
		share := 8.0 / 37
		for n, c := range count {
			if z := math.Abs(c-draws*share) / math.Sqrt(draws*share*(1-share)); z > standardErrors {
				t.Errorf("contiguous %v: row %d is in %g of %d batches, want %g", contiguous, n, c, draws, draws*share)
			}
		}
	}
}

// checkBatch checks that a batch has 8 different rows and, if contiguous, that they are neighbors
// along x, where the first row follows the last.
func checkBatch(t *testing.T, rows, rank []int, contiguous bool) {
	t.Helper()
	sorted := slices.Clone(rows)
	slices.Sort(sorted)
	if len(slices.Compact(sorted)) != 8 {
		t.Fatalf("batch %v, want 8 different rows", rows)
	}
	for i := 1; contiguous && i < len(rows); i++ {
		if rank[rows[i]] != (rank[rows[i-1]]+1)%len(rank) {
			t.Fatalf("batch %v: rows %d and %d are not neighbors", rows, rows[i-1], rows[i])
		}
	}
}
