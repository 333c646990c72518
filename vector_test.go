package vssgp

import (
	"math"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/internal/oracle"
)

// everything names all tensors that a fit may move.
var everything = slices.Concat(hyper, feature, coefs)

// paired makes p one of SSGP's: Σ = 0, neighbours share a frequency.
func paired(p *Params) {
	for k := range p.M() {
		p.pointFeature(k, SSGP)
	}
}

// chartCases are models and the tensors that move.
var chartCases = []struct {
	name  string
	kind  kind
	free  []string
	ties  ties
	floor noiseFloor
}{
	{"uniform phases", kind{name: "c1", n: 9, l: 2, k: 3, q: 2, d: 2}, everything, ties{}, noiseFloor{}},
	{"fixed phases", kind{name: "c2", n: 9, l: 2, k: 3, q: 1, d: 1, fixed: true}, everything, ties{}, noiseFloor{}},
	{"point frequencies", kind{name: "c3", n: 9, l: 2, k: 3, q: 1, d: 1, variance: -1}, everything, ties{}, noiseFloor{}},
	{"pairs", kind{name: "c4", n: 9, l: 2, k: 4, q: 2, d: 1, fixed: true}, everything, ties{twins: true}, noiseFloor{}},
	{"covariance alone", kind{name: "c5", n: 9, l: 2, k: 2, q: 1, d: 1}, hyper, ties{}, noiseFloor{}},
	{"windows", kind{name: "c6", n: 12, l: 4, k: 2, q: 1, d: 1, windows: 3}, everything, ties{}, noiseFloor{}},
	{"shared components", kind{name: "c7", n: 12, l: 7, k: 2, q: 1, d: 1, windows: 3}, everything, ties{shared: true}, noiseFloor{}},
	{"tied", kind{name: "c8", n: 12, l: 4, k: 2, q: 2, d: 1}, everything, ties{tensors: tieable}, noiseFloor{}},
	{"shared, length-scales tied", kind{name: "c9", n: 12, l: 5, k: 2, q: 1, d: 2, windows: 2}, hyper, ties{shared: true, tensors: []string{"kernel.lengthscale"}}, noiseFloor{}},
	{"the noise near its floor", kind{name: "c10", n: 9, l: 2, k: 3, q: 1, d: 1, tau: 2}, everything, ties{}, noiseFloor{0.1, 0.1}},
	{"the floor under windows", kind{name: "c11", n: 12, l: 4, k: 2, q: 1, d: 1, windows: 3, tau: 2}, hyper, ties{shared: true}, noiseFloor{0.01, 0.1}},
}

// TestChartRoundTrip: read then write gives the parameters back, and write
// then read the vector; what is not free, or fixed, keeps its bits.
func TestChartRoundTrip(t *testing.T) {
	for _, c := range chartCases {
		t.Run(c.name, func(t *testing.T) {
			p, _ := c.kind.make()
			if c.ties.twins {
				paired(p)
			}
			checkRoundTrip(t, p, c.free, c.ties, c.floor, 3, 1)
		})
	}
}

// TestChartHold: held coordinates lead to a model from wherever they have gone,
// and those that lead to one anyway stay.
func TestChartHold(t *testing.T) {
	for _, c := range chartCases {
		p, _ := c.kind.make()
		if c.ties.twins {
			paired(p)
		}
		chart := newChart(p, c.free, c.ties, 3)
		chart.floor = c.floor
		v := make([]float64, chart.n)
		chart.read(v, p)
		for _, far := range []float64{-1e5, 1e5, 0} {
			moved := slices.Clone(v)
			for _, s := range chart.spans {
				lo, hi := chart.coordinates(s)
				for i := lo; i < hi; i++ {
					moved[i] += far
				}
				chart.hold(moved, s)
			}
			if far == 0 && !slices.Equal(moved, v) {
				t.Errorf("%s: what needs no hold is moved", c.name)
			}
			at := p.Clone()
			chart.write(at, moved)
			if err := at.Check(); err != nil {
				t.Errorf("%s, %g further: %v", c.name, far, err)
			}
		}
	}
}

// checkRoundTrip moves p's chart by normal steps of the given size.
func checkRoundTrip(t *testing.T, p *Params, free []string, ties ties, floor noiseFloor, reach, size float64) {
	t.Helper()
	c := newChart(p, free, ties, reach)
	c.floor = floor
	v := make([]float64, c.n)
	c.read(v, p)
	same := p.Clone()
	c.write(same, v)
	at, was := same.Tensors(), p.Tensors()
	for i, tensor := range at {
		near(t, "read, then write: "+tensor.Name, *tensor.Data, *was[i].Data, 1e-12)
	}
	rng := newRNG(uint64(c.n))
	for i := range v {
		v[i] += size * rng.NormFloat64()
	}
	moved := p.Clone()
	c.write(moved, v)
	if err := moved.Check(); err != nil {
		t.Fatalf("a step of size %g leaves the domain: %v", size, err)
	}
	back := make([]float64, c.n)
	c.read(back, moved)
	near(t, "write, then read", back, v, 1e-9)
	at = moved.Tensors()
	for i, tensor := range at {
		for j, now := range *tensor.Data {
			before := (*was[i].Data)[j]
			if (p.Fixed(tensor.Name, j) || !isFree(free, tensor.Name)) && now != before {
				t.Errorf("%s[%d] went from %v to %v, want it kept", tensor.Name, j, before, now)
			}
		}
	}
	for k := 1; ties.twins && k < p.M(); k += 2 {
		for q := range p.Q {
			if a, b := moved.FreqMean[(k-1)*p.Q+q], moved.FreqMean[k*p.Q+q]; a != b {
				t.Errorf("frequencies of the pair %d, %d are %v and %v, want the same", k-1, k, a, b)
			}
		}
	}
}

