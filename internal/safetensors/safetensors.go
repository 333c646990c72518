// Package safetensors reads and writes files of named float64 arrays in the safetensors format.
//
// A file is an 8-byte little-endian header length H, H bytes of JSON, and the arrays' bytes, row-major and little-endian:
//
//	{"__metadata__":{"format":"vssgp/1"},"noise.precision":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}}
//
// The offsets count from the end of the header; together the arrays cover the rest of the file without holes or overlaps. Python reads
// such a file with safetensors.numpy.load_file. Writing gives F64, reading takes F64 and F32, widened.
package safetensors

import (
	"errors"
	"fmt"
	"math"
)

// ErrFormat is wrapped by every error that says that a file, or a File to be written, is not as the format wants it.
var ErrFormat = errors.New("safetensors: malformed")

// Limits of the format's reference implementation (header length) and of NumPy (rank), so that others can read the files that we accept.
const (
	maxHeader = 100_000_000
	maxRank   = 64
)

// metadataKey is the one name in the header that is not a tensor's.
const metadataKey = "__metadata__"

// Tensor is one array: len(Data) is the product of Shape, row-major; an empty Shape is a scalar, with one value. NaN and infinities are
// stored like any other value.
type Tensor struct {
	Shape []int
	Data  []float64
}

// File is the content of one safetensors file. Metadata is free text by key.
type File struct {
	Tensors  map[string]Tensor
	Metadata map[string]string
}

// count is the product of a shape's entries, or false where bytes for so many values of the given size cannot be counted in an int64.
// A zero makes the product 0, yet the other entries must still multiply: a reader may do so.
func count(shape []int, size int64) (n int64, ok bool) {
	n, nonzero := int64(1), size
	for _, s := range shape {
		if s < 0 {
			return 0, false
		}
		if s > 0 {
			if nonzero > math.MaxInt64/int64(s) {
				return 0, false
			}
			nonzero *= int64(s)
		}
		n *= int64(s)
	}
	return n, true
}

// formatError is ErrFormat in words of its own.
type formatError struct{ error }

func (e *formatError) Unwrap() []error { return []error{ErrFormat, e.error} }

// malformed makes an error that wraps ErrFormat; format may hold a %w.
func malformed(format string, args ...any) error {
	return &formatError{fmt.Errorf(format, args...)}
}

// quote shows a name from a file, which may be long or unprintable.
func quote(s string) string {
	const most = 60
	if len(s) > most {
		return fmt.Sprintf("%q…", s[:most])
	}
	return fmt.Sprintf("%q", s)
}
