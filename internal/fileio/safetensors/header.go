package safetensors

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/vssgp/vssgp/internal/fileio/fault"
)

// An entry is the declaration of a tensor in the header.
type entry struct {
	name, dtype string
	shape       []int
	begin, end  int // byte offsets from the end of the header
	count       int // number of values, the product of shape
}

// parseHeader parses the JSON text that begins at byte 8 of a file. It reads tokens instead of unmarshaling because encoding/json
// silently keeps the last of two equal keys. Memory is proportional to the text.
func parseHeader(text []byte) (entries []entry, metadata map[string]string, err error) {
	if !utf8.Valid(text) {
		return nil, nil, malformed("offset 8: the header is not UTF-8, must be a JSON object")
	}
	var raw json.RawMessage
	if se := (*json.SyntaxError)(nil); errors.As(json.Unmarshal(text, &raw), &se) {
		return nil, nil, malformed("offset %d: the header is not valid JSON: %w", 8+se.Offset, se)
	}
	p := &parser{d: json.NewDecoder(bytes.NewReader(text))}
	p.d.UseNumber()
	err = p.object("the header", func(key string) error {
		if key == metadataKey {
			metadata = map[string]string{}
			return p.object(metadataKey, func(k string) error {
				v, err := p.text(metadataKey, k)
				metadata[k] = v
				return err
			})
		}
		e, err := p.entry(key)
		entries = append(entries, e)
		return err
	})
	return entries, metadata, err
}

// parser reads the tokens of valid JSON. If an expected kind of token is missing, there is a token of another kind.
type parser struct{ d *json.Decoder }

// object parses { … } and calls value after each key. Messages call the object what.
func (p *parser) object(what string, value func(key string) error) error {
	if t, err := p.d.Token(); err != nil || t != json.Delim('{') {
		return malformed("offset %d: %s is not a JSON object", p.at(), what)
	}
	seen := map[string]bool{}
	for p.d.More() {
		t, _ := p.d.Token()
		key := t.(string) // as in all valid JSON
		if seen[key] {
			return malformed("offset %d: %s has the key %s twice", p.at(), what, fault.Quote(key))
		}
		seen[key] = true
		if err := value(key); err != nil {
			return err
		}
	}
	_, err := p.d.Token()
	return err
}

// entry parses the declaration of a tensor.
func (p *parser) entry(name string) (entry, error) {
	e := entry{name: name}
	what := "tensor " + fault.Quote(name)
	var offsets []int
	found := 0
	err := p.object(what, func(key string) (err error) {
		found++
		switch key {
		case "dtype":
			e.dtype, err = p.text(what, key)
		case "shape":
			e.shape, err = p.numbers(what, key, maxRank)
		case "data_offsets":
			offsets, err = p.numbers(what, key, 2)
		default:
			err = malformed("%s: unknown key %s, must be dtype, shape or data_offsets", what, fault.Quote(key))
		}
		return err
	})
	switch {
	case err != nil:
		return e, err
	case found < 3:
		return e, malformed("%s: dtype, shape or data_offsets is missing", what)
	case len(offsets) != 2:
		return e, malformed("%s: data_offsets has %d entries, must be [begin, end]", what, len(offsets))
	}
	e.begin, e.end = offsets[0], offsets[1]
	return e, e.check()
}

// check returns an error if the dtype, the shape and the offsets of a tensor are inconsistent.
func (e *entry) check() error {
	size := e.size()
	if size == 0 {
		return malformed("tensor %s: dtype %s, must be F64 or F32", fault.Quote(e.name), fault.Quote(e.dtype))
	}
	var ok bool
	if e.count, ok = count(e.shape, size); !ok {
		return malformed("tensor %s: shape %v exceeds the size of any file", fault.Quote(e.name), e.shape)
	}
	if e.end-e.begin != e.count*size {
		return malformed("tensor %s: data_offsets [%d, %d] for shape %v of %s, the end must be %d bytes after the begin",
			fault.Quote(e.name), e.begin, e.end, e.shape, e.dtype, e.count*size)
	}
	return nil
}

// size returns the bytes per value, or 0 for a type that is not supported.
func (e *entry) size() int { return map[string]int{"F64": 8, "F32": 4}[e.dtype] }

// checkLayout sorts the entries by offset and checks that they cover each byte of the data once.
func checkLayout(entries []entry, dataStart, dataSize int) error {
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.end, b.end), cmp.Compare(a.name, b.name))
	})
	at := 0
	for i := range entries {
		switch e := &entries[i]; {
		case e.end > dataSize:
			return malformed("tensor %s: ends at byte %d of the data, which has %d bytes; the file is truncated or its header is wrong",
				fault.Quote(e.name), e.end, dataSize)
		case e.begin < at:
			return malformed("tensor %s: begins at byte %d of the data, inside tensor %s, must begin at %d",
				fault.Quote(e.name), e.begin, fault.Quote(entries[i-1].name), at)
		case e.begin > at:
			return malformed("tensor %s: begins at byte %d of the data and leaves a hole, must begin at %d", fault.Quote(e.name), e.begin, at)
		default:
			at = e.end
		}
	}
	if at != dataSize {
		return malformed("offset %d: %d bytes follow the last tensor", dataStart+at, dataSize-at)
	}
	return nil
}

// text parses a string.
func (p *parser) text(what, key string) (string, error) {
	t, err := p.d.Token()
	s, ok := t.(string)
	if err != nil || !ok {
		return "", malformed("offset %d: %s: %s is not a string", p.at(), what, fault.Quote(key))
	}
	return s, nil
}

// numbers parses a list of non-negative integers, limited to most entries.
func (p *parser) numbers(what, key string, most int) ([]int, error) {
	if t, err := p.d.Token(); err != nil || t != json.Delim('[') {
		return nil, malformed("offset %d: %s: %s is not a list of integers", p.at(), what, key)
	}
	list := []int{}
	for p.d.More() {
		t, err := p.d.Token()
		n, ok := t.(json.Number)
		if err != nil || !ok {
			return nil, malformed("offset %d: %s: %s is not a list of integers", p.at(), what, key)
		}
		v, err := strconv.ParseUint(n.String(), 10, strconv.IntSize-1)
		if err != nil {
			return nil, malformed("offset %d: %s: %s has the entry %.40s, must be an integer from 0 to 2⁶³−1", p.at(), what, key, n)
		}
		if len(list) == most {
			return nil, malformed("offset %d: %s: %s has more than %d entries", p.at(), what, key, most)
		}
		list = append(list, int(v))
	}
	_, err := p.d.Token()
	return list, err
}

// at returns the offset in the file after the last token.
func (p *parser) at() int64 { return 8 + p.d.InputOffset() }
