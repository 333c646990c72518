package initialize

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/variational"
)

// tableOf returns n rows of q inputs and d outputs: smooth functions of the inputs plus noise.
func tableOf(n, q, d int) *backend.Data {
	rng := rand.New(rand.NewPCG(5, uint64(n)))
	data := &backend.Data{N: n, Q: q, D: d}
	for range n {
		x := testkit.Numbers(q, func(int) float64 { return rng.NormFloat64() })
		data.X = append(data.X, x...)
		for k := range d {
			data.Y = append(data.Y, math.Sin(x[0]+float64(k))*math.Cos(x[q-1])+0.1*rng.NormFloat64())
		}
	}
	return data
}

// density returns Σ_d log N(y_d; 0, k(x, x') + 1[n=n']·noise) by gonum.
func density(t *testing.T, data *backend.Data, noise float64, k func(a, b []float64) float64) (sum float64) {
	t.Helper()
	cov := mat.NewSymDense(data.N, nil)
	for i := range data.N {
		for j := range i + 1 {
			v := k(data.X[i*data.Q:][:data.Q], data.X[j*data.Q:][:data.Q])
			if i == j {
				v += noise
			}
			cov.SetSym(i, j, v)
		}
	}
	var c mat.Cholesky
	if !c.Factorize(cov) {
		t.Fatal("the covariance is not positive definite")
	}
	for d := range data.D {
		y := mat.NewVecDense(data.N, testkit.Numbers(data.N, func(i int) float64 { return data.Y[i*data.D+d] }))
		var a mat.VecDense
		testkit.OK(t, c.SolveVecTo(&a, y))
		sum -= 0.5 * (mat.Dot(y, &a) + c.LogDet() + float64(data.N)*math.Log(2*math.Pi))
	}
	return sum
}

// exponential returns a squared exponential.
func exponential(a, b, lengths []float64, variance float64) float64 {
	r := 0.0
	for q := range a {
		r += math.Pow((a[q]-b[q])/lengths[q], 2)
	}
	return variance * math.Exp(-r/2)
}

// TestGaussianEvidence checks the evidence of the exact Gaussian process against gonum, its gradient
// against differences, and that the bits do not depend on the number of cores.
func TestGaussianEvidence(t *testing.T) {
	for _, c := range []struct{ n, q, d int }{{7, 2, 1}, {40, 3, 1}, {33, 5, 2}, {1, 2, 1}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			data := tableOf(c.n, c.q, c.d)
			prior := TablePriors{Variance: bayes.Prior{Median: 2, SD: 0.5}, Noise: bayes.Prior{Median: 0.1, SD: 2}}
			for range c.q {
				prior.Lengthscale = append(prior.Lengthscale, bayes.Prior{Median: 3, SD: 1})
			}
			rng := rand.New(rand.NewPCG(1, 2))
			v := testkit.Numbers(1+TableParts*(1+c.q)+c.d-1, func(int) float64 { return 0.4 * rng.NormFloat64() })
			g, flat := make([]float64, len(v)), make([]float64, len(v))
			got := testkit.Must(newGaussian(t.Context(), data, TableParts, TablePriors{}).evidence(v, flat))(t)
			e := testkit.Numbers(len(v), func(i int) float64 { return math.Exp(v[i]) })
			jitter := 0.0
			for p := range TableParts {
				jitter += gaussianJitter * e[1+p*(c.q+1)]
			}
			divided, lost := *data, 0.0 // by the factors, with the logarithm of the Jacobian
			divided.Y = nil
			for i, y := range data.Y {
				if k := i % c.d; k > 0 {
					y /= e[len(e)-c.d+k]
					lost += v[len(e)-c.d+k]
				}
				divided.Y = append(divided.Y, y)
			}
			testkit.Near(t, got+lost, density(t, &divided, e[0]+jitter, func(a, b []float64) (sum float64) {
				for p := range TableParts {
					at := 1 + p*(c.q+1)
					sum += exponential(a, b, e[at+1:][:c.q], e[at])
				}
				return sum
			}), 1e-9*math.Abs(got))
			full := newGaussian(t.Context(), data, TableParts, prior)
			value := testkit.Must(full.evidence(v, g))(t)
			want := got + full.logPrior(v, make([]float64, len(v)))
			testkit.Near(t, value, want, 1e-12*math.Abs(want), "evidence with priors")
			for i := range v {
				const h = 1e-5
				at := func(d float64) float64 {
					w := append([]float64(nil), v...)
					w[i] += d
					g := newGaussian(t.Context(), data, TableParts, prior)
					return testkit.Must(g.evidence(w, make([]float64, len(v))))(t)
				}
				testkit.Near(t, g[i], (at(h)-at(-h))/(2*h), 1e-6*(1+math.Abs(value)), "derivative", i)
			}
			testkit.SameOnCores(t, "gradient", func() []float64 {
				out := make([]float64, len(v))
				value := testkit.Must(full.evidence(v, out))(t)
				return append(out, value)
			})
		})
	}
}

