package vssgp

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"
)

// evenWithin: the ends' jitter or rounding over the range.
const evenWithin = 1e-4

// months are the first days of n months in years, leap days and all.
func months(n int) (x []float64) {
	for i := range n {
		t := time.Date(1960, time.Month(1+i), 1, 0, 0, 0, 0, time.UTC)
		begin := time.Date(t.Year(), 1, 1, 0, 0, 0, 0, time.UTC)
		x = append(x, float64(t.Year())+t.Sub(begin).Hours()/begin.AddDate(1, 0, 0).Sub(begin).Hours())
	}
	return x
}

// TestEvenStep: grids with holes, jitter, any order and any offset have a
// step; other inputs have none.
func TestEvenStep(t *testing.T) {
	grid := func(n int, at func(i float64) float64) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = at(float64(i))
		}
		return x
	}
	rng := newRNG(1)
	shuffled := grid(40, func(i float64) float64 { return 2 * i })
	rng.Shuffle(40, func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	for _, c := range []struct {
		name string
		x    []float64
		want float64
	}{
		{"grid", grid(20, func(i float64) float64 { return 3 + 0.25*i }), 0.25},
		{"any order", shuffled, 2},
		{"16 kHz, a minute in", grid(1000, func(i float64) float64 { return (960000 + i) / 16000 }), 1.0 / 16000},
		{"far out", grid(1000, func(i float64) float64 { return 3e6 + i }), 1},
		{"a hole", append(grid(20, func(i float64) float64 { return i }), 30, 31, 32), 1},
		{"a wide hole", append(grid(40, func(i float64) float64 { return i }), 140, 141), 1},
		{"months as decimals", grid(200, func(i float64) float64 { return math.Round((1958+i/12)*1e4) / 1e4 }), 1.0 / 12},
		{"a little jitter", grid(50, func(i float64) float64 { return i + 0.002*math.Sin(7*i) }), 1},
		{"months of the calendar", months(400), 1.0 / 12},
		{"jitter", grid(400, func(i float64) float64 { return i + 0.2*math.Sin(7*i*i) }), 1},
		{"a drift", grid(400, func(i float64) float64 { return i + i*i/1e4 }), 0},
		{"much jitter", grid(50, func(i float64) float64 { return i + 0.3*math.Sin(7*i) }), 0},
		{"too few", grid(15, func(i float64) float64 { return i }), 0},
		{"one twice", append(grid(20, func(i float64) float64 { return i }), 7), 0},
		{"all the same", make([]float64, 20), 0},
		{"random", grid(30, func(float64) float64 { return rng.Float64() }), 0},
		{"squares", grid(30, func(i float64) float64 { return i * i }), 0},
		{"mostly empty", append(grid(20, func(i float64) float64 { return i }), 1e6), 0},
	} {
		d := &Data{N: len(c.x), Q: 1, D: 1, X: c.x, Y: make([]float64, len(c.x))}
		if got := d.evenStep(); math.Abs(got-c.want) > evenWithin*c.want {
			t.Errorf("%s: step %v, want %v", c.name, got, c.want)
		}
	}
	if got := (&Data{N: 20, Q: 2, D: 1, X: grid(40, func(i float64) float64 { return i })}).evenStep(); got != 0 {
		t.Errorf("two inputs: step %v, want none", got)
	}
}

