package rowspectrum

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/backend/backendtest"
	"github.com/vssgp/vssgp/internal/double"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/slow"
)

// TestProduct checks that the center of a product keeps the precision of both factors.
func TestProduct(t *testing.T) {
	a, b := &wave{envelope: envelope{p: 3, z: 1e6, zLow: 1e-11}}, &wave{envelope: envelope{p: 1, z: 1e6 + 0.5, zLow: -3e-11}}
	for _, e := range []envelope{product(a, b), product(b, a)} {
		if off := double.Sum(e.z, -1e6-0.125); e.p != 4 || math.Abs(off.Hi+off.Lo+e.zLow) > 1e-15 || math.Abs(e.log+0.5*0.75*0.25) > 1e-10 {
			t.Errorf("%+v", e)
		}
	}
	if e := product(&wave{envelope: envelope{z: 3}}, &wave{}); e != (envelope{}) {
		t.Errorf("undamped: %+v", e)
	}
}

// TestWavesAreRelativeToCenter checks that waves are relative to the center of the rows with all its digits.
func TestWavesAreRelativeToCenter(t *testing.T) {
	x := testkit.Numbers(601, func(i int) float64 { return float64(i) / 10 })
	s := New(&backend.Data{N: len(x), Q: 1, X: x})
	center := s.axes[0].center
	f, w := backend.NewFeatures(1, 1), [][]wave{make([]wave, 1)}
	f.Center[0], f.Freq[0], f.Decay[0] = center.Hi, 10*math.Pi, 1
	if center.Lo == 0 || !s.waves(w, f) {
		t.Fatalf("center %+v, waves %+v", center, w)
	}
	testkit.Near(t, w[0][0].z+w[0][0].zLow, -10*center.Lo, 1e-3*math.Abs(10*center.Lo), "Z")
	testkit.Near(t, w[0][0].phase, 5*center.Lo, 1e-3*math.Abs(5*center.Lo), "phase")
}

// TestTablesCoverFrequenciesSymmetrically checks that tables cover negative and positive frequencies symmetrically.
func TestTablesCoverFrequenciesSymmetrically(t *testing.T) {
	s := newLine(backendtest.SpectrumData("uneven", 1000, 0, rand.New(rand.NewPCG(6, 13))))
	for _, cycles := range []int64{-1000, 1000} {
		if n := s.cover([][]wave{{{}, {carrier: carrier{cycles: cycles}}}})[0] - s.margin; n != 2048 {
			t.Errorf("%d cycles: %d frequencies", cycles, n)
		}
	}
}

// TestLayout checks which inputs are recognized as evenly spaced.
func TestLayout(t *testing.T) {
	tenths := testkit.Numbers(100, func(i int) float64 { return float64(i) / 10 })
	for _, c := range []struct {
		name  string
		x     []float64
		even  bool
		gaps  []int // grid indices without exactly one row
		first int
	}{
		{"integers", testkit.Numbers(9, func(i int) float64 { return float64(i) }), true, nil, -4},
		{"tenths", tenths, true, nil, -50},
		{"falling", []float64{3, 2, 1}, true, nil, -1},
		{"two rows", []float64{1e9, 1e9 + 1}, true, nil, -1},
		{"a hole and a double", []float64{0, 1, 1, 2, 4}, true, []int{-1, 1}, -2},
		{"a thousandth off", append([]float64{-1.001}, testkit.Numbers(20, func(i int) float64 { return float64(i) })...), false, nil, 0},
		{"a billionth off", append([]float64{-1 - 1e-9}, testkit.Numbers(20, func(i int) float64 { return float64(i) })...), false, nil, 0},
		{"too many holes", []float64{0, 1, 2, 1000}, false, nil, 0},
		{"years", []float64{1958.208, 1958.292, 1958.375, 1958.458, 1958.542, 1958.625}, false, nil, 0},
	} {
		l := newLayout(&backend.Data{N: len(c.x), Q: 1, X: c.x})
		if l.even != c.even || !slices.Equal(l.irregular, c.gaps) || l.first != c.first {
			t.Errorf("%s: even %v, gaps %v, first %d; want %v, %v, %d", c.name, l.even, l.irregular, l.first, c.even, c.gaps, c.first)
		}
		for i := range l.values[0] {
			x := l.position(i)
			at := double.Of(x.Hi).Times(l.step).Plus(double.Of(x.Lo).Times(l.step)).Plus(l.center)
			if l.values[0][i] == 1 && !slices.ContainsFunc(c.x, func(v float64) bool { return math.Abs(at.Hi-v) <= 4e-16*slices.Max(c.x) }) {
				t.Errorf("%s: grid point %d is at %v", c.name, i, at.Hi)
			}
		}
	}
	for _, x := range [][]float64{{1, 1, 1}, {-1e308, 1e308}} {
		if newLayout(&backend.Data{N: len(x), Q: 1, X: x}) != nil {
			t.Errorf("%v have a layout", x)
		}
	}
}

