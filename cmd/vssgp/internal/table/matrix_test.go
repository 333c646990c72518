package table

import (
	"context"
	"io"
)

// A Matrix is a table of Rows ≥ 1 rows of Cols ≥ 1 finite numbers, with a name for each column. Data is [Rows,Cols], row-major.
type Matrix struct {
	Names      []string
	Rows, Cols int
	Data       []float64
}

// Open reads a table of numbers at a path. A missing number is an error.
func Open(path string) (*Matrix, error) {
	f, err := At(path)
	if err != nil {
		return nil, err
	}
	return f.matrix()
}

// matrix reads a table of numbers.
func (f *File) matrix() (*Matrix, error) {
	t, err := Read(context.Background(), f)
	if err != nil {
		return nil, err
	}
	m := &Matrix{Names: t.Names, Rows: t.Rows, Cols: t.Cols}
	m.Data, err = t.Inputs(upTo(t.Cols), make([]*Axis, t.Cols))
	return m, err
}

// WriteCSV writes names and data with commas.
func WriteCSV(w io.Writer, names []string, data []float64) error {
	to, err := NewTextWriter(w, names, ',', nil)
	return writeAll(to, err, data)
}

// WriteNPY writes data as NPY.
func WriteNPY(w io.Writer, shape []int, data []float64) error {
	to, err := NewNPYWriter(w, shape)
	return writeAll(to, err, data)
}

// writeAll writes data and closes the writer, unless err is not nil.
func writeAll(w *Writer, err error, data []float64) error {
	if err == nil {
		err = w.Write(data)
	}
	if err == nil {
		err = w.Close()
	}
	return err
}
