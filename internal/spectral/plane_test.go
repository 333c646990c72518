package spectral

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/internal/fileio/fault"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/slow"
	"github.com/vssgp/vssgp/variational"
)

// openPlane opens rows of two inputs on the CPU.
func openPlane(t *testing.T, x, y []float64) *Search {
	t.Helper()
	data := &backend.Data{N: len(y), Q: 2, D: 1, X: x, Y: y}
	rows, err := variational.Open(t.Context(), *data, variational.Setting{Backend: cpu.New()})
	testkit.OK(t, err)
	t.Cleanup(func() { rows.Close() })
	return New(t.Context(), data, rows, func(Candidate) {})
}

// planarCovariance returns the closed form of a covariance at a distance.
func planarCovariance(components []Component, t [2]float64) (sum float64) {
	for _, c := range components {
		square := 0.0
		for q, d := range t {
			square += d * d / (c.Lengths[q] * c.Lengths[q])
		}
		sum += c.SD * c.SD * math.Exp(-0.5*square)
	}
	return sum
}

// TestLatticeReproducesTheCovariance compares the covariance of nodes with the closed form at all distances of the
// data.
func TestLatticeReproducesTheCovariance(t *testing.T) {
	d := &Domain{spans: []span{{0, 1}, {-3, 5}}}
	for _, test := range []struct {
		lengths [2]float64
		most    int
	}{
		{[2]float64{1, 8}, 45}, {[2]float64{0.3, 2.4}, 75}, {[2]float64{0.1, 0.8}, 270}, {[2]float64{0.03, 8}, 250},
		{[2]float64{0.5, 0.25}, 280}, {[2]float64{20, 160}, 30}, {[2]float64{20, 0.5}, 110},
	} {
		for _, ratio := range []float64{1, 1 / planarMargin, planarMargin} { // an optimization may change the lengths
			c := Component{Kind: RBF, SD: 1, Lengths: test.lengths[:]}
			l := d.lattice(c, planarMost)
			if len(l.node) > test.most || l.node[0] != [2]float64{} {
				t.Errorf("%v: %d nodes from %v, want at most %d from 0", c, len(l.node), l.node[0], test.most)
			}
			c.Lengths = []float64{ratio * c.Lengths[0], ratio * c.Lengths[1]}
			for i := range 21 {
				for j := range 41 {
					at, got := [2]float64{float64(i) / 20, 8 * (float64(j)/20 - 1)}, 0.0
					for k, w := range l.node {
						share, _ := l.weight(c, k)
						got += share * math.Cos(w[0]*at[0]+w[1]*at[1])
					}
					// There are images on both sides along both inputs.
					if e := math.Abs(got - planarCovariance([]Component{c}, at)); e > 4*imageError {
						t.Fatalf("%v, %d nodes: error %g at %v", c, len(l.node), e, at)
					}
				}
			}
		}
	}
}

// TestNodesAreShared checks that the nodes of several components are limited together, that those with many nodes share
// what the others leave, and that the nodes of a truncated spectrum are the largest.
func TestNodesAreShared(t *testing.T) {
	d := &Domain{pairs: 300, spans: []span{{0, 1}, {0, 1}}}
	component := func(l float64) Component { return Component{Kind: RBF, SD: 1, Lengths: []float64{l, l}} }
	for name, test := range map[string]struct {
		lengths []float64
		want    []int // 0 for all that are left
	}{
		"one short":           {[]float64{0.01}, []int{300}},
		"two short":           {[]float64{0.01, 0.02}, []int{150, 150}},
		"a short and a long":  {[]float64{0.01, 1}, []int{0, 35}},
		"a long and a short":  {[]float64{1, 0.01}, []int{35, 0}},
		"both of them fit in": {[]float64{1, 0.5}, []int{35, 49}},
	} {
		var components []Component
		for _, l := range test.lengths {
			components = append(components, component(l))
		}
		total := 0
		all := d.lattices(components)
		for i, l := range all {
			total += len(l.node)
			if want := test.want[i]; want > 0 && len(l.node) != want {
				t.Errorf("%s: component %d has %d nodes, want %d", name, i, len(l.node), want)
			}
		}
		if total > d.pairs || slices.Contains(test.want, 0) && total < d.pairs {
			t.Errorf("%s: %d nodes, the maximum is %d", name, total, d.pairs)
		}
	}
	l := d.lattice(component(0.01), 50)
	most := math.Hypot(l.node[49][0], l.node[49][1])
	for _, w := range d.lattice(component(0.01), 300).node[50:] {
		if math.Hypot(w[0], w[1]) < most {
			t.Fatalf("the node %v is left out, but not one of frequency %g", w, most)
		}
	}
}