// TestPaperStart: what is asked for stands in the parameters, in the data's
// units however the model scales them.
func TestPaperStart(t *testing.T) {
	data := wave(100, 0.1)
	for _, o := range []Options{
		{Raw: true}, {}, {Window: 2}, {Window: 2, Raw: true, UniformPhases: true}, {Method: RP}, {Method: SSGP, Window: 2},
	} {
		o.Init, o.Features, o.Seed = InitPaper, 6, 2
		o.Lengthscales, o.Periods, o.NoisePrecision = []float64{3, 0.5}, []float64{0, 0.25}, 25
		m, err := New(data, o)
		if err != nil {
			t.Fatal(err)
		}
		p := m.Params
		v := p.Windows.Count()
		if p.K != 6 || p.L != 2*v || (o.Window > 0) != (v > 1) || m.Inference != Exact {
			t.Errorf("%+v: %d components of %d in %d windows, want 2 of 6 in each", o, p.L, p.K, v)
		}
		sx, sy := m.X.Scale[0], m.Y.Scale[0]
		if o.Raw && (sx != 1 || sy != 1 || m.X.Offset[0] != 0 || m.Y.Offset[0] != 0) {
			t.Errorf("%+v: units %v, %v", o, m.X, m.Y)
		}
		total := 0.0
		for i := range p.L {
			near(t, "length-scale", []float64{p.Lengthscale[i] * sx}, []float64{o.Lengthscales[i%2]}, rounding)
			near(t, "frequency", []float64{p.Frequency[i] / sx}, []float64{[]float64{0, 4}[i%2]}, rounding)
			total += p.Variance[i] * sy * sy / float64(v)
		}
		near(t, "noise precision", []float64{p.NoisePrecision[0] / (sy * sy)}, []float64{25}, rounding)
		checkUnderWindows(t, p, "paper")
		y := 0.0
		for _, v := range m.Y.ToModel(data.Y) {
			y += v * v * sy * sy / float64(data.N)
		}
		near(t, "variance", []float64{total}, []float64{y}, rounding)
	}
}

// checkUnderWindows: every window owns components and every z lies under its
// own.
func checkUnderWindows(t *testing.T, p *Params, what string) {
	t.Helper()
	w := &p.Windows
	if len(w.Center) == 0 {
		return
	}
	owned := make([]bool, len(w.Center))
	for i, v := range p.ComponentWindow {
		owned[v] = true
		for k := i * p.K; k < (i+1)*p.K; k++ {
			if z := p.Location[k*p.Q+w.Dim]; math.Abs(z-w.Center[v]) > w.Length/2*(1+1e-12) {
				t.Errorf("%s: z[%d] is %g from its window's centre, the length is %g", what, k, z-w.Center[v], w.Length)
			}
		}
	}
	for v, ok := range owned {
		if !ok {
			t.Errorf("%s: window %d has no component", what, v)
		}
	}
}

// TestSpectrumStart: components stand on the data's tones with their power,
// before any optimisation; holes in the grid do not matter.
func TestSpectrumStart(t *testing.T) {
	full := wave(400, 0.05)
	holed := &Data{N: 0, Q: 1, D: 1}
	for i := range full.N {
		if i%100 < 90 {
			holed.X, holed.Y, holed.N = append(holed.X, full.X[i]), append(holed.Y, full.Y[i]), holed.N+1
		}
	}
	for name, c := range map[string]struct {
		data *Data
		o    Options
	}{
		"plain":   {full, Options{}},
		"holes":   {holed, Options{}},
		"windows": {holed, Options{Window: 10}},
		"raw":     {full, Options{Raw: true}},
		"pairs":   {full, Options{Features: 4, Components: 12}},
		"ssgp":    {full, Options{Method: SSGP}},
	} {
		m, err := New(c.data, c.o)
		if err != nil {
			t.Fatal(err)
		}
		p := m.Params
		checkUnderWindows(t, p, name)
		v := float64(p.Windows.Count())
		power, near2, near5 := 0.0, 0.0, 0.0
		for i := range p.L {
			f := p.Frequency[i] / m.X.Scale[0]
			if f < 0 || f > 5*(1+1e-9) {
				t.Errorf("%s: component %d at %g cycles a unit, want 0 to half a cycle a sample, 5", name, i, f)
			}
			s := p.Variance[i] * m.Y.Scale[0] * m.Y.Scale[0] / v
			power += s
			if math.Abs(2*math.Pi*f-2) < 1.2 {
				near2 += s
			}
			if math.Abs(2*math.Pi*f-5) < 1.2 {
				near5 += s
			}
		}
		if power < 0.4 || power > 0.9 || near2 < 0.8*0.5 || near5 < 0.08 {
			t.Errorf("%s: power %.3g, of it %.3g about the first tone and %.3g about the second; want some 0.63, 0.5 and 0.125", name, power, near2, near5)
		}
		noiseOnly := -0.5 * float64(c.data.N) * (math.Log(2*math.Pi*0.625) + 1)
		if b := evaluated(t, m, c.data).Bound + float64(c.data.N)*-math.Log(m.Y.Scale[0]); c.o.Features == 0 && b < noiseOnly {
			t.Errorf("%s: the start's bound is %g, noise alone has %g", name, b, noiseOnly)
		}
	}
}

