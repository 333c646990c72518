package vssgp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/vssgp/vssgp"
)

// By default, weak priors keep the hyper-parameters within reason. Without them a fit maximizes
// the bound alone, as in the paper.
func ExampleNoPriors() {
	data := wave(60) // sin(x/3), x from 0 to 59
	options := vssgp.Options{Components: 2, Iterations: 50}
	_, with, err := vssgp.Fit(context.Background(), data, options)
	if err != nil {
		log.Fatal(err)
	}
	options.Priors = vssgp.NoPriors()
	_, without, err := vssgp.Fit(context.Background(), data, options)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("prior terms:", with.LogPrior != 0, without.LogPrior != 0)
	// Output: prior terms: true false
}

// Progress is called during a fit. A fit that its context ends returns the best model so far.
func ExampleProgress() {
	data := wave(200)      // sin(x/3), x from 0 to 199
	terminal := io.Discard // in a program: os.Stderr
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	model, _, err := vssgp.Fit(ctx, data, vssgp.Options{
		Components: 4, Iterations: 1000,
		Progress: func(p vssgp.Progress) {
			fmt.Fprintf(terminal, "%d of %d, bound %.1f, %v left\n", p.Iteration, p.Iterations, p.Bound, p.Left)
			if p.Iteration >= 5 { // in a program: if the user presses a key, or time is up
				cancel()
			}
		},
	})
	fmt.Println(errors.Is(err, context.Canceled), model.Fitted())
	// Output: true true
}

// Windows make the components local: each models a part of a long input. The cost grows linearly
// with the number of rows.
func ExampleWindowOptions() {
	data := wave(2000) // sin(x/3), x from 0 to 1999
	model, _, err := vssgp.Fit(context.Background(), data, vssgp.Options{
		Components: 1, Features: 4, Iterations: 5,
		Windows:   vssgp.WindowOptions{Length: 200, Dim: 0}, // the only input
		Optimizer: vssgp.OptimizerWindows,                   // a separate step length for each window
	})
	if err != nil {
		log.Fatal(err)
	}
	windows := model.Params.Windows
	fmt.Println(windows.Count(), "windows; each row is in at most two")
	fmt.Println("window of the last component:", *model.Components()[windows.Count()-1].Window)
	// Output:
	// 20 windows; each row is in at most two
	// window of the last component: 19
}

// A checkpoint continues an interrupted fit, with the same result to the last bit.
func ExampleCheckpointOptions() {
	dir, err := os.MkdirTemp("", "vssgp")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	data := wave(100) // sin(x/3), x from 0 to 99
	ctx, cancel := context.WithCancel(context.Background())
	options := vssgp.Options{
		Components: 2, Iterations: 20,
		Checkpoint: vssgp.CheckpointOptions{Path: filepath.Join(dir, "fit"), Every: time.Minute, Resume: true},
	}
	interrupted := options
	interrupted.Progress = func(p vssgp.Progress) {
		if p.Iteration == 5 {
			cancel()
		}
	}
	if _, _, err := vssgp.Fit(ctx, data, interrupted); !errors.Is(err, context.Canceled) {
		log.Fatal(err)
	}
	_, result, err := vssgp.Fit(context.Background(), data, options)
	if err != nil {
		log.Fatal(err)
	}
	options.Checkpoint = vssgp.CheckpointOptions{}
	_, whole, err := vssgp.Fit(context.Background(), data, options)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("resumed:", result.Resumed > 0, "the same bound:", result.Bound == whole.Bound)
	// Output: resumed: true the same bound: true
}

// In a time series, neighboring rows predict each other. Folds of consecutive rows score the
// prediction of whole gaps instead.
func ExampleFolds() {
	data := wave(90) // sin(x/3), x from 0 to 89
	scores, err := vssgp.CrossValidate(context.Background(), data, vssgp.Folds{K: 3, Contiguous: true},
		vssgp.Options{Components: 2, Iterations: 20})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d folds, RMSE below 0.2: %t\n", len(scores.RMSE.Folds), scores.RMSE.Mean < 0.2)
	// Output: 3 folds, RMSE below 0.2: true
}
