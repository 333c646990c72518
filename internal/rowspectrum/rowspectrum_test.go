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

	"github.com/vssgp/vssgp/cpu/simd"
	"github.com/vssgp/vssgp/internal/slow"
	"github.com/vssgp/vssgp/spectral"
)

// positions make n values of x.
var positions = map[string]func(n int, rng *rand.Rand) []float64{
	"even": func(n int, _ *rand.Rand) []float64 { return steps(n, func(i int) float64 { return float64(i) }) },
	"even, in standard deviations": func(n int, _ *rand.Rand) []float64 {
		return steps(n, func(i int) float64 { return (float64(i) - 0.5*float64(n)) / (0.29 * float64(n)) })
	},
	"even, shuffled, far away": func(n int, rng *rand.Rand) []float64 {
		x := steps(n, func(i int) float64 { return 3e6 + 0.25*float64(i) })
		rng.Shuffle(n, func(i, j int) { x[i], x[j] = x[j], x[i] })
		return x
	},
	"holes and doubles": func(n int, rng *rand.Rand) []float64 {
		at := -1
		return steps(n, func(i int) float64 {
			switch v := rng.Float64(); {
			case i == 0 || v > 0.05:
				at++
			case v > 0.02:
				at += 3
			}
			return 0.5 * float64(at)
		})
	},
	"uneven": func(n int, rng *rand.Rand) []float64 {
		return steps(n, func(int) float64 { return float64(n) * rng.Float64() })
	},
	"uneven, half of them close together": func(n int, rng *rand.Rand) []float64 {
		return steps(n, func(i int) float64 { return float64(n) * rng.Float64() * []float64{1, 0.01}[i%2] })
	},
	"uneven, in bursts": func(n int, rng *rand.Rand) []float64 {
		return steps(n, func(i int) float64 { return float64(i) + 10*math.Floor(float64(i)/50) + 0.2*rng.Float64() })
	},
}

func steps(n int, of func(i int) float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = of(i)
	}
	return x
}

// dataOf draws n rows with d outputs.
func dataOf(kind string, n, d int, rng *rand.Rand) *spectral.Data {
	return &spectral.Data{N: n, Q: 1, D: d, X: positions[kind](n, rng), Y: steps(n*d, func(int) float64 { return rng.NormFloat64() })}
}

// A stretch is the range of the features' reaches in steps, and how far outside of the data their centers may be, in ranges.
type stretch struct{ from, to, outside float64 }

// featuresOf draws m features over the data, among them some with P = 0, with equal frequencies, and with frequencies near 0 and
// near half the sample rate.
func featuresOf(d *spectral.Data, m int, s stretch, rng *rand.Rand) *spectral.Features {
	lo, hi := d.Extent(0)
	step := (hi - lo) / float64(d.N-1)
	f := spectral.NewFeatures(m, 1)
	for k := range m {
		reach := step * s.from * math.Pow(s.to/s.from, rng.Float64())
		f.Decay[k] = 1 / (reach * reach)
		f.Center[k] = lo + (hi-lo)*(rng.Float64()*(1+2*s.outside)-s.outside)
		f.Freq[k] = 0.98 * math.Pi / step * rng.Float64() * float64(1-2*rng.IntN(2))
		f.Phase[k] = 2 * math.Pi * rng.Float64()
		f.Amp[k] = 0.5 + rng.Float64()
		f.Power[k], f.Ripple[k] = f.Amp[k]*f.Amp[k]/2, 0.4*f.Amp[k]*f.Amp[k]
		switch k % 8 {
		case 1:
			f.Decay[k] = 0
		case 3:
			f.Freq[k] = f.Freq[k-1] * (1 + 1e-9)
		case 5:
			f.Freq[k] = f.Freq[k-1]
		case 6:
			f.Freq[k] = 1e-7 / (hi - lo)
		case 7:
			f.Freq[k] = math.Pi / step * (1 - 1e-8)
		}
	}
	return f
}

