// Package tensors converts between gorgonia tensors and the types of package vssgp. It is a
// separate package because gorgonia.org/tensor depends on some forty packages (arrow, protobuf)
// that a program without tensors does not need.
//
// The functions copy or share memory as follows:
//
//	Data            copies both tensors to row-major float64
//	Rows            shares a row-major float64 tensor and copies any other tensor
//	Tensor          shares
//	Mean, Cov       share the prediction's slices
//	SD              computes a new slice
//
// A program that has its data in tensors:
//
//	data, err := tensors.Data(x, y)                     // [N,Q], [N,D]
//	model, result, err := vssgp.Fit(ctx, data, vssgp.Options{})
//	rows, err := tensors.Rows(xNew)
//	p, err := model.Predict(ctx, rows)
//	mean, sd := tensors.Mean(p), tensors.SD(p, true)    // [N,D]
package tensors

import (
	"gorgonia.org/tensor"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/internal/fileio/fault"
)

// Data returns a copy of x [N,Q] (or [N]) and y [N,D] (or [N]) of float64 or float32 in any layout
// (transposed, sliced, column-major). Errors wrap vssgp.ErrData if the shapes or types are not
// supported, the numbers of rows differ, or a value is not finite.
func Data(x, y *tensor.Dense) (*vssgp.Data, error) {
	n, q, xs, err := flatten("x", x)
	if err != nil {
		return nil, err
	}
	ny, d, ys, err := flatten("y", y)
	if err != nil {
		return nil, err
	}
	if n != ny {
		return nil, fault.Errorf(vssgp.ErrData, "tensors: y has %d rows, but x has %d", ny, n)
	}
	data := &vssgp.Data{N: n, Q: q, D: d, X: xs, Y: ys}
	if err := data.Check(); err != nil {
		return nil, err
	}
	return data, nil
}

// Rows returns the rows of a tensor [N,Q] or [N] (one column) of float64 or float32,
// for Model.Predict, PredictJoint and Draw. It shares the tensor's memory if that is
// float64 and row-major, and otherwise copies it. Errors wrap vssgp.ErrData.
func Rows(t *tensor.Dense) ([]float64, error) {
	rows, cols, err := dims("x", t)
	if err != nil {
		return nil, err
	}
	if data, ok := whole(t, rows*cols); ok {
		return data, nil
	}
	_, _, data, err := flatten("x", t)
	return data, err
}

// Tensor returns rows of d columns, such as a draw of Model.Draw, as a tensor [N,d]
// of float64 that shares their memory, or nil if there are none or the last row is not complete.
func Tensor(rows []float64, d int) *tensor.Dense {
	if len(rows) == 0 || d < 1 || len(rows)%d != 0 {
		return nil
	}
	return tensor.New(tensor.WithShape(len(rows)/d, d), tensor.WithBacking(rows))
}

// empty reports whether a prediction has no values, or other numbers than its shape, and therefore no
// tensors.
func empty(p *vssgp.Prediction) bool {
	return p == nil || p.N < 1 || p.D < 1 || p.N > len(p.Mean) || len(p.Mean) != p.N*p.D
}

// Mean returns a prediction's mean [N,D] in the units of y. It shares p's memory. Mean, Cov and SD
// return nil if p is nil or empty, or if one of its arrays does not have its shape.
func Mean(p *vssgp.Prediction) *tensor.Dense {
	if empty(p) {
		return nil
	}
	return tensor.New(tensor.WithShape(p.N, p.D), tensor.WithBacking(p.Mean))
}

// Cov returns a prediction's covariance [N,D,D] of the observed y. It shares p's memory.
func Cov(p *vssgp.Prediction) *tensor.Dense {
	if empty(p) || len(p.Cov) != len(p.Mean)*p.D {
		return nil
	}
	return tensor.New(tensor.WithShape(p.N, p.D, p.D), tensor.WithBacking(p.Cov))
}

// SD returns the standard deviation [N,D] of the observed y, or of the latent function if noise is
// false, in the units of y.
func SD(p *vssgp.Prediction, noise bool) *tensor.Dense {
	if empty(p) {
		return nil
	}
	sd := p.SD(noise)
	if sd == nil {
		return nil
	}
	return tensor.New(tensor.WithShape(p.N, p.D), tensor.WithBacking(sd))
}

// dims returns the dimensions of a matrix, or of a vector as one column.
func dims(name string, t *tensor.Dense) (rows, cols int, err error) {
	if t == nil {
		return 0, 0, fault.Errorf(vssgp.ErrData, "tensors: %s is nil", name)
	}
	switch s := t.Shape(); len(s) {
	case 1:
		rows, cols = s[0], 1
	case 2:
		rows, cols = s[0], s[1]
	default:
		return 0, 0, fault.Errorf(vssgp.ErrData, "tensors: %s has shape %v, must be [N,columns] or [N]", name, s)
	}
	if rows < 1 || cols < 1 {
		return 0, 0, fault.Errorf(vssgp.ErrData, "tensors: %s has shape %v, must have at least one row and column", name, t.Shape())
	}
	return rows, cols, nil
}

// whole returns the memory of a row-major tensor of n float64, or false for any other tensor.
func whole(t *tensor.Dense, n int) ([]float64, bool) {
	data, ok := t.Data().([]float64)
	rowMajor := !t.DataOrder().IsColMajor() && !t.DataOrder().IsTransposed() && !t.RequiresIterator()
	return data, ok && rowMajor && len(data) == n
}

// flatten returns a row-major copy of a vector or matrix in any layout.
func flatten(name string, t *tensor.Dense) (rows, cols int, out []float64, err error) {
	if rows, cols, err = dims(name, t); err != nil {
		return 0, 0, nil, err
	}
	out = make([]float64, 0, rows*cols)
	if data, ok := whole(t, rows*cols); ok {
		return rows, cols, append(out, data...), nil
	}
	it := t.Iterator()
	switch data := t.Data().(type) {
	case []float64:
		for i, e := it.Next(); e == nil; i, e = it.Next() {
			out = append(out, data[i])
		}
	case []float32:
		for i, e := it.Next(); e == nil; i, e = it.Next() {
			out = append(out, float64(data[i]))
		}
	default:
		return 0, 0, nil, fault.Errorf(vssgp.ErrData, "tensors: %s has type %v, must be float64 or float32", name, t.Dtype())
	}
	if len(out) != rows*cols {
		return 0, 0, nil, fault.Errorf(vssgp.ErrData, "tensors: %s has %d values, which does not match its shape %v", name, len(out), t.Shape())
	}
	return rows, cols, out, nil
}
