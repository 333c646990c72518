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

	"github.com/vssgp/vssgp/internal/fileio/fault"
)

// Write writes the file. The same content gives the same bytes: names and metadata are sorted, and the header is padded with spaces to a
// multiple of 8. Nothing is written if the content does not fit the format (Data that does not match Shape, a name that is not UTF-8 or
// is "__metadata__"); the error then wraps ErrFormat and names the tensor. Other errors are errors of w.
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

// declaration describes a tensor in the header.
type declaration struct {
	DType   string `json:"dtype"`
	Shape   []int  `json:"shape"`
	Offsets [2]int `json:"data_offsets"`
}

// header returns the JSON text with its padding. Its keys are sorted, with the metadata first, so that the bytes are reproducible.
func (f *File) header(names []string) ([]byte, error) {
	for k, v := range f.Metadata {
		if !utf8.ValidString(k) || !utf8.ValidString(v) {
			return nil, malformed("metadata %s: %s is not UTF-8", fault.Quote(k), fault.Quote(v))
		}
	}
	tensors := make(map[string]declaration, len(names))
	at := 0
	for _, name := range names {
		t := f.Tensors[name]
		if err := t.check(name); err != nil {
			return nil, err
		}
		end := at + 8*len(t.Data)
		tensors[name] = declaration{"F64", append([]int{}, t.Shape...), [2]int{at, end}}
		at = end
	}
	text, _ := json.Marshal(tensors) // sorts the names; text and integers cannot fail
	if len(f.Metadata) > 0 {
		first, _ := json.Marshal(map[string]any{metadataKey: f.Metadata})
		if len(tensors) > 0 {
			first[len(first)-1] = ','
			first = append(first, text[1:]...)
		}
		text = first
	}
	text = append(text, "       "[:-len(text)&7]...)
	if len(text) > maxHeader {
		return nil, malformed("the header would have %d bytes, the maximum is %d", len(text), maxHeader)
	}
	return text, nil
}

// check returns an error if a tensor cannot be written under this name.
func (t Tensor) check(name string) error {
	n, ok := count(t.Shape, 8)
	switch {
	case name == metadataKey:
		return malformed("tensor %s: the name is reserved by the format", fault.Quote(name))
	case !utf8.ValidString(name):
		return malformed("tensor %s: the name is not UTF-8", fault.Quote(name))
	case len(t.Shape) > maxRank:
		return malformed("tensor %s: %d dimensions, the maximum is %d", fault.Quote(name), len(t.Shape), maxRank)
	case !ok || n != len(t.Data):
		return malformed("tensor %s: %d values for shape %v, must be its product", fault.Quote(name), len(t.Data), t.Shape)
	}
	return nil
}
