package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/vssgp/vssgp/internal/table"
)

// compareTask is `bench compare`: whether two outputs of `vssgp … --json` have the same bound, or two folders of `bench speed -dump` the same
// bound and gradient.
type compareTask struct {
	tolerance, gradient float64
	files               []string
}

func (o *compareTask) flags(set *flag.FlagSet) {
	set.Float64Var(&o.tolerance, "tolerance", 1e-6, "largest difference of the bounds, of the larger one")
	set.Float64Var(&o.gradient, "gradient", 1e-6, "largest difference in a tensor of the gradients, of its largest number; for folders")
}

func (o *compareTask) check(files []string) error {
	o.files = files
	return want(files, 2, "two files of `vssgp … --json`, or two folders of `bench speed -dump`")
}

// An outcome is what compare reads of a file, or of a folder's problem.json.
type outcome struct {
	Bound   *float64
	Device  string
	Tensors []string // a folder's; each has a gradient
}

func (o *compareTask) run() error {
	var both [2]outcome
	for i, path := range o.files {
		v, err := readOutcome(path)
		if err != nil {
			return err
		}
		both[i] = v
		fmt.Printf("%s: bound %.12g on %s\n", path, *v.Bound, v.Device)
	}
	a, b := *both[0].Bound, *both[1].Bound
	difference := math.Abs(a-b) / max(1, math.Abs(a), math.Abs(b))
	fmt.Printf("relative difference %.3g, want %.3g at most\n", difference, o.tolerance)
	if !(difference <= o.tolerance) {
		return fmt.Errorf("the bounds differ by %.3g of their size, want %.3g at most", difference, o.tolerance)
	}
	return o.gradients(both[0].Tensors)
}

// readOutcome reads a file, or a folder's.
func readOutcome(path string) (v outcome, err error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, "problem.json")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return v, &usage{err}
	}
	if err := json.Unmarshal(text, &v); err != nil {
		return v, fmt.Errorf("%s: %w", path, err)
	}
	if v.Bound == nil {
		return v, fmt.Errorf("%s: no bound", path)
	}
	return v, nil
}

// gradients compares the two folders' tensor by tensor.
func (o *compareTask) gradients(tensors []string) error {
	for _, name := range tensors {
		var g [2]*table.Table
		for i, folder := range o.files {
			var err error
			if g[i], err = table.Open(filepath.Join(folder, "gradient."+name+".npy")); err != nil {
				return err
			}
		}
		difference, err := apart(g[0].Data, g[1].Data)
		if err != nil {
			return fmt.Errorf("gradient by %s: %w", name, err)
		}
		fmt.Printf("gradient by %-22s %.3g\n", name, difference)
		if !(difference <= o.gradient) {
			return fmt.Errorf("the gradients by %s differ by %.3g of their largest number, want %.3g at most", name, difference, o.gradient)
		}
	}
	return nil
}

// apart is the largest difference of two arrays' numbers, of the largest number; NaN where one has a NaN.
func apart(a, b []float64) (float64, error) {
	if len(a) != len(b) {
		return 0, fmt.Errorf("%d numbers and %d", len(a), len(b))
	}
	largest, size := 0.0, 0.0
	for i := range a {
		largest, size = max(largest, math.Abs(a[i]-b[i])), max(size, math.Abs(a[i]), math.Abs(b[i]))
	}
	if size == 0 {
		return largest, nil
	}
	return largest / size, nil
}
