package rowspectrum

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/backend/backendtest"
	"github.com/vssgp/vssgp/internal/simd"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/slow"
)

// TestAccuracy compares G, C and the gradient with sums over rows with exact phases, for every instruction set. Standardized even
// rows are treated as even although they are rounded. The error is ω times the rounding, and it grows with N.
func TestAccuracy(t *testing.T) {
	now, _ := simd.Chosen()
	defer simd.Use(now.String())
	for _, n := range slow.Pick([]int{50, 1000, 16_000, 100_000, 1_000_000}, []int{50, 1000, 8000}) {
		m, sets, value, gradient := 16, simd.Sets(), 1e-13, 1e-11
		if n > 16_000 {
			m, sets, gradient = 8, sets[len(sets)-1:], 1e-10
		}
		for kind := range backendtest.Positions {
			value, gradient := value, gradient
			if kind == "even, in standard deviations" && n > 16_000 {
				value, gradient = 2e-13, 1e-14*float64(n)
			}
			for _, s := range []backendtest.Stretch{
				{2, 30, 0.05}, {30, 0.1 * float64(n), 0.05}, {0.1 * float64(n), 100 * float64(n), 0.2}, {0.2 * float64(n), 10 * float64(n), 9.5},
			} {
				rng := rand.New(rand.NewPCG(uint64(n), 7))
				d := backendtest.SpectrumData(kind, n, 1, rng)
				f := backendtest.SpectrumFeatures(d, m, s, rng)
				for _, set := range sets {
					testkit.OK(t, simd.Use(set.String()))
					g, c, grad := backendtest.SpectrumErrors(t, d, f, &Rows{data: *d, passCost: math.Inf(1)}, rng)
					what := fmt.Sprintf("%d rows %s, reach %g to %g, %v: errors of G %.1e, C %.1e, gradient %.1e", n, kind, s[0], s[1], set, g, c, grad)
					if t.Log(what); !(g <= value && c <= value && grad <= gradient) {
						t.Error(what)
					}
				}
			}
		}
	}
}

// TestPanels checks various numbers of features, outputs and cores. Results must not depend on the number of cores.
func TestPanels(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, kind := range []string{"even", "uneven"} {
		for _, m := range slow.Pick([]int{1, 2, 7, 8, 9, 15, 16, 17, 64, 65, 1024}, []int{1, 2, 7, 8, 9, 16, 17, 65}) {
			rng := rand.New(rand.NewPCG(uint64(m), 8))
			d := backendtest.SpectrumData(kind, 600, m%4, rng)
			f := backendtest.SpectrumFeatures(d, m, backendtest.Stretch{20, 3000, 0.5}, rng)
			var first []float64
			for _, cores := range []int{1, 2, 7} {
				runtime.GOMAXPROCS(cores)
				r := &Rows{data: *d, passCost: math.Inf(1)}
				if g, c, grad := backendtest.SpectrumErrors(t, d, f, r, rand.New(rand.NewPCG(1, 1))); !(g <= 1e-13 && c <= 1e-13 && grad <= 1e-11) {
					t.Errorf("%s, %d features: G is off by %.2g, C by %.2g, the gradient by %.2g", kind, m, g, c, grad)
				}
				got := slices.Concat(r.sums.along[0].pairs, momentsOf(t, r, f).C)
				if first == nil {
					first = got
				}
				testkit.Equal(t, got, first, kind, ", ", m, " features")
			}
		}
	}
}

func momentsOf(t *testing.T, r *Rows, f *backend.Features) *backend.Moments {
	t.Helper()
	m := backend.NewMoments(f, r.data.D)
	testkit.OK(t, r.Moments(m, f))
	return m
}

// TestHistory checks that sums do not depend on the tables of earlier features, and that Pullback does not depend on earlier calls
// of Moments.
func TestHistory(t *testing.T) {
	for kind := range backendtest.Positions {
		rng := rand.New(rand.NewPCG(2, 9))
		d := backendtest.SpectrumData(kind, 700, 2, rng)
		f, other := backendtest.SpectrumFeatures(d, 12, backendtest.Stretch{30, 3000, 0}, rng), backendtest.SpectrumFeatures(d, 12, backendtest.Stretch{30, 3000, 0}, rng)
		for k := range other.Freq {
			other.Freq[k] *= 3
		}
		bar, used := momentsOf(t, &Rows{data: *d, passCost: math.Inf(1)}, f), &Rows{data: *d, passCost: math.Inf(1)}
		momentsOf(t, used, other)
		check := func(what string) {
			t.Helper()
			fresh, want, got := &Rows{data: *d, passCost: math.Inf(1)}, backend.NewFeatures(12, 1), backend.NewFeatures(12, 1)
			testkit.OK(t, errors.Join(fresh.Pullback(want, f, bar), used.Pullback(got, f, bar)))
			for i, field := range want.Fields() {
				testkit.Equal(t, got.Fields()[i].Data, field.Data, kind, ", ", what)
			}
			if a, b := momentsOf(t, fresh, f), momentsOf(t, used, f); !slices.Equal(a.Gram.Diag[0], b.Gram.Diag[0]) || !slices.Equal(a.C, b.C) {
				t.Errorf("%s, %s: moments depend on previous evaluations", kind, what)
			}
		}
		check("other features")
		check("the same")
		for i, field := range f.Fields() {
			field.Data[5] *= 1.001
			check(f.Fields()[i].Name)
		}
	}
}

// passes counts its calls of Moments.
type passes struct {
	backend.Rows
	calls int
}

func (p *passes) Moments(*backend.Moments, *backend.Features) error { p.calls++; return nil }

