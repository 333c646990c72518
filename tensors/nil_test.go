package tensors_test

import (
	"errors"
	"testing"

	"gorgonia.org/tensor"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/tensors"
)

// TestNil: tensors that are nil, or of a scalar, are errors; a prediction that is
// nil or empty has no tensor.
func TestNil(t *testing.T) {
	good := tensor.New(tensor.WithShape(2), tensor.WithBacking([]float64{1, 2}))
	for name, x := range map[string]*tensor.Dense{
		"nil": nil, "scalar": tensor.New(tensor.FromScalar(1.0)),
		"integers": tensor.New(tensor.WithShape(2), tensor.WithBacking([]int{1, 2})),
	} {
		if _, err := tensors.Rows(x); !errors.Is(err, vssgp.ErrData) {
			t.Errorf("Rows, %s: error %v, want ErrData", name, err)
		}
		if _, err := tensors.Data(x, good); !errors.Is(err, vssgp.ErrData) {
			t.Errorf("Data, %s: error %v, want ErrData", name, err)
		}
		if _, err := tensors.Data(good, x); !errors.Is(err, vssgp.ErrData) {
			t.Errorf("Data of y, %s: error %v, want ErrData", name, err)
		}
	}
	for _, p := range []*vssgp.Prediction{nil, {}} {
		if tensors.Mean(p) != nil || tensors.Cov(p) != nil || tensors.SD(p, true) != nil {
			t.Errorf("prediction %v has tensors", p)
		}
	}
	if tensors.Tensor(nil, 1) != nil {
		t.Error("no rows have a tensor")
	}
}