// TestNotEven checks that rows are uneven, and G, C and the gradient as accurate as for other rows, if their
// distances from a grid are more than the rounding errors of scaled even rows.
func TestNotEven(t *testing.T) {
	const n = 2000
	rng := rand.New(rand.NewPCG(8, 14))
	ulp := math.Nextafter(n, 2*n) - n
	for name, at := range map[string]func(i float64) float64{
		"milliseconds of a Unix time": func(i float64) float64 { return 1.7e9 + 1e-3*i },
		"tenths, far from 0":          func(i float64) float64 { return 1e6 + i/10 },
		"a jitter of five ulps":       func(i float64) float64 { return i + ulp*float64(rng.IntN(11)-5) },
		"alternating":                 func(i float64) float64 { return i + 4*ulp*(1-2*math.Mod(i, 2)) },
		"one row off by eight ulps": func(i float64) float64 {
			return i + 8*ulp*math.Floor(i/1000)*math.Floor(1000/max(i, 1))
		},
	} {
		d := backendtest.SpectrumData("even", n, 1, rng)
		for i := range d.X {
			d.X[i] = at(float64(i))
		}
		if l := newLayout(d); l.even {
			t.Errorf("%s: even", name)
		}
		f := backendtest.SpectrumFeatures(d, 12, backendtest.Stretch{200, 10 * n, 0.1}, rng)
		g, c, grad := backendtest.SpectrumErrors(t, d, f, &Rows{data: *d, passCost: math.Inf(1)}, rng)
		if !(g <= 1e-13 && c <= 1e-13 && grad <= 1e-11) {
			t.Errorf("%s: G is off by %.2g, C by %.2g, the gradient by %.2g", name, g, c, grad)
		}
	}
}

// TestRoundedRows checks that rounded even rows deviate from the grid without an offset or a drift.
func TestRoundedRows(t *testing.T) {
	d := backendtest.SpectrumData("even, in standard deviations", 3*blockRows, 0, nil)
	l := newLayout(d)
	mean, slope := 0.0, 0.0
	for i, x := range d.X {
		at := l.position(i)
		off := double.Sum(x, 0).Minus(at.Times(l.step).Plus(l.center)).Hi / float64(d.N)
		mean, slope = mean+off, slope+off*at.Hi/float64(d.N)
	}
	if math.Abs(mean) > 1e-20 || math.Abs(slope) > 1e-20 {
		t.Errorf("mean distance %g, drift %g", mean, slope)
	}
}

// TestMedianGap compares the median with the median of sorted gaps.
func TestMedianGap(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 15))
	for _, n := range []int{2, 3, 4, 5, 100, 3000, gapBlock} {
		x := testkit.Numbers(n, func(i int) float64 { return math.Exp(20*rng.Float64()) - 1e4 })
		x[1] = x[0] + 1
		x = append(x, x[:n/3]...) // with gaps of 0
		slices.Sort(x)
		var gaps []float64
		for i, v := range x[1:] {
			if v > x[i] {
				gaps = append(gaps, v-x[i])
			}
		}
		slices.Sort(gaps)
		testkit.Equal(t, medianGap(x), gaps[len(gaps)/2], n)
	}
}

func TestPanelsBefore(t *testing.T) {
	for j, sum := 0, 0; j < 100; j++ {
		if got := panelsBefore(j); got != sum {
			t.Fatalf("%d panels before %d, want %d", got, j, sum)
		}
		sum += panelsOf(j)
	}
}

