package vssgp_test

import (
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/cpu"
)

// Fit noisy values from 0 to 10 with a gap, and predict the curve with error bars inside and outside of the gap.
func Example() {
	curve := func(t float64) float64 { return 10 + math.Sin(2*t) + 0.3*math.Cos(5*t) }
	noise := rand.New(rand.NewPCG(1, 2))
	var x, y []float64
	for t := 0.0; t < 10; t += 0.1 {
		if t < 4 || t > 5 {
			x, y = append(x, t), append(y, curve(t)+0.1*noise.NormFloat64())
		}
	}
	data, err := vssgp.NewData(len(x), x, y)
	if err != nil {
		panic(err)
	}
	model, _, err := vssgp.Fit(context.Background(), data, vssgp.Options{})
	if err != nil {
		panic(err)
	}
	for _, c := range model.Components() {
		fmt.Printf("%s with period %.2f\n", c.Kind, c.Period[0])
	}
	at := []float64{2, 4.4, 8}
	p, err := model.Predict(context.Background(), at)
	if err != nil {
		panic(err)
	}
	sd := p.SD(false) // of the curve; with true, of a noisy value
	for i, t := range at {
		fmt.Printf("f(%.1f) = %.2f ± %.2f, truly %.2f\n", t, p.Mean[i], sd[i], curve(t))
	}
	// Output:
	// line with period 3.14
	// line with period 1.26
	// f(2.0) = 9.02 ± 0.03, truly 8.99
	// f(4.4) = 10.28 ± 0.03, truly 10.28
	// f(8.0) = 9.53 ± 0.03, truly 9.51
}

// Save a model to a file, and load it to predict.
func ExampleModel_Save() {
	var x, y []float64
	for i := range 40 {
		x, y = append(x, float64(i)), append(y, math.Sin(float64(i)/3))
	}
	data, err := vssgp.NewData(len(x), x, y)
	if err != nil {
		panic(err)
	}
	model, _, err := vssgp.Fit(context.Background(), data, vssgp.Options{})
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

// columns reads a CSV file with a header and two numeric columns.
func columns(path string) (x, y []float64) {
	f, err := os.Open(path)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		panic(err)
	}
	for _, line := range lines[1:] {
		a, err := strconv.ParseFloat(line[0], 64)
		if err != nil {
			panic(err)
		}
		b, err := strconv.ParseFloat(line[1], 64)
		if err != nil {
			panic(err)
		}
		x, y = append(x, a), append(y, b)
	}
	return x, y
}

// Fit the monthly CO2 concentration at Mauna Loa up to 1999, two years before the end of the
// file, and extrapolate. The initialization is the paper's: one component with a period of a
// year, and one that changes over decades. The most confident frequency is the annual one.
func ExampleFit_extrapolate() {
	x, y := columns("testdata/co2_monthly.csv")
	known := 0
	for known < len(x) && x[known] < 1999 {
		known++
	}
	data, err := vssgp.NewData(known, x[:known], y[:known])
	if err != nil {
		panic(err)
	}
	model, _, err := vssgp.Fit(context.Background(), data, vssgp.Options{
		Init: vssgp.InitPaper, Paper: vssgp.PaperOptions{Lengthscales: []float64{1, 50}, Periods: []float64{1, 0}}, Features: 20,
	})
	if err != nil {
		panic(err)
	}
	p, err := model.Predict(context.Background(), x[known:])
	if err != nil {
		panic(err)
	}
	square := 0.0
	for i, mean := range p.Mean {
		square += (mean - y[known+i]) * (mean - y[known+i]) / float64(len(p.Mean))
	}
	fmt.Println("two further years within 2 ppm:", math.Sqrt(square) < 2)
	for _, f := range model.Frequencies() {
		if f.Component == 0 { // the most confident frequency of the first component, whose initial period is a year
			fmt.Printf("most confident period: %.2f years\n", f.Period[0])
			break
		}
	}
	// Output:
	// two further years within 2 ppm: true
	// most confident period: 1.00 years
}

// Several outputs share the features and the noise-to-signal ratio, and each has its own
// coefficients. The prediction contains the covariance of the outputs at each input.
func ExampleFit_severalOutputs() {
	const n = 120
	var x, y []float64
	for i := range n {
		t := float64(i) / 10
		x, y = append(x, t), append(y, math.Sin(2*t), 100+10*math.Cos(2*t))
	}
	data, err := vssgp.NewData(n, x, y)
	if err != nil {
		panic(err)
	}
	model, _, err := vssgp.Fit(context.Background(), data, vssgp.Options{})
	if err != nil {
		panic(err)
	}
	p, err := model.Predict(context.Background(), []float64{5.55})
	if err != nil {
		panic(err)
	}
	fmt.Printf("sin: %.2f, truly %.2f\n", p.Mean[0], math.Sin(11.1))
	fmt.Printf("100 + 10 cos: %.0f, truly %.0f\n", p.Mean[1], 100+10*math.Cos(11.1))
	fmt.Println("covariance:", len(p.Cov), "numbers, symmetric:", p.Cov[1] == p.Cov[2])
	// Output:
	// sin: -0.99, truly -0.99
	// 100 + 10 cos: 101, truly 101
	// covariance: 4 numbers, symmetric: true
}

