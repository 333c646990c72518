package vssgp

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// tonal is n rows one step apart, two tones in noise, of which a share is left
// out at random.
func tonal(n int, missing float64) *Data {
	rng := rand.New(rand.NewPCG(4, 4))
	d := &Data{Q: 1, D: 1}
	for i := range n {
		if i > 1 && i < n-1 && rng.Float64() < missing {
			continue
		}
		x := float64(i)
		d.N++
		d.X = append(d.X, x)
		d.Y = append(d.Y, math.Sin(0.0131*x)+0.5*math.Sin(0.31*x+1)+0.1*rng.NormFloat64())
	}
	return d
}

func gridOf(d *Data) *grid { return newGrid(d.X, d.Y, d.D, 1, 0) }

// TestLongSpectrum: a stretch beyond spectrumLongest is read by its
// periodogram, whose cells hold what the stretch does and tones in one or two.
func TestLongSpectrum(t *testing.T) {
	d := tonal(20_000, 0)
	g := gridOf(d)
	n := float64(d.N)
	centre, count := (n-1)/2, g.cellCount(n)
	masses := g.periodogram(t.Context(), centre, n, count)
	lo, hi := g.stretch(centre, n)
	s, weight := g.tapered(g.y[0], lo, hi, centre, n)
	held := 0.0
	for _, m := range masses {
		held += m
	}
	if want := dotSelf(s) / weight; hi-lo != d.N || math.Abs(held-want) > 1e-12*want {
		t.Errorf("the cells of %d places hold %v, want %v", hi-lo, held, want)
	}
	ranks := g.ranks(t.Context(), []float64{centre}, n, n, 10, false)
	got := ranks[0].cells
	for _, w := range []float64{0.0131, 0.31} {
		if f := w / (2 * math.Pi); !slices.ContainsFunc(got, func(c cell) bool { return math.Abs(c.freq-f) < 1/n }) {
			t.Errorf("none of the ten heaviest cells is at the tone %v: %v", f, got)
		}
	}
	share := 0.0
	for _, c := range got {
		share += c.mass
	}
	if !(share > 0.95*held) {
		t.Errorf("ten cells hold %v of %v", share, held)
	}
}

// TestStartIsLinear: sixteen times the rows take the start about sixteen times
// as long, by its count and by the clock. Quadratic, it would be 256 times; 80
// leaves room for whatever else the machine does.
func TestStartIsLinear(t *testing.T) {
	const few, many = 1 << 13, 1 << 17
	for _, missing := range []float64{0, 0.05, 0.4, 0.7} {
		work := func(n int) float64 {
			flops, _ := gridOf(tonal(n, missing)).startWork([]float64{0}, 1, true)
			return flops
		}
		// A fill beyond fillWork takes tiles of less and less, so that its count may fall.
		if r := work(4*many) / work(many); r > 6 {
			t.Errorf("%v missing: four times the rows, %v times the operations", missing, r)
		}
	}
	took := func(n int) time.Duration {
		d, best := tonal(n, 0), time.Duration(math.MaxInt64)
		for range 2 {
			at := time.Now()
			if _, err := New(d, Options{Window: WindowNone, Inference: Stochastic}); err != nil {
				t.Fatal(err)
			}
			best = min(best, time.Since(at))
		}
		return best
	}
	if a, b := took(few), took(many); b > 80*a {
		t.Errorf("%d rows take %v to start, %d rows %v", few, a, many, b)
	}
}

// TestStartCancelled: a start that would take long ends soon after its context
// does, wherever it stands.
func TestStartCancelled(t *testing.T) {
	d := tonal(1<<18, 0.4)
	for _, after := range []time.Duration{0, 300 * time.Millisecond, 1500 * time.Millisecond} {
		ctx, stop := context.WithTimeout(t.Context(), after)
		began := time.Now()
		_, err := newModel(ctx, d, Options{Window: WindowNone, Inference: Stochastic})
		late := time.Since(began) - after
		stop()
		if !errors.Is(err, context.DeadlineExceeded) || late > 4*time.Second {
			t.Errorf("after %v: %v, %v late", after, err, late)
		}
	}
}

