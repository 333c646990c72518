package baselines

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp"
)

var bg = context.Background()

var bounds = []Bound{VFE, FITC}

// sparseCases are problems with a random covariance and random inducing inputs.
func sparseCases(t *testing.T, n, m int, f func(t *testing.T, p *problem, h hyper)) {
	for q := 1; q <= 2; q++ {
		for d := 1; d <= 2; d++ {
			for _, periodic := range []bool{false, true} {
				t.Run(fmt.Sprintf("Q=%d,D=%d,periodic=%v", q, d, periodic), func(t *testing.T) {
					r := rand.New(rand.NewPCG(uint64(q), uint64(d)))
					p, err := prepare(noisyData(n, q, d, 7), Options{})
					if err != nil {
						t.Fatal(err)
					}
					// Spread, so that K_uu is well conditioned and differences are exact.
					z := make([]float64, m*q)
					for i := range z {
						z[i] = 6 * (float64((i/q*(1+2*(i%q)))%m) + 0.5*r.Float64()) / float64(m)
					}
					f(t, p, hyper{randomCovariance(r, 2, q, periodic), 0.1 + 0.1*r.Float64(), z})
				})
			}
		}
	}
}

// dense is the bound's formula in N×N matrices.
func (c *collapsed) dense(h hyper) float64 {
	z := h.z
	kuu := c.cov(h, z, z)
	for i := range len(z) / c.q {
		kuu.Set(i, i, kuu.At(i, i)+inducingJitter*h.cov.diagonal())
	}
	kuf := c.cov(h, z, c.x)
	var solved, q mat.Dense
	if err := solved.Solve(kuu, kuf); err != nil {
		panic(err)
	}
	q.Mul(kuf.T(), &solved)
	trace := 0.0
	for i := range c.n {
		gap := h.cov.diagonal() - q.At(i, i)
		trace += gap
		if c.bound == FITC {
			q.Set(i, i, q.At(i, i)+gap)
		}
		q.Set(i, i, q.At(i, i)+h.noise)
	}
	f := logNormal(&q, mat.NewDense(c.n, c.d, c.y))
	if c.bound == VFE {
		f -= float64(c.d) * trace / (2 * h.noise)
	}
	return f
}

func (c *collapsed) cov(h hyper, x, z []float64) *mat.Dense {
	q := c.q
	k := mat.NewDense(len(x)/q, len(z)/q, nil)
	for i := range len(x) / q {
		for j := range len(z) / q {
			k.Set(i, j, h.cov.naive(x[i*q:], z[j*q:]))
		}
	}
	return k
}

// logNormal is Σ_d ln N(y_d | 0, a).
func logNormal(a, y *mat.Dense) float64 {
	n, d := y.Dims()
	var lu mat.LU
	lu.Factorize(a)
	var solved mat.Dense
	if err := lu.SolveTo(&solved, false, y); err != nil {
		panic(err)
	}
	logDet, _ := lu.LogDet()
	f := -0.5 * float64(d) * (float64(n)*math.Log(2*math.Pi) + logDet)
	for i, v := range y.RawMatrix().Data {
		f -= 0.5 * v * solved.RawMatrix().Data[i]
	}
	return f
}

