package declick

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp/audio/internal/ar"
	"github.com/vssgp/vssgp/internal/testkit"
)

const testRate = 8000

// sound returns n samples of an autoregressive process with two resonances.
func sound(n int, seed uint64) []float64 {
	rng, x := rand.New(rand.NewPCG(seed, 1)), make([]float64, n+1000)
	a := []float64{1.2, -.87, .796, -.567}
	for i := 4; i < len(x); i++ {
		x[i] = 0.01 * rng.NormFloat64()
		for j, v := range a {
			x[i] += v * x[i-1-j]
		}
	}
	return x[1000:]
}

// spread returns count gaps with the given lengths in turn, every samples apart.
func spread(count, first, every int, lengths ...int) (gaps [][2]int) {
	for i := range count {
		at := first + i*every
		gaps = append(gaps, [2]int{at, at + lengths[i%len(lengths)]})
	}
	return gaps
}

// clicked adds noise of the given standard deviation to the samples of x in the gaps, except at edge samples on each side.
func clicked(x []float64, gaps [][2]int, sd float64, edge int, seed uint64) []float64 {
	rng, y := rand.New(rand.NewPCG(seed, 2)), slices.Clone(x)
	for _, g := range gaps {
		for i := g[0] + edge; i < g[1]-edge; i++ {
			y[i] += sd * rng.NormFloat64()
		}
	}
	return y
}

// restoreAll restores each gap of z separately from the samples within Reach.
func restoreAll(t *testing.T, z []float64, gaps [][2]int, draws int) (fills []Fill) {
	t.Helper()
	for i, g := range gaps {
		lo, hi := max(0, g[0]-Reach(testRate)), min(len(z), g[1]+Reach(testRate))
		f, ok := Restore(z[lo:hi], [][2]int{{g[0] - lo, g[1] - lo}}, []int{0}, testRate, draws, uint64(i))
		if !ok {
			t.Fatalf("gap %v was not restored", g)
		}
		fills = append(fills, f...)
	}
	return fills
}

// TestRestoreByLevel checks for clicks from far below the sound to far above it that the errors are smaller than the errors of a fill that
// ignores the observed samples, that faint clicks are not made worse, and the coverage of the 95 % intervals.
func TestRestoreByLevel(t *testing.T) {
	x := sound(60_000, 3)
	gaps := spread(180, 400, 320, 3, 5, 8)
	for _, c := range []struct {
		level float64 // standard deviation of the click
		gain  float64 // minimum decrease of the errors by the restoration in dB
		share float64 // maximum ratio of the errors to the errors of the fill that ignores the samples
	}{{0, math.Inf(-1), .045}, {.003, -4, .1}, {.01, 1, .3}, {.03, 6, .7}, {.1, 16, .9}, {10, 55, .9}} {
		y := clicked(x, gaps, c.level, 1, 4)
		missing := clicked(x, gaps, 1e4, 0, 5) // all samples of these clicks are far from the sound
		before, after, ignored, covered, n := 0.0, 0.0, 0.0, 0, 0
		fills, plain := restoreAll(t, y, gaps, 0), restoreAll(t, missing, gaps, 0)
		for i, g := range gaps {
			for k := g[0]; k < g[1]; k++ {
				e := fills[i].Mean[k-g[0]] - x[k]
				before, after = before+square(y[k]-x[k]), after+e*e
				ignored += square(plain[i].Mean[k-g[0]] - x[k])
				n++
				if math.Abs(e) <= 1.96*fills[i].SD[k-g[0]]+1e-12 {
					covered++
				}
			}
		}
		coverage := float64(covered) / float64(n)
		if gain := 10 * math.Log10(before/after); after > c.share*ignored || gain < c.gain || coverage < 0.9 {
			t.Errorf("level %v: gain %.1f dB, %.2f of the errors of a fill, coverage %.3f", c.level, gain, after/ignored, coverage)
		}
	}
}

func square(x float64) float64 { return x * x }

// TestGroup checks that clicks that are restored together have nearly the fills of single ones, also next to another gap.
func TestGroup(t *testing.T) {
	x := sound(1000, 6)
	gaps := [][2]int{{300, 304}, {420, 423}, {426, 430}, {520, 521}, {560, 570}}
	y := clicked(x, gaps, 5, 0, 7)
	copy(y[560:], make([]float64, 10)) // missing
	all, ok := Restore(y, gaps, []int{0, 1, 2, 3}, testRate, 0, 0)
	if !ok || len(all) != 4 {
		t.Fatalf("%d fills", len(all))
	}
	for i := range all {
		one, ok := Restore(y, gaps, []int{i}, testRate, 0, 0)
		if !ok || len(one) != 1 {
			t.Fatalf("gap %d: %d fills", i, len(one))
		}
		sd := slices.Max(one[0].SD)
		testkit.Within(t, "nearly the same fill", all[i].Mean, one[0].Mean, 0.2*sd)
		testkit.Within(t, "nearly the same deviations", all[i].SD, one[0].SD, 0.2*sd)
		if e := floats.Distance(all[i].Mean, x[gaps[i][0]:gaps[i][1]], math.Inf(1)); e > 0.1 || e > 4.5*slices.Max(all[i].SD) {
			t.Errorf("gap %d: error %v, standard deviations %v", i, e, all[i].SD)
		}
	}
}

