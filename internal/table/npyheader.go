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
)

// npyMagic begins an NPY file; two bytes of version follow.
const npyMagic = "\x93NUMPY"

// maxNPYHeader bounds the header's text; NumPy refuses more than 10 000 bytes.
const maxNPYHeader = 1 << 16

// npyHeader is the dictionary at the head of an NPY file.
type npyHeader struct {
	descr   string // byte order and type, such as <f8
	fortran bool   // column by column
	shape   []int64
}

// readNPYHeader reads magic, version, length and dictionary. Its errors do not name the file.
func readNPYHeader(r io.Reader) (*npyHeader, error) {
	var first [8]byte
	if _, err := io.ReadFull(r, first[:]); err != nil {
		return nil, cut(err, "in the first 8 bytes; want an NPY file")
	}
	if string(first[:6]) != npyMagic {
		return nil, malformed("offset 0: %q; want an NPY file, which begins with %q", first[:6], npyMagic)
	}
	var length [4]byte
	major, n := first[6], 4
	switch major {
	case 1:
		n = 2
	case 2, 3:
	default:
		return nil, malformed("offset 6: NPY version %d.%d; want 1 to 3", major, first[7])
	}
	if _, err := io.ReadFull(r, length[:n]); err != nil {
		return nil, cut(err, "in the header's length")
	}
	size := binary.LittleEndian.Uint32(length[:])
	if size > maxNPYHeader {
		return nil, malformed("offset 8: header length %d; want at most %d", size, maxNPYHeader)
	}
	text := make([]byte, size)
	if _, err := io.ReadFull(r, text); err != nil {
		return nil, cut(err, fmt.Sprintf("in the header of %d bytes", size))
	}
	if !utf8.Valid(text) {
		return nil, malformed("offset 8: the header is not UTF-8 text")
	}
	h := &npyHeader{}
	if at, err := h.parse(string(text)); err != nil {
		return nil, malformed("offset %d: %w", 8+n+at, err)
	}
	return h, nil
}

// cut is the error of a file that ends too early, or the reader's own.
func cut(err error, where string) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return malformed("the file ends %s", where)
	}
	return err
}

// npyItem is a key and a value of the header, with the comma and the last brace after it.
var npyItem = regexp.MustCompile(`^\s*(?:'(\w*)'|"(\w*)")\s*:\s*('[^']*'|"[^"]*"|True|False|\([0-9L,\s]*\)|\[)\s*(,?\s*\}|,|)`)

// parse reads {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }, its keys in any order, each once. It returns how many bytes
// of the text it has read.
func (h *npyHeader) parse(text string) (at int, err error) {
	rest, ok := strings.CutPrefix(strings.TrimLeft(text, " \t\r\n"), "{")
	read := func() int { return len(text) - len(rest) }
	if !ok {
		return 0, errors.New("the header is not a Python dictionary; want {'descr': …}")
	}
	seen := map[string]bool{}
	for open := true; open; {
		m := npyItem.FindStringSubmatch(rest)
		if m == nil {
			return read(), fmt.Errorf("%s in the header; want {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }", quote(rest))
		}
		key, value := m[1]+m[2], m[3]
		if seen[key] {
			return read(), fmt.Errorf("the key %s stands twice in the header; want it once", quote(key))
		}
		seen[key] = true
		if err := h.set(key, value); err != nil {
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

// set takes the value of a key.
func (h *npyHeader) set(key, value string) (err error) {
	kind := value[0]
	switch key {
	case "descr":
		switch kind {
		case '\'', '"':
			h.descr = value[1 : len(value)-1]
		case '[':
			err = errors.New("descr is a list: records; want one plain number type such as '<f8'")
		default:
			err = fmt.Errorf("descr is %s; want a type such as '<f8'", quote(value))
		}
	case "fortran_order":
		if h.fortran = value == "True"; !h.fortran && value != "False" {
			err = errors.New("fortran_order is neither True nor False")
		}
	case "shape":
		if kind != '(' {
			return fmt.Errorf("shape is %s; want (rows, columns)", quote(value))
		}
		h.shape, err = sizes(value[1 : len(value)-1])
	default:
		err = fmt.Errorf("unknown key %s in the header; want descr, fortran_order and shape", quote(key))
	}
	return err
}

// sizes reads the inside of a shape: nothing, "3,", "3, 4"; Python 2 wrote "3L,".
func sizes(tuple string) ([]int64, error) {
	shape := []int64{}
	fields := strings.Split(tuple, ",")
	for i, f := range fields {
		f = strings.TrimSpace(f)
		if f == "" && i == len(fields)-1 { // after the last comma
			break
		}
		v, err := strconv.ParseUint(strings.TrimSuffix(f, "L"), 10, 63)
		if err != nil {
			return nil, fmt.Errorf("shape has the entry %s; want an integer from 0 to 2⁶³−1", quote(f))
		}
		shape = append(shape, int64(v))
	}
	return shape, nil
}
