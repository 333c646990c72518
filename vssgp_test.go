package vssgp

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp/internal/oracle"
	"github.com/vssgp/vssgp/spectral"
)

// kind describes a random model and data on [at, at+6)^Q.
type kind struct {
	name          string
	n, l, k, q, d int
	fixed         bool    // phases are points
	support       float64 // width of the phases; 0: up to a turn
	variance      float64 // Σ about; 0: 0.05 … 0.8, negative: 0
	at            float64 // where the data and z lie
	origin        bool    // half of the features stay at 0 although the data do not
	tau           float64 // 0: 1 … 20
	windows       int     // V, over [at, at+2V); 0: none
	skip          int     // with windows: every skip-th owns no component
	twins         bool    // every second feature is nearly the one before
	silent        bool    // the middle third of the data is 0
	hard          bool    // ill-conditioned in float64, whatever the algorithm
}

func newRNG(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x7e57)) }

// make draws the model and its data, the same for the same name.
func (c kind) make() (*Params, *Data) {
	seed := uint64(len(c.name))
	for _, b := range []byte(c.name) {
		seed = seed*131 + uint64(b)
	}
	rng := newRNG(seed)
	uniform := func(lo, hi float64) float64 { return lo + (hi-lo)*rng.Float64() }
	fill := func(a []float64, draw func() float64) {
		for i := range a {
			a[i] = draw()
		}
	}
	p := NewParams(c.l, c.k, c.q, c.d)
	fill(p.Variance, func() float64 { return uniform(0.5, 2) })
	fill(p.Lengthscale, func() float64 { return uniform(1, 3) })
	fill(p.Frequency, func() float64 { return uniform(0, 0.5) })
	fill(p.Location, func() float64 { return c.at + uniform(0, 6) })
	fill(p.FreqMean, rng.NormFloat64)
	fill(p.FreqVar, func() float64 { return uniform(0.05, 0.8) })
	fill(p.CoefMean, rng.NormFloat64)
	fill(p.CoefVar, func() float64 { return uniform(0.1, 0.9) })
	p.NoisePrecision[0] = uniform(1, 20)
	if c.tau > 0 {
		p.NoisePrecision[0] = c.tau
	}
	for i := range p.FreqVar {
		if c.variance != 0 {
			p.FreqVar[i] *= max(0, c.variance)
		}
		if c.origin && i%2 == 0 {
			p.Location[i] -= c.at
		}
	}
	for k := range p.PhaseLower {
		p.PhaseLower[k] = uniform(0, 4)
		p.PhaseUpper[k] = uniform(p.PhaseLower[k]+0.2, 2*math.Pi)
		if c.support > 0 {
			p.PhaseUpper[k] = p.PhaseLower[k] + c.support*uniform(0.5, 1)
		}
		if c.fixed {
			p.PhaseUpper[k] = p.PhaseLower[k]
		}
	}
	if c.twins {
		makeTwins(p)
	}
	c.layWindows(p)
	data := &Data{N: c.n, Q: c.q, D: c.d, X: make([]float64, c.n*c.q), Y: make([]float64, c.n*c.d)}
	fill(data.X, func() float64 { return c.at + uniform(0, 6) })
	fill(data.Y, rng.NormFloat64)
	for n := range data.N {
		if x := data.X[n*c.q] - c.at; c.silent && x > 2 && x < 4 {
			clear(data.Y[n*c.d:][:c.d])
		}
	}
	return p, data
}

// makeTwins moves every second feature to within 1e-7 of the one before.
func makeTwins(p *Params) {
	for k := 1; k < p.M(); k += 2 {
		for _, a := range []struct {
			data  []float64
			width int
		}{{p.Location, p.Q}, {p.FreqMean, p.Q}, {p.FreqVar, p.Q}, {p.PhaseLower, 1}, {p.PhaseUpper, 1}} {
			for i := range a.width {
				a.data[k*a.width+i] = a.data[(k-1)*a.width+i] * (1 + 1e-7)
			}
		}
	}
}

// layWindows gives p windows, centres 2 apart, and its components to them.
func (c kind) layWindows(p *Params) {
	if c.windows == 0 {
		return
	}
	p.Windows.Length = 4
	var owners []int
	for v := range c.windows {
		p.Windows.Center = append(p.Windows.Center, c.at+1+2*float64(v))
		if c.skip == 0 || (v+1)%c.skip != 0 {
			owners = append(owners, v)
		}
	}
	for i := range c.l {
		p.ComponentWindow = append(p.ComponentWindow, owners[i*len(owners)/c.l])
	}
}

