package table

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/vssgp/vssgp/internal/fileio/fault"
)

// WriteCSV writes a line of names and then data, [len(data)/len(names), len(names)] row-major, each value in the shortest form that
// reads back as the same float64. Names that are empty, equal or numbers, no rows, and values that are not finite are errors that wrap
// ErrFormat, because Open would refuse them. Other errors are w's own.
func WriteCSV(w io.Writer, names []string, data []float64) error {
	to, err := NewTextWriter(w, names, ',', nil)
	return writeAll(to, err, data)
}

// writeAll passes all numbers to a writer, unless there was an error before.
func writeAll(w Writer, err error, data []float64) error {
	if err == nil {
		err = w.Write(data)
	}
	if err == nil {
		err = w.Close()
	}
	return err
}

// A Writer takes a table's numbers part by part. It cannot be used after an error.
type Writer interface {
	// Write adds numbers, row-major.
	Write(data []float64) error
	// Close writes the rest and checks that the table is whole.
	Close() error
}

// NewTextWriter writes a table as WriteCSV does, part by part, with any separator. The first columns are written as their axes have it;
// nil is a number.
func NewTextWriter(w io.Writer, names []string, sep byte, axes []*Axis) (Writer, error) {
	if err := checkNames(names, upTo(len(names))); err != nil {
		return nil, malformed("%w", err)
	}
	c := &textWriter{b: bufio.NewWriterSize(w, 1<<16), names: names, sep: sep, axes: axes}
	for i, name := range names {
		if i > 0 {
			c.b.WriteByte(sep)
		}
		if strings.IndexByte(name, sep) >= 0 || strings.Contains(name, `"`) || i == 0 && name[0] == '#' { // # begins a comment
			name = `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
		}
		c.b.WriteString(name)
	}
	c.b.WriteByte('\n') // b keeps an error until its own Flush
	return c, nil
}

type textWriter struct {
	b     *bufio.Writer
	names []string
	sep   byte
	axes  []*Axis
	n     int // numbers written
	text  []byte
}

func (c *textWriter) Write(data []float64) error {
	cols := len(c.names)
	if cols == 0 {
		return malformed("%d values for 0 columns; want one or more whole rows", len(data))
	}
	for _, v := range data {
		col := c.n % cols
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return malformed("row %d, column %s: %v; want a finite number", c.n/cols, fault.Quote(c.names[col]), v)
		}
		if col < len(c.axes) && c.axes[col].Dates() {
			c.text = c.axes[col].Append(c.text[:0], v)
			if !c.axes[col].readable(v, c.text) {
				return malformed("row %d, column %s: the date %s is not in the years 0 to 9999, and could not be read again; want a nearer one",
					c.n/cols, fault.Quote(c.names[col]), c.text)
			}
		} else {
			c.text = appendNumber(c.text[:0], v)
		}
		if c.n++; c.n%cols == 0 {
			c.text = append(c.text, '\n')
		} else {
			c.text = append(c.text, c.sep)
		}
		if _, err := c.b.Write(c.text); err != nil {
			return err
		}
	}
	return nil
}

func (c *textWriter) Close() error {
	if c.n == 0 || c.n%len(c.names) != 0 {
		return malformed("%d values for %d columns; want one or more whole rows", c.n, len(c.names))
	}
	return c.b.Flush()
}

// WriteNPY writes data, row-major of the given shape, as NPY version 1.0 of type '<f8'; an empty shape is a scalar. Data that do
// not match the shape and values that are not finite are errors that wrap ErrFormat; other errors are w's own.
func WriteNPY(w io.Writer, shape []int, data []float64) error {
	to, err := NewNPYWriter(w, shape)
	return writeAll(to, err, data)
}

// NewNPYWriter writes the same file as WriteNPY, part by part.
func NewNPYWriter(w io.Writer, shape []int) (Writer, error) {
	n, dims := 1, make([]string, len(shape))
	for i, s := range shape {
		if s < 0 || s > 0 && n > math.MaxInt/s {
			return nil, malformed("shape %v; want sizes whose product can be counted", shape)
		}
		n *= s
		dims[i] = strconv.Itoa(s)
	}
	tuple := strings.Join(dims, ", ")
	if len(shape) == 1 {
		tuple += "," // Python's tuple of one
	}
	text := fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%s), }", tuple)
	const before = len(npyMagic) + 4
	text += strings.Repeat(" ", 63-(before+len(text))%64) + "\n" // NumPy aligns the data to 64 bytes
	if len(text) > math.MaxUint16 {
		return nil, malformed("shape of %d dimensions; want fewer", len(shape))
	}
	b := bufio.NewWriterSize(w, 1<<16)
	b.WriteString(npyMagic + "\x01\x00")
	b.Write(binary.LittleEndian.AppendUint16(nil, uint16(len(text))))
	b.WriteString(text)
	return &npyWriter{b: b, shape: shape, want: n}, nil
}

type npyWriter struct {
	b       *bufio.Writer
	shape   []int
	n, want int // numbers written and announced
}

func (w *npyWriter) Write(data []float64) error {
	if w.n+len(data) > w.want {
		return malformed("shape %v with %d values or more; want their product", w.shape, w.n+len(data))
	}
	var word [8]byte
	for _, v := range data {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return malformed("value %d: %v; want a finite number", w.n, v)
		}
		w.n++
		binary.LittleEndian.PutUint64(word[:], math.Float64bits(v))
		if _, err := w.b.Write(word[:]); err != nil {
			return err
		}
	}
	return nil
}

func (w *npyWriter) Close() error {
	if w.n != w.want {
		return malformed("shape %v with %d values; want their product", w.shape, w.n)
	}
	return w.b.Flush()
}