// TestWindowAuto: of the candidates the one whose start has the highest bound
// is taken; one as long as the data is no window.
func TestWindowAuto(t *testing.T) {
	data := wave(300, 0.1) // 30 units of x
	for name, lengths := range map[string][]float64{"three": {12, 4, 8}, "one": {6}, "too long": {40, 60}, "long among them": {5, 100}} {
		best, bound := &Model{}, math.Inf(-1)
		for _, w := range lengths {
			m, err := New(data, Options{Window: w, Components: 5})
			if err != nil {
				t.Fatal(err)
			}
			if b := evaluated(t, m, data).Bound; b > bound {
				best, bound = m, b
			}
		}
		got, err := New(data, Options{Window: WindowAuto, WindowCandidates: lengths, Components: 5})
		if err != nil {
			t.Fatal(err)
		}
		if w := got.Params.Windows; !w.Equal(&best.Params.Windows) || evaluated(t, got, data).Bound != bound {
			t.Errorf("%s: chose %d windows of %v, the best has %d of %v", name, len(w.Center), w.Length, len(best.Params.Windows.Center), best.Params.Windows.Length)
		}
	}
}

// TestWindowLayout: gates' squares add up to 1, centres lie within the data.
func TestWindowLayout(t *testing.T) {
	for _, c := range []struct {
		lo, hi, length float64
		want           int
	}{{0, 10, 4, 6}, {0, 10.9, 4, 6}, {-3e6, -3e6 + 100, 8, 26}, {0, 10, 20, 0}, {0, 10, 19, 2}, {0, 10, 0, 0}, {0, 10, 1e9, 0}, {0, 0, 1, 0}} {
		w := layWindows(c.lo, c.hi, c.length, 0.5, 0)
		if len(w.Center) != c.want {
			t.Errorf("%+v: %d windows", c, len(w.Center))
		}
		if err := w.Check(1); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
		if n := len(w.Center); n > 0 && (w.Center[0] < c.lo || w.Center[n-1] > c.hi) {
			t.Errorf("%+v: centres from %g to %g", c, w.Center[0], w.Center[n-1])
		}
		for x := c.lo - 1; c.want > 0 && x < c.hi+1; x += (c.hi - c.lo) / 173 {
			s := 0.0
			for v := range w.Center {
				s += w.Gate(v, x) * w.Gate(v, x)
			}
			if math.Abs(s-1) > 1e-6 {
				t.Errorf("%+v: Σ g² = %v at %v", c, s, x)
			}
		}
	}
}

// TestDefaultInit: one input takes the spectrum, however it is spaced, others
// the paper's start.
func TestDefaultInit(t *testing.T) {
	even := wave(100, 0.1)
	uneven := &Data{N: 100, Q: 1, D: 1, Y: even.Y}
	for i := range 100 {
		uneven.X = append(uneven.X, float64(i*i))
	}
	for name, c := range map[string]struct {
		data *Data
		o    Options
		want Init
	}{
		"even": {even, Options{Features: 8}, InitSpectrum}, "uneven": {uneven, Options{Features: 8}, InitSpectrum},
		"one place":           {&Data{N: 20, Q: 1, D: 1, X: make([]float64, 20), Y: even.Y[:20]}, Options{Features: 8}, InitPaper},
		"given length-scales": {even, Options{Features: 8, Lengthscales: []float64{1}}, InitPaper},
		"random projections":  {even, Options{Features: 8, Method: RP}, InitPaper},
	} {
		got, err := New(c.data, c.o)
		if err != nil {
			t.Fatal(err)
		}
		c.o.Init = c.want
		want, err := New(c.data, c.o)
		if err != nil {
			t.Fatal(err)
		}
		near(t, name, got.Params.Location, want.Params.Location, 0)
	}
}

