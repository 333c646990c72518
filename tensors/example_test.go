package tensors_test

import (
	"context"
	"fmt"
	"math"

	"gorgonia.org/tensor"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/tensors"
)

// Fit and predict with tensors, here of float32.
func Example() {
	x, y := make([]float32, 100), make([]float32, 100)
	for i := range x {
		x[i] = float32(i) / 10
		y[i] = float32(math.Sin(float64(x[i])))
	}
	data, err := tensors.Data(tensor.New(tensor.WithBacking(x)), tensor.New(tensor.WithBacking(y)))
	if err != nil {
		panic(err)
	}
	model, _, err := vssgp.Fit(context.Background(), data, vssgp.Options{Iterations: 50})
	if err != nil {
		panic(err)
	}
	at, err := tensors.Rows(tensor.New(tensor.WithShape(2, 1), tensor.WithBacking([]float64{1.55, 4.75}))) // no copy
	if err != nil {
		panic(err)
	}
	p, err := model.Predict(context.Background(), at)
	if err != nil {
		panic(err)
	}
	mean := tensors.Mean(p)
	fmt.Println(mean.Shape())
	for _, v := range mean.Data().([]float64) {
		fmt.Printf("%.1f\n", v)
	}
	// Output:
	// (2, 1)
	// 1.0
	// -1.0
}

// A prediction has a mean [N,D], a covariance of the outputs at each row [N,D,D], and a standard
// deviation [N,D].
func ExampleCov() {
	x := tensors.Tensor([]float64{0, 1, 2, 3, 4, 5, 6, 7}, 1) // 8 rows of 1 column, without a copy
	y := tensors.Tensor([]float64{0, 8, 1, 7, 2, 6, 3, 5, 4, 4, 5, 3, 6, 2, 7, 1}, 2)
	data, err := tensors.Data(x, y)
	if err != nil {
		panic(err)
	}
	model, _, err := vssgp.Fit(context.Background(), data, vssgp.Options{Components: 1, Iterations: 5})
	if err != nil {
		panic(err)
	}
	p, err := model.Predict(context.Background(), []float64{2.5, 3.5, 4.5})
	if err != nil {
		panic(err)
	}
	fmt.Println(tensors.Mean(p).Shape(), tensors.Cov(p).Shape(), tensors.SD(p, true).Shape())
	// Output: (3, 2) (3, 2, 2) (3, 2)
}
