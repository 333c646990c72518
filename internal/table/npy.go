package table

import (
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	"math"
)

// npyParts reads an array of one or two dimensions in a file of size bytes: [Rows] or [Rows,Cols], in C or Fortran order, of float64,
// float32 or any integer type, in either byte order; NPY versions 1 to 3. The columns are called x0, x1, …. Integers beyond 2⁵³ are rounded
// to float64. Some rows come at a time, each part good until the next; an error comes last.
//
// Nothing is allocated for values before the header's shape agrees with size. Errors wrap ErrFormat and say the place and what would be
// right, or wrap f's own error.
//
// github.com/sbinet/npyio v0.6.0 was tried and not taken: it allocates what the header claims, panics on a header without a newline or with
// its keys in another order, returns stale values and no error for a file cut short, and does not know version 3.
func npyParts(f io.ReaderAt, size int64, name string) iter.Seq2[*Table, error] {
	return func(yield func(*Table, error) bool) {
		a, err := openNPY(f, size)
		if err == nil {
			t := &Table{Names: numbered(a.cols), Cols: a.cols}
			for step := max(1, partNumbers/a.cols); err == nil && t.Rows < a.rows; {
				lo := t.Rows
				t.Rows = min(a.rows, lo+step)
				if t.Data, err = a.read(lo, t.Rows); err == nil && !yield(t, nil) {
					return
				}
			}
		}
		if err != nil {
			yield(nil, fmt.Errorf("%s: %w", name, err))
		}
	}
}

// npyArray reads rows of an array in a file.
type npyArray struct {
	f          io.ReaderAt
	start      int64 // of the first value
	size       int   // of a value in bytes
	rows, cols int
	columns    bool // column by column
	decode     func([]byte) float64
	bytes      []byte
	data       []float64
}

// openNPY reads the header of a file of size bytes.
func openNPY(f io.ReaderAt, size int64) (*npyArray, error) {
	head := io.NewSectionReader(f, 0, size)
	h, err := readNPYHeader(head)
	if err != nil {
		return nil, err
	}
	a := &npyArray{f: f}
	if a.decode, a.size, err = decoder(h.descr); err != nil {
		return nil, err
	}
	if a.rows, a.cols, err = h.dims(a.size); err != nil {
		return nil, err
	}
	a.columns = h.fortran && a.cols > 1
	a.start, _ = head.Seek(0, io.SeekCurrent) // does not fail
	switch count := a.rows * a.cols; {
	case (size-a.start)/int64(a.size) < int64(count):
		return nil, malformed("the file ends after %d of %d values", (size-a.start)/int64(a.size), count)
	case size > a.start+int64(count*a.size):
		return nil, malformed("bytes follow the %d values; want none", count)
	}
	return a, nil
}

// read is rows [lo, hi).
func (a *npyArray) read(lo, hi int) ([]float64, error) {
	n := (hi - lo) * a.cols
	if cap(a.data) < n {
		a.data, a.bytes = make([]float64, n), make([]byte, n*a.size)
	}
	data := a.data[:n]
	each, at, step := 1, lo*a.cols, 1 // reads, the first value of the first one, and how far apart its values are in data
	if a.columns {
		each, at, step = a.cols, lo, a.cols
	}
	for c := range each {
		b := a.bytes[:n/each*a.size]
		if got, err := a.f.ReadAt(b, a.start+int64(at+c*a.rows)*int64(a.size)); err != nil {
			return nil, cut(err, fmt.Sprintf("after %d of %d values", at+c*a.rows+got/a.size, a.rows*a.cols))
		}
		for i := range n / each {
			data[c+i*step] = a.decode(b[i*a.size:])
		}
	}
	for i, v := range data {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, malformed("row %d, column %d (from 0): %v; want finite numbers", lo+i/a.cols, i%a.cols, v)
		}
	}
	return data, nil
}

// dims is the table's shape, if the bytes of its values, size each, can be counted.
func (h *npyHeader) dims(size int) (rows, cols int, err error) {
	shape := h.shape
	if len(shape) == 1 {
		shape = []int64{shape[0], 1}
	}
	if len(shape) != 2 {
		return 0, 0, malformed("an array of %d dimensions; want [rows] or [rows, columns]", len(h.shape))
	}
	if shape[0] == 0 || shape[1] == 0 {
		return 0, 0, malformed("shape %v has no values; want at least one row and one column", h.shape)
	}
	if shape[0] > math.MaxInt/int64(size)/shape[1] {
		return 0, 0, malformed("shape %v is more than any file holds", h.shape)
	}
	return int(shape[0]), int(shape[1]), nil
}

// decoder turns a type such as <f8 into a function that reads one value, and the bytes it takes.
func decoder(descr string) (decode func([]byte) float64, size int, err error) {
	if len(descr) != 3 {
		return nil, 0, badType(descr)
	}
	var order binary.ByteOrder = binary.LittleEndian
	kind := descr[1:]
	switch one := kind == "i1" || kind == "u1"; {
	case descr[0] == '<', descr[0] == '|' && one:
	case descr[0] == '>':
		order = binary.BigEndian
	default:
		return nil, 0, badType(descr)
	}
	size = int(kind[1] - '0')
	unsigned := func(b []byte) (v uint64) {
		var word [8]byte
		if order == binary.BigEndian {
			copy(word[8-size:], b[:size])
		} else {
			copy(word[:], b[:size])
		}
		return order.Uint64(word[:])
	}
	switch kind {
	case "f8":
		decode = func(b []byte) float64 { return math.Float64frombits(order.Uint64(b)) }
	case "f4":
		decode = func(b []byte) float64 { return float64(math.Float32frombits(order.Uint32(b))) }
	case "u1", "u2", "u4", "u8":
		decode = func(b []byte) float64 { return float64(unsigned(b)) }
	case "i1", "i2", "i4", "i8":
		unused := 64 - 8*size
		decode = func(b []byte) float64 { return float64(int64(unsigned(b)<<unused) >> unused) }
	default:
		return nil, 0, badType(descr)
	}
	return decode, size, nil
}

// badType names the type that is not read.
func badType(descr string) error {
	return malformed("type %s; want a float or an integer: <f8, >f8, <f4, >f4, |i1, <i2, … (in Python: a.astype('<f8'))", quote(descr))
}
