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
	"github.com/vssgp/vssgp/internal/testkit"
)

// differences compares grad with central differences of f, which depends on x. The tolerance
// is relative to the largest element of grad or to f, because the error of a difference is
// about ε^⅔ relative to f.
func differences(t *testing.T, name string, f func() float64, x, grad []float64) {
	t.Helper()
	largest := 1e-3 * (1 + math.Abs(f()))
	for _, g := range grad {
		largest = max(largest, math.Abs(g))
	}
	for i, was := range x {
		h := 1e-5 * max(0.1, math.Abs(was))
		x[i] = was + h
		up := f()
		x[i] = was - h
		down := f()
		x[i] = was
		if want := (up - down) / (2 * h); !(math.Abs(grad[i]-want) <= 1e-6*largest) {
			t.Errorf("%s: gradient %d is %.9g, differences give %.9g", name, i, grad[i], want)
		}
	}
}

// gradients compares a gradient with respect to h with differences of f, which depends on h.
func gradients(t *testing.T, f func() float64, h, grad *hyper) {
	t.Helper()
	noise := []float64{h.noise}
	differences(t, "τ⁻¹", func() float64 { h.noise = noise[0]; return f() }, noise, []float64{grad.noise})
	h.noise = noise[0]
	differences(t, "σ²", f, h.cov.Variance, grad.cov.Variance)
	differences(t, "l", f, h.cov.Lengthscale, grad.cov.Lengthscale)
	differences(t, "p", f, h.cov.Frequency, grad.cov.Frequency)
	differences(t, "z", f, h.z, grad.z)
}

// cases calls f for problems with n rows, m inducing inputs, and random covariances of one and two components. Either
// all components or every second one are squared exponentials.
func cases(t *testing.T, n, m int, f func(t *testing.T, r *rand.Rand, p *problem)) {
	for l := 1; l <= 2; l++ {
		for _, periodic := range []bool{false, true} {
			t.Run(fmt.Sprintf("L=%d,periodic=%v", l, periodic), func(t *testing.T) {
				r := rand.New(rand.NewPCG(1, uint64(l)))
				c := SE(make([]float64, l)...)
				for i := range l {
					c.Variance[i], c.Lengthscale[i] = 0.3+r.Float64(), 0.5+r.Float64()
					if periodic && i%2 == 0 {
						c.Frequency[i] = r.NormFloat64()
					}
				}
				p := prepare(noisyData(n, 7), Options{Covariance: c, NoisePrecision: 1})
				p.start.noise = 0.1 + 0.1*r.Float64()
				for i := range m { // apart from each other, so that K_uu is well conditioned and differences are accurate
					p.start.z = append(p.start.z, 6*(float64(i)+0.5*r.Float64())/float64(m))
				}
				f(t, r, p)
			})
		}
	}
}

func normals(r *rand.Rand, n int) []float64 {
	return testkit.Numbers(n, func(int) float64 { return r.NormFloat64() })
}

// naive returns the covariance matrix, computed from the formula.
func (c Covariance) naive(x, z []float64) *mat.Dense {
	k := mat.NewDense(len(x), len(z), nil)
	k.Apply(func(n, m int, sum float64) float64 {
		r := x[n] - z[m]
		for i, v := range c.Variance {
			sum += v * math.Exp(-r*r/(2*math.Pow(c.Lengthscale[i], 2))) * math.Cos(2*math.Pi*c.Frequency[i]*r)
		}
		return sum
	}, k)
	return k
}

// logNormal returns ln N(y | 0, a).
func logNormal(a *mat.Dense, y []float64) float64 {
	var lu mat.LU
	lu.Factorize(a)
	var solved mat.Dense
	if err := lu.SolveTo(&solved, false, column(y)); err != nil {
		panic(err)
	}
	logDet, _ := lu.LogDet()
	return -0.5 * (float64(len(y))*math.Log(2*math.Pi) + logDet + dot(y, solved.RawMatrix().Data))
}