// kinds are the models on which bounds and gradients are held to the truth.
var kinds = []kind{
	{name: "one feature", n: 5, l: 1, k: 1, q: 1, d: 1},
	{name: "one feature, fixed phase, point frequency", n: 5, l: 1, k: 1, q: 1, d: 2, fixed: true, variance: -1},
	{name: "two components", n: 9, l: 2, k: 3, q: 1, d: 2},
	{name: "fixed phases", n: 9, l: 2, k: 3, q: 1, d: 1, fixed: true},
	{name: "two inputs, three outputs", n: 8, l: 1, k: 5, q: 2, d: 3},
	{name: "four inputs", n: 8, l: 2, k: 2, q: 4, d: 1},
	{name: "ten components", n: 7, l: 10, k: 1, q: 2, d: 1},
	{name: "more features than rows", n: 3, l: 3, k: 3, q: 1, d: 2},
	{name: "narrow phases", n: 8, l: 2, k: 3, q: 1, d: 1, support: 1e-6},
	{name: "sure frequencies", n: 8, l: 2, k: 3, q: 1, d: 1, variance: 1e-8, hard: true},
	{name: "point frequencies, uniform phases", n: 8, l: 2, k: 3, q: 2, d: 1, variance: -1},
	{name: "far from the origin", n: 8, l: 2, k: 3, q: 1, d: 1, at: 3e6, hard: true},
	{name: "far from half of the features", n: 8, l: 2, k: 3, q: 1, d: 1, at: 3e6, origin: true, variance: 1e-13, hard: true},
	{name: "little noise", n: 12, l: 2, k: 3, q: 1, d: 1, tau: 1e8},
	{name: "little noise, more features than rows", n: 4, l: 2, k: 4, q: 1, d: 1, tau: 1e8, fixed: true, variance: 1e-4, hard: true},
	{name: "windows", n: 14, l: 4, k: 2, q: 1, d: 2, windows: 3},
	{name: "windows over two inputs", n: 12, l: 4, k: 2, q: 2, d: 1, windows: 3, fixed: true},
	{name: "windows without rows", n: 8, l: 6, k: 1, q: 1, d: 1, windows: 6},
	{name: "windows without components", n: 12, l: 4, k: 2, q: 1, d: 1, windows: 6, skip: 2},
	{name: "one window", n: 8, l: 2, k: 2, q: 1, d: 1, windows: 1},
	{name: "windows and little noise", n: 20, l: 6, k: 2, q: 1, d: 1, windows: 3, tau: 1e8},
	{name: "windows with nearly the same feature twice", n: 16, l: 6, k: 2, q: 1, d: 1, windows: 3, tau: 1e4, twins: true},
	{name: "windows, nearly the same feature twice, little noise", n: 16, l: 6, k: 2, q: 1, d: 1, windows: 3, tau: 1e8, twins: true, hard: true},
	{name: "a window of silence", n: 16, l: 6, k: 2, q: 1, d: 1, windows: 3, tau: 1e6, silent: true},
	{name: "windows far from the origin", n: 10, l: 3, k: 2, q: 1, d: 1, windows: 3, at: 3e6, hard: true},
}

func findKind(t *testing.T, name string) kind {
	t.Helper()
	for _, c := range kinds {
		if c.name == name {
			return c
		}
	}
	t.Fatalf("no kind %q", name)
	return kind{}
}

// mustModel is NewModel where the parameters are known to be good.
func mustModel(t testing.TB, p *Params) *Model {
	t.Helper()
	m, err := NewModel(p)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// conditioned is an exact model with its posterior given data.
func conditioned(t testing.TB, p *Params, data *Data) *Model {
	t.Helper()
	m := mustModel(t, p.Clone())
	if _, err := m.Condition(data); err != nil {
		t.Fatal(err)
	}
	return m
}

// nest cuts a row-major array into rows of its own.
func nest(a []float64, rows int) [][]float64 {
	if len(a) == 0 {
		return nil
	}
	out := make([][]float64, rows)
	for i := range out {
		out[i] = append([]float64(nil), a[i*len(a)/rows:(i+1)*len(a)/rows]...)
	}
	return out
}

// toOracle is p in the oracle's terms (windows along input 0 alone).
func toOracle(p *Params) *oracle.Params {
	c := p.Clone()
	l, m := p.L, p.M()
	return &oracle.Params{
		Variance: c.Variance, Lengthscale: nest(c.Lengthscale, l), Frequency: nest(c.Frequency, l),
		Location: nest(c.Location, m), FreqMean: nest(c.FreqMean, m), FreqVar: nest(c.FreqVar, m),
		PhaseLower: c.PhaseLower, PhaseUpper: c.PhaseUpper, NoisePrecision: c.NoisePrecision[0],
		CoefMean: nest(c.CoefMean, m), CoefVar: nest(c.CoefVar, m),
		WindowCenter: c.Windows.Center, WindowLength: c.Windows.Length, ComponentWindow: c.ComponentWindow,
	}
}

// near complains where got is further from want than tol of want's largest
// entry.
func near(t testing.TB, what string, got, want []float64, tol float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d numbers, want %d", what, len(got), len(want))
		return
	}
	if e := worst(got, want); !(e <= tol) {
		t.Errorf("%s off by %.2g of its largest entry, want %.0g\n got %.8g\nwant %.8g", what, e, tol, head(got), head(want))
	}
}

