package baselines

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp"
)

// raw is a problem whose y are in their own units.
func raw(x, y []float64, q, d int, h hyper) *problem {
	out := vssgp.Affine{Offset: make([]float64, d), Scale: slices.Repeat([]float64{1}, d)}
	return &problem{units: units{q, out}, n: len(x) / q, d: d, x: x, y: y, start: h}
}

// gpGiven is the GP of h given x and y, and its log marginal likelihood.
func gpGiven(t *testing.T, x, y []float64, q, d int, h hyper) (*gpModel, float64) {
	t.Helper()
	e := newEvidence(raw(x, y, q, d, h))
	value, err := e.value(h)
	if err != nil {
		t.Fatal(err)
	}
	return e.model().(*gpModel), value
}

// naiveGP is the textbook: the log marginal likelihood from A's determinant
// and inverse, the posterior mean [n,D] and latent variance [n] at rows.
func naiveGP(x, y, rows []float64, d int, h hyper) (value float64, mean, variance []float64) {
	q := h.cov.Q
	n, m := len(x)/q, len(rows)/q
	a, k := mat.NewDense(n, n, nil), mat.NewDense(m, n, nil)
	for j := range n {
		for i := range n {
			a.Set(i, j, h.cov.naive(x[i*q:], x[j*q:]))
		}
		for i := range m {
			k.Set(i, j, h.cov.naive(rows[i*q:], x[j*q:]))
		}
		a.Set(j, j, a.At(j, j)+h.noise)
	}
	var inverse, weights, mu, fit, left mat.Dense
	if err := inverse.Inverse(a); err != nil {
		panic(err)
	}
	ys := mat.NewDense(n, d, y)
	weights.Mul(&inverse, ys)
	fit.Mul(ys.T(), &weights)
	logDet, _ := mat.LogDet(a)
	value = -0.5*mat.Trace(&fit) - 0.5*float64(d)*logDet - 0.5*float64(n*d)*math.Log(2*math.Pi)
	mu.Mul(k, &weights)
	left.Product(k, &inverse, k.T())
	for i := range m {
		variance = append(variance, h.cov.naive(rows[i*q:], rows[i*q:])-left.At(i, i))
	}
	return value, mu.RawMatrix().Data, variance
}

func TestGPAgainstNaive(t *testing.T) {
	covarianceCases(t, func(t *testing.T, r *rand.Rand, c Covariance) {
		const n, d = 70, 2
		h := hyper{cov: c, noise: 0.3}
		x, y, rows := normals(r, n*c.Q), normals(r, n*d), normals(r, 150*c.Q)
		m, value := gpGiven(t, x, y, c.Q, d, h)
		want, mean, variance := naiveGP(x, y, rows, d, h)
		near(t, "log marginal likelihood", value, want, 1e-11)
		p, err := m.Predict(t.Context(), rows)
		if err != nil {
			t.Fatal(err)
		}
		latent, observed := p.SD(false), p.SD(true)
		for i, v := range mean {
			near(t, "mean", p.Mean[i], v, 1e-10)
			near(t, "latent variance", latent[i]*latent[i], variance[i/d], 1e-10)
			near(t, "variance", observed[i]*observed[i], variance[i/d]+0.3, 1e-10)
		}
	})
}

func TestGPGradient(t *testing.T) {
	covarianceCases(t, func(t *testing.T, r *rand.Rand, c Covariance) {
		const n, d = 40, 3
		x, y := normals(r, n*c.Q), normals(r, n*d)
		h := hyper{cov: c, noise: 0.3}
		e := newEvidence(raw(x, y, c.Q, d, h))
		f := func() float64 {
			value, err := e.value(h)
			if err != nil {
				t.Fatal(err)
			}
			return value
		}
		g := newCoordinates(h, false).zero()
		f()
		e.gradient(g)
		differences(t, "σ²", f, h.cov.Variance, g.cov.Variance)
		differences(t, "l", f, h.cov.Lengthscale, g.cov.Lengthscale)
		differences(t, "p", f, h.cov.Frequency, g.cov.Frequency)
		noise := []float64{h.noise}
		differences(t, "τ⁻¹", func() float64 { h.noise = noise[0]; return f() }, noise, []float64{g.noise})
	})
}