// TestReversed checks that reversed time gives reversed fills and draws.
func TestReversed(t *testing.T) {
	x := sound(900, 8)
	gaps := [][2]int{{300, 304}, {420, 423}, {500, 509}}
	y := clicked(x, gaps, .3, 0, 9)
	forward, ok := Restore(reversed(y), mirrored(gaps, len(y)), []int{0, 2}, testRate, 2, 5)
	backward, ok2 := Restore(y, gaps, []int{0, 2}, testRate, 2, 5)
	if !ok || !ok2 || len(forward) != 2 || len(backward) != 2 {
		t.Fatal("not restored")
	}
	for i, f := range forward {
		b := backward[1-i]
		for k, v := range append([][]float64{f.Mean, f.SD}, f.Draws...) {
			testkit.Equal(t, reversed(v), append([][]float64{b.Mean, b.SD}, b.Draws...)[k], "reversed")
		}
	}
}

// TestDraws checks that draws have the moments of the fill and depend on the seed.
func TestDraws(t *testing.T) {
	x := sound(900, 10)
	gaps := [][2]int{{450, 458}}
	y := clicked(x, gaps, .05, 1, 11)
	const draws = 4000
	f, ok := Restore(y, gaps, []int{0}, testRate, draws, 1)
	other, _ := Restore(y, gaps, []int{0}, testRate, 1, 2)
	if !ok || slices.Equal(f[0].Draws[0], other[0].Draws[0]) {
		t.Fatal("other seeds give the same draws")
	}
	for i, m := range f[0].Mean {
		sum, squares := 0.0, 0.0
		for _, d := range f[0].Draws {
			sum, squares = sum+d[i]-m, squares+square(d[i]-m)
		}
		sd := f[0].SD[i]
		testkit.Near(t, sum/draws, 0, 4*sd/math.Sqrt(draws)+1e-12, "mean")
		testkit.Near(t, math.Sqrt(squares/draws), sd, 0.06*sd+1e-12, "standard deviation")
	}
}

// TestSilence checks that silence, too few samples, and samples that are too large are not restored.
func TestSilence(t *testing.T) {
	large := sound(600, 12)
	large[301] = 1e300
	for name, z := range map[string][]float64{"silence": make([]float64, 600), "too few": sound(minKnown+3, 13), "too large": large} {
		at := len(z) / 2
		if f, ok := Restore(z, [][2]int{{at, at + 4}}, []int{0}, testRate, 0, 0); ok {
			t.Errorf("%s: restored as %v", name, f)
		}
	}
	few := sound(minKnown+4, 13)
	if _, ok := Restore(few, [][2]int{{50, 54}}, []int{0}, testRate, 0, 0); !ok {
		t.Errorf("%d samples were not enough", minKnown)
	}
}

// TestVariance checks the local variance of the errors of noise that is louder near the gap.
func TestVariance(t *testing.T) {
	rng := rand.New(rand.NewPCG(14, 1))
	s := &section{rate: testRate, gaps: [][2]int{{1000, 1010}}, model: ar.Model{A: []float64{1, 0}, E: 1}}
	near := samples(nearSeconds, testRate)
	for i := range 2000 {
		v := rng.NormFloat64()
		if i >= 1000-near && i < 1010+near {
			v *= 5
		}
		if i >= 1000 && i < 1010 {
			v = 0 // a perfect fill
		}
		s.y = append(s.y, v)
	}
	sum := 2.0
	for _, v := range s.y[1000-near : 1010+near] {
		sum += v * v
	}
	testkit.Near(t, s.variance(s.gaps[0]), sum/float64(2+2*near), 1e-9, "variance")
	sum = 2.0
	for _, v := range s.y[1 : 1+near] {
		sum += v * v
	}
	testkit.Near(t, s.variance([2]int{0, 1}), sum/float64(2+near), 1e-9, "variance at the beginning")
	testkit.Near(t, s.variance([2]int{-near, 1 - near}), 1, 0, "variance without errors")
}

// covarianceOf returns a covariance of n samples.
func covarianceOf(n int) (matrix, *mat.SymDense) {
	m, dense := newMatrix(n), mat.NewSymDense(n, nil)
	rng := rand.New(rand.NewPCG(uint64(n), 3))
	for range n + 2 {
		v := make([]float64, n)
		for i := range v {
			v[i] = rng.NormFloat64() + float64(i%3)
		}
		m.addSquare(v)
	}
	for i := range n {
		for j := range n {
			dense.SetSym(i, j, m.row(i)[j])
		}
	}
	return m, dense
}