// The zero value of Options also suits several inputs: each has its own length-scale. Rows [N,2] are stored one after
// another.
func ExampleFit_twoInputs() {
	height := func(a, b float64) float64 { return 5 + math.Sin(a)*math.Cos(b) }
	const n = 100
	rng := rand.New(rand.NewPCG(1, 2))
	var x, y []float64
	for range n {
		a, b := 4*rng.Float64(), 4*rng.Float64()
		x, y = append(x, a, b), append(y, height(a, b)+0.1*rng.NormFloat64())
	}
	data, err := vssgp.NewData(n, x, y)
	if err != nil {
		panic(err)
	}
	model, result, err := vssgp.Fit(context.Background(), data, vssgp.Options{})
	if err != nil {
		panic(err)
	}
	p, err := model.Predict(context.Background(), []float64{1, 2, 3, 0.5, 3, 9}) // three rows
	if err != nil {
		panic(err)
	}
	sd := p.SD(false)
	fmt.Printf("f(1, 2) = %.2f ± %.2f, truly %.2f\n", p.Mean[0], sd[0], height(1, 2))
	fmt.Printf("f(3, 0.5) = %.2f ± %.2f, truly %.2f\n", p.Mean[1], sd[1], height(3, 0.5))
	fmt.Println("outside the range of the data:", p.Beyond)
	fmt.Println("initialization:", result.Init)
	// Output:
	// f(1, 2) = 4.62 ± 0.04, truly 4.65
	// f(3, 0.5) = 5.10 ± 0.04, truly 5.12
	// outside the range of the data: [false false true]
	// initialization: search
}

// concrete returns a simulated mix of cement and water (kg/m³) with its age in days, and its
// strength in MPa. The strength decreases with the water-cement ratio and increases with the
// logarithm of the age.
func concrete(rng *rand.Rand) (mix [3]float64, strength float64) {
	cement, water, age := 150+350*rng.Float64(), 140+80*rng.Float64(), math.Exp(5*rng.Float64())
	return [3]float64{cement, water, math.Log(age)}, 70 * math.Exp(-1.2*water/cement) * (0.3 + 0.7*math.Log(age)/5)
}

// With Components or Features, a fit of several inputs begins with InitPaper and also optimizes the frequencies, which
// the default draws.
func ExampleFit_severalInputs() {
	rng := rand.New(rand.NewPCG(1, 1))
	const n, fresh = 300, 100
	var x, y []float64
	for range n + fresh {
		mix, strength := concrete(rng)
		x, y = append(x, mix[:]...), append(y, strength+0.5*rng.NormFloat64())
	}
	data, err := vssgp.NewData(n, x[:3*n], y[:n])
	if err != nil {
		panic(err)
	}
	model, _, err := vssgp.Fit(context.Background(), data, vssgp.Options{Components: 1, Features: 100})
	if err != nil {
		panic(err)
	}
	p, err := model.Predict(context.Background(), x[3*n:])
	if err != nil {
		panic(err)
	}
	square, silence, mean := 0.0, 0.0, floats.Sum(y[:n])/n
	for i := range fresh {
		v := y[n+i]
		square += (v - p.Mean[i]) * (v - p.Mean[i])
		silence += (v - mean) * (v - mean)
	}
	fmt.Println("nine tenths of the variance explained:", square < 0.1*silence)
	// Output: nine tenths of the variance explained: true
}

// Stochastic inference optimizes on mini-batches of rows. It is meant for data sets for which a
// pass over all rows is slow.
func ExampleFit_miniBatches() {
	const n = 20000
	rng := rand.New(rand.NewPCG(1, 2))
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = float64(i) / 1000
		y[i] = math.Sin(3*x[i]) + 0.1*rng.NormFloat64()
	}
	data := &vssgp.Data{N: n, Q: 1, D: 1, X: x, Y: y} // without a copy
	model, result, err := vssgp.Fit(context.Background(), data, vssgp.Options{
		Inference: vssgp.Stochastic, Components: 5, Batch: vssgp.BatchOptions{Rows: 256}, Iterations: 400, Seed: 1,
	})
	if err != nil {
		panic(err)
	}
	p, err := model.Predict(context.Background(), []float64{10.1})
	if err != nil {
		panic(err)
	}
	fmt.Println(result.Iterations, "steps;", model.Inference)
	fmt.Printf("%.1f, truly %.1f\n", p.Mean[0], math.Sin(3*10.1))
	// Output:
	// 400 steps; factorized
	// -0.9, truly -0.9
}