func dot(a, b []float64) float64 {
	return mat.Dot(mat.NewVecDense(len(a), a), mat.NewVecDense(len(b), b))
}

// noisyData returns n rows of a sine with noise of standard deviation 1, with large mean and amplitude.
func noisyData(n int, seed uint64) *vssgp.Data {
	r := rand.New(rand.NewPCG(seed, 1))
	data := &vssgp.Data{N: n, Q: 1, D: 1}
	for range n {
		x := 6 * r.Float64()
		data.X, data.Y = append(data.X, x), append(data.Y, 50+10*math.Sin(x)+r.NormFloat64())
	}
	return data
}

// near checks that two numbers are equal up to a tolerance relative to the larger one, or to 1 if both are smaller.
func near(t *testing.T, name string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*max(1, math.Abs(want), math.Abs(got))) {
		t.Errorf("%s: %.12g, want %.12g", name, got, want)
	}
}

// value returns the value of an objective at h.
func value(t *testing.T, f objective, h hyper) float64 {
	t.Helper()
	return testkit.Must(f.value(h))(t)
}

func fit(t *testing.T, m Method, data *vssgp.Data) *Fit {
	t.Helper()
	return testkit.Must(m.Fit(t.Context(), data))(t)
}

func predict(t *testing.T, m Model, x ...float64) *vssgp.Prediction {
	t.Helper()
	return testkit.Must(m.Predict(t.Context(), x))(t)
}

// samePredictions compares the predictions of two models.
func samePredictions(t *testing.T, got, want Model, tolerance float64) {
	t.Helper()
	x := []float64{-1, 0.3, 2, 2.01, 5.5, 9, 1e3}
	a, b := predict(t, got, x...), predict(t, want, x...)
	for i := range x {
		near(t, "mean", a.Mean[i], b.Mean[i], tolerance)
		near(t, "variance", a.Cov[i], b.Cov[i], tolerance)
	}
	near(t, "noise", a.Noise[0], b.Noise[0], tolerance)
}

// TestCovariance checks the covariance matrix against the formula, and its pullback against differences of Σ bar·k.
func TestCovariance(t *testing.T) {
	cases(t, 67, 4, func(t *testing.T, r *rand.Rand, p *problem) { // more than two chunks
		h, x := &p.start, p.x
		bar, k := mat.NewDense(67, 4, normals(r, 67*4)), mat.NewDense(67, 4, nil)
		f := func() float64 {
			h.cov.matrix(k, x, h.z)
			var product mat.Dense
			product.MulElem(bar, k)
			return mat.Sum(&product)
		}
		f()
		if !mat.EqualApprox(k, h.cov.naive(x, h.z), 1e-14) {
			t.Error("the matrix differs from the formula")
		}
		near(t, "k(x, x)", h.cov.naive(x[:1], x[:1]).At(0, 0), h.cov.diagonal(), 1e-15)
		g := newCoordinates(*h).zero()
		h.cov.pull(g, bar, x, h.z)
		gradients(t, f, h, g)
		testkit.SameOnCores(t, "pullback", func() []float64 {
			g := newCoordinates(*h).zero()
			h.cov.pull(g, bar, x, h.z)
			return slices.Concat(g.cov.Variance, g.cov.Lengthscale, g.cov.Frequency, g.z)
		})
	})
}

func TestCoordinates(t *testing.T) {
	cases(t, 10, 3, func(t *testing.T, r *rand.Rand, p *problem) {
		h, c := p.start, newCoordinates(p.start)
		v := c.first()
		back := c.at(v)
		_, linear := h.numbers()
		_, found := back.numbers()
		for i := range linear {
			near(t, "round trip", *found[i], *linear[i], 1e-14)
		}
		near(t, "round trip of the noise", back.noise, h.noise, 1e-14)
		// The test function is a weighted sum of all hyper-parameters.
		weights := c.zero()
		logs, linear := weights.numbers()
		for _, w := range slices.Concat(logs, linear) {
			*w = r.NormFloat64()
		}
		sum := func() (s float64) {
			at := c.at(v)
			for i, p := range at.cov.Frequency {
				if h.cov.Frequency[i] == 0 && p != 0 {
					t.Errorf("a squared exponential has frequency %v", p)
				}
			}
			return dot(at.cov.Variance, weights.cov.Variance) + dot(at.cov.Lengthscale, weights.cov.Lengthscale) +
				dot(at.cov.Frequency, weights.cov.Frequency) + at.noise*weights.noise + dot(at.z, weights.z)
		}
		g := make([]float64, len(v))
		c.pull(g, &h, weights)
		differences(t, "coordinates", sum, v, g)
	})
}