// errorsOf are the largest errors of G and C, of G's largest diagonal entry, and of the gradient, of the largest entry of each
// field.
func errorsOf(t *testing.T, d *spectral.Data, f *spectral.Features, rows spectral.Rows, rng *rand.Rand) (g, c, grad float64) {
	t.Helper()
	bar := spectral.NewMoments(f, d.D)
	for i := range bar.C {
		bar.C[i] = rng.NormFloat64()
	}
	for i := range f.M {
		for j := range i + 1 {
			v := rng.NormFloat64()
			bar.Gram.Diag[0][i*f.M+j], bar.Gram.Diag[0][j*f.M+i] = v, v
		}
	}
	want, wantGrad := truth(d, f, bar)
	got, gotGrad := spectral.NewMoments(f, d.D), spectral.NewFeatures(f.M, 1)
	if err := errors.Join(rows.Moments(got, f), rows.Pullback(gotGrad, f, bar)); err != nil {
		t.Fatal(err)
	}
	if got.Terms != Terms {
		t.Fatalf("the sums are not from tables: %d terms", got.Terms)
	}
	most := 0.0
	for k := range f.M {
		most = max(most, want.Gram.At(k, k))
	}
	for i, v := range want.Gram.Diag[0] {
		g = max(g, math.Abs(got.Gram.Diag[0][i]-v)/most)
	}
	for i, v := range want.C {
		c = max(c, math.Abs(got.C[i]-v)/most)
	}
	for i, field := range wantGrad.Fields() {
		size, worst := 1e-3, 0.0 // some fields vanish
		for k, v := range field.Data {
			size, worst = max(size, math.Abs(v)), max(worst, math.Abs(gotGrad.Fields()[i].Data[k]-v))
		}
		grad = max(grad, worst/size)
	}
	return g, c, grad
}

// TestAccuracy compares G, C and the gradient with sums over rows with exact phases, for every instruction set. Even rows that
// were scaled to standard deviations are rounded, but count as even: of many rows this shows, as ω times the rounding grows with N.
func TestAccuracy(t *testing.T) {
	now, _ := simd.Chosen()
	defer simd.Use(now.String())
	for _, n := range slow.Pick([]int{50, 1000, 16_000, 100_000, 1_000_000}, []int{50, 1000, 8000}) {
		m, sets, value, gradient := 16, simd.Sets(), 1e-13, 1e-11
		if n > 16_000 {
			m, sets, gradient = 8, sets[len(sets)-1:], 1e-10
		}
		for kind := range positions {
			value, gradient := value, gradient
			if kind == "even, in standard deviations" && n > 16_000 {
				value, gradient = 2e-13, 1e-14*float64(n)
			}
			for _, s := range []stretch{
				{2, 30, 0.05}, {30, 0.1 * float64(n), 0.05}, {0.1 * float64(n), 100 * float64(n), 0.2}, {0.2 * float64(n), 10 * float64(n), 9.5},
			} {
				rng := rand.New(rand.NewPCG(uint64(n), 7))
				d := dataOf(kind, n, 1, rng)
				f := featuresOf(d, m, s, rng)
				for _, set := range sets {
					if err := simd.Use(set.String()); err != nil {
						t.Fatal(err)
					}
					g, c, grad := errorsOf(t, d, f, &Rows{data: *d, force: true}, rng)
					what := fmt.Sprintf("%d rows %s, reach %g to %g, %v: errors of G %.1e, C %.1e, gradient %.1e", n, kind, s.from, s.to, set, g, c, grad)
					if t.Log(what); !(g <= value && c <= value && grad <= gradient) {
						t.Error(what)
					}
				}
			}
		}
	}
}

