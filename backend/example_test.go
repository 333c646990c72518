package backend_test

import (
	"errors"
	"fmt"
	"log"
	"math"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/cpu"
)

// cosines returns two features of one input: a cosine and, with the same frequency, a sine.
func cosines() *backend.Features {
	f := backend.NewFeatures(2, 1)
	for k := range f.M {
		f.Freq[k], f.Phase[k], f.Amp[k] = 2, -float64(k)*math.Pi/2, 1
		f.Power[k], f.Ripple[k] = 0.5, 0.5 // E[φ²] = φ² if nothing is uncertain
	}
	return f
}

// Features are damped cosines: without decay and uncertainty, plain ones.
func ExampleNewFeatures() {
	f := cosines()
	x := []float64{0.7}
	fmt.Printf("%.3f is cos 1.4, %.3f is sin 1.4\n", f.Mean(0, x), f.Mean(1, x))
	fmt.Println("E[φ²]:", math.Abs(f.Pair(0, x, x)-math.Cos(1.4)*math.Cos(1.4)) < 1e-15)
	fmt.Println(len(f.Offsets())-1, "window,", len(f.Fields()), "arrays, first", f.Fields()[0].Name)

	numbers := make([]float64, 3*backend.FeatureNumbers(1)) // memory that a backend sends or receives at once
	g := backend.FeaturesIn(numbers, 3, 1)
	g.Center[0] = 5
	fmt.Println(len(numbers), "numbers of", g.M, "features, shared:", numbers[0] == 5)
	// Output:
	// 0.170 is cos 1.4, 0.985 is sin 1.4
	// E[φ²]: true
	// 1 window, 7 arrays, first Center
	// 21 numbers of 3 features, shared: true
}

// Rows are data on a device. Each method is a pass over all of them.
func ExampleRows() {
	f := cosines()
	d := backend.Data{Q: 1, D: 1}
	for n := range 100 {
		x := float64(n) / 10
		d.Add(&backend.Data{N: 1, Q: 1, D: 1, X: []float64{x}, Y: []float64{3 * math.Cos(2*x)}}, 0)
		d.N = n + 1
	}
	b := cpu.New()
	defer b.Close()
	rows, err := b.Open(d)
	if err != nil {
		log.Fatal(err)
	}
	defer rows.Close()

	moments := backend.NewMoments(f, d.D) // the data's part of the exact bound
	if err := rows.Moments(moments, f); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("C %.0f, G has %d rows, trace %.0f\n", moments.C, moments.Gram.M(), moments.Gram.Trace(0, 1))

	gradient := backend.NewFeatures(2, 1) // of C[0] with respect to the features
	bar := backend.NewMoments(f, d.D)
	bar.C[0] = 1
	if err := rows.Pullback(gradient, f, bar); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("∂C/∂amplitude is C: %t\n", math.Abs(gradient.Amp[0]-moments.C[0]) < 1e-9)

	w := backend.NewWeights(2, d.D) // certain coefficients 3 and 0: no error is left
	w.Mean[0] = 3
	sums := backend.NewFactorizedSums(f, d.D)
	if err := rows.Factorized(sums, f, w, nil); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("squared error %.6f\n", math.Abs(sums.Value))

	if !rows.CanSolve(f) { // the CPU leaves the algebra to the model; a GPU would solve it itself
		err := rows.Solve(backend.NewSolution(2, d.D), f, 0.1)
		fmt.Println("no solver:", err != nil)
	}
	err = rows.Predict(backend.NewPrediction(7, d.D), f, &backend.Posterior{Mean: w.Mean, Var: w.Var, D: d.D})
	fmt.Println("room for 7 predictions instead of 100:", errors.Is(err, backend.ErrShape))
	// Output:
	// C [154 6], G has 2 rows, trace 100
	// ∂C/∂amplitude is C: true
	// squared error 0.000000
	// no solver: true
	// room for 7 predictions instead of 100: true
}

// Windows divide an input, usually time. At most two gates are positive at any point, and their
// squares add up to 1.
func ExampleWindows() {
	w := backend.Windows{Center: []float64{0, 5, 10, 15}, Length: 10}
	if err := w.Check(1); err != nil {
		log.Fatal(err)
	}
	x := 7.0
	first, end := w.Over(w.Cell(x))
	sum := 0.0
	for v := first; v < end; v++ {
		sum += w.Gate(v, x) * w.Gate(v, x)
	}
	fmt.Printf("windows %d to %d of %d, squares add up to %.1f\n", first, end-1, w.Count(), sum)

	layout := w.NewLayout([]float64{12, 1, 7, 2}, 4, 1) // rows of the same windows become neighbors
	for _, run := range layout.Runs {
		fmt.Println("rows", layout.Order[run.Lo:run.Hi], "in windows", run.First, "to", run.End-1)
	}
	// Output:
	// windows 1 to 2 of 4, squares add up to 1.0
	// rows [1 3] in windows 0 to 1
	// rows [2] in windows 1 to 2
	// rows [0] in windows 2 to 3
}

// A Gram has blocks only for neighboring windows.
func ExampleNewGram() {
	g := backend.NewGram([]int{0, 2, 4, 6}) // three windows of two features
	g.Diag[1][0], g.Below[0][0] = 5, 7
	fmt.Println(g.Blocks(), "blocks of", g.Size(0), "by", g.Size(0), "in a matrix of", g.M(), "by", g.M())
	fmt.Println(g.At(2, 2), g.At(2, 0), g.At(0, 2), g.At(0, 4))
	// Output:
	// 3 blocks of 2 by 2 in a matrix of 6 by 6
	// 5 7 7 0
}

// Observed counts or times the passes of a backend.
func ExampleObserved() {
	passes := map[string]int{}
	b := backend.Observed(cpu.New(), func(method string) func() {
		passes[method]++
		return nil // or a function that stops a clock
	})
	rows, err := b.Open(backend.Data{N: 2, Q: 1, D: 1, X: []float64{0, 1}, Y: []float64{2, 3}})
	if err != nil {
		log.Fatal(err)
	}
	f := cosines()
	for range 3 {
		if err := rows.Moments(backend.NewMoments(f, 1), f); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(passes)
	// Output: map[Moments:3 Open:1]
}
