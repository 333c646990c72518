package dense_test

import (
	"errors"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/tensor"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/dense"
)

// TestNil: tensors that are nil, or of a scalar, are errors; of a prediction or a
// matrix that is nil or empty there is no tensor.
func TestNil(t *testing.T) {
	good := tensor.New(tensor.WithShape(2), tensor.WithBacking([]float64{1, 2}))
	for name, x := range map[string]*tensor.Dense{
		"nil": nil, "scalar": tensor.New(tensor.FromScalar(1.0)),
		"integers": tensor.New(tensor.WithShape(2), tensor.WithBacking([]int{1, 2})),
	} {
		if _, err := dense.Matrix(x); !errors.Is(err, vssgp.ErrData) {
			t.Errorf("Matrix, %s: error %v, want ErrData", name, err)
		}
		if _, err := dense.Data(x, good); !errors.Is(err, vssgp.ErrData) {
			t.Errorf("Data, %s: error %v, want ErrData", name, err)
		}
		if _, err := dense.Data(good, x); !errors.Is(err, vssgp.ErrData) {
			t.Errorf("Data of y, %s: error %v, want ErrData", name, err)
		}
	}
	for _, p := range []*vssgp.Prediction{nil, {}} {
		if dense.Mean(p) != nil || dense.Cov(p) != nil || dense.SD(p, true) != nil {
			t.Errorf("prediction %v has tensors", p)
		}
	}
	if dense.Tensor(nil) != nil || dense.Tensor(&mat.Dense{}) != nil {
		t.Error("a matrix of nothing has a tensor")
	}
}
