package vssgp

import (
	"math"
	"math/rand/v2"
	"testing"
)

// lines is a table of cosines (frequency, amplitude) in noise, in units of its own.
func lines(n int, span, noise, unitX, unitY float64, cosines ...[2]float64) *Data {
	random := rand.New(rand.NewPCG(5, 0))
	d := &Data{N: n, Q: 1, D: 1}
	for i := range n {
		x := span * float64(i) / float64(n-1)
		y := noise * random.NormFloat64()
		for j, c := range cosines {
			y += c[1] * math.Cos(2*math.Pi*c[0]*x+float64(j)+0.7)
		}
		d.X, d.Y = append(d.X, x*unitX), append(d.Y, y*unitY)
	}
	return d
}

// nearest is the surest of the features whose frequency lies within 1/(2·span) of f.
func nearest(m *Model, f, span float64) *Frequency {
	for _, one := range m.Frequencies() {
		if math.Abs(one.Mean[0]-f) < 0.5/span {
			return &one
		}
	}
	return nil
}

// TestFrequencyTheory: what is said of a frequency is sampling theory within a factor of two, √6·σ/(π·a·T·√N), in the data's units;
// without priors q(w) alone says a twentieth of that or less, for nothing.
func TestFrequencyTheory(t *testing.T) {
	const n, span, noise = 400, 100.0, 0.3
	for _, c := range []struct {
		name    string
		o       Options
		x, y    float64
		cosines [][2]float64
		spread  bool // whether q(w) keeps its share
	}{
		{"one", Options{Components: 1, Features: 2}, 1, 1, [][2]float64{{0.083, 1}}, true},
		{"in other units", Options{Components: 1, Features: 2}, 30, 1e4, [][2]float64{{0.083, 1}}, true},
		{"two", Options{Components: 3, Features: 2}, 1, 1, [][2]float64{{0.083, 1}, {0.21, 0.5}}, true},
		{"no priors", Options{Components: 1, Features: 2, Priors: NoPriors()}, 1, 1, [][2]float64{{0.083, 1}}, false},
		{"ssgp", Options{Method: SSGP, Components: 1, Features: 2}, 1, 1, [][2]float64{{0.083, 1}}, false},
		{"factorised", Options{Inference: Factorized, Components: 1, Features: 2}, 1, 1, [][2]float64{{0.083, 1}}, true},
	} {
		o := c.o
		o.Windows.Length = WindowNone
		m, r := mustFit(t, lines(n, span, noise, c.x, c.y, c.cosines...), o)
		if r.NoPosterior != "" {
			t.Errorf("%s: no posterior: %s", c.name, r.NoPosterior)
			continue
		}
		for _, line := range c.cosines {
			theory := math.Sqrt(6) * noise / (math.Pi * line[1] * span * math.Sqrt(n)) / c.x
			f := nearest(m, line[0]/c.x, span*c.x)
			if f == nil {
				t.Fatalf("%s: no feature near %v", c.name, line[0])
			}
			if ratio := f.SD[0] / theory; ratio < 0.5 || ratio > 2 {
				t.Errorf("%s: frequency %v +- %.3g, theory %.3g", c.name, f.Mean[0], f.SD[0], theory)
			}
			if math.Abs(f.Mean[0]-line[0]/c.x) > 4*theory {
				t.Errorf("%s: frequency %v, want %v +- %.3g", c.name, f.Mean[0], line[0]/c.x, theory)
			}
			if c.spread && f.Spread[0] < 0.1*theory {
				t.Errorf("%s: q(w) has collapsed to %.3g of theory", c.name, f.Spread[0]/theory)
			}
			if c.name == "no priors" && f.Spread[0] > 0.05*theory {
				t.Errorf("%s: q(w) has kept %.3g of theory; want the defect", c.name, f.Spread[0]/theory)
			}
		}
		if (r.LogPrior == 0) != (c.name == "no priors") {
			t.Errorf("%s: log prior %v", c.name, r.LogPrior)
		}
	}
}

// TestPriorUnits: a prior in the data's units is the same one in others, and the weak ones follow the units by themselves.
func TestPriorUnits(t *testing.T) {
	for name, given := range map[string]func(x, y float64) Priors{
		"weak": func(x, y float64) Priors { return Priors{} },
		"given": func(x, y float64) Priors {
			return Priors{Amplitude: Prior{Median: y, SD: 1}, Lengthscale: Prior{Median: 20 * x, SD: 0.7}, Noise: Prior{Median: 0.2 * y, SD: 0.5}}
		},
	} {
		fit := func(x, y float64) (*Model, *Result) {
			return mustFit(t, lines(100, 10, 0.1, x, y, [2]float64{0.5, 1}), Options{Components: 1, Features: 2, Windows: WindowOptions{Length: WindowNone}, Priors: given(x, y)})
		}
		m, r := fit(1, 1)
		if name == "given" { // the coordinates are log σ², log l and log τ⁻¹
			c, want := m.Components()[0], 0.0
			for _, v := range [][3]float64{{math.Pow(c.SD[0], 2), 1, 2}, {c.Lengthscale[0], 20, 0.7}, {math.Pow(m.NoiseSD()[0], 2), 0.04, 1}} {
				z := math.Log(v[0]/v[1]) / v[2]
				want -= 0.5*z*z + math.Log(v[2]*math.Sqrt(2*math.Pi))
			}
			if math.Abs(r.LogPrior-want) > 1e-6 {
				t.Errorf("log prior %v, want %v", r.LogPrior, want)
			}
		}
		scaled, s := fit(4, 1<<10) // powers of two, so that rounding is the same
		if math.Abs(r.LogPrior-s.LogPrior) > 1e-6 || math.Abs(r.Bound-s.Bound) > 1e-6 {
			t.Errorf("%s: bound and log prior %v, %v, in other units %v, %v", name, r.Bound, r.LogPrior, s.Bound, s.LogPrior)
		}
		if a, b := m.Components()[0].Lengthscale[0], scaled.Components()[0].Lengthscale[0]/4; math.Abs(a/b-1) > 1e-6 {
			t.Errorf("%s: length-scale %v, in other units %v", name, a, b)
		}
	}
}

// TestPriorHolds: a prior that is sure is obeyed in the data's units; one that says nothing changes nothing.
func TestPriorHolds(t *testing.T) {
	data := lines(100, 10, 0.1, 3, 50, [2]float64{0.5, 1})
	o := Options{Components: 1, Features: 2, Windows: WindowOptions{Length: WindowNone}}
	sure := func(median float64) Prior { return Prior{Median: median, SD: 1e-3} }
	o.Priors = Priors{Amplitude: sure(70), Lengthscale: sure(9), Noise: sure(11)}
	m, _ := mustFit(t, data, o)
	c := m.Components()[0]
	for _, v := range [][2]float64{{c.SD[0], 70}, {c.Lengthscale[0], 9}, {m.NoiseSD()[0], 11}} {
		if math.Abs(v[0]/v[1]-1) > 0.02 {
			t.Errorf("%v, want %v of a prior that is sure", v[0], v[1])
		}
	}
	o.Priors = NoPriors()
	_, none := mustFit(t, data, o)
	vague := Prior{Median: 1, SD: 1e6}
	o.Priors = Priors{vague, vague, vague}
	if _, r := mustFit(t, data, o); math.Abs(r.Bound-none.Bound) > 0.01 {
		t.Errorf("bound %v without priors and %v with priors that say next to nothing", none.Bound, r.Bound)
	}
}
