package gpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/backend/backendtest"
	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/internal/testkit"
)

// A shape describes a problem.
type shape struct {
	name       string
	n, m, q, d int
	windows    int
	even       bool // x are 0, ¼, ½ …
	broken     int  // even, except for one step before this row
	shuffled   bool
	first      int  // window of the first feature; earlier windows have none
	steep      bool // every other feature decays within two steps or less
	short      bool // every tenth feature reaches over a twentieth of the rows
	tables     bool // if available
}

func (s shape) options(ordinal int) Options {
	return Options{Ordinal: ordinal, anyTables: s.tables}
}

// A problem contains the arguments of all methods.
type problem struct {
	shape
	data     backend.Data
	features *backend.Features
	weights  *backend.Weights
	bar      *backend.Moments
	exact    *backend.Posterior
	diagonal *backend.Posterior
	subset   []int
}

func newProblem(s shape) *problem {
	rng := rand.New(rand.NewPCG(uint64(s.n), uint64(s.m)))
	normal := func(n int) []float64 {
		return testkit.Numbers(n, func(int) float64 { return rng.NormFloat64() })
	}
	extent := float64(s.n) / 4
	p := &problem{shape: s, data: backend.Data{N: s.n, Q: s.q, D: s.d, Y: normal(s.n * s.d)}}
	for i := range s.n * s.q {
		x := rng.Float64() * extent
		if s.even {
			x = float64(i) / 4
		}
		if s.broken > 0 && i >= s.broken {
			x += 0.125
		}
		p.data.X = append(p.data.X, x)
	}
	if s.shuffled {
		rng.Shuffle(s.n, func(i, j int) {
			p.data.X[i], p.data.X[j] = p.data.X[j], p.data.X[i]
		})
	}
	p.makeFeatures(rng, extent)
	f := p.features
	p.weights = &backend.Weights{Mean: normal(s.m * s.d), Var: make([]float64, s.m*s.d), D: s.d}
	for i := range p.weights.Var {
		p.weights.Var[i] = rng.Float64()
	}
	p.bar = backend.NewMoments(f, s.d)
	copy(p.bar.C, normal(len(p.bar.C)))
	backendtest.Symmetric(p.bar.Gram, rng)
	cov := backend.NewGram(f.Offsets())
	backendtest.Symmetric(cov, rng)
	p.exact = &backend.Posterior{Mean: p.weights.Mean, Cov: cov, D: s.d}
	p.diagonal = &backend.Posterior{Mean: p.weights.Mean, Var: p.weights.Var, D: s.d}
	p.subset = testkit.Numbers(s.n/3+1, func(int) int { return rng.IntN(s.n) })
	return p
}

// makeFeatures draws features over rows in [0, extent).
func (p *problem) makeFeatures(rng *rand.Rand, extent float64) {
	f := backend.NewFeatures(p.m, p.q)
	if p.windows > 1 {
		step := extent / float64(p.windows)
		p.data.Windows.Length = 2 * step
		p.data.Windows.Center = testkit.Numbers(p.windows, func(v int) float64 { return (float64(v) + 0.5) * step })
		f.Window = testkit.Numbers(p.m, func(k int) int { return p.first + k*(p.windows-p.first)/p.m })
	}
	f.Windows = p.data.Windows
	for i := range f.Center {
		f.Center[i], f.Decay[i] = rng.Float64()*extent, rng.Float64()*math.Pow(extent/8, -2)
		if p.steep && i%2 == 0 {
			f.Decay[i] = math.Pow(10, 4*rng.Float64()) // a step is ¼: exponents to −10⁷ over a tile
		}
		if p.short && i%10 == 0 {
			f.Decay[i] = math.Pow(extent/20/16, -2) // cut off at eight standard deviations
		}
		f.Freq[i] = 3 * rng.NormFloat64()
	}
	for k := range p.m { // as in a model, with one variance and one phase width
		variance, h := 0.2+rng.Float64(), 0.1+2*rng.Float64()
		f.Phase[k], f.Amp[k], f.Power[k] = 7*rng.Float64(), math.Sqrt(2*variance)*math.Sin(h)/h, variance
		f.Ripple[k] = variance * math.Sin(2*h) / (2 * h)
	}
	p.features = f
}

// An answer is one result array of a method.
type answer struct {
	name string
	v    []float64
}

