// Package tensors takes gorgonia tensors to package vssgp and back. It is a
// package of its own because gorgonia.org/tensor brings some forty packages
// (arrow, protobuf), which a program without tensors need not compile.
//
// What is copied:
//
//	Data            both tensors, always, row by row into float64
//	Rows            nothing of a row-major float64 tensor; all of any other
//	Tensor          nothing
//	Mean, Cov       nothing: the prediction's own slices
//	SD              it is computed
//
// Where memory is shared, a write to one shows in the other.
package tensors

import (
	"fmt"

	"gorgonia.org/tensor"

	"github.com/vssgp/vssgp"
)

// Data copies x [N,Q] (or [N]) and y [N,D] (or [N]) of float64 or float32, in
// any layout (transposed, sliced, column-major). Errors wrap vssgp.ErrData: other
// shapes or types, rows that differ in number, values that are not finite.
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
		return nil, fmt.Errorf("tensors: y has %d rows, x has %d: %w", ny, n, vssgp.ErrData)
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
// of float64 that shares their memory, or nil if there are none.
func Tensor(rows []float64, d int) *tensor.Dense {
	if len(rows) == 0 || d < 1 {
		return nil
	}
	return tensor.New(tensor.WithShape(len(rows)/d, d), tensor.WithBacking(rows))
}

// empty reports a prediction without values, which has no tensors.
func empty(p *vssgp.Prediction) bool { return p == nil || p.N < 1 || p.D < 1 }

// Mean is a prediction's mean [N,D], in the units of y; it shares p's memory. Of
// a prediction that is nil or empty it is nil, as are Cov and SD.
func Mean(p *vssgp.Prediction) *tensor.Dense {
	if empty(p) {
		return nil
	}
	return tensor.New(tensor.WithShape(p.N, p.D), tensor.WithBacking(p.Mean))
}

// Cov is a prediction's covariance [N,D,D] of the observed y; it shares p's
// memory.
func Cov(p *vssgp.Prediction) *tensor.Dense {
	if empty(p) {
		return nil
	}
	return tensor.New(tensor.WithShape(p.N, p.D, p.D), tensor.WithBacking(p.Cov))
}

// SD is the standard deviation [N,D] of the observed y, or with noise false of the
// noiseless function, in the units of y.
func SD(p *vssgp.Prediction, noise bool) *tensor.Dense {
	if empty(p) {
		return nil
	}
	return tensor.New(tensor.WithShape(p.N, p.D), tensor.WithBacking(p.SD(noise)))
}

// dims are a matrix's, or a vector's as one column.
func dims(name string, t *tensor.Dense) (rows, cols int, err error) {
	if t == nil {
		return 0, 0, fmt.Errorf("tensors: %s is nil, want a tensor: %w", name, vssgp.ErrData)
	}
	switch s := t.Shape(); len(s) {
	case 1:
		rows, cols = s[0], 1
	case 2:
		rows, cols = s[0], s[1]
	default:
		return 0, 0, fmt.Errorf("tensors: %s has shape %v, want [N,columns] or [N]: %w", name, s, vssgp.ErrData)
	}
	if rows < 1 || cols < 1 {
		return 0, 0, fmt.Errorf("tensors: %s has shape %v, want at least one row and column: %w", name, t.Shape(), vssgp.ErrData)
	}
	return rows, cols, nil
}

// whole is the memory of a tensor of n float64 that lie there row by row.
func whole(t *tensor.Dense, n int) ([]float64, bool) {
	data, ok := t.Data().([]float64)
	rowMajor := !t.DataOrder().IsColMajor() && !t.DataOrder().IsTransposed() && !t.RequiresIterator()
	return data, ok && rowMajor && len(data) == n
}

// flatten copies a vector or matrix row by row, whatever its layout.
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
		return 0, 0, nil, fmt.Errorf("tensors: %s holds %v, want float64 or float32: %w", name, t.Dtype(), vssgp.ErrData)
	}
	if len(out) != rows*cols {
		return 0, 0, nil, fmt.Errorf("tensors: %s has %d values in its shape %v: %w", name, len(out), t.Shape(), vssgp.ErrData)
	}
	return rows, cols, out, nil
}
