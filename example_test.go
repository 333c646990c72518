package vssgp_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/vssgp/vssgp"
)

// Fit a curve sampled from 0 to 10 but for a gap, and predict within the gap
// and without.
func Example() {
	var x, y []float64
	for t := 0.0; t < 10; t += 0.1 {
		if t < 4 || t > 5 {
			x, y = append(x, t), append(y, 10+math.Sin(2*t)+0.3*math.Cos(5*t))
		}
	}
	data, err := vssgp.NewData(len(x), x, y)
	if err != nil {
		panic(err)
	}
	model, _, err := vssgp.Fit(context.Background(), data, vssgp.Options{Iterations: 100})
	if err != nil {
		panic(err)
	}
	p, err := model.Predict(context.Background(), []float64{2, 4.4, 8})
	if err != nil {
		panic(err)
	}
	for i, t := range []float64{2, 4.4, 8} {
		fmt.Printf("f(%.1f) = %.1f, truly %.1f\n", t, p.Mean[i], 10+math.Sin(2*t)+0.3*math.Cos(5*t))
	}
	// Output:
	// f(2.0) = 9.0, truly 9.0
	// f(4.4) = 10.3, truly 10.3
	// f(8.0) = 9.5, truly 9.5
}

// A model file holds all that prediction needs.
func ExampleModel_Save() {
	var x, y []float64
	for i := range 40 {
		x, y = append(x, float64(i)), append(y, math.Sin(float64(i)/3))
	}
	data, err := vssgp.NewData(len(x), x, y)
	if err != nil {
		panic(err)
	}
	model, _, err := vssgp.Fit(context.Background(), data, vssgp.Options{Components: 6, Iterations: 20})
	if err != nil {
		panic(err)
	}
	dir, err := os.MkdirTemp("", "vssgp")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "model.safetensors")
	if err := model.Save(path); err != nil {
		panic(err)
	}
	loaded, err := vssgp.Load(path)
	if err != nil {
		panic(err)
	}
	p, err := loaded.Predict(context.Background(), []float64{20.5})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.2f, truly %.2f\n", p.Mean[0], math.Sin(20.5/3))
	// Output: 0.52, truly 0.52
}
