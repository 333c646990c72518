package table

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/vssgp/vssgp/internal/fileio/fault"
)

// npyMagic begins an NPY file; two bytes of version follow.
const npyMagic = "\x93NUMPY"

// maxNPYHeader bounds the header's text; NumPy refuses more than 10 000 bytes.
const maxNPYHeader = 1 << 16

// npyArray is an array in a file: of one or two dimensions, [Rows] or [Rows,Cols], in C or Fortran order, of float64, float32 or any
// integer type, in either byte order; NPY versions 1 to 3. Integers beyond 2⁵³ are rounded to float64.
//
// Nothing is allocated for values before the header's shape agrees with the file's size. Errors wrap ErrFormat and give the position and
// what would be right, or they are the system's own.
//
// We do not use github.com/sbinet/npyio v0.6.0: it allocates what the header claims, panics on a header without a newline or with its keys
// in another order, returns stale values and no error for a file cut short, and does not know version 3.
type npyArray struct {
	name       string
	order      binary.ByteOrder
	kind       string // f8, …
	columns    bool   // column by column
	start      int    // offset of the first value
	size       int    // of a value in bytes
	rows, cols int
	decode     func([]byte) float64
}

// npyReader reads rows of an array.
type npyReader struct {
	npyArray
	readable
	in   io.Reader // the file
	done int       // rows read
}

// npyCells are consecutive rows of an array.
type npyCells struct {
	npyArray
	first int    // number of the first row
	data  []byte // of the file, or of these rows alone
	from  int    // offset of the first row in data
}

func (f *File) readArray(ctx context.Context) (*npyReader, error) {
	file, size, err := f.open()
	if err != nil {
		return nil, err
	}
	r := &npyReader{npyArray: npyArray{name: f.name}, readable: file}
	if err = r.header(file, size); err == nil {
		err = ctx.Err()
	}
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("%s: %w", f.name, err)
	}
	r.in = f.interruptible(ctx, file, size)
	return r, nil
}

// next reads the rows of about limit bytes; all of them if they are not one after the other.
func (r *npyReader) next(limit int) (*Table, error) {
	c := &npyCells{npyArray: r.npyArray, first: r.done}
	rows := min(r.rows-r.done, max(1, limit/(r.cols*r.size)))
	if r.columns {
		rows = r.rows - r.done
	}
	if rows == 0 {
		return nil, io.EOF
	}
	if r.done == 0 {
		c.from = r.start
	}
	c.data = make([]byte, c.from+rows*r.cols*r.size)
	if n, err := io.ReadFull(r.in, c.data); err != nil {
		return nil, fmt.Errorf("%s: %w", r.name, cut(err, fmt.Sprintf("after %d of %d values", r.done*r.cols+max(0, n-c.from)/r.size,
			r.rows*r.cols)))
	}
	r.done += rows
	c.rows = rows
	return &Table{Names: numbered(r.cols), Cols: r.cols, Rows: rows, name: r.name, cells: c, exact: true}, nil
}

// offset returns the position of a value in data.
func (c *npyCells) offset(row, col int) int {
	if c.columns {
		return c.from + (col*c.rows+row)*c.size
	}
	return c.from + (row*c.cols+col)*c.size
}

func (c *npyCells) value(row, col int) (class, float64) {
	switch v := c.decode(c.data[c.offset(row, col):]); {
	case math.IsNaN(v):
		return missing, v
	case math.IsInf(v, 0):
		return text, v
	default:
		return whole, v
	}
}

func (c *npyCells) text(row, col int) string {
	return strconv.FormatFloat(c.decode(c.data[c.offset(row, col):]), 'g', -1, 64)
}

func (c *npyCells) place(row, col int, _ string) string {
	return fmt.Sprintf("%s: row %d, column %d (from 0)", c.name, c.first+row, col)
}

func (c *npyCells) content() string { return string(c.data) }

func (c *npyCells) replace(row, col int, v float64, _ string) (lo, hi int, with string, err error) {
	b, ok := c.encode(v)
	if !ok {
		return 0, 0, "", malformed("%s: an array of integers, which has no missing values", c.name)
	}
	lo = c.offset(row, col)
	return lo, lo + c.size, string(b), nil
}

// header reads the header of a file of size bytes.
func (a *npyArray) header(f io.ReaderAt, size int64) error {
	head := io.NewSectionReader(f, 0, size)
	text, err := npyHeader(head)
	if err != nil {
		return err
	}
	start, _ := head.Seek(0, io.SeekCurrent) // does not fail
	a.start = int(start)
	shape, err := a.parse(text)
	if err != nil {
		return err
	}
	a.decode = a.decoder()
	if len(shape) != 1 && len(shape) != 2 {
		return malformed("an array of %d dimensions; want [rows] or [rows, columns]", len(shape))
	}
	if a.rows, a.cols = shape[0], append(shape, 1)[1]; a.rows == 0 || a.cols == 0 {
		return malformed("shape %v has no values; want at least one row and one column", shape)
	}
	if a.rows > math.MaxInt/a.size/a.cols {
		return malformed("shape %v is more than any file holds", shape)
	}
	switch count, there := int64(a.rows*a.cols), (size-start)/int64(a.size); {
	case there < count:
		return malformed("the file ends after %d of %d values", there, count)
	case size > start+count*int64(a.size):
		return malformed("bytes follow the %d values; want none", count)
	}
	return nil
}