// TestPanels: any number of features, of outputs and of cores, and the same bits for any number of cores.
func TestPanels(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, kind := range []string{"even", "uneven"} {
		for _, m := range slow.Pick([]int{1, 2, 7, 8, 9, 15, 16, 17, 64, 65, 1024}, []int{1, 2, 7, 8, 9, 16, 17, 65}) {
			rng := rand.New(rand.NewPCG(uint64(m), 8))
			d := dataOf(kind, 600, m%4, rng)
			f := featuresOf(d, m, stretch{20, 3000, 0.5}, rng)
			var first []float64
			for _, cores := range []int{1, 2, 7} {
				runtime.GOMAXPROCS(cores)
				r := &Rows{data: *d, force: true}
				if g, c, grad := errorsOf(t, d, f, r, rand.New(rand.NewPCG(1, 1))); !(g <= 1e-13 && c <= 1e-13 && grad <= 1e-11) {
					t.Errorf("%s, %d features: G is off by %.2g, C by %.2g, the gradient by %.2g", kind, m, g, c, grad)
				}
				got := slices.Concat(r.sums.pairs, momentsOf(t, r, f).C)
				if first == nil {
					first = got
				}
				if !slices.Equal(got, first) {
					t.Errorf("%s, %d features: other bits on %d cores", kind, m, cores)
				}
			}
		}
	}
}

func momentsOf(t *testing.T, r spectral.Rows, f *spectral.Features) *spectral.Moments {
	t.Helper()
	m := spectral.NewMoments(f, 1)
	if rows, ok := r.(*Rows); ok {
		m = spectral.NewMoments(f, rows.data.D)
	}
	if err := r.Moments(m, f); err != nil {
		t.Fatal(err)
	}
	return m
}