// One and two rows by hand.
func TestGPByHand(t *testing.T) {
	h := hyper{cov: SE(1, 0.7), noise: 0.5}
	h.cov.Variance[0] = 2
	m, value := gpGiven(t, []float64{3}, []float64{1.5}, 1, 1, h)
	near(t, "one row", value, -0.5*1.5*1.5/2.5-0.5*math.Log(2.5)-0.5*math.Log(2*math.Pi), 1e-14)
	p, err := m.Predict(t.Context(), column(3.7))
	if err != nil {
		t.Fatal(err)
	}
	k := 2 * math.Exp(-0.5)
	near(t, "one row's mean", p.Mean[0], k/2.5*1.5, 1e-14)
	near(t, "one row's variance", p.Cov[0], 2-k*k/2.5+0.5, 1e-14)

	m, value = gpGiven(t, []float64{3, 3.7}, []float64{1.5, -0.5}, 1, 1, h)
	det := 2.5*2.5 - k*k
	quad := (2.5*1.5*1.5 + 2.5*0.25 + 2*k*1.5*0.5) / det
	near(t, "two rows", value, -0.5*quad-0.5*math.Log(det)-math.Log(2*math.Pi), 1e-14)
	if p, err = m.Predict(t.Context(), column(3)); err != nil {
		t.Fatal(err)
	}
	near(t, "two rows' mean", p.Mean[0], (2*(2.5*1.5+k*0.5)+k*(-2.5*0.5-k*1.5))/det, 1e-14)
	near(t, "two rows' variance", p.Cov[0], 2-(2*2*2.5-2*2*k*k+k*k*2.5)/det+0.5, 1e-14)
}

func TestGPLimits(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	const n = 30
	x, y := make([]float64, n), normals(r, n)
	sum, squares := 0.0, 0.0
	for i, v := range y {
		x[i] = float64(i)
		sum, squares = sum+v, squares+v*v
	}
	// l → 0: white noise of variance σ² + τ⁻¹.
	_, value := gpGiven(t, x, y, 1, 1, hyper{cov: SE(1, 1e-3), noise: 0.5})
	near(t, "white noise", value, -0.5*squares/1.5-0.5*n*math.Log(2*math.Pi*1.5), 1e-13)
	// l → ∞: one constant of variance σ² and noise, A = 1 1ᵀ + τ⁻¹.
	m, value := gpGiven(t, x, y, 1, 1, hyper{cov: SE(1, 1e9), noise: 0.5})
	near(t, "constant", value, -0.5*(squares-sum*sum/(n+0.5))/0.5-0.5*(n-1)*math.Log(0.5)-0.5*math.Log(n+0.5)-0.5*n*math.Log(2*math.Pi), 1e-12)
	p, err := m.Predict(t.Context(), column(-1000))
	if err != nil {
		t.Fatal(err)
	}
	near(t, "constant's mean", p.Mean[0], sum/(n+0.5), 1e-9)
	near(t, "constant's variance", p.Cov[0], 0.5/(n+0.5)+0.5, 1e-9)
	// τ⁻¹ → 0: the data themselves; far away: the prior.
	if m, _ = gpGiven(t, x, y, 1, 1, hyper{cov: SE(1, 0.8), noise: 1e-12}); m.f.jitter != 0 {
		t.Errorf("jitter %v", m.f.jitter)
	}
	if p, err = m.Predict(t.Context(), append(slices.Clone(x), 1e6)); err != nil {
		t.Fatal(err)
	}
	for i, v := range y {
		near(t, "interpolated", p.Mean[i], v, 1e-9)
		near(t, "interpolated variance", p.Cov[i], 0, 1e-9)
	}
	near(t, "far away", p.Mean[n], 0, 0)
	near(t, "variance far away", p.Cov[n], 1, 1e-11)
}

