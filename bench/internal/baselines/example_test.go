package baselines_test

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/bench/internal/baselines"
)

// The full Gaussian process on the same data, to compare with.
func ExampleGP() {
	x, y := mat.NewDense(60, 1, nil), mat.NewDense(60, 1, nil)
	for i := range 60 {
		x.Set(i, 0, float64(i)/10)
		y.Set(i, 0, math.Sin(float64(i)/10))
	}
	data, err := vssgp.NewData(x, y)
	if err != nil {
		panic(err)
	}
	fit, err := baselines.GP{Options: baselines.Options{Covariance: baselines.SE(1, 1), Iterations: 30}}.Fit(context.Background(), data)
	if err != nil {
		panic(err)
	}
	p, err := fit.Model.Predict(mat.NewDense(1, 1, []float64{1.55}))
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.2f, truly %.2f\n", p.Mean[0], math.Sin(1.55))
	// Output: 1.00, truly 1.00
}