// TestMatrix compares factors, solutions, inverses and determinants with gonum.
func TestMatrix(t *testing.T) {
	for _, n := range []int{1, 2, 3, 17, 44} {
		m, dense := covarianceOf(n)
		var chol mat.Cholesky
		if !chol.Factorize(dense) {
			t.Fatal("the test's matrix is not positive definite")
		}
		f, ok := m.factorize(0)
		if !ok {
			t.Fatalf("%d samples: not positive definite", n)
		}
		var inverse mat.SymDense
		testkit.OK(t, chol.InverseTo(&inverse))
		testkit.Near(t, 2*f.halfLogDet(), chol.LogDet(), 1e-9*float64(n), "log det")
		b := sound(n, 15)
		var x mat.VecDense
		testkit.OK(t, chol.SolveVecTo(&x, mat.NewVecDense(n, b)))
		scale := mat.Norm(&inverse, 1)
		testkit.Within(t, "solution", f.solve(b), x.RawVector().Data, 1e-9*scale)
		testkit.Near(t, m.form(b), mat.Inner(mat.NewVecDense(n, b), dense, mat.NewVecDense(n, b)), 1e-9*mat.Norm(dense, 1), "form")
		for i := range n {
			testkit.Near(t, f.variances()[i], inverse.At(i, i), 1e-9*scale, "variance")
			testkit.Within(t, "inverse", f.inverse().row(i), mat.Row(nil, i, &inverse), 1e-9*scale)
		}
	}
	if _, ok := (matrix{[]float64{1, 2, 2, 1}, 2}).factorize(0); ok {
		t.Error("an indefinite matrix was factorized")
	}
	if _, ok := (matrix{[]float64{1, 2, 2, 1}, 2}).factorize(2); !ok {
		t.Error("extra was not added to the diagonal")
	}
}

// TestPart compares a component with dense algebra: the distribution of x = s + u, and of s given x.
func TestPart(t *testing.T) {
	for _, c := range []struct {
		n, lo, hi int
		level     float64
	}{{1, 0, 1, 1}, {2, 0, 2, 2}, {3, 1, 2, .5}, {7, 0, 7, 1}, {7, 2, 6, 3}, {12, 0, 8, 2}, {12, 5, 12, .3}, {12, 2, 10, 100}} {
		covariance, dense := covarianceOf(c.n)
		root, _ := covariance.factorize(0)
		x := sound(c.n, 16)
		floats.Scale(c.level/floats.Norm(x, 2)*math.Sqrt(float64(c.n)*dense.At(0, 0)), x)
		p := &posterior{x: x, d: x, precision: root.inverse()} // the fill is 0
		q, ok := p.part(c.lo, c.hi)
		if !ok {
			t.Fatalf("%v: no component", c)
		}
		v, large := disturbance(p, c.lo, c.hi)
		m := c.hi - c.lo
		if large {
			v = 1e9
		}
		total := mat.NewSymDense(c.n, nil) // of x
		total.CopySym(dense)
		for i := c.lo; i < c.hi; i++ {
			total.SetSym(i, i, total.At(i, i)+v)
		}
		var alone, sum mat.Cholesky
		if !alone.Factorize(dense) || !sum.Factorize(total) {
			t.Fatal("the test's matrices are not positive definite")
		}
		given := mat.NewVecDense(c.n, x)
		var own, other mat.VecDense
		testkit.OK(t, alone.SolveVecTo(&own, given))
		testkit.OK(t, sum.SolveVecTo(&other, given))
		if !large {
			evidence := (alone.LogDet() - sum.LogDet() + mat.Dot(given, &own) - mat.Dot(given, &other)) / 2
			testkit.Near(t, q.weight, evidence, 1e-6*(1+math.Abs(evidence)), "evidence", c)
		}
		var inverse mat.SymDense
		testkit.OK(t, sum.InverseTo(&inverse))
		for i := range m {
			k := c.lo + i
			tolerance := 1e-6 * (1 + math.Abs(x[k]))
			testkit.Near(t, q.mean[i], x[k]-v*other.AtVec(k), tolerance, "mean", c)
			testkit.Near(t, q.b.variances()[i], v-v*v*inverse.At(k, k), 1e-4*dense.At(k, k), "variance", c)
		}
	}
}

// disturbance returns the variance of the disturbance that part uses, from the fill of the extent, and whether it is large.
func disturbance(p *posterior, lo, hi int) (v float64, large bool) {
	n, m := len(p.x), hi-lo
	inside := mat.NewSymDense(m, nil)
	right := mat.NewVecDense(m, nil)
	for i := range m {
		for j := range n {
			switch r := p.precision.row(lo + i)[j]; {
			case j >= lo && j < hi:
				inside.SetSym(i, j-lo, r)
			default:
				right.SetVec(i, right.AtVec(i)-r*p.x[j])
			}
		}
	}
	var chol mat.Cholesky
	chol.Factorize(inside)
	var mean mat.VecDense
	var covariance mat.SymDense
	chol.SolveVecTo(&mean, right)
	chol.InverseTo(&covariance)
	power, trace := 0.0, mat.Trace(&covariance)
	for i := range m {
		power += square(p.x[lo+i] - mean.AtVec(i))
	}
	v = max(power-trace, trace/4) / float64(m)
	return v, v*float64(m) > loud*trace
}
