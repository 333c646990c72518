package baselines

import (
	"context"
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp"
)

// Random projections are a GP whose covariance is ΦΦᵀ: their bound is its
// exact log marginal likelihood, their prediction its posterior.
func TestRandomProjections(t *testing.T) {
	data := noisyData(40, 2, 2, 6)
	fit, err := Features{vssgp.Options{
		Method: vssgp.RP, Paper: vssgp.PaperOptions{Lengthscales: []float64{2, 3}, Periods: []float64{5, 0}}, Features: 7, Iterations: vssgp.NoIterations, Seed: 3,
	}}.Fit(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	m := fit.Model.(*vssgp.Model)
	p := m.Params
	phi := func(x []float64) *mat.Dense {
		x = m.X.ToModel(x)
		out := mat.NewDense(len(x)/2, p.M(), nil)
		for n := range len(x) / 2 {
			for k := range p.M() {
				i := k / p.K
				angle := p.PhaseLower[k]
				for q := range 2 {
					angle += (p.FreqMean[2*k+q]/p.Lengthscale[2*i+q] + 2*math.Pi*p.Frequency[2*i+q]) * (x[2*n+q] - p.Location[2*k+q])
				}
				out.Set(n, k, math.Sqrt(2*p.Variance[i]/float64(p.K))*math.Cos(angle))
			}
		}
		return out
	}
	rows, noise := []float64{1, 2, 3, 4, 9, 9}, 1/p.NoisePrecision[0]
	value, mean, variance := gaussian(phi(data.X), phi(rows), m.Y.ToModel(data.Y), noise)
	near(t, "bound", fit.Bound, value, 1e-9)
	got, err := fit.Model.Predict(t.Context(), rows)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range mean {
		s := m.Y.Scale[i%2]
		near(t, "mean", got.Mean[i], m.Y.Offset[i%2]+s*v, 1e-9)
		near(t, "variance", got.Cov[2*i+i%2]/(s*s), variance[i/2]+noise, 1e-9)
	}
}

// gaussian is the log marginal likelihood and posterior of y [N,2] whose
// covariance is φφᵀ and noise, by dense inverses.
func gaussian(phi, at *mat.Dense, y []float64, noise float64) (value float64, mean, variance []float64) {
	n, _ := phi.Dims()
	var a, inverse, k, prior, mu, fit, left mat.Dense
	a.Mul(phi, phi.T())
	for i := range n {
		a.Set(i, i, a.At(i, i)+noise)
	}
	if err := inverse.Inverse(&a); err != nil {
		panic(err)
	}
	ys := mat.NewDense(n, 2, y)
	fit.Product(ys.T(), &inverse, ys)
	logDet, _ := mat.LogDet(&a)
	value = -0.5*mat.Trace(&fit) - logDet - float64(n)*math.Log(2*math.Pi)
	k.Mul(at, phi.T())
	mu.Product(&k, &inverse, ys)
	left.Product(&k, &inverse, k.T())
	prior.Mul(at, at.T())
	for i := range at.RawMatrix().Rows {
		variance = append(variance, prior.At(i, i)-left.At(i, i))
	}
	return value, mu.RawMatrix().Data, variance
}

// With its frequencies at the quantiles of the normal distribution, SSGP's sum
// of cosines and sines is a quadrature of the squared exponential: as they grow
// in number, bound and predictions become the full GP's.
func TestSparseSpectrumBecomesGP(t *testing.T) {
	data := noisyData(40, 1, 1, 7)
	const l = 1
	gp := fitGP(t, Options{Covariance: SE(1, l), Iterations: NoIterations, NoisePrecision: 0.1}, data)
	at := column(-1, 0.5, 3, 5.5, 7)
	want, err := gp.Model.Predict(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	last := math.Inf(1)
	for _, pairs := range []int{20, 80, 320} {
		start, err := vssgp.New(t.Context(), data, vssgp.Options{
			Method: vssgp.SSGP, Init: vssgp.InitPaper, Paper: vssgp.PaperOptions{Lengthscales: []float64{l}}, Features: 2 * pairs, NoisePrecision: 0.1,
		})
		if err != nil {
			t.Fatal(err)
		}
		for k := range start.Params.FreqMean {
			u := (float64(k/2) + 0.5) / float64(pairs)
			start.Params.FreqMean[k] = math.Sqrt2 * math.Erfinv(2*u-1)
		}
		fit, err := Features{vssgp.Options{Method: vssgp.SSGP, From: start, Iterations: vssgp.NoIterations}}.Fit(t.Context(), data)
		if err != nil {
			t.Fatal(err)
		}
		got, err := fit.Model.Predict(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		off := math.Abs(fit.Bound - gp.Bound)
		for i := range want.Mean {
			off = max(off, math.Abs(got.Mean[i]-want.Mean[i]), math.Abs(got.Cov[i]-want.Cov[i]))
		}
		if !(off < last/5) {
			t.Errorf("%d pairs are %v off the full GP, fewer were %v: want less than a fifth", pairs, off, last)
		}
		last = off
		near(t, "l", fit.Covariance.Lengthscale[0], gp.Covariance.Lengthscale[0], 1e-14)
		near(t, "σ²", fit.Covariance.Variance[0], gp.Covariance.Variance[0], 1e-14)
		near(t, "noise", fit.NoiseSD, gp.NoiseSD, 1e-14)
	}
	if last > 0.1 {
		t.Errorf("320 pairs are %v off the full GP, want less than 0.1", last)
	}
}

// What is reported is in the data's units, whatever the model's own.
func TestFeaturesUnits(t *testing.T) {
	data := noisyData(30, 2, 2, 8)
	for _, raw := range []bool{false, true} {
		fit, err := Features{vssgp.Options{
			Paper: vssgp.PaperOptions{Lengthscales: []float64{2, 30}, Periods: []float64{5, 0}}, NoisePrecision: 4, Features: 3, Iterations: vssgp.NoIterations, Raw: raw,
		}}.Fit(t.Context(), data)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "noise", fit.NoiseSD, 0.5, 1e-12)
		for i, want := range []float64{2, 2, 30, 30} {
			near(t, "l", fit.Covariance.Lengthscale[i], want, 1e-12)
			near(t, "p", fit.Covariance.Frequency[i], []float64{0.2, 0.2, 0, 0}[i], 1e-12)
		}
		want := 1.0
		if raw { // the start's σ² are together the mean square of y as they are
			_, y := data.Standardize()
			want = dot(data.Y, data.Y) / float64(len(data.Y)) / math.Pow(y.Scale[0], 2)
		}
		near(t, "σ²", fit.Covariance.diagonal(), want, 1e-12)
	}
}

// A fit of each method predicts a wave that it has seen; the bound of VSSGP, which
// pays for what it learns about each frequency, is below the full GP's evidence.
func TestFeaturesFit(t *testing.T) {
	data := noisyData(100, 1, 1, 9)
	for _, method := range []vssgp.Method{vssgp.VSSGP, vssgp.SSGP, vssgp.RP} {
		fit, err := Features{vssgp.Options{Method: method, Init: vssgp.InitPaper, Features: 20, Iterations: 60}}.Fit(t.Context(), data)
		if err != nil {
			t.Fatal(err)
		}
		p, err := fit.Model.Predict(t.Context(), column(2.5))
		if err != nil {
			t.Fatal(err)
		}
		if want := 50 + 10*math.Sin(2.5); math.Abs(p.Mean[0]-want) > 1.5 || math.Abs(fit.NoiseSD-1) > 0.3 {
			t.Errorf("%s: %v at 2.5, noise %v; want about %v and 1", method, p.Mean[0], fit.NoiseSD, want)
		}
	}
}

func TestFeaturesErrors(t *testing.T) {
	data := noisyData(20, 1, 1, 1)
	if _, err := (Features{}).Fit(t.Context(), nil); !errors.Is(err, vssgp.ErrData) {
		t.Errorf("no data: %v, want ErrData", err)
	}
	if _, err := (Features{vssgp.Options{Features: -1}}).Fit(t.Context(), data); !errors.Is(err, vssgp.ErrOptions) {
		t.Errorf("-1 features: %v, want vssgp.ErrOptions", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	fit, err := Features{vssgp.Options{Init: vssgp.InitPaper, Features: 5, Progress: func(vssgp.Progress) { cancel() }}}.Fit(ctx, data)
	if !errors.Is(err, context.Canceled) || fit == nil {
		t.Errorf("interrupted: fit %v, error %v; want both", fit, err)
	}
}