func TestFactorize(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	b := mat.NewDense(6, 6, normals(r, 36))
	full, rank2 := mat.NewDense(6, 6, nil), mat.NewDense(6, 6, nil)
	full.Mul(b, b.T())
	rank2.Mul(b.Slice(0, 6, 0, 2), b.Slice(0, 6, 0, 2).T())
	rank2.Set(5, 5, rank2.At(5, 5)-1e-9)
	for name, c := range map[string]struct {
		a      *mat.Dense
		jitter bool
	}{"full rank": {full, false}, "rank 2": {rank2, true}} {
		a := mat.DenseCopyOf(c.a)
		f, err := factorize(a)
		if err != nil || (f.jitter > 0) != c.jitter {
			t.Fatalf("%s: jitter %v, %v", name, f.jitter, err)
		}
		want := mat.DenseCopyOf(c.a)
		addDiagonal(want, f.jitter)
		near(t, name+": ln |A|", f.logDet(), math.Log(mat.Det(want)), 1e-5)
		x := mat.NewDense(6, 2, normals(r, 12))
		y := mat.DenseCopyOf(x)
		f.solve(y)
		var back mat.Dense
		back.Mul(want, y)
		if !mat.EqualApprox(&back, x, 1e-5) {
			t.Errorf("%s: A·A⁻¹x is not x", name)
		}
	}
	for _, bad := range [][]float64{{-1, 0, 0, 1e-3}, {math.NaN(), 0, 0, 1}, {1, 2, 2, 1}} {
		if _, err := factorize(mat.NewDense(2, 2, bad)); !errors.Is(err, vssgp.ErrBound) {
			t.Errorf("%v: error %v, want vssgp.ErrBound", bad, err)
		}
	}
}

// TestSolveFromTheRight checks that multiplication by the factor inverts solving from the right in blocks.
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
		f := testkit.Must(factorize(a))(t)
		wide := mat.NewDense(40, n+3, normals(r, 40*(n+3))) // the stride is not n
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
			t.Errorf("%d columns: a solution times the factor is not the right-hand side", n)
		}
	}
}

func TestGPAgainstNaive(t *testing.T) {
	cases(t, 70, 0, func(t *testing.T, r *rand.Rand, p *problem) {
		h, e := p.start, newEvidence(p)
		a := h.cov.naive(p.x, p.x)
		addDiagonal(a, h.noise)
		near(t, "log marginal likelihood", value(t, e, h), logNormal(a, p.y), 1e-11)
		rows := normals(r, 150)
		got := predict(t, e.model(), rows...)
		var inverse, mean, left mat.Dense
		testkit.OK(t, inverse.Inverse(a))
		k := h.cov.naive(rows, p.x)
		mean.Product(k, &inverse, column(p.y))
		left.Product(k, &inverse, k.T())
		s := p.sd
		for i := range rows {
			near(t, "mean", got.Mean[i], p.offset+s*mean.At(i, 0), 1e-9)
			near(t, "variance", got.Cov[i], s*s*(h.cov.diagonal()-left.At(i, i)+h.noise), 1e-9)
		}
		near(t, "noise", got.Noise[0], s*s*h.noise, 1e-12)
	})
	cases(t, 40, 0, func(t *testing.T, _ *rand.Rand, p *problem) {
		h, e, g := &p.start, newEvidence(p), newCoordinates(p.start).zero()
		value(t, e, *h)
		e.gradient(g)
		gradients(t, func() float64 { return value(t, e, *h) }, h, g)
	})
}

