package table

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strings"

	"github.com/vssgp/vssgp/internal/fileio/fault"
)

// npyMagic is the beginning of an NPY file. Two bytes with the version follow.
const npyMagic = "\x93NUMPY"

// maxNPYHeader is the maximum number of bytes before the values. NumPy rejects headers of more than 10 000 bytes.
const maxNPYHeader = 1 << 16

// npyCells are rows of an array in an NPY file of version 1 to 3. The array has the shape [Rows] or [Rows,Cols], C or Fortran order, and
// the type float64, float32 or any integer type in either byte order. Integers above 2⁵³ are rounded to float64.
//
// Memory for values is allocated only after the header's shape agrees with the file's size. Errors wrap ErrFormat and contain the position
// and the expected content, or they are errors of the system.
//
// We do not use github.com/sbinet/npyio v0.6.0. It allocates memory for the shape in the header, panics on a header without a newline or
// with its keys in another order, returns stale values without an error for a truncated file, and does not support version 3.
type npyCells struct {
	name       string
	kind       string // f8, …
	decode     func(b []byte, order binary.ByteOrder) float64
	order      binary.ByteOrder
	columns    bool // Fortran order
	size       int  // of a value in bytes
	rows, cols int
	first      int    // number of the first row in data
	data       []byte // of the file, or of some rows
	start      int    // offset of the first row in data
}

// An npyReader reads rows of an array.
type npyReader struct {
	array npyCells
	in    io.Reader
	io.Closer
}

func (f *File) readArray(ctx context.Context) (*npyReader, error) {
	section, file, err := f.open()
	if err != nil {
		return nil, err
	}
	r := &npyReader{array: npyCells{name: f.name}, in: interruptible(ctx, section), Closer: file}
	if err = r.array.header(section, section.Size()); err != nil {
		file.Close()
		return nil, fmt.Errorf("%s: %w", f.name, err)
	}
	return r, nil
}

// next reads about limit bytes of rows, or all rows if they are in Fortran order.
func (r *npyReader) next(limit int) (*Table, error) {
	c := r.array
	if !c.columns {
		c.rows = min(c.rows-c.first, max(1, limit/(c.cols*c.size)))
	}
	if r.array.first == r.array.rows {
		return nil, io.EOF
	}
	c.data = make([]byte, c.start+c.rows*c.cols*c.size)
	if n, err := io.ReadFull(r.in, c.data); err != nil {
		return nil, fmt.Errorf("%s: %w", c.name, cut(err, fmt.Sprintf("after %d of %d values", c.first*c.cols+max(0, n-c.start)/c.size,
			r.array.rows*c.cols)))
	}
	r.array.first, r.array.start = c.first+c.rows, 0
	return &Table{Names: numbered(c.cols), Cols: c.cols, Rows: c.rows, name: c.name, cells: &c, exact: true}, nil
}

// offset returns the position of a value in data.
func (c *npyCells) offset(row, col int) int {
	if c.columns {
		return c.start + (col*c.rows+row)*c.size
	}
	return c.start + (row*c.cols+col)*c.size
}

func (c *npyCells) value(row, col int) (class, float64) {
	switch v := c.decode(c.data[c.offset(row, col):], c.order); {
	case math.IsNaN(v):
		return missing, v
	case math.IsInf(v, 0):
		return text, v
	default:
		return whole, v
	}
}

func (c *npyCells) text(row, col int) string {
	_, v := c.value(row, col)
	return string(appendNumber(nil, v))
}

func (c *npyCells) position(row, col int, _ string) string {
	return fmt.Sprintf("%s: row %d, column %d (from 0)", c.name, c.first+row, col)
}

func (c *npyCells) content() string { return string(c.data) }

func (c *npyCells) replace(row, col int, v float64, _ string) (lo, hi int, with string, err error) {
	var b []byte
	switch c.kind {
	case "f8":
		b, _ = binary.Append(nil, c.order, v)
	case "f4":
		b, _ = binary.Append(nil, c.order, float32(v))
	default:
		return 0, 0, "", malformed("%s: an array of integers cannot have missing values", c.name)
	}
	lo = c.offset(row, col)
	return lo, lo + c.size, string(b), nil
}