// TestHistory: sums do not depend on earlier features, for which the tables may have had other frequencies, and Pullback not on
// which Moments came before.
func TestHistory(t *testing.T) {
	for kind := range positions {
		rng := rand.New(rand.NewPCG(2, 9))
		d := dataOf(kind, 700, 2, rng)
		f, other := featuresOf(d, 12, stretch{30, 3000, 0}, rng), featuresOf(d, 12, stretch{30, 3000, 0}, rng)
		for k := range other.Freq {
			other.Freq[k] *= 3
		}
		bar, used := momentsOf(t, &Rows{data: *d, force: true}, f), &Rows{data: *d, force: true}
		momentsOf(t, used, other)
		check := func(what string) {
			t.Helper()
			fresh, want, got := &Rows{data: *d, force: true}, spectral.NewFeatures(12, 1), spectral.NewFeatures(12, 1)
			if err := errors.Join(fresh.Pullback(want, f, bar), used.Pullback(got, f, bar)); err != nil {
				t.Fatal(err)
			}
			for i, field := range want.Fields() {
				if !slices.Equal(field.Data, got.Fields()[i].Data) {
					t.Errorf("%s, %s: the gradient by %s depends on what was before", kind, what, field.Name)
				}
			}
			if a, b := momentsOf(t, fresh, f), momentsOf(t, used, f); !slices.Equal(a.Gram.Diag[0], b.Gram.Diag[0]) || !slices.Equal(a.C, b.C) {
				t.Errorf("%s, %s: moments depend on what was before", kind, what)
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

// TestClasses: on both sides of every boundary between the ways to take a wave's sums, they are the sums over all rows.
func TestClasses(t *testing.T) {
	for kind := range positions {
		rng := rand.New(rand.NewPCG(3, 10))
		d := dataOf(kind, slow.Pick(3000, 1500), 1, rng)
		s := newSpectrum(newLayout(d))
		s.make(1<<14 + s.margin)
		counts := map[class]int{}
		for _, e := range s.boundaries() {
			for _, z := range []float64{-1e-7, 0, 1e-7} {
				e := e
				e.z += z
				for _, v := range []int{0, 1} {
					for range slow.Pick(3, 1) {
						w := wave{e, carrier{rng.Int64N(4000) - 2000, rng.Float64() - 0.5, rng.Float64() - 0.5}}
						class := s.compare(t, kind, w, v)
						if counts[class]++; class == whole {
							w.zLow = 0.01
							s.compare(t, kind, w, v)
						}
					}
				}
			}
		}
		t.Logf("%s: %v", kind, counts)
		if counts[few] == 0 || counts[grid] == 0 || counts[none] == 0 || counts[whole] == 0 && s.length > 0 {
			t.Errorf("%s: waves of each class: %v", kind, counts)
		}
	}
}

// boundaries are envelopes close to where another class begins: by width, by place, by amplitude and by the number of terms.
func (s *spectrum) boundaries() (out []envelope) {
	span := s.layout.span
	add := func(p, z float64) {
		if p > 0 {
			for _, log := range []float64{0, -1, -0.5 * digits * digits * 0.999, -0.5 * digits * digits * 1.001} {
				out = append(out, envelope{p: p, z: z, log: log})
			}
		}
	}
	for _, near := range []float64{0.999, 1, 1.001} {
		decays := []float64{0, 1e-30, shortest * near, 10 * near, digits * digits / (span * span) * near}
		for _, half := range []float64{mostPoints, 3 * mostPoints, float64(s.reach)} {
			q := half * s.h / digits * near
			decays = append(decays, q*q-s.p0)
		}
		for _, p := range decays {
			add(p, 0)
			add(p, 0.4*span)
			if p > 0 { // ends before the data do, or reaches few rows or none
				add(p, span/2-0.6*digits/math.Sqrt(p))
				add(p, span/2-digits/math.Sqrt(p)+6)
				add(p, span/2-digits/math.Sqrt(p)*near)
				add(p, -span/2-digits/math.Sqrt(p)*near)
			}
		}
	}
	return out
}

// compare takes a wave's sums in its class and over all rows, and returns the class.
func (s *spectrum) compare(t *testing.T, kind string, w wave, v int) class {
	t.Helper()
	var m shape
	m.set(s, w.envelope, v == 0)
	var b batch
	b.reset(s, v)
	b.add(&m, w.carrier)
	b.run()
	got, class := b.of(b.groups[0], 0), m.class
	m.from, m.to = 0, len(s.layout.values[0])
	want, scale := s.direct(&m, w.carrier, s.layout.values[v]), 1e-13*float64(len(s.layout.values[0]))
	reach := min(s.layout.span, 1/math.Sqrt(w.p)) // of |X − a|, on the rows that matter
	if class == grid || class == none {
		reach = s.layout.span
	}
	for r := range want.re {
		if e := math.Abs(got.re[r] - want.re[r]); !(e <= scale*math.Pow(max(1, reach), float64(r))) {
			t.Errorf("%s: v = %d, %+v (class %d): Re S_%d is %v, want %v", kind, v, w, class, r, got.re[r], want.re[r])
		}
	}
	for r := range want.im {
		if e := math.Abs(got.im[r] - want.im[r]); !(e <= scale*math.Pow(max(1, reach), float64(r))) {
			t.Errorf("%s: v = %d, %+v (class %d): Im S_%d is %v, want %v", kind, v, w, class, r, got.im[r], want.im[r])
		}
	}
	return class
}

// passes count how often they are asked for moments.
type passes struct {
	spectral.Rows
	calls int
}

func (p *passes) Moments(*spectral.Moments, *spectral.Features) error { p.calls++; return nil }

// TestChoice: tables where they cost less, by counts, and passes over the rows for the rest and for features that tables cannot
// take.
func TestChoice(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 11))
	for _, c := range []struct {
		name    string
		n, m    int
		change  func(d *spectral.Data, f *spectral.Features)
		stretch stretch
		tables  bool
	}{
		{name: "few rows", n: leastRows - 1, m: 100},
		{name: "long features", n: 4000, m: 100, tables: true},
		{name: "one feature", n: 4000, m: 1, tables: true},
		{name: "rows at one place", n: 4000, m: 10, change: func(d *spectral.Data, _ *spectral.Features) { clear(d.X) }},
		{name: "short features, even", n: 4000, m: 100, stretch: stretch{5, 20, 0}, tables: true},
		{name: "a frequency that is not a number", n: 4000, m: 10, change: func(_ *spectral.Data, f *spectral.Features) { f.Freq[3] = math.NaN() }},
		{name: "a phase that is not a number", n: 4000, m: 10, change: func(_ *spectral.Data, f *spectral.Features) { f.Phase[3] = math.NaN() }},
		{name: "an infinite center", n: 4000, m: 10, change: func(_ *spectral.Data, f *spectral.Features) { f.Center[3] = math.Inf(1) }},
		{name: "a huge center", n: 4000, m: 10, change: func(_ *spectral.Data, f *spectral.Features) { f.Center[3] = 1e200 }},
		{name: "an amplitude that is not a number", n: 4000, m: 10, change: func(_ *spectral.Data, f *spectral.Features) { f.Ripple[3] = math.NaN() }},
		{name: "a huge frequency", n: 4000, m: 10, change: func(_ *spectral.Data, f *spectral.Features) { f.Freq[3] = 1e12 }},
		{name: "a frequency beyond the tables, uneven", n: 4000, m: 100, change: func(d *spectral.Data, f *spectral.Features) {
			d.X[5] += 0.3
			f.Freq[3] = 1e5
		}},
	} {
		if c.stretch == (stretch{}) {
			c.stretch = stretch{float64(c.n), 10 * float64(c.n), 0}
		}
		d := dataOf("even", c.n, 1, rng)
		f := featuresOf(d, c.m, c.stretch, rng)
		if c.change != nil {
			c.change(d, f)
		}
		p, m := &passes{}, spectral.NewMoments(f, 1)
		m.Terms = 7
		if err := Over(p, d).Moments(m, f); err != nil {
			t.Fatal(err)
		}
		if r, tables := Over(p, d).(*Rows); tables && m.Terms != map[bool]int{true: Terms}[c.tables] {
			t.Errorf("%s: %d terms of %T", c.name, m.Terms, r)
		}
		if (p.calls == 0) != c.tables {
			t.Errorf("%s: tables are taken: %v", c.name, p.calls == 0)
		}
	}
	for name, d := range map[string]spectral.Data{
		"two inputs": {N: 1000, Q: 2, X: make([]float64, 2000)},
		"windows":    {N: 1000, Q: 1, X: make([]float64, 1000), Windows: spectral.Windows{Center: []float64{0, 1}, Length: 2}},
	} {
		p := &passes{}
		if Over(p, &d) != spectral.Rows(p) {
			t.Errorf("%s: rows with tables", name)
		}
	}
}

// TestStopped: a pass that is stopped says so, and leaves no sums.
func TestStopped(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 12))
	d := dataOf("even", 600, 1, rng)
	stop := errors.New("stopped")
	var left atomic.Int64
	left.Store(math.MaxInt)
	d.Stop = func() error {
		if left.Add(-1) < 0 {
			return stop
		}
		return nil
	}
	f, other := featuresOf(d, 40, stretch{600, 6000, 0}, rng), featuresOf(d, 40, stretch{600, 6000, 0}, rng)
	r := &Rows{data: *d, force: true}
	momentsOf(t, r, f)
	left.Store(20)
	if err := r.Moments(spectral.NewMoments(f, 1), other); !errors.Is(err, stop) {
		t.Errorf("error %v", err)
	}
	if r.sums.are(f) || r.sums.are(other) {
		t.Error("half the sums are taken for all")
	}
}

