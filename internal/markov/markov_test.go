package markov

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp/internal/testkit"
)

// cases are sums of terms with times.
var cases = []struct {
	name  string
	terms []Term
	noise float64
	times []float64
}{
	{"ou", []Term{{1, 1.3, 2, 0}}, 0.3, uneven(40)},
	{"matern", []Term{{2, 0.7, 3, 0}}, 0.1, uneven(40)},
	{"damped", []Term{{1, 1.3, 4, 0.2}}, 0.3, uneven(40)},
	{"damped and ou", []Term{{1, 0.8, 6, 0.31}, {1, 0.5, 3, 0}}, 0.2, even(60)},
	{"both", []Term{{1, 0.5, 9, 0}, {2, 1.2, 1, 0}}, 0.2, uneven(40)},
	{"even", []Term{{2, 1, 4, 0}, {1, 0.4, 2, 0}}, 0.5, even(200)},
	{"repeated", []Term{{1, 1, 2, 0}}, 0.4, []float64{0, 0, 0, 1, 1, 2, 5, 5, 5.1}},
	{"one", []Term{{2, 1, 2, 0}}, 0.4, []float64{3}},
}

func uneven(n int) []float64 {
	rng := rand.New(rand.NewPCG(1, 2))
	t := testkit.Numbers(n, func(int) float64 { return 20 * rng.Float64() })
	slices.Sort(t)
	return t
}

func even(n int) []float64 { return testkit.Numbers(n, func(i int) float64 { return float64(i) }) }

func normals(n int) []float64 {
	rng := rand.New(rand.NewPCG(3, 4))
	return testkit.Numbers(n, func(int) float64 { return rng.NormFloat64() })
}

// covariance returns the matrix K, without noise if it is 0, between two lists of times.
func covariance(terms []Term, noise float64, a, b []float64) *mat.Dense {
	k := mat.NewDense(len(a), len(b), nil)
	for i := range a {
		for j := range b {
			k.Set(i, j, Covariance(terms, a[i]-b[j]))
			if i == j {
				k.Set(i, j, k.At(i, j)+noise*noise)
			}
		}
	}
	return k
}

func symmetric(k *mat.Dense) *mat.SymDense {
	n, _ := k.Dims()
	return mat.NewSymDense(n, k.RawMatrix().Data)
}

// TestFilterIsTheCholeskyFactor compares log|K| and CᵀK⁻¹C with the matrix.
func TestFilterIsTheCholeskyFactor(t *testing.T) {
	for _, c := range cases {
		n := len(c.times)
		var chol mat.Cholesky
		if !chol.Factorize(symmetric(covariance(c.terms, c.noise, c.times, c.times))) {
			t.Fatal(c.name)
		}
		f := New(c.terms, c.noise, c.times, nil, true)
		testkit.Near(t, f.LogDet(), chol.LogDet(), 1e-9*float64(n), c.name)
		columns := normals(3 * n)
		want, solved := mat.NewDense(3, 3, nil), mat.NewDense(n, 3, nil)
		dense := mat.NewDense(n, 3, slices.Clone(columns))
		testkit.OK(t, chol.SolveTo(solved, dense))
		want.Mul(dense.T(), solved)
		f.Whiten(columns, nil)
		white := mat.NewDense(n, 3, columns)
		got := mat.NewDense(3, 3, nil)
		got.Mul(white.T(), white)
		if !mat.EqualApprox(got, want, 1e-8*mat.Max(want)) {
			t.Errorf("%s: %v, want %v", c.name, mat.Formatted(got), mat.Formatted(want))
		}
	}
}