func TestBadOptions(t *testing.T) {
	data := wave(40, 0.1)
	two := &Data{N: 20, Q: 2, D: 1, X: make([]float64, 40), Y: make([]float64, 20)}
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name string
		data *Data
		o    Options
	}{
		{"method", data, Options{Method: "gp"}},
		{"inference", data, Options{Inference: "mcmc"}},
		{"start", data, Options{Init: "random"}},
		{"components", data, Options{Components: -1}},
		{"features", data, Options{Features: -2}},
		{"iterations", data, Options{Iterations: NoIterations - 1}},
		{"batch", data, Options{Batch: -5}},
		{"restarts", data, Options{Restarts: -1}},
		{"segments", data, Options{Segments: -1}},
		{"odd pairs", data, Options{Method: SSGP, Init: InitPaper, Features: 5}},
		{"odd pairs for the spectrum", data, Options{Init: InitSpectrum, Features: 3}},
		{"negative window", data, Options{Window: -2}},
		{"window NaN", data, Options{Window: nan}},
		{"window infinite", data, Options{Window: inf}},
		{"window along no input", data, Options{WindowDim: 1}},
		{"window along input -1", data, Options{WindowDim: -1}},
		{"frequency variance", data, Options{FrequencyVariance: -1}},
		{"frequency variance NaN", data, Options{FrequencyVariance: nan}},
		{"frequency variance infinite", data, Options{FrequencyVariance: inf}},
		{"noise", data, Options{NoisePrecision: -1}},
		{"noise NaN", data, Options{NoisePrecision: nan}},
		{"noise infinite", data, Options{NoisePrecision: inf}},
		{"length-scale 0", data, Options{Lengthscales: []float64{1, 0}}},
		{"length-scale NaN", data, Options{Lengthscales: []float64{nan}}},
		{"length-scale infinite", data, Options{Lengthscales: []float64{inf}}},
		{"period", data, Options{Lengthscales: []float64{1}, Periods: []float64{-1}}},
		{"period NaN", data, Options{Lengthscales: []float64{1}, Periods: []float64{nan}}},
		{"periods without length-scales", data, Options{Periods: []float64{1}}},
		{"too few periods", data, Options{Lengthscales: []float64{1, 2}, Periods: []float64{1}}},
		{"fix", data, Options{Fix: []string{"kernel.variance", "kernel.period"}}},
		{"too many components", data, Options{Components: MaxCount + 1}},
		{"too many features", data, Options{Inference: Factorised, Features: MaxCount + 1}},
		{"too many features for exact inference", data, Options{Components: MaxExact / 2, Features: 4}},
		{"optimiser", data, Options{Optimiser: "adam"}},
		{"more windows than rows", data, Options{Window: 1e-3}},
		{"a candidate too short", data, Options{Window: WindowAuto, WindowCandidates: []float64{2, 1e-3}}},
		{"a candidate of no length", data, Options{Window: WindowAuto, WindowCandidates: []float64{2, 0}}},
		{"spectrum of two inputs", two, Options{Init: InitSpectrum}},
		{"spectrum of one place", &Data{N: 3, Q: 1, D: 1, X: []float64{2, 2, 2}, Y: make([]float64, 3)}, Options{Init: InitSpectrum}},
		{"spectrum with length-scales", data, Options{Init: InitSpectrum, Lengthscales: []float64{1}}},
	} {
		if _, err := New(c.data, c.o); !errors.Is(err, ErrOptions) {
			t.Errorf("New, %s: error %v, want one that wraps ErrOptions", c.name, err)
		}
		if m, _, err := Fit(context.Background(), c.data, c.o); !errors.Is(err, ErrOptions) || m != nil {
			t.Errorf("Fit, %s: error %v, want one that wraps ErrOptions", c.name, err)
		}
	}
}

// TestPaperFrequencyVariance: the starting Σ is what is asked for, point
// frequencies apart.
func TestPaperFrequencyVariance(t *testing.T) {
	data := &Data{N: 4, Q: 1, D: 1, X: []float64{0, 1, 2, 5}, Y: []float64{1, 3, 2, 0}}
	for _, c := range []struct {
		o    Options
		want float64
	}{
		{Options{Init: InitPaper}, paperVariance},
		{Options{Init: InitPaper, FrequencyVariance: 0.25}, 0.25},
		{Options{Init: InitPaper, FrequencyVariance: 0.25, Method: SSGP}, 0},
	} {
		m, err := New(data, c.o)
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range m.Params.FreqVar {
			if v != c.want {
				t.Fatalf("%+v: Σ[%d] = %v, want %v", c.o, k, v, c.want)
			}
		}
	}
}