// A method is a method of Rows with its answers, which are initialized to seven.
type method struct {
	name string
	call func(r backend.Rows) ([]answer, error)
}

func sevens(v []float64) []float64 {
	for i := range v {
		v[i] = 7
	}
	return v
}

func (p *problem) methods() []method {
	factorized := func(rows []int) func(backend.Rows) ([]answer, error) {
		return func(r backend.Rows) ([]answer, error) {
			s := backend.NewFactorizedSums(p.features, p.d)
			s.Value = 7
			all := []answer{{"Mean", sevens(s.Weights.Mean)}, {"Var", sevens(s.Weights.Var)}}
			all = append(all, fields(s.Features)...)
			err := r.Factorized(s, p.features, p.weights, rows)
			return append(all, answer{"Value", []float64{s.Value}}), err
		}
	}
	predict := func(post *backend.Posterior) func(backend.Rows) ([]answer, error) {
		return func(r backend.Rows) ([]answer, error) {
			y := backend.NewPrediction(p.n, p.d)
			all := []answer{{"Mean", sevens(y.Mean)}, {"Cov", sevens(y.Cov)}}
			return all, r.Predict(y, p.features, post)
		}
	}
	return []method{
		{"Moments", func(r backend.Rows) ([]answer, error) {
			m := backend.NewMoments(p.features, p.d)
			all := []answer{{"C", sevens(m.C)}}
			for v, b := range m.Gram.Diag {
				all = append(all, answer{fmt.Sprint("Diag ", v), sevens(b)})
			}
			for v, b := range m.Gram.Below {
				all = append(all, answer{fmt.Sprint("Below ", v), sevens(b)})
			}
			return all, r.Moments(m, p.features)
		}},
		{"Pullback", func(r backend.Rows) ([]answer, error) {
			g := backend.NewFeatures(p.m, p.q)
			return fields(g), r.Pullback(g, p.features, p.bar)
		}},
		{"Factorized", factorized(nil)},
		{"Factorized some rows", factorized(p.subset)},
		{"Predict exact", predict(p.exact)},
		{"Predict diagonal", predict(p.diagonal)},
		{"Solve", func(r backend.Rows) ([]answer, error) {
			if r.CanSolve(p.features) {
				return p.solved(r)
			}
			return p.solvedHere(r)
		}},
	}
}

func fields(f *backend.Features) (all []answer) {
	for _, a := range f.Fields() {
		all = append(all, answer{a.Name, sevens(a.Data)})
	}
	return all
}

// run opens the problem's rows, calls one method and closes the rows.
func (p *problem) run(b backend.Backend, m method) ([]answer, error) {
	r, err := b.Open(p.data)
	if err != nil {
		return nil, err
	}
	all, err := m.call(r)
	if cerr := r.Close(); err == nil {
		err = cerr
	}
	return all, err
}

// on runs a method, which must succeed.
func (p *problem) on(t *testing.T, b backend.Backend, m method) []answer {
	t.Helper()
	return testkit.Must(p.run(b, m))(t)
}

// sameBits returns an error for the first entry that differs.
func sameBits(a, b []answer) error {
	for i := range a {
		for j, v := range a[i].v {
			if math.Float64bits(v) != math.Float64bits(b[i].v[j]) {
				return fmt.Errorf("%s[%d] is %v and %v", a[i].name, j, v, b[i].v[j])
			}
		}
	}
	return nil
}

// near returns an error if an array differs from want by more than the bound, relative to the
// largest entry of want or to 1.
func near(got, want []answer, bound float64) error {
	for i := range want {
		scale := 1.0
		for _, w := range want[i].v {
			scale = max(scale, math.Abs(w))
		}
		for j, w := range want[i].v {
			if d := math.Abs(got[i].v[j] - w); !(d <= bound*scale) {
				return fmt.Errorf("%s[%d] is %v, want %v: off by %.2g of the largest, allowed %.1g", want[i].name, j, got[i].v[j], w, d/scale, bound)
			}
		}
	}
	return nil
}

// asCPU compares all methods with package cpu.
func (p *problem) asCPU(t *testing.T, b backend.Backend, bound func(method string) float64) {
	t.Helper()
	for _, m := range p.methods() {
		want := testkit.Must(p.run(cpu.New(), m))(t)
		if err := near(p.on(t, b, m), want, bound(m.name)); err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
	}
}