// TestGPSpectralMixture checks that the period of a sine is found from an initial value near it.
func TestGPSpectralMixture(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	data := &vssgp.Data{N: 90, Q: 1, D: 1}
	for i := range data.N {
		data.X = append(data.X, 0.1*float64(i))
		data.Y = append(data.Y, math.Sin(2*math.Pi*data.X[i]/1.25)+0.05*r.NormFloat64())
	}
	c := SE(5, 5)
	c.Frequency[0] = -1 / 1.4 // the sign has no effect; a fit returns a positive frequency
	f := fit(t, GP{Options{c, 100, 300}}, data)
	if got := 1 / f.Covariance.Frequency[0]; math.Abs(got-1.25) > 0.02 || f.Covariance.Frequency[1] != 0 {
		t.Errorf("period %v, want 1.25; frequencies %v", got, f.Covariance.Frequency)
	}
	near(t, "noise", f.NoiseSD, 0.05, 0.01)
	if c.Frequency[0] != -1/1.4 {
		t.Errorf("the caller's covariance has changed: %v", c.Frequency)
	}
}

// TestLearns checks for every method the fit to a sine, that it does not depend on the number of threads, and its
// cancellation.
func TestLearns(t *testing.T) {
	data := noisyData(120, 4)
	o := Options{Covariance: SE(1), NoisePrecision: 0.1, Iterations: 60}
	many := o
	many.Iterations = 600
	gp := fit(t, GP{o}, data)
	for name, m := range map[string]struct {
		Method
		least, most, noise float64 // tolerances of the bound and the noise relative to the GP
	}{
		"GP": {GP{o}, 0, 0, 0}, "VFE": {SPGP{o, 15, VFE}, -1, 0, 0.01},
		// FITC explains noise by its diagonal (Bauer et al. 2016), so it may find less noise and exceed the GP's bound.
		"FITC": {SPGP{o, 15, FITC}, -1, 5, 0.15}, "SVGP": {SVGP{Options: many, Inducing: 15, Batch: 30, Rate: 0.05}, -1.5, 0, 0.05},
		"Features": {Features{vssgp.Options{Init: vssgp.InitPaper, Features: 20, Iterations: 60}}, -200, 0, 0.3},
	} {
		f := fit(t, m.Method, data)
		if f.Bound < gp.Bound+m.least || f.Bound > gp.Bound+m.most+1e-9 || math.Abs(f.NoiseSD/gp.NoiseSD-1) > m.noise {
			t.Errorf("%s: bound %.2f, GP %.2f; noise %.3f, GP %.3f", name, f.Bound, gp.Bound, f.NoiseSD, gp.NoiseSD)
		}
		if p := predict(t, f.Model, 2.5); math.Abs(p.Mean[0]-50-10*math.Sin(2.5)) > 1 || math.Abs(math.Sqrt(p.Cov[0])-1) > 0.3 {
			t.Errorf("%s: %v ± %v at 2.5", name, p.Mean[0], math.Sqrt(p.Cov[0]))
		}
		testkit.SameOnCores(t, name, func() []float64 { f := fit(t, m.Method, data); return []float64{f.Bound, f.NoiseSD} })
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if f, err := m.Fit(ctx, data); !errors.Is(err, context.Canceled) || f != nil {
			t.Errorf("%s, canceled: %v, %v", name, f, err)
		}
	}
}