// TestChoice checks that tables are used if their operation count is lower, and passes over the rows otherwise and for features
// that tables do not support.
func TestChoice(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 11))
	for _, c := range []struct {
		name    string
		n, m    int
		change  func(d *backend.Data, f *backend.Features)
		stretch backendtest.Stretch
		tables  bool
	}{
		{name: "few rows", n: minRows - 1, m: 100},
		{name: "long features", n: 4000, m: 100, tables: true},
		{name: "one feature", n: 4000, m: 1, tables: true},
		{name: "rows at one place", n: 4000, m: 10, change: func(d *backend.Data, _ *backend.Features) { clear(d.X) }},
		{name: "short features, even", n: 4000, m: 100, stretch: backendtest.Stretch{5, 20, 0}, tables: true},
		{name: "a frequency that is not a number", n: 4000, m: 10, change: func(_ *backend.Data, f *backend.Features) { f.Freq[3] = math.NaN() }},
		{name: "the last of many frequencies", n: 4000, m: 2*blockFeatures + 1,
			change: func(_ *backend.Data, f *backend.Features) { f.Freq[2*blockFeatures] = math.NaN() }},
		{name: "a phase that is not a number", n: 4000, m: 10, change: func(_ *backend.Data, f *backend.Features) { f.Phase[3] = math.NaN() }},
		{name: "an infinite center", n: 4000, m: 10, change: func(_ *backend.Data, f *backend.Features) { f.Center[3] = math.Inf(1) }},
		{name: "a huge center", n: 4000, m: 10, change: func(_ *backend.Data, f *backend.Features) { f.Center[3] = 1e200 }},
		{name: "an amplitude that is not a number", n: 4000, m: 10, change: func(_ *backend.Data, f *backend.Features) { f.Ripple[3] = math.NaN() }},
		{name: "a huge frequency", n: 4000, m: 10, change: func(_ *backend.Data, f *backend.Features) { f.Freq[3] = 1e12 }},
		{name: "16 cycles per step, even", n: 4000, m: 10, tables: true,
			change: func(_ *backend.Data, f *backend.Features) { f.Freq[3] = 2 * math.Pi * 16 }},
		{name: "16 cycles per step, rounded", n: 4000, m: 10, change: func(d *backend.Data, f *backend.Features) {
			d.X[5] += 3e-13
			f.Freq[3] = 2 * math.Pi * 16
		}},
		{name: "a frequency beyond the tables, uneven", n: 4000, m: 100, change: func(d *backend.Data, f *backend.Features) {
			d.X[5] += 0.3
			f.Freq[3] = 1e5
		}},
	} {
		if c.stretch == (backendtest.Stretch{}) {
			c.stretch = backendtest.Stretch{float64(c.n), 10 * float64(c.n), 0}
		}
		d := backendtest.SpectrumData("even", c.n, 1, rng)
		f := backendtest.SpectrumFeatures(d, c.m, c.stretch, rng)
		if c.change != nil {
			c.change(d, f)
		}
		p, m := &passes{}, backend.NewMoments(f, 1)
		m.Terms = 7
		testkit.OK(t, Over(p, d).Moments(m, f))
		if r, tables := Over(p, d).(*Rows); tables && m.Terms != map[bool]int{true: Terms}[c.tables] {
			t.Errorf("%s: %d terms of %T", c.name, m.Terms, r)
		}
		testkit.Equal(t, p.calls == 0, c.tables, c.name)
	}
	for name, d := range map[string]backend.Data{
		"three inputs": {N: 1000, Q: 3, X: make([]float64, 3000)},
		"windows":      {N: 1000, Q: 1, X: make([]float64, 1000), Windows: backend.Windows{Center: []float64{0, 1}, Length: 2}},
	} {
		p := &passes{}
		testkit.Equal(t, Over(p, &d), backend.Rows(p), name)
	}
}

// TestExpect checks that tables are expected up to maxPerRow frequencies per row, and on a GPU for enough rows of two
// inputs.
func TestExpect(t *testing.T) {
	for band, want := range map[float64]bool{0: true, 1: true, maxPerRow / 4: true, maxPerRow/4 + 0.01: false} {
		if got, _, _ := Expect(1<<14, 1, 10, 1, band, CPU); got != want {
			t.Errorf("band %v: %v, want %v", band, got, want)
		}
	}
	for n, want := range map[int]bool{60_000: false, 70_000: true} { // two inputs on a GPU
		if got, _, _ := Expect(n, 2, 256, 1, 0, Card); got != want {
			t.Errorf("%d rows: %v, want %v", n, got, want)
		}
	}
}

// TestStopped checks that a stopped pass returns an error and that its partial sums are not used.
func TestStopped(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 12))
	d := backendtest.SpectrumData("even", 600, 1, rng)
	stop := errors.New("stopped")
	var left atomic.Int64
	left.Store(math.MaxInt)
	d.Stop = func() error {
		if left.Add(-1) < 0 {
			return stop
		}
		return nil
	}
	f, other := backendtest.SpectrumFeatures(d, 40, backendtest.Stretch{600, 6000, 0}, rng), backendtest.SpectrumFeatures(d, 40, backendtest.Stretch{600, 6000, 0}, rng)
	r := &Rows{data: *d, passCost: math.Inf(1)}
	left.Store(1)
	testkit.Fails(t, r.Moments(backend.NewMoments(f, 1), f), stop, "")
	if r.spectrum.size != (Size{}) {
		t.Error("there are tables, but their computation was stopped")
	}
	left.Store(math.MaxInt)
	momentsOf(t, r, f)
	left.Store(20)
	testkit.Fails(t, r.Moments(backend.NewMoments(f, 1), other), stop, "")
	if r.sums.match(f) || r.sums.match(other) {
		t.Error("partial sums are used as complete")
	}
}