// TestDirectMean: from all rows it is the exact one, from half of them nearly.
func TestDirectMean(t *testing.T) {
	d := tonal(4000, 0)
	m, err := New(d, Options{Window: WindowNone, Inference: Stochastic})
	if err != nil {
		t.Fatal(err)
	}
	f, err := newFitting(t.Context(), m, d, Options{Window: WindowNone, Inference: Stochastic})
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	var all, half []int
	for i := range d.N {
		all = append(all, i)
		if i%2 == 0 {
			half = append(half, i)
		}
	}
	bound := func(diag, mean []float64) float64 {
		p := m.Params.Clone()
		p.CoefMean, p.CoefVar = mean, make([]float64, len(mean))
		for i := range p.CoefVar {
			p.CoefVar[i] = 1 / (1 + p.NoisePrecision[0]*diag[i])
		}
		e, err := f.held.factorised(p, nil, false)
		if err != nil {
			t.Fatal(err)
		}
		return e.Bound
	}
	diag, mean, err := f.directMean(nil)
	if err != nil {
		t.Fatal(err)
	}
	best, zero := bound(diag, mean), bound(diag, make([]float64, len(mean)))
	for _, c := range []struct {
		rows   []int
		within float64
	}{{all, 1e-9}, {half, 0.05}} {
		diag, mean, err := f.directMean(c.rows)
		if err != nil {
			t.Fatal(err)
		}
		if near := bound(diag, mean); math.Abs(best-near) > c.within*(best-zero) {
			t.Errorf("%d rows: the bound is %v, of all rows %v, at a mean of zero %v", len(c.rows), near, best, zero)
		}
	}
}

// TestPlanStart: the start's operations and bytes are in the plan, and grow as
// the rows do.
func TestPlanStart(t *testing.T) {
	plan := func(n int, o Options) *Plan {
		p, err := NewPlan(tonal(n, 0), o)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	a, b := plan(1<<17, Options{Window: WindowNone, Inference: Stochastic}), plan(1<<18, Options{Window: WindowNone, Inference: Stochastic})
	if r := b.StartFlops / a.StartFlops; !(a.StartFlops > 0) || r > 3 || b.Flops() < b.StartFlops {
		t.Errorf("operations of the start: %v, of twice the rows %v, of all %v", a.StartFlops, b.StartFlops, b.Flops())
	}
	if r := b.StartBytes / a.StartBytes; r < 1.5 || r > 3 || b.PeakBytes < max(b.RowBytes, b.StartBytes) {
		t.Errorf("bytes of the start: %v, of twice the rows %v", a.StartBytes, b.StartBytes)
	}
	if p := plan(100, Options{Init: InitPaper}); p.StartFlops != 0 || p.StartBytes != 0 {
		t.Errorf("the paper's start reads no spectrum: %+v", p)
	}
}

// TestWideData: data on their side are refused before anything is made of them.
func TestWideData(t *testing.T) {
	d := &Data{N: 2, Q: MaxInputs + 1, D: 1, X: make([]float64, 2*(MaxInputs+1)), Y: []float64{1, 2}}
	if _, err := New(d, Options{}); !errors.Is(err, ErrData) {
		t.Errorf("%d inputs: %v", d.Q, err)
	}
}

// TestStochasticOfMany: a stochastic fit of more rows than its mean starts from.
func TestStochasticOfMany(t *testing.T) {
	d := tonal(directRows+100, 0)
	m, _ := mustFit(t, d, Options{Window: WindowNone, Components: 2, Inference: Stochastic, Iterations: 2})
	if !m.Fitted() {
		t.Error("no posterior")
	}
}
