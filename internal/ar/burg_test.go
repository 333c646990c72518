package ar

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
	"gonum.org/v1/gonum/mat"
)

// burgByHand implements Burg's method with errors recomputed from the coefficients at every stage.
func burgByHand(segments []Segment, order int) Model {
	weight := func(s Segment, n int) float64 {
		if s.Weights == nil {
			return 1
		}
		return s.Weights[n]
	}
	a, squares, total := []float64{1}, 0.0, 0.0
	for _, s := range segments {
		for n, x := range s.X {
			squares += weight(s, n) * x * x
			total += weight(s, n)
		}
	}
	e := squares / total
	for m := 1; m <= order; m++ {
		num, den := 0.0, float64(m)*e
		for _, s := range segments {
			for n := m; n < len(s.X); n++ {
				var f, b float64
				for j, v := range a {
					f += v * s.X[n-j]
					b += v * s.X[n-m+j]
				}
				w := weight(s, n-m/2)
				num += w * f * b
				den += w * (f*f + b*b)
			}
		}
		k := 0.0
		if e > 0 {
			k = -2 * num / den
		}
		next := append(a[:len(a):len(a)], 0)
		for j := 1; j <= m; j++ {
			next[j] += k * a[m-j]
		}
		a, e = next, e*(1-k*k)
	}
	return Model{A: a, E: e}
}

func noise(n int, seed uint64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 7))
	return testkit.Numbers(n, func(int) float64 { return rng.NormFloat64() })
}

// TestBurg compares Burg with burgByHand, with and without weights, for one and several segments and orders above their length.
func TestBurg(t *testing.T) {
	x := process(processes[3].model, 400, 5)
	weights := testkit.Numbers(150, func(i int) float64 { return float64(i%13) / 13 })
	for _, c := range []struct {
		name     string
		segments []Segment
		order    int
	}{
		{"one", []Segment{{X: x}}, 20},
		{"two", []Segment{{X: x[:101]}, {X: x[200:333]}}, 33},
		{"weighted", []Segment{{X: x[:150], Weights: weights}, {X: x[160:200]}}, 24},
		{"longer than a segment", []Segment{{X: x[:9]}, {X: x[20:140]}}, 40},
		{"an empty segment", []Segment{{}, {X: x[20:60]}}, 4},
		{"of order 0", []Segment{{X: x}}, 0},
		{"one sample", []Segment{{X: x[:1]}}, 3},
	} {
		got, want := Burg(c.segments, c.order), burgByHand(c.segments, c.order)
		testkit.Within(t, c.name, got.A, want.A, 1e-11)
		testkit.Within(t, c.name+": E", []float64{got.E}, []float64{want.E}, 1e-12*want.E)
	}
	for _, c := range processes {
		p := len(c.model.A) - 1
		testkit.Within(t, c.name, Burg([]Segment{{X: process(c.model, 100_000, 8)}}, p).A, c.model.A, 0.02)
	}
	if m := Burg([]Segment{{X: make([]float64, 30)}}, 5); m.E != 0 || m.A[0] != 1 {
		t.Errorf("silence: %+v", m)
	}
}

// identity returns the rows of the unit matrix.
func identity(n int) [][]float64 {
	units := make([][]float64, n)
	for i := range units {
		units[i] = make([]float64, n)
		units[i][i] = 1
	}
	return units
}

// checkRoot compares a symmetric matrix with its diagonal and with the sum of the products of root's rows.
func checkRoot(t *testing.T, diagonal []float64, root [][]float64, want *mat.SymDense) {
	t.Helper()
	for i := range diagonal {
		testkit.Within(t, "diagonal", diagonal[i:i+1], []float64{want.At(i, i)}, 1e-9)
		for j := range diagonal {
			sum := 0.0
			for _, u := range root {
				sum += u[i] * u[j]
			}
			testkit.Within(t, "sum of products", []float64{sum}, []float64{want.At(i, j)}, 1e-9)
		}
	}
}

