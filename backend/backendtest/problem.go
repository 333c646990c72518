package backendtest

import (
	"hash/fnv"
	"math"
	"math/rand/v2"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/testkit/oracle"
)

// A problem contains a case's data and the arguments of all methods, once as the backend takes
// them, with guard values around each array, and once as the oracle takes them.
type problem struct {
	size
	rng    *rand.Rand
	tol    tolerance
	inputs fences

	data      backend.Data
	features  *backend.Features
	weights   *backend.Weights
	bar       *backend.Moments // symmetric adjoint for Pullback
	subset    []int            // rows for Factorized: unsorted, one twice
	exact     *backend.Posterior
	diagonal  *backend.Posterior
	xs, ys    [][]float64
	damped    *oracle.Damped
	oracleBar [2][][]float64 // adjoints of C and G
}

func newProblem(s size) *problem {
	h := fnv.New64a()
	h.Write([]byte(s.name))
	p := &problem{size: s, rng: rand.New(rand.NewPCG(h.Sum64(), 1)), tol: near}
	if s.offset != 0 {
		p.tol = shifted
	}
	if s.atOrigin {
		p.tol = far
	}
	p.makeData()
	p.makeFeatures()
	p.weights = &backend.Weights{Mean: p.normal(s.m * s.d), Var: p.uniform(s.m*s.d, 0.1, 1), D: s.d}
	p.bar = p.moments(&p.inputs, s.d)
	copy(p.bar.C, p.normal(len(p.bar.C)))
	Symmetric(p.bar.Gram, p.rng)
	cov := p.gram(&p.inputs)
	Symmetric(cov, p.rng)
	p.exact = &backend.Posterior{Mean: p.weights.Mean, Cov: cov, D: s.d}
	p.diagonal = &backend.Posterior{Mean: p.weights.Mean, Var: p.weights.Var, D: s.d}
	for range (s.n + 2) / 2 {
		p.subset = append(p.subset, p.rng.IntN(s.n))
	}
	p.subset = append(p.subset, p.subset[0])
	p.translate()
	return p
}

func (p *problem) uniform(n int, lo, hi float64) []float64 {
	a := p.inputs.make(n)
	for i := range a {
		a[i] = lo + (hi-lo)*p.rng.Float64()
	}
	return a
}

func (p *problem) normal(n int) []float64 {
	a := p.inputs.make(n)
	for i := range a {
		a[i] = p.rng.NormFloat64()
	}
	return a
}

// makeData draws unsorted rows, a few of them exactly on the windows' centers and edges.
func (p *problem) makeData() {
	w := backend.Windows{}
	extent := 8.0
	if p.windows > 0 {
		extent = windowSpacing*float64(p.windows) + 1
		w.Length, w.Dim = 2*windowSpacing, p.q-1
		for v := range p.windows {
			w.Center = append(w.Center, p.offset+0.5+windowSpacing*float64(v))
		}
	}
	lo, hi := -1.0, extent
	if p.rowsIn != [2]float64{} {
		lo, hi = p.rowsIn[0], p.rowsIn[1]
	}
	x := p.uniform(p.n*p.q, lo, hi)
	if p.positions > 0 {
		for i, position := range p.rng.Perm(max(p.positions, p.n))[:p.n] {
			x[i] = evenStep * float64(position%p.positions)
		}
	}
	for i := range x {
		x[i] += p.offset
	}
	if p.windows > 0 && p.n > 9 && p.rowsIn == [2]float64{} {
		for v := range p.windows {
			x[(3*v%p.n)*p.q+w.Dim] = w.Center[v]
		}
	}
	p.data = backend.Data{N: p.n, Q: p.q, D: p.d, X: x, Y: p.normal(p.n * p.d), Windows: w}
}

// makeFeatures draws features as in a model: A1, A0 and A2 follow from one variance and one phase
// width.
func (p *problem) makeFeatures() {
	extent := windowSpacing*float64(p.windows) + 7
	f := &backend.Features{
		M: p.m, Q: p.q, Windows: p.data.Windows,
		Center: p.uniform(p.m*p.q, 0, extent), Freq: p.normal(p.m * p.q), Phase: p.uniform(p.m, 0, 2*math.Pi),
		Amp: p.inputs.make(p.m), Power: p.inputs.make(p.m), Ripple: p.inputs.make(p.m),
	}
	for i := range f.Center {
		f.Center[i] += p.offset
		f.Freq[i] *= 2
		if p.atOrigin && (i/p.q)%2 == 0 {
			f.Center[i] = 0
		}
	}
	f.Decay = p.uniform(p.m*p.q, 0.02, 0.5)
	for i := range f.Decay {
		switch {
		case p.positions == 0:
		case i%8 == 0: // a few decay within the range of the rows
			f.Decay[i] *= 40
		default:
			f.Decay[i] /= 50
			f.Freq[i] *= 10
		}
	}
	if p.sure {
		clear(f.Decay)
	}
	for k := range f.Amp {
		variance, h := 0.2+p.rng.Float64(), 0.1+2*p.rng.Float64()
		f.Amp[k], f.Power[k] = math.Sqrt(2*variance)*math.Sin(h)/h, variance
		f.Ripple[k] = variance * math.Sin(2*h) / (2 * h)
		if p.fixed {
			f.Amp[k], f.Ripple[k] = math.Sqrt(2*variance), variance
		}
	}
	if p.windows > 0 {
		f.Window = p.assign()
	}
	p.features = f
}

