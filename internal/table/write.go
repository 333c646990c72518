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

// A Writer writes the numbers of a table part by part. It cannot be used after an error. Errors wrap ErrFormat, or are those of what it
// writes to.
type Writer struct {
	b      *bufio.Writer
	n      int                                       // numbers written
	format func(b []byte, v float64) ([]byte, error) // appends the next number
	whole  func() error                              // whether n numbers are a table
	text   []byte
}

// Write adds numbers, row-major, which must be finite.
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

// Close writes the rest and checks that the table is whole.
func (w *Writer) Close() error {
	if err := w.whole(); err != nil {
		return err
	}
	return w.b.Flush()
}

// writeAll passes all numbers to a writer, unless there was an error before.
func writeAll(w *Writer, err error, data []float64) error {
	if err == nil {
		err = w.Write(data)
	}
	if err == nil {
		err = w.Close()
	}
	return err
}

// WriteCSV writes a line of names and then data, [len(data)/len(names), len(names)] row-major, each value in the shortest form that
// reads back as the same float64. Names that are empty, equal or numbers, no rows, and values that are not finite are errors that wrap
// ErrFormat, because Open would refuse them.
func WriteCSV(w io.Writer, names []string, data []float64) error {
	to, err := NewTextWriter(w, names, ',', nil)
	return writeAll(to, err, data)
}

// NewTextWriter writes a table as WriteCSV does, part by part, with any delimiter. Dates of the first columns are written as their axes
// have them.
func NewTextWriter(w io.Writer, names []string, delimiter byte, axes []*Axis) (*Writer, error) {
	cols := len(names)
	if cols == 0 {
		return nil, malformed("a table of 0 columns; want one or more")
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
	to.b.WriteString(strings.Join(header, string(delimiter)) + "\n") // an error comes back from Flush
	to.format = func(b []byte, v float64) ([]byte, error) {
		row, col := to.n/cols, to.n%cols
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, malformed("row %d, column %s: %v; want a finite number", row, fault.Quote(names[col]), v)
		}
		if col < len(axes) && axes[col].Dates() {
			b = axes[col].Append(b, v)
			if _, err := axes[col].Parse(string(b)); err != nil {
				return nil, malformed("row %d, column %s: the date %s is not in the years 0 to 9999, and could not be read again; want a nearer one",
					row, fault.Quote(names[col]), b)
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
			return malformed("%d values for %d columns; want one or more whole rows", to.n, cols)
		}
		return nil
	}
	return to, nil
}

// WriteNPY writes data, row-major of the given shape, as NPY version 1.0 of type '<f8'; an empty shape is a scalar. Data that do not
// match the shape and values that are not finite are errors that wrap ErrFormat.
func WriteNPY(w io.Writer, shape []int, data []float64) error {
	to, err := NewNPYWriter(w, shape)
	return writeAll(to, err, data)
}

// NewNPYWriter writes the same file as WriteNPY, part by part.
func NewNPYWriter(w io.Writer, shape []int) (*Writer, error) {
	want, tuple := 1, ""
	for i, s := range shape {
		if s < 0 || s > 0 && want > math.MaxInt/s {
			return nil, malformed("shape %v; want sizes whose product can be counted", shape)
		}
		want *= s
		if tuple += strconv.Itoa(s); i < len(shape)-1 {
			tuple += ", "
		} else if i == 0 {
			tuple += "," // Python's tuple of one
		}
	}
	text := fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%s), }", tuple)
	const before = len(npyMagic) + 4
	text += strings.Repeat(" ", 63-(before+len(text))%64) + "\n" // NumPy aligns the data to 64 bytes
	if len(text) > math.MaxUint16 {
		return nil, malformed("shape of %d dimensions; want fewer", len(shape))
	}
	to := &Writer{b: bufio.NewWriterSize(w, 1<<16)}
	to.b.WriteString(npyMagic + "\x01\x00")
	to.b.Write(binary.LittleEndian.AppendUint16(nil, uint16(len(text))))
	to.b.WriteString(text)
	to.format = func(b []byte, v float64) ([]byte, error) {
		switch {
		case to.n == want:
			return nil, malformed("shape %v with more than %d values; want their product", shape, want)
		case math.IsNaN(v) || math.IsInf(v, 0):
			return nil, malformed("value %d: %v; want a finite number", to.n, v)
		}
		return binary.LittleEndian.AppendUint64(b, math.Float64bits(v)), nil
	}
	to.whole = func() error {
		if to.n != want {
			return malformed("shape %v with %d values; want their product", shape, to.n)
		}
		return nil
	}
	return to, nil
}