// TestClasses checks that each class of wave gives the sums over all rows, on both sides of every class boundary.
func TestClasses(t *testing.T) {
	for kind := range backendtest.Positions {
		rng := rand.New(rand.NewPCG(3, 10))
		d := backendtest.SpectrumData(kind, slow.Pick(3000, 1500), 1, rng)
		s := newLine(d)
		s.tables, _ = s.make(1<<14+s.margin, never)
		counts := map[class]int{}
		for _, e := range s.boundaries() {
			for _, z := range slow.Pick([]float64{-1e-7, 0, 1e-7}, []float64{1e-7}) {
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
		if counts[few] == 0 || counts[grid] == 0 || counts[none] == 0 || counts[whole] == 0 && s.layout.even {
			t.Errorf("%s: waves of each class: %v", kind, counts)
		}
	}
}

// TestManyRows checks tables of more rows than a core processes at a time. Their bits must not depend on the number of cores.
func TestManyRows(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for kind := range backendtest.Positions {
		rng := rand.New(rand.NewPCG(10, 16))
		d := backendtest.SpectrumData(kind, 2*blockRows+100, 1, rng)
		var s *Spectrum
		var first Arrays
		for _, cores := range []int{1, 2, 7} {
			runtime.GOMAXPROCS(cores)
			s = New(d)
			a := s.Arrays(s.cover([][]wave{{{carrier: carrier{cycles: 4000}}}}))
			if first.Tables == nil {
				first = a
			}
			if !reflect.DeepEqual(a, first) {
				t.Errorf("%s: other bits on %d cores", kind, cores)
			}
		}
		one := s.line()
		for i, x := range one.layout.x {
			at := one.turns(i)
			testkit.Equal(t, [4]float64(first.Places[4*i:]), [4]float64{x.Hi, x.Lo, at.Hi, at.Lo}, kind)
		}
		one.tables = first.Tables
		for _, cycles := range []int64{0, 1, 1234, -3999} {
			for v := range one.tables {
				one.compare(t, kind, wave{envelope{p: 10 / one.layout.span / one.layout.span}, carrier{cycles, 0.3, 0.2}}, v)
			}
		}
	}
}

// boundaries returns envelopes close to the class boundaries in width, center, amplitude and number of terms.
func (s *line) boundaries() (out []envelope) {
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
		for _, half := range []float64{maxPoints, 3 * maxPoints, float64(s.reach), 2 * float64(s.reach)} {
			q := half * s.layout.h / digits * near
			decays = append(decays, q*q-s.layout.p0)
		}
		for _, p := range decays {
			add(p, 0)
			add(p, 0.4*span)
			if p > 0 { // ends inside the data, or covers few rows or none
				add(p, span/2-0.6*digits/math.Sqrt(p))
				add(p, span/2-digits/math.Sqrt(p)+6)
				add(p, span/2-digits/math.Sqrt(p)*near)
				add(p, -span/2-digits/math.Sqrt(p)*near)
				add(p, -0.495*span) // among rows that are close together
			}
		}
	}
	return out
}

// compare compares the sums of a wave, computed by its class, with the sums over all rows. It returns the class.
func (s *line) compare(t *testing.T, kind string, w wave, v int) class {
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
	reach := min(s.layout.span, 1/math.Sqrt(w.p)) // of |X − a|, on the rows with a significant weight
	if class == grid || class == none {
		reach = s.layout.span
	}
	check := func(part string, got, want []float64) {
		for r := range want {
			tolerance := scale * math.Pow(max(1, reach), float64(r))
			testkit.Near(t, got[r], want[r], tolerance, kind, ": v = ", v, ", ", w, " of class ", class, ": ", part, r)
		}
	}
	check("Re S_", got.re[:], want.re[:])
	check("Im S_", got.im[:], want.im[:])
	return class
}

// BenchmarkTables measures the layout and the tables of rows with one output.
func BenchmarkTables(b *testing.B) {
	for _, kind := range []string{"even", "uneven, in bursts", "uneven"} {
		for _, n := range slow.Pick([]int{1e6, 1e7}, []int{1e6}) {
			d := backendtest.SpectrumData(kind, n, 1, rand.New(rand.NewPCG(11, 17)))
			s := New(d)
			size := s.cover([][]wave{{{carrier: carrier{cycles: int64(n) / 2}}}})
			b.Run(fmt.Sprintf("%s/%d/layout", kind, n), func(b *testing.B) {
				for b.Loop() {
					New(d)
				}
			})
			b.Run(fmt.Sprintf("%s/%d/tables", kind, n), func(b *testing.B) {
				for b.Loop() {
					s.Arrays(size)
				}
			})
		}
	}
}