// TestProduct: the center of a product keeps the digits of both.
func TestProduct(t *testing.T) {
	a, b := &wave{envelope: envelope{p: 3, z: 1e6, zLow: 1e-11}}, &wave{envelope: envelope{p: 1, z: 1e6 + 0.5, zLow: -3e-11}}
	for _, e := range []envelope{product(a, b), product(b, a)} {
		if off := add(e.z, -1e6-0.125); e.p != 4 || math.Abs(off.hi+off.lo+e.zLow) > 1e-15 || math.Abs(e.log+0.5*0.75*0.25) > 1e-10 {
			t.Errorf("%+v", e)
		}
	}
	if e := product(&wave{envelope: envelope{z: 3}}, &wave{}); e != (envelope{}) {
		t.Errorf("undamped: %+v", e)
	}
}

// TestCover: tables reach as far for negative frequencies as for positive ones.
func TestCover(t *testing.T) {
	s := newSpectrum(newLayout(dataOf("uneven", 1000, 0, rand.New(rand.NewPCG(6, 13)))))
	for _, cycles := range []int64{-1000, 1000} {
		if n := s.cover([]wave{{}, {carrier: carrier{cycles: cycles}}}) - s.margin; n != 2048 {
			t.Errorf("%d cycles: %d frequencies", cycles, n)
		}
	}
}