// assign distributes the features unevenly and in order over the windows that have features.
func (p *problem) assign() (window []int) {
	var owners []int
	for v := range p.windows {
		if p.owns == nil || p.owns(v) {
			owners = append(owners, v)
		}
	}
	at := 0.0
	for range p.m {
		window = append(window, owners[int(at)])
		at = min(at+2*p.rng.Float64()*float64(len(owners))/float64(p.m), float64(len(owners))-0.5)
	}
	return window
}

// gram returns a matrix of NaN with guarded blocks for the problem's features.
func (p *problem) gram(f *fences) *backend.Gram {
	g := backend.NewGram(p.features.Offsets())
	for v := range g.Diag {
		g.Diag[v] = f.make(len(g.Diag[v]))
	}
	for v := range g.Below {
		g.Below[v] = f.make(len(g.Below[v]))
	}
	return g
}

// Symmetric fills g with normally distributed numbers.
func Symmetric(g *backend.Gram, rng *rand.Rand) {
	for v, b := range g.Diag {
		m := g.Size(v)
		for i := range m {
			for j := range i + 1 {
				b[i*m+j] = rng.NormFloat64()
				b[j*m+i] = b[i*m+j]
			}
		}
	}
	for _, b := range g.Below {
		for i := range b {
			b[i] = rng.NormFloat64()
		}
	}
}

// moments returns guarded moments of NaN.
func (p *problem) moments(f *fences, d int) *backend.Moments {
	return &backend.Moments{C: f.make(p.m * d), Gram: p.gram(f), D: d}
}

// cotangent returns a guarded gradient of NaN with respect to the features.
func (p *problem) cotangent(f *fences) *backend.Features {
	return &backend.Features{
		M: p.m, Q: p.q,
		Center: f.make(p.m * p.q), Decay: f.make(p.m * p.q), Freq: f.make(p.m * p.q), Phase: f.make(p.m),
		Amp: f.make(p.m), Power: f.make(p.m), Ripple: f.make(p.m),
	}
}

// sums returns guarded factorized sums of NaN.
func (p *problem) sums(f *fences) *backend.FactorizedSums {
	return &backend.FactorizedSums{
		Value: math.NaN(), Features: p.cotangent(f),
		Weights: &backend.Weights{Mean: f.make(p.m * p.d), Var: f.make(p.m * p.d), D: p.d},
	}
}

// translate converts the problem to the oracle's types.
func (p *problem) translate() {
	f := p.features
	p.xs, p.ys = unflatten(p.data.X, p.n), unflatten(p.data.Y, p.n)
	p.damped = &oracle.Damped{
		Center: unflatten(f.Center, p.m), Decay: unflatten(f.Decay, p.m), Freq: unflatten(f.Freq, p.m),
		Phase: f.Phase, Amp: f.Amp, Power: f.Power, Ripple: f.Ripple,
		Window: f.Window, WindowCenter: f.Windows.Center, WindowLength: f.Windows.Length, Dim: f.Windows.Dim,
	}
	p.oracleBar = [2][][]float64{unflatten(p.bar.C, p.m), dense(p.bar.Gram)}
}

// unflatten returns the rows of a row-major array, which share its memory.
func unflatten(a []float64, rows int) (out [][]float64) {
	for i := range rows {
		out = append(out, a[i*len(a)/rows:(i+1)*len(a)/rows])
	}
	return out
}

func flatten(a [][]float64) (v []float64) {
	for _, row := range a {
		v = append(v, row...)
	}
	return v
}

// dense returns all entries of g.
func dense(g *backend.Gram) [][]float64 {
	out := make([][]float64, g.M())
	for i := range out {
		for j := range g.M() {
			out[i] = append(out[i], g.At(i, j))
		}
	}
	return out
}