// fitGP fits with the covariance and iterations given and fails the test if
// that fails.
func fitGP(t *testing.T, o Options, data *vssgp.Data) *Fit {
	t.Helper()
	fit, err := GP{o}.Fit(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	return fit
}

func TestGPFit(t *testing.T) {
	data := noisyData(120, 1, 2, 1)
	start := fitGP(t, Options{Iterations: NoIterations}, data)
	var last vssgp.Progress
	calls := 0
	fit := fitGP(t, Options{Progress: func(p vssgp.Progress) { last, calls = p, calls+1 }}, data)
	if !(fit.Bound > start.Bound+10) || start.Iterations != 0 {
		t.Errorf("bound %v after %d iterations, %v before", fit.Bound, fit.Iterations, start.Bound)
	}
	if calls != fit.Iterations || last.Bound != fit.Bound || last.Iteration != fit.Iterations || last.NoiseSD != fit.NoiseSD {
		t.Errorf("%d calls of Progress, the last %+v; want %d and what the fit ended with, %+v", calls, last, fit.Iterations, fit)
	}
	if !(math.Abs(fit.NoiseSD-1) < 0.2) {
		t.Errorf("noise %v, want about 1", fit.NoiseSD)
	}
	p, err := fit.Model.Predict(t.Context(), column(1, 2.5, 4))
	if err != nil {
		t.Fatal(err)
	}
	sd := p.SD(true)
	for i, x := range []float64{1, 2.5, 4} {
		for e := range 2 {
			want := 50 + 20*float64(e) + 10*math.Sin(x+float64(e))
			if got := p.Mean[2*i+e]; !(math.Abs(got-want) < 1) || !(sd[2*i+e] > 0.8 && sd[2*i+e] < 1.6) {
				t.Errorf("output %d at %v: %v ± %v, want about %v ± 1", e, x, got, sd[2*i+e], want)
			}
		}
	}
	// The bound is the marginal likelihood of the scaled y at what is reported.
	_, scale := data.Standardize()
	h := hyper{cov: fit.Covariance, noise: math.Pow(fit.NoiseSD/scale.Scale[0], 2)}
	want, _, _ := naiveGP(data.X, scale.ToModel(data.Y), data.X[:1], 2, h)
	near(t, "bound", fit.Bound, want, 1e-8)
}

// A wave's period is found from a start nearby.
func TestGPSpectralMixture(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	data := &vssgp.Data{N: 90, Q: 1, D: 1}
	for i := range data.N {
		data.X = append(data.X, 0.1*float64(i))
		data.Y = append(data.Y, math.Sin(2*math.Pi*data.X[i]/1.25)+0.05*r.NormFloat64())
	}
	c := SE(1, 5, 5)
	c.Frequency[0] = -1 / 1.4 // the sign has no meaning; a fit reports it as positive
	fit := fitGP(t, Options{Covariance: c, NoisePrecision: 100}, data)
	if got := 1 / fit.Covariance.Frequency[0]; math.Abs(got-1.25) > 0.02 || fit.Covariance.Frequency[1] != 0 {
		t.Errorf("period %v, want 1.25; frequencies %v", got, fit.Covariance.Frequency)
	}
	if math.Abs(fit.NoiseSD-0.05) > 0.01 {
		t.Errorf("noise %v, want 0.05", fit.NoiseSD)
	}
	if c.Frequency[0] != -1/1.4 {
		t.Errorf("the caller's covariance has changed: %v", c.Frequency)
	}
}

// Predictions and options are in the data's units, σ² and the bound in those of
// the scaled y.
func TestGPUnits(t *testing.T) {
	data := noisyData(50, 2, 2, 3)
	x := []float64{1, 2, 3, 4}
	fit := fitGP(t, Options{Covariance: SE(2, 1.5), Iterations: NoIterations, NoisePrecision: 4}, data)
	near(t, "noise", fit.NoiseSD, 0.5, 1e-14)
	_, scale := data.Standardize()
	s := scale.Scale[0]
	value, mean, variance := naiveGP(data.X, scale.ToModel(data.Y), x, 2, hyper{cov: SE(2, 1.5), noise: 0.25 / (s * s)})
	near(t, "bound", fit.Bound, value, 1e-9)
	p, err := fit.Model.Predict(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range mean {
		d := i % 2
		ratio := scale.Scale[d] / s
		near(t, "mean", p.Mean[i], scale.Offset[d]+scale.Scale[d]*m, 1e-9)
		near(t, "variance", p.Cov[i*2+d], ratio*ratio*(s*s*variance[i/2]+0.25), 1e-9)
		near(t, "noise variance", p.Noise[d], ratio*ratio*0.25, 1e-12)
		near(t, "covariance of the outputs", p.Cov[i*2+1-d], 0, 0)
	}
}

func TestGPSameBits(t *testing.T) {
	data := noisyData(150, 2, 2, 4)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var bounds, means []float64
	for _, threads := range []int{1, 4} {
		runtime.GOMAXPROCS(threads)
		fit := fitGP(t, Options{Iterations: 10}, data)
		p, err := fit.Model.Predict(t.Context(), data.X)
		if err != nil {
			t.Fatal(err)
		}
		bounds, means = append(bounds, fit.Bound), append(means, p.Mean[77])
	}
	if bounds[0] != bounds[1] || means[0] != means[1] {
		t.Errorf("1 and 4 threads: bounds %v, means %v", bounds, means)
	}
}
