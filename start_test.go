package vssgp

import (
	"math"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit/modeltest"
)

// TestPaperStart: what is asked for stands in the parameters, in the data's
// units however the model scales them.
func TestPaperStart(t *testing.T) {
	data := wave(100, 0.1)
	for _, o := range []Options{
		{Raw: true}, {}, {Window: 2}, {Window: 2, Raw: true, UniformPhases: true}, {Method: RP}, {Method: SSGP, Window: 2},
	} {
		o.Init, o.Features, o.Seed = InitPaper, 6, 2
		o.Lengthscales, o.Periods, o.NoisePrecision = []float64{3, 0.5}, []float64{0, 0.25}, 25
		m, err := New(t.Context(), data, o)
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
			modeltest.Near(t, "length-scale", []float64{p.Lengthscale[i] * sx}, []float64{o.Lengthscales[i%2]}, rounding)
			modeltest.Near(t, "frequency", []float64{p.Frequency[i] / sx}, []float64{[]float64{0, 4}[i%2]}, rounding)
			total += p.Variance[i] * sy * sy / float64(v)
		}
		modeltest.Near(t, "noise precision", []float64{p.NoisePrecision[0] / (sy * sy)}, []float64{25}, rounding)
		checkUnderWindows(t, p, "paper")
		y := 0.0
		for _, v := range m.Y.ToModel(data.Y) {
			y += v * v * sy * sy / float64(data.N)
		}
		modeltest.Near(t, "variance", []float64{total}, []float64{y}, rounding)
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
// before any optimization; holes in the grid do not matter.
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
		m, err := New(t.Context(), c.data, c.o)
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
			m, err := New(t.Context(), data, Options{Window: w, Components: 5})
			if err != nil {
				t.Fatal(err)
			}
			if b := evaluated(t, m, data).Bound; b > bound {
				best, bound = m, b
			}
		}
		got, err := New(t.Context(), data, Options{Window: WindowAuto, WindowCandidates: lengths, Components: 5})
		if err != nil {
			t.Fatal(err)
		}
		if w := got.Params.Windows; !w.Equal(&best.Params.Windows) || evaluated(t, got, data).Bound != bound {
			t.Errorf("%s: chose %d windows of %v, the best has %d of %v", name, len(w.Center), w.Length, len(best.Params.Windows.Center), best.Params.Windows.Length)
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
		got, err := New(t.Context(), c.data, c.o)
		if err != nil {
			t.Fatal(err)
		}
		c.o.Init = c.want
		want, err := New(t.Context(), c.data, c.o)
		if err != nil {
			t.Fatal(err)
		}
		modeltest.Near(t, name, got.Params.Location, want.Params.Location, 0)
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
		{Options{Init: InitPaper}, 0.001},
		{Options{Init: InitPaper, FrequencyVariance: 0.25}, 0.25},
		{Options{Init: InitPaper, FrequencyVariance: 0.25, Method: SSGP}, 0},
	} {
		m, err := New(t.Context(), data, c.o)
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

// TestStartUnits: a start has lengths and noise in the model's units, and chooses
// what the options leave open.
func TestStartUnits(t *testing.T) {
	data := wave(301, 0)
	for i := range data.X {
		data.X[i] = 2 * float64(i)
	}
	for _, c := range []struct {
		o          Options
		auto       bool
		window     float64
		candidates []float64
	}{
		{Options{Window: 80}, false, 40, nil}, {Options{Window: WindowNone}, false, 0, nil},
		{Options{WindowCandidates: []float64{100, 20, 50}}, true, 0, []float64{50, 10, 25}}, {Options{}, true, 0, nil},
	} {
		c.o.NoisePrecision = 3
		f, err := c.o.frame(data)
		if err != nil {
			t.Fatal(err)
		}
		set := f.settings(7)
		if set.Auto != c.auto || set.Window != c.window || !slices.Equal(set.Candidates, c.candidates) || !set.Optimized || set.Seed != 7 || set.Noise != 3*f.y.Scale[0]*f.y.Scale[0] {
			t.Errorf("%+v: %+v", c.o, set)
		}
		if g := f.grid; g.Step != 1 || g.Band != 0 {
			t.Errorf("the grid is %+v, want even steps of 1", g)
		}
	}
	f, err := Options{Iterations: NoIterations}.frame(data)
	if err != nil {
		t.Fatal(err)
	}
	if f.settings(0).Optimized {
		t.Error("starting values alone are optimised")
	}
}
