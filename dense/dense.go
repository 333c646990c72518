// Package dense brings gorgonia tensors to package vssgp. It stands apart
// because gorgonia.org/tensor brings some forty packages (arrow, protobuf) of
// its own, which a program that has its data otherwise need not compile.
package dense

import (
	"fmt"

	"gorgonia.org/tensor"

	"github.com/vssgp/vssgp"
)

// Data copies x [N,Q] (or [N]) and y [N,D] (or [N]) of float64 or
// float32.
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
		return nil, fmt.Errorf("dense: y has %d rows, x has %d: %w", ny, n, vssgp.ErrData)
	}
	data := &vssgp.Data{N: n, Q: q, D: d, X: xs, Y: ys}
	return data, data.Check()
}

// flatten copies a vector or matrix row by row, whatever its layout.
func flatten(name string, t *tensor.Dense) (rows, cols int, out []float64, err error) {
	s := t.Shape()
	switch len(s) {
	case 1:
		rows, cols = s[0], 1
	case 2:
		rows, cols = s[0], s[1]
	default:
		return 0, 0, nil, fmt.Errorf("dense: %s has shape %v, want [N,columns] or [N]: %w", name, s, vssgp.ErrData)
	}
	it := t.Iterator()
	at := make([]int, 0, rows*cols)
	for i, e := it.Next(); e == nil; i, e = it.Next() {
		at = append(at, i)
	}
	out = make([]float64, len(at))
	switch data := t.Data().(type) {
	case []float64:
		for i, j := range at {
			out[i] = data[j]
		}
	case []float32:
		for i, j := range at {
			out[i] = float64(data[j])
		}
	default:
		return 0, 0, nil, fmt.Errorf("dense: %s holds %v, want float64 or float32: %w", name, t.Dtype(), vssgp.ErrData)
	}
	return rows, cols, out, nil
}
