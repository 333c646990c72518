package spectral

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/variational"
)

// exactPlane returns a function that computes the mean and the standard deviation of the function at a point, from the
// rows' covariance matrix.
func exactPlane(s *Search, m Model, x, y []float64) func(at []float64) (mean, sd float64) {
	n, constant := len(y), s.domain.Constant*s.domain.Constant
	var chol mat.Cholesky
	if !chol.Factorize(planarMatrix(m.Components, s.domain.Constant, m.Noise, x)) {
		panic("no factor")
	}
	return func(at []float64) (mean, sd float64) {
		own := mat.NewVecDense(n, testkit.Numbers(n, func(i int) float64 {
			return constant + planarCovariance(m.Components, [2]float64{x[2*i] - at[0], x[2*i+1] - at[1]})
		}))
		var w mat.VecDense
		if err := chol.SolveVecTo(&w, own); err != nil {
			panic(err)
		}
		variance := constant + planarCovariance(m.Components, [2]float64{}) - mat.Dot(&w, own)
		return mat.Dot(&w, mat.NewVecDense(n, y)), math.Sqrt(variance)
	}
}

// TestFade compares predictions in the range of the data and away from it, along each input and diagonally, with an
// exact Gaussian process.
func TestFade(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 66))
	for _, c := range [][]Component{
		{{Kind: RBF, SD: 1, Lengths: []float64{0.1, 0.15}}},
		{{Kind: RBF, SD: 1, Lengths: []float64{0.5, 0.3}}},
		{{Kind: RBF, SD: 0.5, Lengths: []float64{0.2, 0.3}}, {Kind: RBF, SD: 2, Lengths: []float64{2, 0.9}}},
	} {
		x, y := surfaceDraw(c, 0.1, 300, rng)
		s := openPlane(t, x, y)
		m := Model{Components: c, Noise: 0.1}
		p, exact := faded(t, s, m), exactPlane(s, m, x, y)
		for _, way := range [][2]float64{{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, 1}, {-1, 1}} {
			for _, d := range []float64{
				0, 0.45, 0.5, 0.55, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.3, 1.5, 1.7, 2, 2.5, 3, 5, 10, 20,
			} {
				at := []float64{0.5 + d*way[0], 0.5 + d*way[1]}
				got, err := p.At(t.Context(), cpu.New(), at)
				testkit.OK(t, err)
				mean, sd := exact(at)
				if e := math.Abs(got.Mean[0]-mean) / sd; !(e < 0.35) || d >= 10 && !(e < 0.001) {
					t.Errorf("%v at %v: mean %.3f, want %.3f", c, at, got.Mean[0], mean)
				}
				if r := math.Sqrt(got.Cov[0]) / sd; !(r > 0.97 && r < 1.06) || d >= 10 && !(math.Abs(r-1) < 0.001) {
					t.Errorf("%v at %v: standard deviation %.3f, want %.3f", c, at, math.Sqrt(got.Cov[0]), sd)
				}
			}
		}
	}
}

// faded returns the predictive distribution of a model given the rows.
func faded(t *testing.T, s *Search, m Model) *variational.Predictive {
	t.Helper()
	e := s.Expand(m)
	exact, err := s.rows.Exact(e.Params, false)
	testkit.OK(t, err)
	p, err := variational.NewPredictive(t.Context(), e.Params, exact.Posterior)
	testkit.OK(t, err)
	p.Fade = m.Fade(e.Params, ranges(s))
	return p
}

// ranges returns the ranges of the rows.
func ranges(s *Search) (all [][2]float64) {
	for _, r := range s.domain.spans {
		all = append(all, [2]float64{r.low, r.high})
	}
	return all
}

// TestFadeGroups checks the groups of features, and the models that do not fade.
func TestFadeGroups(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 67))
	c := []Component{{Kind: RBF, SD: 1, Lengths: []float64{0.1, 0.15}}, {Kind: RBF, SD: 1, Lengths: []float64{1, 2}}}
	x, y := surfaceDraw(c, 0.1, 100, rng)
	s := openPlane(t, x, y)
	m := Model{Components: c, Noise: 0.1}
	p, own := s.Expand(m).Params, ranges(s)
	f := m.Fade(p, own)
	first := 2 * (1 + len(s.domain.lattices(c)[0].node))
	if want := []int{2, first}; !slices.Equal(f.First, want) {
		t.Errorf("groups start at %v, want %v", f.First, want)
	}
	for i, halves := range f.Half {
		for q, half := range halves {
			if want := 0.5 * reach * planarMargin * c[i].Lengths[q]; math.Abs(half-want) > 1e-9*want {
				t.Errorf("component %d, input %d: half at %g, want %g", i, q, half, want)
			}
		}
	}
	var none *Model
	one := variational.NewParams(3, 2, 1, 1)
	for name, got := range map[string]*variational.Fade{
		"no components": none.Fade(p, own), "no ranges": m.Fade(p, nil), "one input": m.Fade(one, own[:1]),
	} {
		if got != nil {
			t.Errorf("%s: the model fades", name)
		}
	}
	wide := m.Fade(p, [][2]float64{{-10, 10}, {-10, 10}}) // rows that the lattice was not made for
	if wide.Half[0] == nil || wide.Half[0][0] != 0 {
		t.Errorf("half at %v in a range that exceeds the period, want 0", wide.Half[0])
	}
}