// header reads the header of a file of size bytes.
func (a *npyCells) header(f io.ReaderAt, size int64) error {
	head := make([]byte, min(size, maxNPYHeader))
	if n, err := f.ReadAt(head, 0); n < len(head) {
		return cut(err, "in its header")
	}
	switch {
	case !bytes.HasPrefix(head, []byte(npyMagic)):
		return malformed("the first bytes are %q; an NPY file must begin with %q", head[:min(len(head), len(npyMagic))], npyMagic)
	case len(head) < 12:
		return malformed("the file ends in its header")
	case head[6] < 1 || head[6] > 3:
		return malformed("NPY version %d.%d is not supported; must be 1 to 3", head[6], head[7])
	}
	text, length := head[10:], int(binary.LittleEndian.Uint16(head[8:]))
	if head[6] > 1 {
		text, length = head[12:], int(binary.LittleEndian.Uint32(head[8:]))
	}
	switch {
	case length > maxNPYHeader-12:
		return malformed("the header has %d bytes; the maximum is %d", length, maxNPYHeader-12)
	case length > len(text):
		return malformed("the file ends in its header of %d bytes", length)
	}
	a.start = len(head) - len(text) + length
	shape, err := a.parse(string(text[:length]))
	if err != nil {
		return err
	}
	if len(shape) != 1 && len(shape) != 2 {
		return malformed("the array has %d dimensions; must be [rows] or [rows, columns]", len(shape))
	}
	if a.rows, a.cols = shape[0], append(shape, 1)[1]; a.rows == 0 || a.cols == 0 {
		return malformed("shape %v has no values; at least one row and one column are required", shape)
	}
	if a.rows > math.MaxInt/a.size/a.cols {
		return malformed("shape %v is too large for a file", shape)
	}
	switch count, there := int64(a.rows*a.cols), (size-int64(a.start))/int64(a.size); {
	case there < count:
		return malformed("the file ends after %d of %d values", there, count)
	case size > int64(a.start)+count*int64(a.size):
		return malformed("the file has bytes after its %d values", count)
	}
	return nil
}

// cut converts the error of a file that ends too early into ErrFormat. It returns other errors unchanged.
func cut(err error, where string) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return malformed("the file ends %s", where)
	}
	return err
}

var (
	// python converts a dictionary of Python into JSON. Python 2 wrote sizes as 3L.
	python    = strings.NewReplacer("'", `"`, "(", "[", ")", "]", "False", "false", "True", "true", "L,", ",", "L)", "]")
	lastComma = regexp.MustCompile(`,\s*([\]}])`)
	// npyType matches the supported types.
	npyType = regexp.MustCompile(`^([<>](f[48]|[iu][1248])|\|[iu]1)$`)
)

// parse parses a header such as {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), } and returns the shape.
func (a *npyCells) parse(text string) (shape []int, err error) {
	var header struct {
		Descr   any
		Fortran *bool `json:"fortran_order"`
		Shape   []uint
	}
	d := json.NewDecoder(strings.NewReader(lastComma.ReplaceAllString(python.Replace(text), "$1")))
	d.DisallowUnknownFields()
	if err := d.Decode(&header); err != nil || header.Descr == nil || header.Fortran == nil || header.Shape == nil || d.More() {
		return nil, malformed("the header is %s; must be like {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }", fault.Quote(text))
	}
	descr, ok := header.Descr.(string)
	if !ok {
		return nil, malformed("descr is a list (records); must be a number type such as '<f8'")
	}
	if !npyType.MatchString(descr) {
		return nil, malformed("type %s is not supported; must be a float or an integer: <f8, >f8, <f4, >f4, |i1, <i2, … (in Python: "+
			"a.astype('<f8'))", fault.Quote(descr))
	}
	if a.order = binary.LittleEndian; descr[0] == '>' {
		a.order = binary.BigEndian
	}
	a.kind, a.decode, a.size, a.columns = descr[1:], npyValues[descr[1:]], int(descr[2]-'0'), *header.Fortran
	for _, n := range header.Shape {
		if shape = append(shape, int(n)); n > math.MaxInt {
			return nil, malformed("shape %v is too large for a file", header.Shape)
		}
	}
	return shape, nil
}

// npyValues are the functions that decode a value of each type from the beginning of b.
var npyValues = map[string]func(b []byte, order binary.ByteOrder) float64{
	"f8": npyValue[float64], "i8": npyValue[int64], "u8": npyValue[uint64], "i2": npyValue[int16], "u2": npyValue[uint16],
	"f4": npyValue[float32], "i4": npyValue[int32], "u4": npyValue[uint32], "i1": npyValue[int8], "u1": npyValue[uint8],
}

func npyValue[T float64 | float32 | int64 | int32 | int16 | int8 | uint64 | uint32 | uint16 | uint8](b []byte, order binary.ByteOrder) float64 {
	var v T
	binary.Decode(b, order, &v) // cannot fail, because b is long enough
	return float64(v)
}