// Cross-validation compares numbers of features by the log density of held-out rows.
func ExampleCrossValidate() {
	rng := rand.New(rand.NewPCG(1, 2))
	var x, y []float64
	for range 120 {
		a, b := 4*rng.Float64(), 4*rng.Float64()
		x, y = append(x, a, b), append(y, math.Sin(a)*math.Cos(b)+0.1*rng.NormFloat64())
	}
	data, err := vssgp.NewData(120, x, y)
	if err != nil {
		panic(err)
	}
	for _, k := range []int{2, 30} {
		c, err := vssgp.CrossValidate(context.Background(), data, vssgp.Folds{K: 4}, vssgp.Options{Features: k, Iterations: 30})
		if err != nil {
			panic(err)
		}
		fmt.Printf("%d features: RMSE %.1f, log density above 0: %t\n", k, c.RMSE.Mean, c.LogDensity.Mean > 2*c.LogDensity.StdErr)
	}
	// Output:
	// 2 features: RMSE 0.3, log density above 0: false
	// 30 features: RMSE 0.1, log density above 0: true
}

// Fit from custom initial parameters. Their units are the data's units.
func ExampleFit_customStart() {
	const n = 100
	var x, y []float64
	for i := range n {
		x, y = append(x, float64(i)/10), append(y, math.Sin(2*math.Pi*float64(i)/40))
	}
	data, err := vssgp.NewData(n, x, y)
	if err != nil {
		panic(err)
	}
	p := vssgp.NewParams(1, 2, 1, 1) // L, K, Q, D: a cosine and a sine
	p.Variance[0], p.Lengthscale[0], p.Frequency[0] = 1, 20, 0.23
	for k := range p.M() {
		p.Location[k], p.FreqVar[k] = 5, 0.5
		p.PhaseLower[k] = -float64(k) * math.Pi / 2
		p.PhaseUpper[k] = p.PhaseLower[k] // a fixed phase
	}
	p.NoisePrecision[0] = 100
	p.CoefMean, p.CoefVar = nil, nil // not fitted
	start, err := vssgp.NewModel(p)
	if err != nil {
		panic(err)
	}
	model, _, err := vssgp.Fit(context.Background(), data, vssgp.Options{From: start, Fix: []string{"phase.lower"}})
	if err != nil {
		panic(err)
	}
	f := model.Frequencies()[0]
	fmt.Printf("from 0.23 to %.2f cycles per unit of x\n", f.Mean[0])
	// Output: from 0.23 to 0.25 cycles per unit of x
}

// Draws are functions sampled from the posterior. They agree near the data and differ in
// gaps. The same seed gives the same draws.
func ExampleModel_Draw() {
	var x, y []float64
	for i := range 100 {
		if i < 40 || i >= 60 {
			x, y = append(x, float64(i)), append(y, math.Sin(float64(i)/3))
		}
	}
	data, err := vssgp.NewData(len(x), x, y)
	if err != nil {
		panic(err)
	}
	model, _, err := vssgp.Fit(context.Background(), data, vssgp.Options{Components: 10, Iterations: vssgp.NoIterations})
	if err != nil {
		panic(err)
	}
	at := []float64{20, 50} // near data, in the gap
	draws, err := model.Draw(context.Background(), at, 200, 1)
	if err != nil {
		panic(err)
	}
	var sd [2]float64
	for _, f := range draws {
		for i := range sd {
			sd[i] += math.Pow(f[i]-math.Sin(at[i]/3), 2) / float64(len(draws))
		}
	}
	fmt.Println(len(draws), "draws; they differ more in the gap:", sd[1] > 2*sd[0])
	again, err := model.Draw(context.Background(), at, 1, 1)
	if err != nil {
		panic(err)
	}
	fmt.Println("reproducible:", slices.Equal(draws[0], again[0]))
	// Output:
	// 200 draws; they differ more in the gap: true
	// reproducible: true
}

// By default the CPU is used. A backend from cpu.New, or from gpu.Open in builds with
// -tags cuda, can be used for several fits and predictions. gpu.Open returns an error if no
// GPU is available.
func ExampleOptions_backend() {
	backend := cpu.New()
	defer backend.Close()
	const n = 50
	var x, y []float64
	for i := range n {
		x, y = append(x, float64(i)), append(y, math.Sin(float64(i)/4))
	}
	data, err := vssgp.NewData(n, x, y)
	if err != nil {
		panic(err)
	}
	model, result, err := vssgp.Fit(context.Background(), data, vssgp.Options{Backend: backend, Components: 6, Iterations: 10})
	if err != nil {
		panic(err)
	}
	fmt.Println("fitted on", result.Device)
	if _, err := model.Predict(context.Background(), x); err != nil { // on the same backend
		panic(err)
	}
	// Output: fitted on cpu
}