// TestPlanarEvidence compares the log evidence with the covariance matrix, down to a noise of 0.03 standard deviations,
// and the slopes with finite differences.
func TestPlanarEvidence(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	for _, noise := range []float64{0.3, 0.03} {
		for _, c := range [][]Component{
			nil,
			{{Kind: RBF, SD: 1, Lengths: []float64{0.1, 0.12}}},
			{{Kind: RBF, SD: 0.7, Lengths: []float64{1, 0.2}}},
			{{Kind: RBF, SD: 0.5, Lengths: []float64{0.2, 0.3}}, {Kind: RBF, SD: 2, Lengths: []float64{2, 0.9}}},
		} {
			x, y := surfaceDraw(c, noise, 300, rng)
			s := openPlane(t, x, y)
			m := Model{Components: c, Noise: noise}
			got, err := s.evaluate(m)
			testkit.OK(t, err)
			if want := densePlane(s.domain, m, x, y); math.Abs(got.LogEvidence-want) > 0.02 {
				t.Errorf("noise %g, %v: log evidence %.4f, want %.4f", noise, c, got.LogEvidence, want)
			}
			checkSlopes(t, s, m)
		}
	}
}

// planarMatrix returns the covariance of rows.
func planarMatrix(components []Component, constant, noise float64, x []float64) *mat.SymDense {
	n := len(x) / 2
	k := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			v := planarCovariance(components, [2]float64{x[2*i] - x[2*j], x[2*i+1] - x[2*j+1]}) + constant*constant
			if i == j {
				v += noise * noise
			}
			k.SetSym(i, j, v)
		}
	}
	return k
}

// surfaceDraw returns random rows of the unit square with a draw from a Gaussian process.
func surfaceDraw(components []Component, noise float64, n int, rng *rand.Rand) (x, y []float64) {
	for range 2 * n {
		x = append(x, rng.Float64())
	}
	var chol mat.Cholesky
	if !chol.Factorize(planarMatrix(components, 0, max(noise, 1e-4), x)) {
		panic("no factor")
	}
	var l mat.TriDense
	chol.LTo(&l)
	var f mat.VecDense
	f.MulVec(&l, mat.NewVecDense(n, testkit.Numbers(n, func(int) float64 { return rng.NormFloat64() })))
	return x, f.RawVector().Data
}

// densePlane returns the log evidence of a model by the covariance matrix.
func densePlane(d *Domain, m Model, x, y []float64) float64 {
	var chol mat.Cholesky
	if !chol.Factorize(planarMatrix(m.Components, d.Constant, m.Noise, x)) {
		panic("no factor")
	}
	var s mat.VecDense
	if err := chol.SolveVecTo(&s, mat.NewVecDense(len(y), y)); err != nil {
		panic(err)
	}
	return -0.5*mat.Dot(mat.NewVecDense(len(y), y), &s) - 0.5*chol.LogDet() - 0.5*float64(len(y))*math.Log(2*math.Pi)
}

// TestFindsTheSurface checks that a search recovers the number of components, their lengths and the noise, and that the
// evidence of the model is not below the evidence of the true one.
func TestFindsTheSurface(t *testing.T) {
	slow.Race(t)
	for _, test := range []struct {
		name  string
		made  []Component
		noise float64
	}{
		{"anisotropic", []Component{{Kind: RBF, SD: 1, Lengths: []float64{0.6, 0.1}}}, 0.1},
		{"noise", nil, 1},
		{"isotropic", []Component{{Kind: RBF, SD: 1, Lengths: []float64{0.2, 0.2}}}, 0.1},
		{"fine", []Component{{Kind: RBF, SD: 1, Lengths: []float64{0.07, 0.1}}}, 0.03},
		{"two", []Component{
			{Kind: RBF, SD: 3, Lengths: []float64{0.9, 0.8}}, {Kind: RBF, SD: 0.3, Lengths: []float64{0.1, 0.09}},
		}, 0.03},
	}[:slow.Pick(5, 2)] {
		t.Run(test.name, func(t *testing.T) {
			x, y := surfaceDraw(test.made, test.noise, 400, rand.New(rand.NewPCG(7, 2)))
			s := openPlane(t, x, y)
			found, err := s.Run()
			testkit.OK(t, err)
			best := found[0]
			if len(best.Components) != len(test.made) || math.Abs(math.Log(best.Noise/test.noise)) > 0.3 {
				t.Fatalf("found %v with noise %g, want %v with %g", best.Components, best.Noise, test.made, test.noise)
			}
			for i, c := range best.Components { // the largest first
				for q, l := range c.Lengths {
					if math.Abs(math.Log(l/test.made[i].Lengths[q])) > 0.5 {
						t.Errorf("lengths %v, want %v", c.Lengths, test.made[i].Lengths)
					}
				}
			}
			want := testkit.Must(s.evaluate(Model{Components: test.made, Noise: test.noise}))(t)
			if best.LogEvidence < want.LogEvidence-1 {
				t.Errorf("log evidence %g, but the true model has %g", best.LogEvidence, want.LogEvidence)
			}
			if s.work > 1.3*s.planarWork() {
				t.Errorf("a search with %g operations, the limit for more components is %g", s.work, s.planarWork())
			}
		})
	}
}