// TestLayout: which rows are even.
func TestLayout(t *testing.T) {
	tenths := steps(100, func(i int) float64 { return float64(i) / 10 })
	for _, c := range []struct {
		name  string
		x     []float64
		even  bool
		gaps  []int // places with another number of rows than one
		first int
	}{
		{"integers", steps(9, func(i int) float64 { return float64(i) }), true, nil, -4},
		{"tenths", tenths, true, nil, -50},
		{"falling", []float64{3, 2, 1}, true, nil, -1},
		{"two rows", []float64{1e9, 1e9 + 1}, true, nil, -1},
		{"a hole and a double", []float64{0, 1, 1, 2, 4}, true, []int{-1, 1}, -2},
		{"a thousandth off", append([]float64{-1.001}, steps(20, func(i int) float64 { return float64(i) })...), false, nil, 0},
		{"a billionth off", append([]float64{-1 - 1e-9}, steps(20, func(i int) float64 { return float64(i) })...), false, nil, 0},
		{"too many holes", []float64{0, 1, 2, 1000}, false, nil, 0},
		{"years", []float64{1958.208, 1958.292, 1958.375, 1958.458, 1958.542, 1958.625}, false, nil, 0},
	} {
		l := newLayout(&spectral.Data{N: len(c.x), Q: 1, X: c.x})
		if l.even != c.even || !slices.Equal(l.irregular, c.gaps) || l.first != c.first {
			t.Errorf("%s: even %v, gaps %v, first %d; want %v, %v, %d", c.name, l.even, l.irregular, l.first, c.even, c.gaps, c.first)
		}
		for i := range l.values[0] {
			x := l.at(i)
			at := double{hi: x.hi}.times(l.step).plus(double{hi: x.lo}.times(l.step)).plus(l.center)
			if l.values[0][i] == 1 && !slices.ContainsFunc(c.x, func(v float64) bool { return math.Abs(at.hi-v) <= 4e-16*slices.Max(c.x) }) {
				t.Errorf("%s: place %d is at %v", c.name, i, at.hi)
			}
		}
	}
	for _, x := range [][]float64{{1, 1, 1}, {-1e308, 1e308}} {
		if newLayout(&spectral.Data{N: len(x), Q: 1, X: x}) != nil {
			t.Errorf("%v have a layout", x)
		}
	}
}

// TestRoundedRows: even rows that were rounded lie around their places, without an offset or a drift.
func TestRoundedRows(t *testing.T) {
	d := dataOf("even, in standard deviations", 10_000, 0, nil)
	l := newLayout(d)
	mean, slope := 0.0, 0.0
	for i, x := range d.X {
		at := l.at(i)
		off := add(x, 0).minus(at.times(l.step).plus(l.center)).hi / float64(d.N)
		mean, slope = mean+off, slope+off*at.hi/float64(d.N)
	}
	if math.Abs(mean) > 1e-20 || math.Abs(slope) > 1e-20 {
		t.Errorf("mean distance %g, drift %g", mean, slope)
	}
}

// TestPanelsBefore counts.
func TestPanelsBefore(t *testing.T) {
	for j, sum := 0, 0; j < 100; j++ {
		if got := panelsBefore(j); got != sum {
			t.Fatalf("%d panels before %d, want %d", got, j, sum)
		}
		sum += panelsOf(j)
	}
}