// TestDrawnFeaturesApproximateKernel checks that the products of the drawn features approximate the kernel
// with the error of a Monte Carlo estimate, and that the bound is the evidence of their products.
func TestDrawnFeaturesApproximateKernel(t *testing.T) {
	for _, c := range []struct{ n, q, room int }{{60, 2, 400}, {60, 8, 400}, {60, 8, 1000}, {30, 20, 100}, {60, 2, 4}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			data := tableOf(c.n, c.q, 1)
			evaluator := &scorer{t: t, refuse: func(s variational.Shape) error {
				if s.M() > c.room {
					return errTooLarge
				}
				return nil
			}}
			p := testkit.Must(Table(t.Context(), data, Settings{Seed: 3}, evaluator))(t)
			testkit.OK(t, p.Check())
			pairs := float64(p.K / 2)
			f := p.Features()
			phi := func(x []float64) []float64 {
				return testkit.Numbers(f.M, func(k int) float64 {
					angle := f.Phase[k]
					for q, v := range x {
						angle += f.Freq[k*c.q+q] * (v - f.Center[k*c.q+q])
					}
					return f.Amp[k] * math.Cos(angle)
				})
			}
			product := func(a, b []float64) (sum float64) {
				u, v := phi(a), phi(b)
				for k := range u {
					sum += u[k] * v[k]
				}
				return sum
			}
			square, variance := 0.0, 0.0
			for i := range data.N {
				a, b := data.X[i*c.q:][:c.q], data.X[(i+7)%data.N*c.q:][:c.q]
				e := product(a, b)
				for j := range p.L {
					e -= exponential(a, b, p.Lengthscale[j*c.q:][:c.q], p.Variance[j])
				}
				square += e * e / float64(data.N)
			}
			for _, v := range p.Variance { // a cosine has variance of at most one half
				variance += v * v / 2 / pairs
			}
			if square > 3*variance {
				t.Errorf("squared error of the kernel %v with %v pairs, want at most %v", square, pairs, 3*variance)
			}
			rows := testkit.Must(variational.Open(t.Context(), *data, variational.Setting{Backend: cpu.New()}))(t)
			defer rows.Close()
			e := testkit.Must(rows.Exact(p, false))(t)
			testkit.Near(t, e.Bound, density(t, data, 1/p.NoisePrecision[0], product), 1e-7*math.Abs(e.Bound), "bound")
		})
	}
}

// TestTableFeatures checks the number of features for a number of rows.
func TestTableFeatures(t *testing.T) {
	for n, want := range map[int]int{20: 500, 500: 500, 751: 750, 1000: 1000, 4000: 1000, 9000: 666, 100_000: 500} {
		testkit.Equal(t, tableFeatures(n), want, n)
	}
}

// TestTableFinds checks that the length-scales, the amplitude and the noise of a sample of the model are
// found, also from some rows, and that constant inputs and outputs are allowed.
func TestTableFinds(t *testing.T) {
	all := tableOf(250, 3, 1)
	constant, silent := tableOf(50, 3, 1), tableOf(50, 3, 1)
	for i := range constant.N {
		constant.X[3*i+1], silent.Y[i] = 7, 0
	}
	for name, c := range map[string]struct {
		data *backend.Data
		room float64
	}{
		"all rows": {all, 0}, "little memory": {all, gaussianBytes(130, TableParts)},
		"a constant input": {constant, 0}, "a constant output": {silent, 0},
	} {
		t.Run(name, func(t *testing.T) {
			evaluator := &scorer{t: t, room: c.room}
			p := testkit.Must(Table(t.Context(), c.data, Settings{}, evaluator))(t)
			testkit.OK(t, p.Check())
			if noise := math.Sqrt(1 / p.NoisePrecision[0]); c.data != silent && (noise < 0.07 || noise > 0.14) {
				t.Errorf("noise %v, want about 0.1", noise)
			}
			main := p.Lengthscale[:3] // of the component with the larger variance
			if p.Variance[1] > p.Variance[0] {
				main = p.Lengthscale[3:]
			}
			if c.data == all && main[1] < 4*max(main[0], main[2]) {
				t.Errorf("length-scales %v of the main component: the second input has no effect", main)
			}
			again := testkit.Must(Table(t.Context(), c.data, Settings{Seed: 1}, evaluator))(t)
			if again.FreqMean[0] == p.FreqMean[0] {
				t.Error("another seed draws the same frequencies")
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Table(ctx, all, Settings{}, &scorer{t: t}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the context's", err)
	}
	none := &scorer{t: t, refuse: func(variational.Shape) error { return errTooLarge }}
	if _, err := Table(t.Context(), all, Settings{}, none); !errors.Is(err, errTooLarge) {
		t.Errorf("error %v, want the evaluator's", err)
	}
}
