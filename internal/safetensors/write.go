package safetensors

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"io"
	"maps"
	"math"
	"slices"
	"unicode/utf8"
)

// Write writes the file. The same content gives the same bytes: names and metadata are sorted, the
// header is padded with spaces to a multiple of 8. Nothing is written where the content does not fit the format (Data that does
// not match Shape, a name that is not UTF-8 or is "__metadata__"); such an error wraps ErrFormat and names the tensor. Other
// errors are w's own.
func (f *File) Write(w io.Writer) error {
	names := slices.Sorted(maps.Keys(f.Tensors))
	text, err := f.header(names)
	if err != nil {
		return err
	}
	b := bufio.NewWriterSize(w, 1<<16)
	b.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(text)))) // bufio keeps an error until Flush
	b.Write(text)
	var word [8]byte
	for _, name := range names {
		for _, v := range f.Tensors[name].Data {
			binary.LittleEndian.PutUint64(word[:], math.Float64bits(v))
			if _, err := b.Write(word[:]); err != nil {
				return err
			}
		}
	}
	return b.Flush()
}

// declaration is what the header says of a tensor.
type declaration struct {
	DType   string   `json:"dtype"`
	Shape   []int    `json:"shape"`
	Offsets [2]int64 `json:"data_offsets"`
}

// header is the JSON text with its padding. The order of its keys is part of the bytes: metadata, then the names sorted.
func (f *File) header(names []string) ([]byte, error) {
	for k, v := range f.Metadata {
		if !utf8.ValidString(k) || !utf8.ValidString(v) {
			return nil, malformed("metadata %s: %s is not UTF-8", quote(k), quote(v))
		}
	}
	tensors := make(map[string]declaration, len(names))
	var at int64
	for _, name := range names {
		end, err := f.checkTensor(name, at)
		if err != nil {
			return nil, err
		}
		tensors[name] = declaration{"F64", append([]int{}, f.Tensors[name].Shape...), [2]int64{at, end}}
		at = end
	}
	text, _ := json.Marshal(tensors) // sorts the names; text and integers do not fail
	if len(f.Metadata) > 0 {
		first, _ := json.Marshal(map[string]any{metadataKey: f.Metadata})
		if len(tensors) > 0 {
			first[len(first)-1] = ','
			text = append(first, text[1:]...)
		} else {
			text = first
		}
	}
	text = append(text, "       "[:-len(text)&7]...)
	if len(text) > maxHeader {
		return nil, malformed("the header would have %d bytes; want at most %d", len(text), maxHeader)
	}
	return text, nil
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
