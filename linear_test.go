package vssgp

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/vssgp/vssgp/internal/periodogram"
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
	if want := dotSelf(s) / weight; hi-lo != d.N || !(math.Abs(held-want) <= 1e-12*want) {
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

// looks is a context that counts how often it is looked at, and notes the longest
// time from one look to the next. It ends at look number end, if that is not 0.
type looks struct {
	context.Context
	mu      sync.Mutex
	n, end  int
	last    time.Time
	longest time.Duration
}

func (l *looks) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.n++
	l.longest = max(l.longest, time.Since(l.last))
	l.last = time.Now()
	if l.end > 0 && l.n >= l.end {
		return context.Canceled
	}
	return nil
}

// TestStartCancelled: a start looks at its context all the way, and wherever it
// ends there is no model. From one look to the next is less than a quarter of all the
// time that the start takes, whatever that is here; each case's stage, which makes
// one of a quick start, would by itself be more. One that another process holds up
// is tried again: a stage that does not look is long each time. On two processors,
// whatever there are: many do a short stage at a stroke.
func TestStartCancelled(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	many := tonal(1<<10, 0) // uneven rows of many tones, which take several rounds
	for i := range many.X {
		many.X[i] += 0.4 * math.Sin(float64(i*i))
		for k := range 30 {
			many.Y[i] += math.Pow(0.8, float64(k)) * math.Sin(0.09*float64(k+1)*many.X[i])
		}
	}
	for name, c := range map[string]struct {
		data *Data
		o    Options
	}{
		"fill":                   {tonal(1<<12, 0.4), Options{Window: WindowNone}},
		"fill of what is hidden": {tonal(1<<11, 0.4), Options{Window: WindowNone, Iterations: NoIterations}},
		"spectra":                {tonal(1<<14, 0), Options{Window: 512}},
		"uneven rows":            {many, Options{Window: WindowNone}},
		"uneven windows":         {many, Options{Window: 128}},
	} {
		c.o.Inference = Stochastic
		start := func(end int) (l *looks, share float64, err error) {
			began := time.Now()
			l = &looks{Context: t.Context(), end: end, last: began}
			_, err = newModel(l, c.data, c.o)
			l.longest = max(l.longest, time.Since(l.last))
			return l, float64(l.longest) / float64(time.Since(began)), err
		}
		least, all := 1.0, 0
		for try := 0; try < 10 && least >= 0.25; try++ {
			l, share, err := start(0)
			if err != nil {
				t.Fatal(err)
			}
			least, all = min(least, share), l.n
		}
		if least >= 0.25 {
			t.Errorf("%s: for %.2f of the time it does not look at its context", name, least)
		}
		for _, end := range []int{1, 2, all / 2, all} {
			if l, _, err := start(end); !errors.Is(err, context.Canceled) || end == 1 && l.n > 3 { // the error looks, too
				t.Errorf("%s, ended at look %d of %d: error %v after %d looks, want the context's, and no start where it has ended before", name, end, all, err, l.n)
			}
		}
	}
}

// TestSpectraEnd: once the context has ended no spectrum is read, and what stands
// for it is not kept for those who ask again.
func TestSpectraEnd(t *testing.T) {
	ended, stop := context.WithCancel(t.Context())
	stop()
	d := tonal(600, 0)
	for _, g := range []*grid{gridOf(d), newGrid(d.X, d.Y, 1, 1, 0.5)} {
		mass := func(ctx context.Context) (sum float64) {
			for _, r := range g.ranks(ctx, []float64{150, 450}, 150, 150, 5, false) {
				for _, c := range r.cells {
					sum += c.mass
				}
			}
			return sum
		}
		if none, some := mass(ended), mass(t.Context()); none != 0 || !(some > 0) {
			t.Errorf("the cells hold %v once the context has ended, and %v with another", none, some)
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
		if near := bound(diag, mean); !(math.Abs(best-near) <= c.within*(best-zero)) {
			t.Errorf("%d rows: the bound is %v, of all rows %v, at a mean of zero %v", len(c.rows), near, best, zero)
		}
	}
}

// TestDirectMeanOfHalf: where the rows come twice, those that come first tell the
// mean of all, and the diagonal: the noise is counted as often as they are.
func TestDirectMeanOfHalf(t *testing.T) {
	d := tonal(300, 0)
	d.N, d.X, d.Y = 2*d.N, append(d.X, d.X...), append(d.Y, d.Y...)
	o := Options{Window: WindowNone, Inference: Stochastic, NoisePrecision: 0.3} // so much noise that it matters
	m, err := New(d, o)
	if err != nil {
		t.Fatal(err)
	}
	f, err := newFitting(t.Context(), m, d, o)
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	var half []int
	for i := range d.N / 2 {
		half = append(half, i)
	}
	diag, mean, err := f.directMean(nil)
	if err != nil {
		t.Fatal(err)
	}
	of, got, err := f.directMean(half)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "diagonal", of, diag, 1e-9)
	near(t, "mean", got, mean, 1e-9)
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

// TestStartWork: a start's operations are of all outputs and windows, and once more
// for what is hidden; a fill that would be too much goes tile by tile, with less and
// less order.
func TestStartWork(t *testing.T) {
	few, many := gridOf(tonal(1<<12, 0.001)), gridOf(tonal(1<<17, 0.4))
	one, two := few.filling(runs(few.missing, true), 0, 1), few.filling(runs(few.missing, true), 0, 2)
	if one.tiled || !(one.work > 0) || two.work != 2*one.work {
		t.Errorf("few gaps: %+v, of two outputs %+v", one, two)
	}
	if f := many.filling(runs(many.missing, true), 0, 1); !f.tiled || f.order > one.order/2 || f.work > fillWork && f.order >= 2*fillLeast {
		t.Errorf("many gaps: %+v", f)
	}
	plain, _ := few.startWork([]float64{0}, 1, false)
	hidden, _ := few.startWork([]float64{0}, 1, true)
	if hidden != 2*plain || !(plain > one.work) {
		t.Errorf("%v operations, %v with what is hidden; the fill has %v", plain, hidden, one.work)
	}
	d := tonal(1000, 0)
	g := newGrid(d.X, d.Y, 1, 1, 0.5) // as uneven rows, in one window of all and in windows of a hundredth
	n := g.cellCount(1000) * spectrumSteps
	if got, held := g.spectraWork(0, 2); got != 2*periodogram.Work(1000, n) || held < float64(48*n) {
		t.Errorf("uneven rows: %v operations, %v bytes", got, held)
	}
	if got, _ := g.spectraWork(10, 1); got < 190*periodogram.Work(5, g.cellCount(10)*spectrumSteps) {
		t.Errorf("uneven rows in 200 windows: %v operations", got)
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
