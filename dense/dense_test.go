package dense_test

import (
	"errors"
	"slices"
	"testing"

	"gorgonia.org/tensor"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/dense"
)

func TestData(t *testing.T) {
	wide := tensor.New(tensor.WithShape(2, 3), tensor.WithBacking([]float64{1, 2, 3, 4, 5, 6}))
	turned := wide.Clone().(*tensor.Dense)
	if err := turned.T(); err != nil {
		t.Fatal(err)
	}
	slice, err := wide.Slice(nil, tensor.S(1, 3))
	if err != nil {
		t.Fatal(err)
	}
	single := tensor.New(tensor.WithShape(3), tensor.WithBacking([]float32{0.5, 1, 2}))
	for name, c := range map[string]struct {
		x    *tensor.Dense
		n, q int
		want []float64
	}{
		"matrix":     {wide, 2, 3, []float64{1, 2, 3, 4, 5, 6}},
		"transposed": {turned, 3, 2, []float64{1, 4, 2, 5, 3, 6}},
		"slice":      {slice.(*tensor.Dense), 2, 2, []float64{2, 3, 5, 6}},
		"float32":    {single, 3, 1, []float64{0.5, 1, 2}},
	} {
		y := tensor.New(tensor.WithShape(c.n), tensor.WithBacking(make([]float64, c.n)))
		d, err := dense.Data(c.x, y)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if d.N != c.n || d.Q != c.q || d.D != 1 {
			t.Errorf("%s: N, Q, D = %d, %d, %d, want %d, %d, 1", name, d.N, d.Q, d.D, c.n, c.q)
		}
		if !slices.Equal(d.X, c.want) {
			t.Errorf("%s: X = %v, want %v", name, d.X, c.want)
		}
	}
}

func TestBadData(t *testing.T) {
	zeros := func(shape ...int) *tensor.Dense {
		n := 1
		for _, s := range shape {
			n *= s
		}
		return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(make([]float64, n)))
	}
	for name, f := range map[string]func() error{
		"rows differ": func() error { _, err := dense.Data(zeros(2, 1), zeros(3)); return err },
		"rank 3":      func() error { _, err := dense.Data(zeros(2, 1, 1), zeros(2)); return err },
		"integers": func() error {
			_, err := dense.Data(tensor.New(tensor.WithBacking([]int{1, 2})), zeros(2))
			return err
		},
	} {
		if err := f(); !errors.Is(err, vssgp.ErrData) {
			t.Errorf("%s: error %v, want one that wraps ErrData", name, err)
		}
	}
}
