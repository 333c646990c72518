package table

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// npyMagic is what an NPY file begins with; two bytes of version follow.
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
	p := &literal{text: string(text)}
	if err := h.parse(p); err != nil {
		return nil, malformed("offset %d: %w", 8+n+p.at, err)
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

// parse reads {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }, its keys in any order, each once.
func (h *npyHeader) parse(p *literal) error {
	if !p.take("{") {
		return errors.New("the header is no Python dictionary; want {'descr': …}")
	}
	seen := map[string]bool{}
	for !p.take("}") {
		key, err := p.str()
		if err != nil {
			return err
		}
		if seen[key] {
			return fmt.Errorf("the key %s stands twice in the header; want it once", quote(key))
		}
		seen[key] = true
		if !p.take(":") {
			return fmt.Errorf("no colon after %s in the header", quote(key))
		}
		if err := h.value(p, key); err != nil {
			return err
		}
		if !p.take(",") && !p.next("}") {
			return errors.New("no comma after a value in the header")
		}
	}
	p.space()
	switch {
	case p.at != len(p.text):
		return errors.New("text after the header's dictionary; want spaces and a newline")
	case len(seen) != 3:
		return errors.New("the header lacks some of descr, fortran_order and shape")
	}
	return nil
}

// value reads what stands for a key.
func (h *npyHeader) value(p *literal, key string) (err error) {
	switch key {
	case "descr":
		if p.next("[") {
			return errors.New("descr is a list: records; want one plain number type such as '<f8'")
		}
		h.descr, err = p.str()
	case "fortran_order":
		if h.fortran = p.take("True"); !h.fortran && !p.take("False") {
			return errors.New("fortran_order is neither True nor False")
		}
	case "shape":
		h.shape, err = p.tuple()
	default:
		return fmt.Errorf("unknown key %s in the header; want descr, fortran_order and shape", quote(key))
	}
	return err
}

// literal reads the few Python literals that a header is made of.
type literal struct {
	text string
	at   int
}

// space skips white space.
func (p *literal) space() {
	p.at = len(p.text) - len(strings.TrimLeft(p.text[p.at:], " \t\r\n"))
}

// next reports whether s comes next, after white space.
func (p *literal) next(s string) bool {
	p.space()
	return strings.HasPrefix(p.text[p.at:], s)
}

// take skips s if it comes next.
func (p *literal) take(s string) bool {
	if !p.next(s) {
		return false
	}
	p.at += len(s)
	return true
}

// str reads a quoted text. No text that may stand in a header has an escape in it.
func (p *literal) str() (string, error) {
	for _, quote := range []string{"'", `"`} {
		if p.take(quote) {
			s, _, ok := strings.Cut(p.text[p.at:], quote)
			if !ok {
				return "", errors.New("a quote is not closed in the header")
			}
			p.at += len(s) + 1
			return s, nil
		}
	}
	return "", errors.New("no quoted text where the header wants one")
}

// tuple reads the shape: (), (3,), (3, 4); Python 2 wrote (3L,).
func (p *literal) tuple() ([]int64, error) {
	if !p.take("(") {
		return nil, errors.New("shape is no tuple; want (rows, columns)")
	}
	shape := []int64{}
	for !p.take(")") {
		p.space()
		digits := p.text[p.at:]
		if end := strings.IndexFunc(digits, func(r rune) bool { return r < '0' || r > '9' }); end >= 0 {
			digits = digits[:end]
		}
		v, err := strconv.ParseUint(digits, 10, 63)
		if err != nil {
			return nil, fmt.Errorf("shape has an entry that is no size, at %s; want an integer from 0 to 2⁶³−1", quote(p.text[p.at:]))
		}
		p.at += len(digits)
		p.take("L")
		shape = append(shape, int64(v))
		if !p.take(",") && !p.next(")") {
			return nil, errors.New("no comma after an entry of shape")
		}
	}
	return shape, nil
}
