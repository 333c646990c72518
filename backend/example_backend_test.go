package backend_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/backend"
)

// direct is a backend that evaluates the definitions, one row and one pair of features at a time.
// It has what a model needs to be conditioned on data and to predict. To be fitted, it needs
// Pullback, too.
type direct struct{}

func (direct) Name() string { return "direct" }
func (direct) Close() error { return nil }
func (direct) Open(d backend.Data) (backend.Rows, error) {
	if err := d.Check(); err != nil {
		return nil, err
	}
	return &rows{d: d}, nil
}

// rows leaves the algebra to the host, like every backend with NoSolver.
type rows struct {
	backend.NoSolver
	d backend.Data
}

// errExact is returned by sums that only gradients and factorized inference need.
var errExact = errors.New("the direct backend has only the sums of exact bounds and predictions")

func (r *rows) Close() error                                                  { return nil }
func (r *rows) Pullback(dst, f *backend.Features, bar *backend.Moments) error { return errExact }
func (r *rows) Factorized(*backend.FactorizedSums, *backend.Features, *backend.Weights, []int) error {
	return errExact
}

// second returns E[φ_k(x) φ_j(x)]: different features are independent.
func second(f *backend.Features, k, j int, x []float64) float64 {
	if k == j {
		return f.Pair(k, x, x)
	}
	return f.Mean(k, x) * f.Mean(j, x)
}

// Moments computes C = Φ̄ᵀY and G = E[ΦᵀΦ], here without windows.
func (r *rows) Moments(dst *backend.Moments, f *backend.Features) error {
	if err := r.d.CheckMoments(dst, f); err != nil {
		return err
	}
	clear(dst.C)
	dst.Gram.Zero()
	dst.Terms = 0
	for n := range r.d.N {
		if err := r.d.Stopped(); err != nil {
			return err
		}
		x := r.d.X[n*f.Q:][:f.Q]
		for k := range f.M {
			for d := range r.d.D {
				dst.C[k*r.d.D+d] += f.Mean(k, x) * r.d.Y[n*r.d.D+d]
			}
			for j := range f.M {
				dst.Gram.Diag[0][k*f.M+j] += second(f, k, j, x)
			}
		}
	}
	return nil
}

// Predict computes the formulas of backend.Prediction, here with the exact posterior.
func (r *rows) Predict(dst *backend.Prediction, f *backend.Features, p *backend.Posterior) error {
	if err := r.d.CheckPredict(dst, f, p); err != nil {
		return err
	}
	clear(dst.Mean)
	clear(dst.Cov)
	for n := range r.d.N {
		x := r.d.X[n*f.Q:][:f.Q]
		for d := range p.D {
			for k := range f.M {
				dst.Mean[n*p.D+d] += f.Mean(k, x) * p.Mean[k*p.D+d]
				for j := range f.M {
					dst.Cov[(n*p.D+d)*p.D+d] += second(f, k, j, x) * p.Cov.At(k, j)
				}
				spread := f.Pair(k, x, x) - f.Mean(k, x)*f.Mean(k, x)
				for e := range p.D {
					dst.Cov[(n*p.D+d)*p.D+e] += p.Mean[k*p.D+d] * p.Mean[k*p.D+e] * spread
				}
			}
		}
	}
	return nil
}

// A backend computes sums over rows and knows nothing of the model. This one evaluates their
// definitions. A model uses it like the backends of packages cpu and gpu.
func Example_own() {
	data := &vssgp.Data{N: 40, Q: 1, D: 1}
	for i := range data.N {
		data.X, data.Y = append(data.X, float64(i)), append(data.Y, math.Sin(float64(i)/3))
	}
	at := []float64{10.5, 45}
	model, _, err := vssgp.Fit(context.Background(), data, vssgp.Options{Components: 2, Iterations: 10}) // on the CPU
	if err != nil {
		log.Fatal(err)
	}
	cpu, err := model.Predict(context.Background(), at)
	if err != nil {
		log.Fatal(err)
	}

	model.Backend = direct{}
	if _, err := model.Condition(context.Background(), data); err != nil {
		log.Fatal(err)
	}
	own, err := model.Predict(context.Background(), at)
	if err != nil {
		log.Fatal(err)
	}
	same := true
	for i := range at {
		same = same && math.Abs(own.Mean[i]-cpu.Mean[i]) < 1e-6 && math.Abs(own.SD(true)[i]-cpu.SD(true)[i]) < 1e-6
	}
	fmt.Println("the same prediction:", same)
	// Output: the same prediction: true
}