// TestPull compares the gradients with finite differences.
func TestPull(t *testing.T) {
	for _, c := range cases {
		n := len(c.times)
		columns, weights := normals(2*n), normals(7 * n)[5*n:]
		// value returns Σ weights·z² /2 + log|K|.
		value := func(terms []Term, noise float64, columns []float64) float64 {
			f := New(terms, noise, c.times, nil, false)
			z := slices.Clone(columns)
			f.Whiten(z, nil)
			sum := f.LogDet()
			for i, v := range z {
				sum += 0.5 * weights[i] * v * v
			}
			return sum
		}
		f := New(c.terms, c.noise, c.times, nil, true)
		z, states := slices.Clone(columns), make([]float64, 2*n*f.States())
		f.Whiten(z, states)
		bar := make([]float64, 2*n)
		for i, v := range z {
			bar[i] = weights[i] * v
		}
		slopes := f.Pull(bar, z, states)
		for p, d := range f.LogDetSlopes() {
			slopes[p] += d
		}
		const step = 1e-5
		difference := func(change func(terms []Term, noise *float64, columns []float64, by float64)) float64 {
			at := func(by float64) float64 {
				terms, noise, columns := slices.Clone(c.terms), c.noise, slices.Clone(columns)
				change(terms, &noise, columns, by)
				return value(terms, noise, columns)
			}
			return (at(step) - at(-step)) / (2 * step)
		}
		for p := range slopes {
			want := difference(func(terms []Term, noise *float64, _ []float64, by float64) {
				switch {
				case p == len(slopes)-1:
					*noise *= math.Exp(by)
				case p%3 == 0:
					terms[p/3].SD *= math.Exp(by)
				case p%3 == 1:
					terms[p/3].Length *= math.Exp(by)
				case terms[p/3].Frequency > 0:
					terms[p/3].Frequency += by
				}
			})
			testkit.Near(t, slopes[p], want, 1e-5*(1+math.Abs(want)), fmt.Sprint(c.name, " coordinate ", p))
		}
		for i := 0; i < len(columns); i += 7 {
			want := difference(func(_ []Term, _ *float64, columns []float64, by float64) { columns[i] += by })
			testkit.Near(t, bar[i], want, 1e-5*(1+math.Abs(want)), fmt.Sprint(c.name, " column entry ", i))
		}
	}
}

// TestSmooth compares the conditional mean and variance with the matrix.
func TestSmooth(t *testing.T) {
	for _, c := range cases {
		n := len(c.times)
		at := append(uneven(20), -3, c.times[0], 400)
		slices.Sort(at)
		columns := normals(2 * n)
		mean, variance := Smooth(c.terms, c.noise, c.times, columns, at)
		var chol mat.Cholesky
		if !chol.Factorize(symmetric(covariance(c.terms, c.noise, c.times, c.times))) {
			t.Fatal(c.name)
		}
		cross := covariance(c.terms, 0, c.times, at)
		solved := mat.NewDense(n, len(at), nil)
		testkit.OK(t, chol.SolveTo(solved, cross))
		want := mat.NewDense(len(at), 2, nil)
		want.Mul(solved.T(), mat.NewDense(n, 2, columns))
		for i := range at {
			v := Covariance(c.terms, 0) - mat.Dot(cross.ColView(i), solved.ColView(i))
			testkit.Near(t, variance[i], v, 1e-8, fmt.Sprint(c.name, " variance at ", at[i]))
			for k := range 2 {
				testkit.Near(t, mean[2*i+k], want.At(i, k), 1e-8, fmt.Sprint(c.name, " mean at ", at[i]))
			}
		}
	}
}

// TestFrequencyHasTheCovariance compares the mean of cosines of drawn frequencies with the covariance.
func TestFrequencyHasTheCovariance(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for order := 1; order <= 2; order++ {
		term := Term{order, 1, 3, 0.1 * float64(2-order)}
		const draws = 100_000
		for _, tau := range []float64{0.5, 2, 6} {
			sum := 0.0
			for range draws {
				sum += math.Cos(term.DrawFrequency(rng) * tau)
			}
			testkit.Near(t, sum/draws, Covariance([]Term{term}, tau), 0.01, fmt.Sprint(order, " at ", tau))
		}
	}
}