func value(t *testing.T, c *collapsed, h hyper) float64 {
	t.Helper()
	f, err := c.value(h)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestSPGPBoundIsTheDenseFormula(t *testing.T) {
	for _, bound := range bounds {
		t.Run(string(bound), func(t *testing.T) {
			sparseCases(t, 70, 7, func(t *testing.T, p *problem, h hyper) {
				c := newCollapsed(p, bound, 7)
				near(t, "bound", value(t, c, h), c.dense(h), 1e-9)
			})
		})
	}
}

func TestSPGPGradient(t *testing.T) {
	for _, bound := range bounds {
		t.Run(string(bound), func(t *testing.T) {
			sparseCases(t, 70, 7, func(t *testing.T, p *problem, h hyper) {
				c := newCollapsed(p, bound, 7)
				noise := []float64{h.noise}
				f := func() float64 { h.noise = noise[0]; return value(t, c, h) }
				f()
				grad := newCoordinates(h, false).zero()
				c.gradient(grad)
				differences(t, "τ⁻¹", f, noise, []float64{grad.noise})
				differences(t, "σ²", f, h.cov.Variance, grad.cov.Variance)
				differences(t, "l", f, h.cov.Lengthscale, grad.cov.Lengthscale)
				differences(t, "p", f, h.cov.Frequency, grad.cov.Frequency)
				differences(t, "z", f, h.z, grad.z)
			})
		})
	}
}

// With the data as inducing inputs nothing is approximated.
func TestSPGPOnTheDataIsTheGP(t *testing.T) {
	data := noisyData(25, 1, 2, 3)
	// A short length-scale: K_uu is well conditioned, so that its jitter hardly shows.
	o := Options{Covariance: SE(1, 0.1), NoisePrecision: 1, Iterations: NoIterations}
	gp, err := GP{o}.Fit(bg, data)
	if err != nil {
		t.Fatal(err)
	}
	at := column(-1, 0.3, 2, 2.01, 5.5, 9)
	want, err := gp.Model.Predict(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	for _, bound := range bounds {
		fit, err := SPGP{Options: o, Bound: bound, Inducing: 25}.Fit(bg, data)
		if err != nil {
			t.Fatal(err)
		}
		// The jitter adds its own: N·10⁻¹¹/2s in the bound.
		near(t, string(bound), fit.Bound, gp.Bound, 1e-8)
		got, err := fit.Model.Predict(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range want.Mean {
			near(t, fmt.Sprintf("%s: mean %d", bound, i), got.Mean[i], v, 1e-8)
		}
		for i, v := range want.Cov {
			near(t, fmt.Sprintf("%s: covariance %d", bound, i), got.Cov[i], v, 1e-8)
		}
	}
}

// VFE stays below the log marginal likelihood and rises with each inducing
// input, wherever that is.
func TestVFEIsALowerBoundThatRises(t *testing.T) {
	sparseCases(t, 40, 12, func(t *testing.T, p *problem, h hyper) {
		k := (&collapsed{problem: p}).cov(h, p.x, p.x)
		for i := range p.n {
			k.Set(i, i, k.At(i, i)+h.noise)
		}
		exact := logNormal(k, mat.NewDense(p.n, p.d, p.y))
		last := math.Inf(-1)
		for m := 1; m <= 12; m++ {
			few := h
			few.z = h.z[:m*p.q]
			f := value(t, newCollapsed(p, VFE, m), few)
			if f > exact || !(f > last) {
				t.Errorf("%d inducing inputs: %v, with one fewer %v, log marginal likelihood %v", m, f, last, exact)
			}
			last = f
		}
	})
}

func TestSPGPLearns(t *testing.T) {
	for _, bound := range bounds {
		for q := 1; q <= 2; q++ {
			t.Run(fmt.Sprintf("%s,Q=%d", bound, q), func(t *testing.T) {
				data := noisyData(200, q, 1, 4)
				s := SPGP{Options: Options{Covariance: SE(q, 1), Iterations: 60}, Bound: bound, Inducing: 15 * q * q}
				fit, err := s.Fit(bg, data)
				if err != nil {
					t.Fatal(err)
				}
				gp, err := GP{Options{Covariance: SE(q, 1), Iterations: 60}}.Fit(bg, data)
				if err != nil {
					t.Fatal(err)
				}
				// FITC explains noise by its diagonal (Bauer et al. 2016), so that it
				// may find less of it and go above the GP.
				if bound == VFE && (fit.Bound > gp.Bound || fit.Bound < gp.Bound-1 || math.Abs(fit.NoiseSD/gp.NoiseSD-1) > 0.01) ||
					bound == FITC && (fit.Bound < gp.Bound-1 || math.Abs(fit.NoiseSD/gp.NoiseSD-1) > 0.15) {
					t.Errorf("bound %.2f, GP %.2f; noise %.3f, GP %.3f", fit.Bound, gp.Bound, fit.NoiseSD, gp.NoiseSD)
				}
			})
		}
	}
}

// Inducing inputs that are the same, or fewer than the data deserve, or far
// away, still give a bound, a gradient and a fit.
func TestSPGPSurvives(t *testing.T) {
	data := noisyData(50, 1, 1, 5)
	for name, z := range map[string][]float64{
		"two the same": {1, 1, 3, 5}, "all the same": {2, 2, 2, 2}, "far away": {1e6, 2e6, -1e6, 4}, "one": {3},
		"crowded": {3, 3 + 1e-12, 3 + 2e-12, 3 + 1e-9},
	} {
		for _, bound := range bounds {
			fit, err := SPGP{Options: Options{Covariance: SE(1, 0.8), Iterations: 20}, Bound: bound, Locations: z}.Fit(bg, data)
			if err != nil {
				t.Errorf("%s, %s: %v", name, bound, err)
				continue
			}
			p, err := fit.Model.Predict(t.Context(), column(0, 3, 1e9))
			if err != nil || !finite(fit.Bound) || slices.ContainsFunc(p.Cov, func(v float64) bool { return !(v > 0) }) {
				t.Errorf("%s, %s: bound %v, prediction %v, %v", name, bound, fit.Bound, p, err)
			}
		}
	}
}

// Where a step is too long there is an error that the optimizer understands.
func TestSPGPValueErrors(t *testing.T) {
	p, err := prepare(noisyData(20, 1, 1, 6), Options{})
	if err != nil {
		t.Fatal(err)
	}
	z := []float64{1, 2, 3}
	for name, h := range map[string]hyper{
		"variance NaN":     {cov: Covariance{1, 1, []float64{math.NaN()}, []float64{1}, []float64{0}}, noise: 0.1},
		"length-scale Inf": {cov: Covariance{1, 1, []float64{1}, []float64{math.Inf(1)}, []float64{0}}, noise: 0.1},
		"variance huge":    {cov: Covariance{2, 1, []float64{1e308, 1e308}, []float64{1, 2}, []float64{0, 0}}, noise: 0.1},
		"noise 0":          {cov: SE(1, 1)},
	} {
		h.z = z
		for _, bound := range bounds {
			if f, err := newCollapsed(p, bound, 3).value(h); !errors.Is(err, vssgp.ErrBound) {
				t.Errorf("%s, %s: %v, %v; want vssgp.ErrBound", name, bound, f, err)
			}
		}
	}
	if f, err := newCollapsed(p, VFE, 3).value(hyper{SE(1, 1), 0.1, []float64{1, math.NaN(), 3}}); !errors.Is(err, vssgp.ErrBound) {
		t.Errorf("z NaN: %v, %v; want vssgp.ErrBound", f, err)
	}
}

func TestSPGPOptions(t *testing.T) {
	data := noisyData(10, 2, 1, 1)
	for name, s := range map[string]SPGP{
		"bound":             {Bound: "fitc"},
		"negative":          {Inducing: -1},
		"more than rows":    {Inducing: 11},
		"half a location":   {Locations: []float64{1, 2, 3}},
		"no location":       {Locations: []float64{}},
		"other count":       {Inducing: 2, Locations: []float64{1, 2}},
		"location infinite": {Locations: []float64{1, math.Inf(1)}},
		"covariance":        {Options: Options{Covariance: SE(1, 1)}},
	} {
		if _, err := s.Fit(bg, data); !errors.Is(err, vssgp.ErrOptions) {
			t.Errorf("%s: %v, want vssgp.ErrOptions", name, err)
		}
	}
	data.Y[0] = math.NaN()
	if _, err := (SPGP{}).Fit(bg, data); !errors.Is(err, vssgp.ErrData) {
		t.Errorf("NaN in y: %v, want ErrData", err)
	}
}

func TestSPGPStart(t *testing.T) {
	line := &vssgp.Data{N: 6, Q: 1, D: 1, X: []float64{4, 1, 2, 2, 8, 0}, Y: make([]float64, 6)}
	for m, want := range map[int][]float64{1: {2}, 2: {0, 8}, 3: {0, 2, 8}, 5: {0, 1, 2, 4, 8}, 0: {0, 1, 2, 4, 8}} {
		fit, err := SPGP{Inducing: m, Options: Options{Iterations: NoIterations}}.Fit(bg, line)
		if err != nil {
			t.Fatal(err)
		}
		if got := fit.Model.(*SparseModel).Locations(); !slices.Equal(got, want) {
			t.Errorf("%d inducing inputs start at %v, want %v", m, got, want)
		}
	}
	plane := noisyData(30, 2, 1, 1)
	fit, err := SPGP{Inducing: 30, Options: Options{Iterations: NoIterations}}.Fit(bg, plane)
	if err != nil {
		t.Fatal(err)
	}
	pairs := func(v []float64) (out [][2]float64) {
		for i := 0; i < len(v); i += 2 {
			out = append(out, [2]float64(v[i:]))
		}
		slices.SortFunc(out, func(a, b [2]float64) int { return slices.Compare(a[:], b[:]) })
		return out
	}
	rows := pairs(plane.X)
	for i, z := range pairs(fit.Model.(*SparseModel).Locations()) {
		if math.Hypot(z[0]-rows[i][0], z[1]-rows[i][1]) > 1e-14 {
			t.Errorf("30 of 30 rows drawn: %v, want row %v", z, rows[i])
		}
	}
}

func TestSPGPFixedLocations(t *testing.T) {
	z := []float64{1, 2.5, 4}
	s := SPGP{Options: Options{Covariance: SE(1, 1), Iterations: 30}, Locations: z, FixLocations: true}
	fixed, err := s.Fit(bg, noisyData(60, 1, 1, 2))
	if err != nil {
		t.Fatal(err)
	}
	s.FixLocations = false
	free, err := s.Fit(bg, noisyData(60, 1, 1, 2))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(fixed.Model.(*SparseModel).Locations(), z) || fixed.Covariance.Lengthscale[0] == 1 {
		t.Error("fixed locations have moved, or nothing was learnt")
	}
	if slices.Equal(free.Model.(*SparseModel).Locations(), z) || free.Bound <= fixed.Bound {
		t.Errorf("free locations reach %v, fixed %v", free.Bound, fixed.Bound)
	}
}

// An interrupted fit comes back with the best model so far.
func TestSPGPInterrupted(t *testing.T) {
	for _, after := range []int{0, 3} {
		ctx, cancel := context.WithCancel(bg)
		defer cancel()
		seen := 0.0
		o := Options{Covariance: SE(1, 1), Progress: func(p vssgp.Progress) {
			if seen = p.Bound; p.Iteration == after {
				cancel()
			}
		}}
		if after == 0 {
			cancel()
		}
		fit, err := SPGP{Options: o, Inducing: 8}.Fit(ctx, noisyData(60, 1, 1, 2))
		if !errors.Is(err, context.Canceled) || fit == nil || fit.Iterations != after || after > 0 && math.Abs(fit.Bound-seen) > 1e-9 {
			t.Fatalf("after %d: %+v, %v; last bound %v", after, fit, err, seen)
		}
		if _, err := fit.Model.Predict(t.Context(), column(1)); err != nil {
			t.Error(err)
		}
	}
}

// Solving from the right, in blocks, is undone by a product.
func TestSolveFromTheRight(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for _, n := range []int{1, 63, 64, 65, 150} {
		a, l := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
		for i := range n {
			for j := range i {
				l.Set(i, j, r.NormFloat64()/float64(n))
			}
			l.Set(i, i, 1+r.Float64())
		}
		a.Mul(l, l.T())
		f, err := factorize(a)
		if err != nil {
			t.Fatal(err)
		}
		wide := mat.NewDense(40, n+3, normals(r, 40*(n+3))) // a stride that is not n
		b := wide.Slice(0, 40, 2, n+2).(*mat.Dense)
		want := mat.DenseCopyOf(wide)
		var back mat.Dense
		f.rightUpper(b)
		back.Mul(b, l.T())
		b.Copy(&back)
		f.rightLower(b)
		back.Mul(b, l)
		b.Copy(&back)
		if !mat.EqualApprox(wide, want, 1e-12) {
			t.Errorf("%d columns: a solution times the factor is not what was solved for", n)
		}
	}
}
