package table

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"regexp"

	"github.com/vssgp/vssgp/internal/fileio/fault"
)

// each visits an array's rows, some at a time: an array of one or two dimensions, [Rows] or [Rows,Cols], in C or Fortran order, of float64,
// float32 or any integer type, in either byte order; NPY versions 1 to 3. The columns are called x0, x1, …. Integers beyond 2⁵³ are rounded
// to float64. Each part is good until the next.
//
// Nothing is allocated for values before the header's shape agrees with the file's size. Errors wrap ErrFormat and give the place and what
// would be right, or they are the system's own.
//
// We do not use github.com/sbinet/npyio v0.6.0: it allocates what the header claims, panics on a header without a newline or with its keys
// in another order, returns stale values and no error for a file cut short, and does not know version 3.
func (a *npyArray) each(ctx context.Context, visit func(first int, data []float64) error) error {
	for lo, step := 0, max(1, partNumbers/a.cols); lo < a.rows; lo += step {
		data, err := a.read(lo, min(a.rows, lo+step))
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = visit(lo, data)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// openNPY reads the header of a file of size bytes.
func openNPY(f io.ReaderAt, size int64) (*npyArray, error) {
	head := io.NewSectionReader(f, 0, size)
	a := &npyArray{f: f}
	err := a.readHeader(head)
	if err != nil {
		return nil, err
	}
	if a.decode, a.size, err = decoder(a.descr); err != nil {
		return nil, err
	}
	if a.rows, a.cols, err = dims(a.shape, a.size); err != nil {
		return nil, err
	}
	a.start, _ = head.Seek(0, io.SeekCurrent) // does not fail
	switch count := a.rows * a.cols; {
	case (size-a.start)/int64(a.size) < int64(count):
		return nil, malformed("the file ends after %d of %d values", (size-a.start)/int64(a.size), count)
	case size > a.start+int64(count*a.size):
		return nil, malformed("bytes follow the %d values; want none", count)
	}
	return a, nil
}

// read returns the rows [lo, hi).
func (a *npyArray) read(lo, hi int) ([]float64, error) {
	n := (hi - lo) * a.cols
	if cap(a.data) < n {
		a.data, a.bytes = make([]float64, n), make([]byte, n*a.size)
	}
	data := a.data[:n]
	each, at, step := 1, lo*a.cols, 1 // reads, the first value of the first read, and how far apart its values lie in data
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
	return data, nil
}

// dims returns the shape of the table. An int holds the number of bytes of its values, size each.
func dims(shape []int, size int) (rows, cols int, err error) {
	if len(shape) != 1 && len(shape) != 2 {
		return 0, 0, malformed("an array of %d dimensions; want [rows] or [rows, columns]", len(shape))
	}
	rows, cols = shape[0], append(shape, 1)[1]
	if rows == 0 || cols == 0 {
		return 0, 0, malformed("shape %v has no values; want at least one row and one column", shape)
	}
	if rows > math.MaxInt/size/cols {
		return 0, 0, malformed("shape %v is more than any file holds", shape)
	}
	return rows, cols, nil
}

// npyType matches the types that are read.
var npyType = regexp.MustCompile(`^([<>](f[48]|[iu][1248])|\|[iu]1)$`)

// decoder turns a type such as <f8 into a function that reads one value, and the bytes it takes.
func decoder(descr string) (decode func([]byte) float64, size int, err error) {
	if !npyType.MatchString(descr) {
		return nil, 0, malformed("type %s; want a float or an integer: <f8, >f8, <f4, >f4, |i1, <i2, … (in Python: a.astype('<f8'))", fault.Quote(descr))
	}
	var order binary.ByteOrder = binary.LittleEndian
	if descr[0] == '>' {
		order = binary.BigEndian
	}
	size = int(descr[2] - '0')
	unsigned := func(b []byte) (v uint64) {
		var word [8]byte
		if order == binary.BigEndian {
			copy(word[8-size:], b[:size])
		} else {
			copy(word[:], b[:size])
		}
		return order.Uint64(word[:])
	}
	switch descr[1:] {
	case "f8":
		decode = func(b []byte) float64 { return math.Float64frombits(order.Uint64(b)) }
	case "f4":
		decode = func(b []byte) float64 { return float64(math.Float32frombits(order.Uint32(b))) }
	case "u1", "u2", "u4", "u8":
		decode = func(b []byte) float64 { return float64(unsigned(b)) }
	default: // signed
		unused := 64 - 8*size
		decode = func(b []byte) float64 { return float64(int64(unsigned(b)<<unused) >> unused) }
	}
	return decode, size, nil
}
