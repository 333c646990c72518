package baselines_test

import (
	"context"
	"fmt"
	"math"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/bench/internal/baselines"
)

// The full Gaussian process on the same data, to compare with.
func ExampleGP() {
	var x, y []float64
	for i := range 60 {
		x, y = append(x, float64(i)/10), append(y, math.Sin(float64(i)/10))
	}
	data, err := vssgp.NewData(len(x), x, y)
	if err != nil {
		panic(err)
	}
	fit, err := baselines.GP{Options: baselines.Options{Covariance: baselines.SE(1, 1), Iterations: 30}}.Fit(context.Background(), data)
	if err != nil {
		panic(err)
	}
	p, err := fit.Model.Predict(context.Background(), []float64{1.55})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.2f, truly %.2f\n", p.Mean[0], math.Sin(1.55))
	// Output: 1.00, truly 1.00
}