// TestDegenerateData checks that constant and noise-free data give finite predictions, and that duplicate inputs are
// counted once.
func TestDegenerateData(t *testing.T) {
	for name, y := range map[string][]float64{"constant": {5, 5, 5, 5}, "no noise": {1, 3, 5, 7}} {
		data := &vssgp.Data{N: 4, Q: 1, D: 1, X: []float64{0, 1, 2, 3}, Y: y}
		p := predict(t, fit(t, GP{Options{SE(1), 100, 100}}, data).Model, 2, 1e9)
		for _, v := range slices.Concat(p.Mean, p.Cov) {
			if !finite(v) || math.Abs(p.Mean[0]-5) > 0.1 {
				t.Errorf("%s: %+v", name, p)
			}
		}
	}
	data := &vssgp.Data{N: 3, Q: 1, D: 1, X: []float64{1, 1, 2}, Y: []float64{1, 2, 3}}
	if _, err := (SPGP{Options{SE(1), 1, 5}, 3, VFE}).Fit(t.Context(), data); !errors.Is(err, vssgp.ErrOptions) {
		t.Errorf("3 inducing inputs for 2 distinct x: %v", err)
	}
}

// TestSparseSpectrumBecomesGP checks that SSGP converges to the full GP with the number of features, if its frequencies
// are quantiles of the normal distribution. Its sum of cosines and sines is then a quadrature of the squared
// exponential.
func TestSparseSpectrumBecomesGP(t *testing.T) {
	data := noisyData(40, 7)
	gp := fit(t, GP{Options{Covariance: SE(1), NoisePrecision: 0.1}}, data)
	x := []float64{-1, 0.5, 3, 5.5, 7}
	want := predict(t, gp.Model, x...)
	last := math.Inf(1)
	for _, pairs := range []int{20, 80, 320} {
		o := vssgp.Options{Method: vssgp.SSGP, Init: vssgp.InitPaper, Features: 2 * pairs, NoisePrecision: 0.1}
		o.Paper.Lengthscales = []float64{1}
		start := testkit.Must(vssgp.New(t.Context(), data, o))(t)
		for k := range start.Params.FreqMean {
			u := (float64(k/2) + 0.5) / float64(pairs)
			start.Params.FreqMean[k] = math.Sqrt2 * math.Erfinv(2*u-1)
		}
		f := fit(t, Features{vssgp.Options{Method: vssgp.SSGP, From: start, Iterations: vssgp.NoIterations}}, data)
		got := predict(t, f.Model, x...)
		off := math.Abs(f.Bound - gp.Bound)
		for i := range x {
			off = max(off, math.Abs(got.Mean[i]-want.Mean[i]), math.Abs(got.Cov[i]-want.Cov[i]))
		}
		if !(off < last/5) || pairs == 320 && off > 0.1 {
			t.Errorf("%d pairs differ by %v from the full GP, fewer by %v; want less than a fifth of it and finally 0.1", pairs, off, last)
		}
		last = off
		near(t, "l", f.Covariance.Lengthscale[0], gp.Covariance.Lengthscale[0], 1e-14)
		near(t, "σ²", f.Covariance.Variance[0], gp.Covariance.Variance[0], 1e-14)
		near(t, "noise", f.NoiseSD, gp.NoiseSD, 1e-14)
	}
}

// TestFeaturesUnits checks that results are in the data's units for any units of the model.
func TestFeaturesUnits(t *testing.T) {
	data := noisyData(30, 8)
	for _, raw := range []bool{false, true} {
		f := fit(t, Features{vssgp.Options{
			Paper: vssgp.PaperOptions{Lengthscales: []float64{2, 30}, Periods: []float64{5, 0}}, NoisePrecision: 4, Features: 3, Iterations: vssgp.NoIterations, Raw: raw,
		}}, data)
		near(t, "noise", f.NoiseSD, 0.5, 1e-12)
		for i, want := range []float64{2, 30} {
			near(t, "l", f.Covariance.Lengthscale[i], want, 1e-12)
			near(t, "p", f.Covariance.Frequency[i], []float64{0.2, 0}[i], 1e-12)
		}
		want := 1.0
		if raw { // the initial σ² add up to the mean square of y
			_, y := data.Standardize()
			want = dot(data.Y, data.Y) / float64(len(data.Y)) / math.Pow(y.Scale[0], 2)
		}
		near(t, "σ²", f.Covariance.diagonal(), want, 1e-12)
	}
}