// TestReplayOfSurface checks that a search with two inputs that was interrupted after any result continues with the
// same bits.
func TestReplayOfSurface(t *testing.T) {
	made := []Component{{Kind: RBF, SD: 1, Lengths: []float64{0.3, 0.3}}}
	x, y := surfaceDraw(made, 0.2, 100, rand.New(rand.NewPCG(8, 1)))
	full := openPlane(t, x, y)
	want, err := full.Run()
	testkit.OK(t, err)
	for _, steps := range []int{0, len(full.Log) / 2, len(full.Log) - 1} {
		s := openPlane(t, x, y)
		stop := errors.New("stop")
		s.Keep = func() error {
			if len(s.Log) > steps {
				return stop
			}
			return nil
		}
		if _, err := s.Run(); !errors.Is(err, stop) {
			t.Fatalf("after %d results: %v", steps, err)
		}
		next := openPlane(t, x, y)
		testkit.OK(t, json.Unmarshal(testkit.Must(json.Marshal(s.Log))(t), &next.Log))
		got, err := next.Run()
		testkit.OK(t, err)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("after %d results: %v, want %v", steps, got, want)
		}
	}
}

// TestPlanarComponents checks the components that a file may contain.
func TestPlanarComponents(t *testing.T) {
	kind := fault.New("kind")
	ok := Component{Kind: RBF, SD: 1, Lengths: []float64{1, 2}}
	testkit.OK(t, ok.Check(2, kind))
	for name, test := range map[string]struct {
		inputs int
		change func(c *Component)
		want   string
	}{
		"one input":      {1, func(*Component) {}, "a length for each of two inputs"},
		"three inputs":   {3, func(*Component) {}, "a length for each of two inputs"},
		"kind":           {2, func(c *Component) { c.Kind = OU }, `kind "ou"`},
		"one length":     {2, func(c *Component) { c.Lengths = []float64{1} }, "a length for each of two inputs"},
		"other length":   {2, func(c *Component) { *c = made(RBF, 1, 0, 1) }, "a length for each of two inputs"},
		"length of 0":    {2, func(c *Component) { c.Lengths = []float64{1, 0} }, "must be positive"},
		"no length":      {2, func(c *Component) { c.Lengths = []float64{math.NaN(), 1} }, "must be positive"},
		"infinite":       {2, func(c *Component) { c.Lengths = []float64{1, math.Inf(1)} }, "must be positive"},
		"no sd":          {2, func(c *Component) { c.SD = 0 }, "must be positive"},
		"a frequency":    {2, func(c *Component) { c.Frequency = 1 }, "no frequency"},
		"length for one": {2, func(c *Component) { c.Length = 1 }, "no frequency"},
	} {
		c := ok
		test.change(&c)
		testkit.Fails(t, c.Check(test.inputs, kind), kind, test.want, name)
	}
}

// TestDistinctRows checks the number of distinct rows of two inputs, and the unit of y.
func TestDistinctRows(t *testing.T) {
	for name, test := range map[string]struct {
		at       func(i int) float64
		distinct int
	}{
		"grid":     {func(i int) float64 { return float64([]int{i / 2 / 10, i / 2 % 10}[i%2]) }, 100},
		"repeated": {func(i int) float64 { return float64([]int{i / 2 / 50, i / 2 % 2}[i%2]) }, 4},
	} {
		x := testkit.Numbers(200, test.at)
		y := testkit.Numbers(100, func(i int) float64 { return 7 + 2*float64(i%2) })
		d := NewDomain(&backend.Data{N: 100, Q: 2, D: 1, X: x, Y: y})
		if d.pairs != max(planarFewest, test.distinct) || d.last != d.pairs {
			t.Errorf("%s: at most %d and %d nodes", name, d.pairs, d.last)
		}
		if d.Distinct != test.distinct || math.Abs(d.Unit-1) > 1e-12 || math.Abs(d.Constant-math.Sqrt(65)) > 1e-12 {
			t.Errorf("%s: %d distinct rows, unit %g, constant %g", name, d.Distinct, d.Unit, d.Constant)
		}
	}
}

// TestManyRowsHaveMoreNodes checks the largest numbers of nodes in a search and for its result.
func TestManyRowsHaveMoreNodes(t *testing.T) {
	steps := []float64{0.618034, 0.754878}
	for n, want := range map[int][2]int{
		30: {60, 60}, 300: {300, 300}, 1500: {500, 500}, 2400: {500, 600}, 4000: {500, 750}, 10_000: {500, 750},
		20_000: {500, 1000}, 250_000: {500, 1250},
	} {
		x := testkit.Numbers(2*n, func(i int) float64 { return math.Mod(float64(i/2)*steps[i%2], 1) })
		d := NewDomain(&backend.Data{N: n, Q: 2, D: 1, X: x, Y: make([]float64, n)})
		if share := float64(d.pairs) / float64(want[0]); share < 0.95 || share > 1 {
			t.Errorf("%d rows: %d nodes, want about %d", n, d.pairs, want[0])
		}
		if share := float64(d.last) / float64(want[1]); share < 0.95 || share > 1 {
			t.Errorf("%d rows: %d nodes in the end, want about %d", n, d.last, want[1])
		}
	}
}
