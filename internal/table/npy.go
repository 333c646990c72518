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
	"strconv"
	"strings"

	"github.com/vssgp/vssgp/internal/fileio/fault"
)

// npyMagic begins an NPY file; two bytes of version follow.
const npyMagic = "\x93NUMPY"

// maxNPYHeader bounds the bytes before the values; NumPy refuses headers of more than 10 000.
const maxNPYHeader = 1 << 16

// npyCells are rows of an array in a file: of one or two dimensions, [Rows] or [Rows,Cols], in C or Fortran order, of float64, float32 or any
// integer type, in either byte order; NPY versions 1 to 3. Integers beyond 2⁵³ are rounded to float64.
//
// Nothing is allocated for values before the header's shape agrees with the file's size. Errors wrap ErrFormat and give the position and
// what would be right, or they are the system's own.
//
// We do not use github.com/sbinet/npyio v0.6.0: it allocates what the header claims, panics on a header without a newline or with its keys
// in another order, returns stale values and no error for a file cut short, and does not know version 3.
type npyCells struct {
	name       string
	kind       string // f8, …
	decode     func(b []byte, order binary.ByteOrder) float64
	order      binary.ByteOrder
	columns    bool // column by column
	size       int  // of a value in bytes
	rows, cols int
	first      int    // number of the first row in data
	data       []byte // of the file, or of some rows
	start      int    // of the first row in data
}

// npyReader reads rows of an array.
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

// next reads the rows of about limit bytes; all of them if they are not one after the other.
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
	return strconv.FormatFloat(v, 'g', -1, 64)
}

func (c *npyCells) place(row, col int, _ string) string {
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
		return 0, 0, "", malformed("%s: an array of integers, which has no missing values", c.name)
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
		return malformed("its first bytes are %q; want an NPY file, which begins with %q", head[:min(len(head), len(npyMagic))], npyMagic)
	case len(head) < 12:
		return malformed("the file ends in its header")
	case head[6] < 1 || head[6] > 3:
		return malformed("NPY version %d.%d; want 1 to 3", head[6], head[7])
	}
	text, length := head[10:], int(binary.LittleEndian.Uint16(head[8:]))
	if head[6] > 1 {
		text, length = head[12:], int(binary.LittleEndian.Uint32(head[8:]))
	}
	switch {
	case length > maxNPYHeader-12:
		return malformed("a header of %d bytes; want at most %d", length, maxNPYHeader-12)
	case length > len(text):
		return malformed("the file ends in its header of %d bytes", length)
	}
	a.start = len(head) - len(text) + length
	shape, err := a.parse(string(text[:length]))
	if err != nil {
		return err
	}
	if len(shape) != 1 && len(shape) != 2 {
		return malformed("an array of %d dimensions; want [rows] or [rows, columns]", len(shape))
	}
	if a.rows, a.cols = shape[0], append(shape, 1)[1]; a.rows == 0 || a.cols == 0 {
		return malformed("shape %v has no values; want at least one row and one column", shape)
	}
	if a.rows > math.MaxInt/a.size/a.cols {
		return malformed("shape %v is more than any file holds", shape)
	}
	switch count, there := int64(a.rows*a.cols), (size-int64(a.start))/int64(a.size); {
	case there < count:
		return malformed("the file ends after %d of %d values", there, count)
	case size > int64(a.start)+count*int64(a.size):
		return malformed("bytes follow the %d values; want none", count)
	}
	return nil
}

// cut turns the end of a file that ends too early into ErrFormat, and keeps the reader's other errors.
func cut(err error, where string) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return malformed("the file ends %s", where)
	}
	return err
}

var (
	// python turns a dictionary of Python into JSON; Python 2 wrote sizes as 3L.
	python    = strings.NewReplacer("'", `"`, "(", "[", ")", "]", "False", "false", "True", "true", "L,", ",", "L)", "]")
	lastComma = regexp.MustCompile(`,\s*([\]}])`)
	// npyType matches the types that are read.
	npyType = regexp.MustCompile(`^([<>](f[48]|[iu][1248])|\|[iu]1)$`)
)

// parse takes in the header {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), } and returns the shape.
func (a *npyCells) parse(text string) (shape []int, err error) {
	var header struct {
		Descr   any
		Fortran *bool `json:"fortran_order"`
		Shape   []uint
	}
	d := json.NewDecoder(strings.NewReader(lastComma.ReplaceAllString(python.Replace(text), "$1")))
	d.DisallowUnknownFields()
	if err := d.Decode(&header); err != nil || header.Descr == nil || header.Fortran == nil || header.Shape == nil || d.More() {
		return nil, malformed("the header is %s; want {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }", fault.Quote(text))
	}
	descr, ok := header.Descr.(string)
	if !ok {
		return nil, malformed("descr is a list: records; want one plain number type such as '<f8'")
	}
	if !npyType.MatchString(descr) {
		return nil, malformed("type %s; want a float or an integer: <f8, >f8, <f4, >f4, |i1, <i2, … (in Python: a.astype('<f8'))",
			fault.Quote(descr))
	}
	if a.order = binary.LittleEndian; descr[0] == '>' {
		a.order = binary.BigEndian
	}
	a.kind, a.decode, a.size, a.columns = descr[1:], npyValues[descr[1:]], int(descr[2]-'0'), *header.Fortran
	for _, n := range header.Shape {
		if shape = append(shape, int(n)); n > math.MaxInt {
			return nil, malformed("shape %v is more than any file holds", header.Shape)
		}
	}
	return shape, nil
}

// npyValues read a value of each type from the beginning of b.
var npyValues = map[string]func(b []byte, order binary.ByteOrder) float64{
	"f8": npyValue[float64], "i8": npyValue[int64], "u8": npyValue[uint64], "i2": npyValue[int16], "u2": npyValue[uint16],
	"f4": npyValue[float32], "i4": npyValue[int32], "u4": npyValue[uint32], "i1": npyValue[int8], "u1": npyValue[uint8],
}

func npyValue[T float64 | float32 | int64 | int32 | int16 | int8 | uint64 | uint32 | uint16 | uint8](b []byte, order binary.ByteOrder) float64 {
	var v T
	binary.Decode(b, order, &v) // b is long enough
	return float64(v)
}