func head(a []float64) []float64 { return a[:min(len(a), 8)] }

// matrix is a's entries row by row.
func matrix(a *mat.Dense) []float64 { return flatten(a) }

func TestNewData(t *testing.T) {
	d, err := NewData(mat.NewDense(3, 2, []float64{1, 4, 2, 5, 3, 6}).T(), mat.NewDense(2, 1, []float64{7, 8}))
	if err != nil {
		t.Fatal(err)
	}
	near(t, "mat.Matrix, transposed", d.X, []float64{1, 2, 3, 4, 5, 6}, 0)
}

func TestBadData(t *testing.T) {
	two := mat.NewDense(2, 1, nil)
	for name, f := range map[string]func() error{
		"rows differ": func() error { _, err := NewData(two, mat.NewDense(3, 1, nil)); return err },
		"not a number": func() error {
			_, err := NewData(mat.NewDense(1, 1, []float64{math.NaN()}), mat.NewDense(1, 1, nil))
			return err
		},
		"infinite output":     func() error { _, err := NewData(two, mat.NewDense(2, 1, []float64{0, math.Inf(-1)})); return err },
		"no rows":             (&Data{Q: 1, D: 1}).Check,
		"no inputs":           (&Data{N: 1, D: 1, Y: []float64{1}}).Check,
		"no outputs":          (&Data{N: 1, Q: 1, X: []float64{1}}).Check,
		"ragged":              (&Data{N: 2, Q: 1, D: 1, X: []float64{1, 2}, Y: []float64{1}}).Check,
		"another model's":     badEvaluate(t, 2, 1, Exact, nil),
		"another D":           badEvaluate(t, 1, 2, Exact, nil),
		"exact on mini-batch": badEvaluate(t, 1, 1, Exact, []int{0}),
	} {
		if err := f(); !errors.Is(err, ErrData) {
			t.Errorf("%s: error %v, want one that wraps ErrData", name, err)
		}
	}
	if err := badEvaluate(t, 1, 1, Factorised, []int{0, 5})(); !errors.Is(err, spectral.ErrValue) {
		t.Errorf("row 5 of 5: error %v, want one that wraps ErrValue", err)
	}
}

// badEvaluate evaluates a model of one input and output on 5 rows of other
// sizes.
func badEvaluate(t *testing.T, q, d int, inference Inference, rows []int) func() error {
	p, _ := findKind(t, "one feature").make()
	return func() error {
		data := &Data{N: 5, Q: q, D: d, X: make([]float64, 5*q), Y: make([]float64, 5*d)}
		_, err := mustModel(t, p).Evaluate(data, inference, rows, false)
		return err
	}
}

func TestUnfitted(t *testing.T) {
	p, data := findKind(t, "two components").make()
	p.CoefMean, p.CoefVar = nil, nil
	m := mustModel(t, p)
	x := mat.NewDense(1, 1, nil)
	for name, f := range map[string]func() error{
		"Predict":      func() error { _, err := m.Predict(x); return err },
		"PredictJoint": func() error { _, _, err := m.PredictJoint(x); return err },
		"Draw":         func() error { _, err := m.Draw(x, 1, 1); return err },
		"Coefficients": func() error { _, _, err := m.Coefficients(); return err },
		"Evaluate":     func() error { _, err := m.Evaluate(data, Factorised, nil, false); return err },
	} {
		if err := f(); !errors.Is(err, ErrUnfitted) {
			t.Errorf("%s: error %v, want one that wraps ErrUnfitted", name, err)
		}
	}
}