// isFree counts the phases' ends as one.
func isFree(free []string, name string) bool {
	if name == "phase.upper" {
		name = "phase.lower"
	}
	return slices.Contains(free, name)
}

// TestChartPull: the gradient by the vector is the difference of the bound
// along each of its coordinates.
func TestChartPull(t *testing.T) {
	for _, c := range chartCases {
		t.Run(c.name, func(t *testing.T) {
			p, data := c.kind.make()
			if c.ties.twins {
				paired(p)
			}
			m := mustModel(t, p)
			h, err := m.hold(data)
			if err != nil {
				t.Fatal(err)
			}
			defer h.rows.Close()
			ch := newChart(p, c.free, c.ties, 3)
			ch.floor = c.floor
			v, got, want := make([]float64, ch.n), make([]float64, ch.n), make([]float64, ch.n)
			ch.read(v, p)
			e, err := h.factorised(p, nil, true)
			if err != nil {
				t.Fatal(err)
			}
			ch.pull(got, p, e.Gradient)
			trial := p.Clone()
			for i := range v {
				want[i], _ = oracle.Derivative(func(step float64) float64 {
					w := slices.Clone(v)
					w[i] += step
					ch.write(trial, w)
					e, err := h.factorised(trial, nil, false)
					if err != nil {
						t.Fatal(err)
					}
					return e.Bound
				}, 0.125)
			}
			for i := range v {
				if d := math.Abs(got[i] - want[i]); !(d <= chartGradient*max(1, math.Abs(want[i]))) {
					t.Errorf("coordinate %d (%s): %.10g, differences give %.10g", i, ch.nameOf(i, p), got[i], want[i])
				}
			}
		})
	}
}

// nameOf is the tensor of coordinate i.
func (c *chart) nameOf(i int, p *Params) string {
	for _, g := range c.groups {
		n := g.width() * len(g.index)
		if i < n {
			return p.Tensors()[g.tensor].Name
		}
		i -= n
	}
	return "?"
}

func TestWrapPhases(t *testing.T) {
	p, _ := kind{name: "wrap", n: 1, l: 1, k: 4, q: 1, d: 1}.make()
	turn := 2 * math.Pi
	p.PhaseLower = []float64{-0.5, 7, 1, -20}
	p.PhaseUpper = []float64{0.5, 7.5, 1.5, -20} // the last is fixed
	p.wrapPhases()
	near(t, "α", p.PhaseLower, []float64{turn - 0.5, 7 - turn, 1, -20}, 1e-14)
	near(t, "β", p.PhaseUpper, []float64{turn + 0.5, 7.5 - turn, 1.5, -20}, 1e-14)
}

// TestSinc holds sin(h)/h and its slope to 192 bits on both sides of where the
// series ends.
func TestSinc(t *testing.T) {
	for _, h := range []float64{0, 1e-9, 5e-7, 1e-3, 0.0199, 0.02, 0.0201, 0.5, 3, math.Pi} {
		a, step := exactly(h), exactly(math.Ldexp(1, -60))
		slope := a.plus(step).sinc().minus(a.minus(step).sinc()).over(step.scaled(1)).float()
		if want := a.sinc().float(); math.Abs(sinc(h)-want) > 2e-16 {
			t.Errorf("sinc(%v) = %.17g, want %.17g", h, sinc(h), want)
		}
		if math.Abs(sincSlope(h)-slope) > 3e-12*math.Abs(slope) {
			t.Errorf("slope of sinc at %v = %.17g, want %.17g", h, sincSlope(h), slope)
		}
	}
}

// FuzzChart moves random models about.
func FuzzChart(f *testing.F) {
	f.Add(uint64(1), uint8(1), uint8(2), uint8(1), true, false, 0.5)
	f.Add(uint64(2), uint8(3), uint8(1), uint8(4), false, true, 3.0)
	f.Fuzz(func(t *testing.T, seed uint64, l, k, q uint8, twins, shared bool, size float64) {
		c := kind{name: string(rune('a' + seed%1000)), n: 1, l: 1 + int(l%6), k: 1 + int(k%6), q: 1 + int(q%4), d: 1}
		if twins {
			c.k += c.k % 2
		}
		// A width within 1e-6 of a whole turn keeps too few digits of its
		// logit: steps of 3 stay clear of that.
		if !(math.Abs(size) <= 3) {
			size = 1
		}
		p, _ := c.make()
		if twins {
			paired(p)
		}
		checkRoundTrip(t, p, everything, ties{twins: twins, shared: shared}, noiseFloor{}, 1+float64(seed%50), size)
	})
}
