package table

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/vssgp/vssgp/internal/fileio/fault"
)

// A Writer writes the numbers of a table in blocks. It cannot be used after an error. Errors wrap ErrFormat or come from the io.Writer.
type Writer struct {
	b      *bufio.Writer
	n      int                                       // count of written numbers
	format func(b []byte, v float64) ([]byte, error) // appends the next number
	whole  func() error                              // returns an error if n numbers are not a complete table
	text   []byte
}

// Write writes numbers in row-major order. They must be finite.
func (w *Writer) Write(data []float64) (err error) {
	for _, v := range data {
		if w.text, err = w.format(w.text[:0], v); err != nil {
			return err
		}
		w.n++
		if _, err = w.b.Write(w.text); err != nil {
			return err
		}
	}
	return nil
}

// Close writes buffered data and returns an error if the table is incomplete.
func (w *Writer) Close() error {
	if err := w.whole(); err != nil {
		return err
	}
	return w.b.Flush()
}

// NewTextWriter returns a writer of text with a delimiter. It writes a line of names, and then numbers, each in the shortest form that
// parses to the same float64. axes are the axes of the first columns, which determine the layout of their dates. Names that are empty,
// equal or numbers, a table without rows, and values that are not finite are errors that wrap ErrFormat, because Read rejects such files.
func NewTextWriter(w io.Writer, names []string, delimiter byte, axes []*Axis) (*Writer, error) {
	cols := len(names)
	if cols == 0 {
		return nil, malformed("the table has 0 columns; at least one is required")
	}
	if err := checkNames(names, upTo(cols)); err != nil {
		return nil, malformed("%w", err)
	}
	to := &Writer{b: bufio.NewWriterSize(w, 1<<16)}
	header := slices.Clone(names)
	for i, name := range header {
		if strings.IndexByte(name, delimiter) >= 0 || strings.Contains(name, `"`) || i == 0 && name[0] == '#' { // # begins a comment
			header[i] = `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
		}
	}
	to.b.WriteString(strings.Join(header, string(delimiter)) + "\n") // Flush returns its error
	to.format = func(b []byte, v float64) ([]byte, error) {
		row, col := to.n/cols, to.n%cols
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, malformed("row %d, column %s: %v; must be a finite number", row, fault.Quote(names[col]), v)
		}
		if col < len(axes) && axes[col].Dates() {
			b = axes[col].Append(b, v)
			if _, err := axes[col].Parse(string(b)); err != nil {
				return nil, malformed("row %d, column %s: the date %s is out of range; must be in the years 0 to 9999", row,
					fault.Quote(names[col]), b)
			}
		} else {
			b = appendNumber(b, v)
		}
		if col == cols-1 {
			return append(b, '\n'), nil
		}
		return append(b, delimiter), nil
	}
	to.whole = func() error {
		if to.n == 0 || to.n%cols != 0 {
			return malformed("%d values for %d columns; must be one or more whole rows", to.n, cols)
		}
		return nil
	}
	return to, nil
}

// NewNPYWriter returns a writer of NPY version 1.0 of type '<f8', row-major with the given shape. An empty shape is a scalar. Data that do
// not match the shape and values that are not finite are errors that wrap ErrFormat.
func NewNPYWriter(w io.Writer, shape []int) (*Writer, error) {
	want, tuple := 1, ""
	for i, s := range shape {
		if s < 0 || s > 0 && want > math.MaxInt/s {
			return nil, malformed("invalid shape %v; sizes must be 0 or more, and their product must fit in an int", shape)
		}
		want *= s
		if tuple += strconv.Itoa(s); i < len(shape)-1 {
			tuple += ", "
		} else if i == 0 {
			tuple += "," // a tuple with one element in Python
		}
	}
	text := fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%s), }", tuple)
	const before = len(npyMagic) + 4
	text += strings.Repeat(" ", 63-(before+len(text))%64) + "\n" // NumPy aligns the data to 64 bytes
	if len(text) > math.MaxUint16 {
		return nil, malformed("the shape has too many dimensions, %d", len(shape))
	}
	to := &Writer{b: bufio.NewWriterSize(w, 1<<16)}
	to.b.WriteString(npyMagic + "\x01\x00")
	to.b.Write(binary.LittleEndian.AppendUint16(nil, uint16(len(text))))
	to.b.WriteString(text)
	to.format = func(b []byte, v float64) ([]byte, error) {
		switch {
		case to.n == want:
			return nil, malformed("too many values for shape %v; must be %d", shape, want)
		case math.IsNaN(v) || math.IsInf(v, 0):
			return nil, malformed("value %d: %v; must be a finite number", to.n, v)
		}
		return binary.LittleEndian.AppendUint64(b, math.Float64bits(v)), nil
	}
	to.whole = func() error {
		if to.n != want {
			return malformed("%d values for shape %v; must be the product of its sizes", to.n, shape)
		}
		return nil
	}
	return to, nil
}
