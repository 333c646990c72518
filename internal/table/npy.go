package table

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// ReadNPY reads an array of one or two dimensions from r, [Rows] or [Rows,Cols], in C or Fortran order, of float64, float32 or any integer
// type, in either byte order; NPY versions 1 to 3. The columns are called x0, x1, …. Integers beyond 2⁵³ are rounded to float64. name
// stands for the file in messages.
//
// Memory follows the bytes that arrive, not the shape that the header claims. Errors wrap ErrFormat and name the file, the place and what
// would be right, or wrap r's own error.
//
// github.com/sbinet/npyio v0.6.0 was tried and not taken: it allocates what the header claims, panics on a header without a newline or with
// its keys in another order, returns stale values and no error for a file cut short, and does not know version 3.
func ReadNPY(r io.Reader, name string) (*Table, error) {
	t, err := readNPY(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return t, nil
}

// readNPY is ReadNPY without the file's name.
func readNPY(r io.Reader) (*Table, error) {
	h, err := readNPYHeader(r)
	if err != nil {
		return nil, err
	}
	decode, size, err := decoder(h.descr)
	if err != nil {
		return nil, err
	}
	rows, cols, err := h.dims(size)
	if err != nil {
		return nil, err
	}
	data, err := readValues(r, rows*cols, size, decode)
	if err != nil {
		return nil, err
	}
	t := &Table{Names: numbered(cols), Rows: rows, Cols: cols, Data: data}
	if h.fortran && cols > 1 {
		t.Data = make([]float64, len(data))
		for i, v := range data {
			t.Data[i%rows*cols+i/rows] = v
		}
	}
	for i, v := range t.Data {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, malformed("row %d, column %d (from 0): %v; want finite numbers", i/cols, i%cols, v)
		}
	}
	return t, nil
}

// dims is the table's shape, if values of so many bytes can be counted in it.
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

// readValues reads n values and makes sure that nothing follows. The slice grows as the bytes arrive.
func readValues(r io.Reader, n, size int, decode func([]byte) float64) ([]float64, error) {
	buf := make([]byte, min(n*size, 1<<16))
	data := make([]float64, 0, len(buf)/size)
	for len(data) < n {
		b := buf[:min((n-len(data))*size, len(buf))]
		got, err := io.ReadFull(r, b)
		if err != nil {
			return nil, cut(err, fmt.Sprintf("after %d of %d values", len(data)+got/size, n))
		}
		for ; len(b) > 0; b = b[size:] {
			data = append(data, decode(b))
		}
	}
	switch got, err := io.ReadFull(r, make([]byte, 1)); {
	case got > 0:
		return nil, malformed("bytes follow the %d values; want none", n)
	case err != io.EOF:
		return nil, err
	}
	return data, nil
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
	switch kind {
	case "f8":
		decode = func(b []byte) float64 { return math.Float64frombits(order.Uint64(b)) }
	case "f4":
		decode = func(b []byte) float64 { return float64(math.Float32frombits(order.Uint32(b))) }
	case "i1":
		decode = func(b []byte) float64 { return float64(int8(b[0])) }
	case "i2":
		decode = func(b []byte) float64 { return float64(int16(order.Uint16(b))) }
	case "i4":
		decode = func(b []byte) float64 { return float64(int32(order.Uint32(b))) }
	case "i8":
		decode = func(b []byte) float64 { return float64(int64(order.Uint64(b))) }
	case "u1":
		decode = func(b []byte) float64 { return float64(b[0]) }
	case "u2":
		decode = func(b []byte) float64 { return float64(order.Uint16(b)) }
	case "u4":
		decode = func(b []byte) float64 { return float64(order.Uint32(b)) }
	case "u8":
		decode = func(b []byte) float64 { return float64(order.Uint64(b)) }
	default:
		return nil, 0, badType(descr)
	}
	return decode, int(kind[1] - '0'), nil
}

// badType names the type that is not read.
func badType(descr string) error {
	return malformed("type %s; want a float or an integer: <f8, >f8, <f4, >f4, |i1, <i2, … (in Python: a.astype('<f8'))", quote(descr))
}