// TestToeplitz compares solutions, the diagonal of the inverse and its root with dense algebra.
func TestToeplitz(t *testing.T) {
	for _, n := range []int{1, 2, 3, 17, 60} {
		r := covariance(processes[3].model, n-1)
		dense := mat.NewSymDense(n, nil)
		for i := range n {
			for j := range i + 1 {
				dense.SetSym(i, j, r[i-j])
			}
		}
		var f mat.Cholesky
		if !f.Factorize(dense) {
			t.Fatal("the test's matrix is not positive definite")
		}
		var inverse mat.SymDense
		testkit.OK(t, f.InverseTo(&inverse))
		right := noise(n, 1)
		var want mat.VecDense
		want.MulVec(&inverse, mat.NewVecDense(n, slices.Clone(right)))
		units := identity(n)
		diagonal, ok := toeplitz(r, right, units)
		if !ok {
			t.Fatalf("n = %d: not positive definite", n)
		}
		testkit.Within(t, "solution", right, want.RawVector().Data, 1e-9)
		checkRoot(t, diagonal, units, &inverse)
		rows := Whitening(r)
		for i := range rows {
			rows[i] = append(rows[i], make([]float64, n-len(rows[i]))...)
		}
		checkRoot(t, diagonal, rows, &inverse)
	}
	if got := Whitening([]float64{1, 2}); got != nil {
		t.Errorf("indefinite matrix of 1, 2: factor %v, want none", got)
	}
	if _, ok := toeplitz([]float64{1, 2}, make([]float64, 2), nil); ok {
		t.Error("the matrix of 1, 2 is indefinite, but it was solved")
	}
}

// conditionalByHand conditions the Gaussian of a series on its known samples. With zeros before the series, the errors are e = A z,
// so the precision is AᵀA/E.
func conditionalByHand(m Model, z []float64, gaps [][2]int) (mean []float64, covariance *mat.SymDense) {
	n := len(z)
	a := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range min(i+1, len(m.A)) {
			a.Set(i, i-j, m.A[j])
		}
	}
	var precision mat.Dense
	precision.Mul(a.T(), a)
	precision.Scale(1/m.E, &precision)
	at, missing := positions(gaps), make([]bool, n)
	for _, i := range at {
		missing[i] = true
	}
	q, right := mat.NewSymDense(len(at), nil), mat.NewVecDense(len(at), nil)
	for i, u := range at {
		for j, v := range at[:i+1] {
			q.SetSym(i, j, precision.At(u, v))
		}
		for v := range n {
			if !missing[v] {
				right.SetVec(i, right.AtVec(i)-precision.At(u, v)*z[v])
			}
		}
	}
	var f mat.Cholesky
	f.Factorize(q)
	var x mat.VecDense
	covariance = &mat.SymDense{}
	if f.SolveVecTo(&x, right) != nil || f.InverseTo(covariance) != nil {
		panic("the test's matrix is singular")
	}
	return x.RawVector().Data, covariance
}

// TestConditional compares fills of one or several gaps, inside and at the ends, with dense algebra, for different values in the gaps.
func TestConditional(t *testing.T) {
	m := Burg([]Segment{{X: process(processes[3].model, 500, 3)}}, 12)
	for _, gaps := range [][][2]int{
		{{50, 51}}, {{50, 61}}, {{50, 62}}, {{50, 63}}, {{50, 80}}, {{3, 9}}, {{0, 8}}, {{100, 120}}, {{108, 115}}, {{109, 119}}, {{90, 120}},
		{{20, 24}, {27, 31}}, {{20, 24}, {60, 70}}, {{0, 3}, {60, 61}, {115, 120}},
	} {
		z := process(m, 120, 4)
		want, covariance := conditionalByHand(m, z, gaps)
		for _, n := range positions(gaps) {
			z[n] = 1e9
		}
		c, ok := m.Conditional(z, gaps, identity(len(want)))
		if !ok {
			t.Fatalf("%v: not solved", gaps)
		}
		testkit.Within(t, "mean", c.Mean, want, 1e-9)
		checkRoot(t, c.Variance, c.Deviations, covariance)
	}
}

// TestMean checks that the mean of equal models is the model, and that a high order approximates the geometric mean of two densities.
func TestMean(t *testing.T) {
	a, b := processes[2].model, processes[3].model
	mean := NewMean(4096)
	same := mean.Model([]Model{b, b, b}, len(b.A)-1)
	testkit.Within(t, "the same", same.A, b.A, 1e-6)
	testkit.Within(t, "its E", []float64{same.E}, []float64{b.E}, 1e-6)
	for _, models := range [][]Model{{a}, {a, b}, {a, b, b}} {
		m := mean.Model(models, 200)
		for _, f := range []float64{0, 0.05, 0.13, 0.2, 0.31, 0.5} {
			log := 0.0
			for _, m := range models {
				log += math.Log(m.Density(f)) / float64(len(models))
			}
			if got := math.Log(m.Density(f)); math.Abs(got-log) > 1e-3 {
				t.Errorf("%d models at %v: log density %v, want %v", len(models), f, got, log)
			}
		}
	}
	if m := mean.Model([]Model{a, {A: []float64{1}}}, 10); m.E != 0 || m.A[0] != 1 {
		t.Errorf("the mean with silence is %+v, want silence", m)
	}
}
