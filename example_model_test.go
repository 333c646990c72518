package vssgp_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"math"
	"strings"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/variational"
)

// Errors about data wrap ErrData and state the value and the allowed values.
func ExampleNewData() {
	x := []float64{0, 1, 2, 0, 1, 2} // three rows of two inputs: (0, 1), (2, 0), (1, 2)
	data, err := vssgp.NewData(3, x, []float64{5, 6, 7})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(data.N, "rows,", data.Q, "inputs,", data.D, "output")

	_, err = vssgp.NewData(4, x, []float64{5, 6, 7})
	fmt.Println(errors.Is(err, vssgp.ErrData), err)

	data.Y[1] = math.NaN() // Data has no missing values: leave such rows out
	fmt.Println(errors.Is(data.Check(), vssgp.ErrData))
	// Output:
	// 3 rows, 2 inputs, 1 output
	// true x has 6 numbers and y has 3, must be multiples of the number of rows, 4, which must be at least 1
	// true
}

// A fit with standardized data has its parameters in the model's units. Affine converts them.
func ExampleData_Standardize() {
	data := &vssgp.Data{N: 3, Q: 1, D: 1, X: []float64{2010, 2020, 2030}, Y: []float64{1, 2, 6}}
	x, y := data.Standardize()
	fmt.Printf("x = %.0f + %.2f·model, y = %.0f + %.2f·model\n", x.Offset[0], x.Scale[0], y.Offset[0], y.Scale[0])
	fmt.Printf("%.2f\n", x.ToModel([]float64{2010, 2020, 2030}))
	// Output:
	// x = 2020 + 8.16·model, y = 3 + 2.16·model
	// [-1.22 0.00 1.22]
}

// A model from New has initial values and no posterior. Condition computes the posterior of the
// coefficients without optimizing: the model then predicts. Evaluate changes nothing.
func ExampleModel_Condition() {
	data := wave(60) // sin(x/3), x from 0 to 59
	model, err := vssgp.New(context.Background(), data, vssgp.Options{Components: 8})
	if err != nil {
		log.Fatal(err)
	}
	_, err = model.Predict(context.Background(), []float64{20.5})
	fmt.Println("fitted:", model.Fitted(), errors.Is(err, vssgp.ErrUnfitted))

	conditioned, err := model.Condition(context.Background(), data)
	if err != nil {
		log.Fatal(err)
	}
	p, err := model.Predict(context.Background(), []float64{20.5})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("fitted: %t, %.1f, truly %.1f\n", model.Fitted(), p.Mean[0], math.Sin(20.5/3))

	evaluated, err := model.Evaluate(context.Background(), data, vssgp.Exact, nil, true)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("the same bound:", evaluated.Bound == conditioned.Bound)
	sum := 0.0
	for _, term := range evaluated.Terms {
		sum += term.Value
	}
	fmt.Println("the sum of its terms:", math.Abs(sum-evaluated.Bound) < 1e-9*math.Abs(sum))
	fmt.Println(len(evaluated.Gradient.Lengthscale), "derivatives with respect to length-scales")
	// Output:
	// fitted: false true
	// fitted: true, 0.5, truly 0.5
	// the same bound: true
	// the sum of its terms: true
	// 8 derivatives with respect to length-scales
}

// A prediction at a row is the product of its features and the coefficients, whose posterior is
// what a fit learns apart from the components.
func ExampleModel_Coefficients() {
	model, _, err := vssgp.Fit(context.Background(), wave(60), vssgp.Options{}) // sin(x/3), x from 0 to 59
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range model.Components() {
		fmt.Printf("%s with period %.1f, amplitude %.1f\n", c.Kind, c.Period[0], c.SD[0]*math.Sqrt2)
	}
	mean, variance, err := model.Coefficients()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(mean), "coefficients, each with a variance:", len(variance) == len(mean))
	// Output:
	// line with period 18.8, amplitude 1.0
	// 4 coefficients, each with a variance: true
}

// A model can be written anywhere, such as into an archive or over a network.
func ExampleModel_Write() {
	model, _, err := vssgp.Fit(context.Background(), wave(60), vssgp.Options{}) // sin(x/3), x from 0 to 59
	if err != nil {
		log.Fatal(err)
	}
	model.XNames, model.YNames = []string{"t"}, []string{"height"}
	var file bytes.Buffer
	if err := model.Write(&file); err != nil {
		log.Fatal(err)
	}
	same, err := vssgp.Read(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(same.YNames, "of", same.XNames)
	// Output: [height] of [t]
}

// ErrFile means that a file is damaged or not a model file, ErrParams that it contains no valid
// model.
func ExampleRead() {
	_, err := vssgp.Read(strings.NewReader("t,height\n0,1\n"), 13)
	fmt.Println(errors.Is(err, vssgp.ErrFile), errors.Is(err, vssgp.ErrParams))

	_, err = vssgp.NewModel(vssgp.NewParams(1, 2, 1, 1)) // all zero: no length-scales
	fmt.Println(errors.Is(err, vssgp.ErrFile), errors.Is(err, vssgp.ErrParams))
	// Output:
	// true false
	// false true
}

// The parameters are named arrays. Programs that set or optimize them need their names, shapes
// and allowed values. The model file has the same names.
func ExampleParams() {
	p := vssgp.NewParams(2, 10, 1, 1) // L, K, Q, D
	for _, t := range p.Tensors() {
		allowed := ""
		if t.Domain == variational.Positive {
			allowed = " > 0"
		}
		fmt.Printf("%s %d%s\n", t.Name, t.Shape, allowed)
	}
	// Output:
	// kernel.variance [2] > 0
	// kernel.lengthscale [2 1] > 0
	// kernel.frequency [2 1]
	// inducing.location [20 1]
	// frequency.mean [20 1]
	// frequency.variance [20 1]
	// phase.lower [20]
	// phase.upper [20]
	// noise.precision [1] > 0
	// coefficient.mean [20 1]
	// coefficient.variance [20 1] > 0
}
