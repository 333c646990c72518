package table

import (
	"bufio"
	"encoding/binary"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// WriteCSV writes a line of names and then data, [len(data)/len(names), len(names)] row-major, each value in the shortest form that
// reads back as the same float64. What ReadCSV would refuse (names that are empty, alike or numbers; no rows; values that are not finite)
// is an error that wraps ErrFormat; other errors are w's own.
func WriteCSV(w io.Writer, names []string, data []float64) error {
	cols := len(names)
	if err := checkNames(names); err != nil {
		return malformed("%w", err)
	}
	if cols == 0 || len(data) == 0 || len(data)%cols != 0 {
		return malformed("%d values for %d columns; want one or more whole rows", len(data), cols)
	}
	b := bufio.NewWriterSize(w, 1<<16)
	header := csv.NewWriter(b)
	if err := header.Write(names); err != nil {
		return malformed("%w", err)
	}
	header.Flush() // into b, which keeps an error until its own Flush
	var text []byte
	for i, v := range data {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return malformed("row %d, column %s: %v; want a finite number", i/cols, quote(names[i%cols]), v)
		}
		text = appendNumber(text[:0], v)
		if (i+1)%cols == 0 {
			text = append(text, '\n')
		} else {
			text = append(text, ',')
		}
		if _, err := b.Write(text); err != nil {
			return err
		}
	}
	return b.Flush()
}

// appendNumber writes v with as few digits as identify it, with an exponent only where that is shorter to read.
func appendNumber(b []byte, v float64) []byte {
	format := byte('f')
	if a := math.Abs(v); a != 0 && (a < 1e-6 || a >= 1e21) {
		format = 'e'
	}
	return strconv.AppendFloat(b, v, format, -1, 64)
}

// WriteNPY writes data, row-major of the given shape, as NPY version 1.0 of type '<f8'; an empty shape is a scalar. Data that do
// not match the shape and values that are not finite are errors that wrap ErrFormat; other errors are w's own.
func WriteNPY(w io.Writer, shape []int, data []float64) error {
	n, dims := 1, make([]string, len(shape))
	for i, s := range shape {
		if s < 0 || s > 0 && n > math.MaxInt/s {
			return malformed("shape %v; want sizes whose product can be counted", shape)
		}
		n *= s
		dims[i] = strconv.Itoa(s)
	}
	if n != len(data) {
		return malformed("shape %v with %d values; want their product", shape, len(data))
	}
	tuple := strings.Join(dims, ", ")
	if len(shape) == 1 {
		tuple += "," // Python's tuple of one
	}
	text := fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%s), }", tuple)
	const before = len(npyMagic) + 4
	text += strings.Repeat(" ", 63-(before+len(text))%64) + "\n" // NumPy aligns the data to 64 bytes
	if len(text) > math.MaxUint16 {
		return malformed("shape of %d dimensions; want fewer", len(shape))
	}
	b := bufio.NewWriterSize(w, 1<<16)
	b.WriteString(npyMagic + "\x01\x00")
	b.Write(binary.LittleEndian.AppendUint16(nil, uint16(len(text))))
	b.WriteString(text)
	var word [8]byte
	for i, v := range data {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return malformed("value %d: %v; want a finite number", i, v)
		}
		binary.LittleEndian.PutUint64(word[:], math.Float64bits(v))
		if _, err := b.Write(word[:]); err != nil {
			return err
		}
	}
	return b.Flush()
}
