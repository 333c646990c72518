// Package safetensors reads and writes files of named float64 arrays in the safetensors format.
//
// A file consists of an 8-byte little-endian header length H, H bytes of JSON, and the arrays' bytes, row-major and little-endian:
//
//	{"__metadata__":{"format":"vssgp/1"},"noise.precision":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}}
//
// The offsets count from the end of the header. Together the arrays cover the rest of the file without holes or overlaps. In Python,
// safetensors.numpy.load_file reads such a file. The package writes F64, and reads F64 and F32 as float64.
package safetensors

import (
	"math"

	"github.com/vssgp/vssgp/internal/fileio/fault"
)

// ErrFormat is wrapped by every error about the content of a file that is read or of a File that is written.
var ErrFormat = fault.New("safetensors: malformed")

// These are the limits of the format's reference implementation (header length) and of NumPy (rank), so that other programs can read
// every accepted file.
const (
	maxHeader = 100_000_000
	maxRank   = 64
)

// metadataKey is the only key of the header that does not name a tensor.
const metadataKey = "__metadata__"

// Tensor is an array in row-major order: len(Data) is the product of Shape. A scalar has an empty Shape and one value. NaN and infinities
// are stored like any other value.
type Tensor struct {
	Shape []int
	Data  []float64
}

// File is the content of one safetensors file. Metadata is free text by key.
type File struct {
	Tensors  map[string]Tensor
	Metadata map[string]string
}

// count returns the product of a shape's entries, or false if the size in bytes of as many values overflows an int. If an entry is 0, the
// product is 0. The product of the other entries must fit anyway, because a reader may compute it.
func count(shape []int, size int) (n int, ok bool) {
	n, nonzero := 1, size
	for _, s := range shape {
		if s < 0 {
			return 0, false
		}
		if s > 0 && nonzero > math.MaxInt/s {
			return 0, false
		}
		nonzero *= max(s, 1)
		n *= s
	}
	return n, true
}

// malformed returns an error that wraps ErrFormat; format may contain %w.
func malformed(format string, args ...any) error { return fault.Errorf(ErrFormat, format, args...) }