// npyHeader reads the magic, the version, the length and the text of the header.
func npyHeader(r io.Reader) (string, error) {
	var first [8]byte
	if _, err := io.ReadFull(r, first[:]); err != nil {
		return "", cut(err, "in the first 8 bytes; want an NPY file")
	}
	if string(first[:6]) != npyMagic {
		return "", malformed("offset 0: %q; want an NPY file, which begins with %q", first[:6], npyMagic)
	}
	if first[6] < 1 || first[6] > 3 {
		return "", malformed("offset 6: NPY version %d.%d; want 1 to 3", first[6], first[7])
	}
	var length [4]byte
	n := 4
	if first[6] == 1 {
		n = 2
	}
	if _, err := io.ReadFull(r, length[:n]); err != nil {
		return "", cut(err, "in the header's length")
	}
	size := binary.LittleEndian.Uint32(length[:])
	if size > maxNPYHeader {
		return "", malformed("offset 8: header length %d; want at most %d", size, maxNPYHeader)
	}
	text := make([]byte, size)
	if _, err := io.ReadFull(r, text); err != nil {
		return "", cut(err, fmt.Sprintf("in the header of %d bytes", size))
	}
	if !utf8.Valid(text) {
		return "", malformed("offset 8: the header is not UTF-8 text")
	}
	return string(text), nil
}

// cut turns the end of a file that ends too early into ErrFormat, and keeps the reader's other errors.
func cut(err error, where string) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return malformed("the file ends %s", where)
	}
	return err
}

// npyItem matches a key of the header with its value: a text, a truth, a tuple, or the beginning of a list of a record's fields.
const npyItem = `\s*['"](\w*)['"]\s*:\s*('[^']*'|"[^"]*"|True|False|\([0-9L,\s]*\)|\[[^\]]*\])\s*`

var (
	npyItems = regexp.MustCompile(npyItem)
	npyDict  = regexp.MustCompile(`^\s*\{(?:` + npyItem + `,)*(?:` + npyItem + `)?\s*\}\s*$`)
	// npyType matches the types that are read.
	npyType = regexp.MustCompile(`^([<>](f[48]|[iu][1248])|\|[iu]1)$`)
)

// parse takes in the header {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), } and returns the shape. The keys may be in any
// order, each once. Python 2 wrote sizes as 3L.
func (a *npyArray) parse(text string) (shape []int, err error) {
	values := map[string]string{}
	items := npyItems.FindAllStringSubmatch(text, -1)
	for _, m := range items {
		values[m[1]] = m[2]
	}
	descr, fortran, sizes := values["descr"], values["fortran_order"], values["shape"]
	if len(items) != 3 || !npyDict.MatchString(text) || descr == "" || !strings.HasSuffix(fortran, "e") || !strings.HasPrefix(sizes, "(") {
		return nil, malformed("the header is %s; want {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }", fault.Quote(text))
	}
	if descr[0] == '[' {
		return nil, malformed("descr is a list: records; want one plain number type such as '<f8'")
	}
	descr = strings.Trim(descr, `'"`)
	if !npyType.MatchString(descr) {
		return nil, malformed("type %s; want a float or an integer: <f8, >f8, <f4, >f4, |i1, <i2, … (in Python: a.astype('<f8'))",
			fault.Quote(descr))
	}
	if a.order = binary.LittleEndian; descr[0] == '>' {
		a.order = binary.BigEndian
	}
	a.kind, a.size, a.columns = descr[1:], int(descr[2]-'0'), fortran == "True"
	fields := strings.Split(strings.TrimRight(strings.Trim(sizes, "()"), " \t\r\n"), ",")
	if last := len(fields) - 1; fields[last] == "" { // after the last comma
		fields = fields[:last]
	}
	for _, f := range fields {
		v, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(f), "L"), 10, strconv.IntSize-1)
		if err != nil {
			return nil, malformed("shape has the entry %s; want an integer from 0 to 2⁶³−1", fault.Quote(strings.TrimSpace(f)))
		}
		shape = append(shape, int(v))
	}
	return shape, nil
}

// decoder returns a function that reads one value.
func (a *npyArray) decoder() func([]byte) float64 {
	order, size, unused := a.order, a.size, 64-8*a.size
	unsigned := func(b []byte) (v uint64) {
		var word [8]byte
		if order == binary.BigEndian {
			copy(word[8-size:], b[:size])
		} else {
			copy(word[:], b[:size])
		}
		return order.Uint64(word[:])
	}
	switch {
	case a.kind == "f8":
		return func(b []byte) float64 { return math.Float64frombits(order.Uint64(b)) }
	case a.kind == "f4":
		return func(b []byte) float64 { return float64(math.Float32frombits(order.Uint32(b))) }
	case a.kind[0] == 'u':
		return func(b []byte) float64 { return float64(unsigned(b)) }
	}
	return func(b []byte) float64 { return float64(int64(unsigned(b)<<unused) >> unused) }
}

// encode writes a value as a float of the array's type; false for an array of integers.
func (a *npyArray) encode(v float64) ([]byte, bool) {
	b := make([]byte, a.size)
	switch a.kind {
	case "f8":
		a.order.PutUint64(b, math.Float64bits(v))
	case "f4":
		a.order.PutUint32(b, math.Float32bits(float32(v)))
	default:
		return nil, false
	}
	return b, true
}
