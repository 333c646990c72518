package vssgp_test

import (
	"context"
	"fmt"
	"iter"
	"log"
	"math"

	"github.com/vssgp/vssgp"
)

// wave returns n rows with the inputs 0, 1, 2, … and the output sin(x/3).
func wave(n int) *vssgp.Data {
	data := &vssgp.Data{N: n, Q: 1, D: 1}
	for i := range n {
		data.X, data.Y = append(data.X, float64(i)), append(data.Y, math.Sin(float64(i)/3))
	}
	return data
}

// A prediction is a distribution for each row: mean, standard deviation and quantiles, for an
// observation or, without the noise, for the function. Beyond marks rows that the data do not
// determine, such as those outside of their range.
func ExampleModel_Predict() {
	data := wave(100) // sin(x/3), x from 0 to 99
	for i := range data.Y {
		data.Y[i] += 0.1 * math.Cos(float64(7*i*i)) // noise with a standard deviation of 0.07
	}
	model, _, err := vssgp.Fit(context.Background(), data, vssgp.Options{})
	if err != nil {
		log.Fatal(err)
	}
	p, err := model.Predict(context.Background(), []float64{50.5, 150})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("f(50.5) is %.1f, truly %.1f\n", p.Mean[0], math.Sin(50.5/3))
	fmt.Printf("sd of the noise: %.2f\n", model.NoiseSD()[0])
	fmt.Println("an observation is less certain than the function:", p.SD(true)[0] > 2*p.SD(false)[0])
	low, high := p.Quantile(0.05, true), p.Quantile(0.95, true)
	fmt.Printf("nine of ten observations are between %.1f and %.1f\n", low[0], high[0])
	fmt.Println("beyond the data:", p.Beyond)

	density, err := p.LogDensity(context.Background(), []float64{p.Mean[0], p.Mean[1]})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("log density at the mean: %.0f\n", density[0])
	// Output:
	// f(50.5) is -0.9, truly -0.9
	// sd of the noise: 0.07
	// an observation is less certain than the function: true
	// nine of ten observations are between -1.0 and -0.8
	// beyond the data: [false true]
	// log density at the mean: 2
}

// The error of a sum or a mean over several rows needs their joint covariance, because
// neighboring rows of a function err in the same direction.
func ExampleModel_PredictJoint() {
	model, _, err := vssgp.Fit(context.Background(), wave(30), vssgp.Options{Components: 5}) // x from 0 to 29
	if err != nil {
		log.Fatal(err)
	}
	at := []float64{33, 33.5, 34}
	mean, cov, err := model.PredictJoint(context.Background(), at)
	if err != nil {
		log.Fatal(err)
	}
	joint, separate := 0.0, 0.0
	for i := range at {
		for j := range at {
			joint += cov.At(i, j) / 9
		}
		separate += cov.At(i, i) / 9
	}
	fmt.Println("variance of the mean of", len(mean), "rows: too small without their covariance:", joint > 2*separate)
	// Output: variance of the mean of 3 rows: too small without their covariance: true
}

// Each predicts more rows than fit in memory. Here a generator makes the rows in blocks, as a
// reader of a large file would.
func ExamplePredictor_Each() {
	model, _, err := vssgp.Fit(context.Background(), wave(60), vssgp.Options{}) // sin(x/3), x from 0 to 59
	if err != nil {
		log.Fatal(err)
	}
	predictor, err := model.Predictor(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	const rows, block = 10000, 1000
	var blocks iter.Seq2[[]float64, error] = func(yield func([]float64, error) bool) {
		for first := 0; first < rows; first += block {
			x := make([]float64, block)
			for i := range x {
				x[i] = 60 * float64(first+i) / rows
			}
			if !yield(x, nil) {
				return
			}
		}
	}
	next, largest := 0, 0.0
	for part, err := range predictor.Each(context.Background(), blocks) {
		if err != nil {
			log.Fatal(err)
		}
		if part.First != next {
			log.Fatal("a part is missing")
		}
		next += part.N
		for i, x := range part.X {
			largest = max(largest, math.Abs(part.Mean[i]-math.Sin(x/3)))
		}
	}
	fmt.Println(next, "rows, all within 0.01 of the function:", largest < 0.01)

	one, err := predictor.Predict(context.Background(), []float64{30}) // the same model, a few rows
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.2f, truly %.2f\n", one.Mean[0], math.Sin(10))
	// Output:
	// 10000 rows, all within 0.01 of the function: true
	// -0.54, truly -0.54
}

// Draws evaluates the same random functions at any inputs, one after the other. An optimizer,
// for example, chooses the next inputs only when it knows the values at the previous ones.
func ExampleModel_Draws() {
	options := vssgp.Options{Components: 10, Iterations: vssgp.NoIterations}
	model, _, err := vssgp.Fit(context.Background(), wave(40), options)
	if err != nil {
		log.Fatal(err)
	}
	draws, err := model.Draws(1)
	if err != nil {
		log.Fatal(err)
	}
	first, err := draws.At(context.Background(), 7, []float64{20, 45})
	if err != nil {
		log.Fatal(err)
	}
	again, err := draws.At(context.Background(), 7, []float64{45, 50, 55})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("function 7 has the same value at 45:", first[1] == again[0])
	// Output: function 7 has the same value at 45: true
}

// With few rows, the hyper-parameters are uncertain. A PosteriorPredictor averages predictions over
// models with length-scales, amplitudes and noise drawn from their posterior.
func ExampleModel_PosteriorPredictor() {
	data := wave(12)
	model, _, err := vssgp.Fit(context.Background(), data, vssgp.Options{
		Components: 1, Features: 20, Posterior: vssgp.PosteriorOptions{Draws: 20},
	})
	if err != nil {
		log.Fatal(err)
	}
	posterior := model.Posterior()
	fmt.Println(len(posterior.Draws), "draws of the hyper-parameters")
	fmt.Printf("standard deviations of log σ² %.1f, log l %.1f, log τ %.1f, and %.3f of the frequency\n",
		posterior.Variance[0], posterior.Lengthscale[0], posterior.Noise[0], posterior.Frequency[0])
	averaged, err := model.PosteriorPredictor(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	plain, err := model.Predict(context.Background(), []float64{14})
	if err != nil {
		log.Fatal(err)
	}
	honest, err := averaged.Predict(context.Background(), []float64{14})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("less certain after the end of the data:", honest.SD(false)[0] > plain.SD(false)[0])

	functions, err := model.PosteriorDraws(1) // each from another draw of the hyper-parameters
	if err != nil {
		log.Fatal(err)
	}
	a, err := functions.At(context.Background(), 0, []float64{5, 14})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("a function near the data:", math.Abs(a[0]-math.Sin(5.0/3)) < 0.2)
	// Output:
	// 20 draws of the hyper-parameters
	// standard deviations of log σ² 1.3, log l 1.9, log τ 0.4, and 0.003 of the frequency
	// less certain after the end of the data: true
	// a function near the data: true
}
