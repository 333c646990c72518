package safetensors

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"
)

// WriteTo writes the file and returns the number of bytes written. Like content gives like bytes: names and metadata are sorted, the
// header is padded with spaces to a multiple of 8. Nothing is written where the content does not fit the format (Data that does
// not match Shape, a name that is not UTF-8 or is "__metadata__"); such an error wraps ErrFormat and names the tensor. Other
// errors are w's own.
func (f *File) WriteTo(w io.Writer) (int64, error) {
	names := slices.Sorted(maps.Keys(f.Tensors))
	text, err := f.header(names)
	if err != nil {
		return 0, err
	}
	out := &counter{w: w}
	b := bufio.NewWriterSize(out, 1<<16)
	b.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(text)))) // bufio keeps an error until Flush
	b.Write(text)
	var word [8]byte
	for _, name := range names {
		for _, v := range f.Tensors[name].Data {
			binary.LittleEndian.PutUint64(word[:], math.Float64bits(v))
			if _, err := b.Write(word[:]); err != nil {
				return out.n, err
			}
		}
	}
	err = b.Flush()
	return out.n, err
}

// header is the JSON text with its padding. It is put together by hand because its order is part of the bytes.
func (f *File) header(names []string) ([]byte, error) {
	var t bytes.Buffer
	t.WriteByte('{')
	if len(f.Metadata) > 0 {
		for k, v := range f.Metadata {
			if !utf8.ValidString(k) || !utf8.ValidString(v) {
				return nil, malformed("metadata %s: %s is not UTF-8", quote(k), quote(v))
			}
		}
		text, err := json.Marshal(f.Metadata) // sorts the keys
		if err != nil {
			return nil, malformed("metadata: %w", err)
		}
		t.WriteString(`"` + metadataKey + `":`)
		t.Write(text)
	}
	var at int64
	for _, name := range names {
		end, err := f.checkTensor(name, at)
		if err != nil {
			return nil, err
		}
		if t.Len() > 1 {
			t.WriteByte(',')
		}
		key, err := json.Marshal(name)
		if err != nil {
			return nil, malformed("tensor %s: %w", quote(name), err)
		}
		t.Write(key)
		t.WriteString(`:{"dtype":"F64","shape":[`)
		for i, s := range f.Tensors[name].Shape {
			if i > 0 {
				t.WriteByte(',')
			}
			t.WriteString(strconv.Itoa(s))
		}
		t.WriteString(`],"data_offsets":[` + strconv.FormatInt(at, 10) + "," + strconv.FormatInt(end, 10) + "]}")
		at = end
	}
	t.WriteByte('}')
	for t.Len()%8 != 0 {
		t.WriteByte(' ')
	}
	if t.Len() > maxHeader {
		return nil, malformed("the header would have %d bytes; want at most %d", t.Len(), maxHeader)
	}
	return t.Bytes(), nil
}

// checkTensor makes sure that a tensor that begins at byte at of the data can be written and returns where it ends.
func (f *File) checkTensor(name string, at int64) (end int64, err error) {
	t := f.Tensors[name]
	n, ok := count(t.Shape, 8)
	switch {
	case name == metadataKey:
		return 0, malformed("tensor %s: the name is taken by the format", quote(name))
	case !utf8.ValidString(name):
		return 0, malformed("tensor %s: the name is not UTF-8", quote(name))
	case len(t.Shape) > maxRank:
		return 0, malformed("tensor %s: %d dimensions; want at most %d", quote(name), len(t.Shape), maxRank)
	case !ok || n != int64(len(t.Data)):
		return 0, malformed("tensor %s: shape %v with %d values; want their product", quote(name), t.Shape, len(t.Data))
	}
	return at + 8*n, nil
}

// counter counts what reaches w.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}
