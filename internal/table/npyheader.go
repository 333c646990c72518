package table

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
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

// npyArray reads rows of an array in a file.
type npyArray struct {
	f          io.ReaderAt
	descr      string // byte order and type, such as <f8
	columns    bool   // column by column
	shape      []int
	start      int64 // of the first value
	size       int   // of a value in bytes
	rows, cols int
	decode     func([]byte) float64
	bytes      []byte
	data       []float64
}

// readHeader reads the magic, the version, the length and the dictionary.
func (a *npyArray) readHeader(r io.Reader) error {
	var first [8]byte
	if _, err := io.ReadFull(r, first[:]); err != nil {
		return cut(err, "in the first 8 bytes; want an NPY file")
	}
	if string(first[:6]) != npyMagic {
		return malformed("offset 0: %q; want an NPY file, which begins with %q", first[:6], npyMagic)
	}
	if first[6] < 1 || first[6] > 3 {
		return malformed("offset 6: NPY version %d.%d; want 1 to 3", first[6], first[7])
	}
	var length [4]byte
	n := 4
	if first[6] == 1 {
		n = 2
	}
	if _, err := io.ReadFull(r, length[:n]); err != nil {
		return cut(err, "in the header's length")
	}
	size := binary.LittleEndian.Uint32(length[:])
	if size > maxNPYHeader {
		return malformed("offset 8: header length %d; want at most %d", size, maxNPYHeader)
	}
	text := make([]byte, size)
	if _, err := io.ReadFull(r, text); err != nil {
		return cut(err, fmt.Sprintf("in the header of %d bytes", size))
	}
	if !utf8.Valid(text) {
		return malformed("offset 8: the header is not UTF-8 text")
	}
	if at, err := a.parse(string(text)); err != nil {
		return malformed("offset %d: %w", 8+n+at, err)
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

// npyItem matches a key and its value in the header, and the comma or the last brace after it.
var npyItem = regexp.MustCompile(`^\s*(?:'(\w*)'|"(\w*)")\s*:\s*('[^']*'|"[^"]*"|True|False|\([0-9L,\s]*\)|\[)\s*(,?\s*\}|,|)`)

// parse reads {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), } with its keys in any order, each once. It returns how many
// bytes of the text it has read.
func (a *npyArray) parse(text string) (at int, err error) {
	rest, ok := strings.CutPrefix(strings.TrimLeft(text, " \t\r\n"), "{")
	read := func() int { return len(text) - len(rest) }
	if !ok {
		return 0, errors.New("the header is not a Python dictionary; want {'descr': …}")
	}
	seen := map[string]bool{}
	for open := true; open; {
		m := npyItem.FindStringSubmatch(rest)
		if m == nil {
			return read(), fmt.Errorf("%s in the header; want {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }", fault.Quote(rest))
		}
		key, value := m[1]+m[2], m[3]
		if seen[key] {
			return read(), fmt.Errorf("the key %s stands twice in the header; want it once", fault.Quote(key))
		}
		seen[key] = true
		if err := a.set(key, value); err != nil {
			return read(), err
		}
		if m[4] == "" {
			return read(), fmt.Errorf("no comma after the value of %s in the header", key)
		}
		rest = rest[len(m[0]):]
		open = !strings.HasSuffix(m[4], "}")
	}
	switch {
	case strings.TrimSpace(rest) != "":
		return read(), errors.New("text after the header's dictionary; want spaces and a newline")
	case len(seen) != 3:
		return read(), errors.New("the header lacks some of descr, fortran_order and shape")
	}
	return read(), nil
}

// set takes in the value of a key.
func (a *npyArray) set(key, value string) (err error) {
	kind := value[0]
	switch key {
	case "descr":
		switch kind {
		case '\'', '"':
			a.descr = value[1 : len(value)-1]
		case '[':
			err = errors.New("descr is a list: records; want one plain number type such as '<f8'")
		default:
			err = fmt.Errorf("descr is %s; want a type such as '<f8'", fault.Quote(value))
		}
	case "fortran_order":
		if a.columns = value == "True"; !a.columns && value != "False" {
			err = errors.New("fortran_order is neither True nor False")
		}
	case "shape":
		if kind != '(' {
			return fmt.Errorf("shape is %s; want (rows, columns)", fault.Quote(value))
		}
		a.shape, err = sizes(value[1 : len(value)-1])
	default:
		err = fmt.Errorf("unknown key %s in the header; want descr, fortran_order and shape", fault.Quote(key))
	}
	return err
}

// sizes reads the inside of a shape: nothing, "3,", "3, 4"; Python 2 wrote "3L,".
func sizes(tuple string) ([]int, error) {
	shape := []int{}
	fields := strings.Split(tuple, ",")
	for i, f := range fields {
		f = strings.TrimSpace(f)
		if f == "" && i == len(fields)-1 { // after the last comma
			break
		}
		v, err := strconv.ParseUint(strings.TrimSuffix(f, "L"), 10, strconv.IntSize-1)
		if err != nil {
			return nil, fmt.Errorf("shape has the entry %s; want an integer from 0 to 2⁶³−1", fault.Quote(f))
		}
		shape = append(shape, int(v))
	}
	return shape, nil
}
