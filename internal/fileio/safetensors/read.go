package safetensors

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/vssgp/vssgp/internal/fileio"
	"github.com/vssgp/vssgp/internal/fileio/fault"
)

// ReadFile reads the file at path. Errors name the path and wrap an error of Read, a system error or fileio.ErrNotRegular.
func ReadFile(path string) (*File, error) {
	r, size, err := fileio.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	f, err := Read(r, size)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// Read reads a file of size bytes. It checks the complete header, also against size, before it allocates memory for the tensors, so that
// memory is proportional to size for any header. Errors wrap ErrFormat and give the offset or the tensor and the allowed values, or they
// wrap an error of r. Metadata is nil if the file has none.
func Read(r io.ReaderAt, size int64) (*File, error) {
	entries, metadata, start, err := readHeader(r, size)
	if err != nil {
		return nil, err
	}
	f := &File{Tensors: make(map[string]Tensor, len(entries)), Metadata: metadata}
	buf := make([]byte, min(1<<16, int(size)-start))
	for i := range entries {
		data, err := readData(r, start, &entries[i], buf)
		if err != nil {
			return nil, err
		}
		f.Tensors[entries[i].name] = Tensor{Shape: entries[i].shape, Data: data}
	}
	return f, nil
}

// Metadata reads only the header of a file and returns its Metadata. Errors are the errors of Read about the header.
func Metadata(r io.ReaderAt, size int64) (map[string]string, error) {
	_, metadata, _, err := readHeader(r, size)
	return metadata, err
}

// readHeader reads the header and checks it against size. start is the offset of the data.
func readHeader(r io.ReaderAt, size int64) (entries []entry, metadata map[string]string, start int, err error) {
	if size < 8 {
		return nil, nil, 0, malformed("not a model file: it has %d bytes, but a safetensors file begins with 8 bytes of header length", size)
	}
	var first [8]byte
	if err := readAt(r, first[:], 0); err != nil {
		return nil, nil, 0, err
	}
	h := binary.LittleEndian.Uint64(first[:])
	switch {
	case h > uint64(size-8):
		return nil, nil, 0, malformed("not a model file (safetensors), or truncated: header length %d at offset 0, but only %d bytes follow", h,
			size-8)
	case h > maxHeader:
		return nil, nil, 0, malformed("not a model file (safetensors): header length %d at offset 0, the maximum is %d", h, maxHeader)
	}
	text := make([]byte, h)
	if err := readAt(r, text, 8); err != nil {
		return nil, nil, 0, err
	}
	if entries, metadata, err = parseHeader(text); err != nil {
		return nil, nil, 0, err
	}
	start = 8 + int(h)
	return entries, metadata, start, checkLayout(entries, start, int(size)-start)
}

// readData reads the values of one tensor through buf, which is as large as the tensor or a
// multiple of 8 bytes.
func readData(r io.ReaderAt, start int, e *entry, buf []byte) ([]float64, error) {
	data := make([]float64, 0, e.count)
	for at := e.begin; at < e.end; {
		b := buf[:min(len(buf), e.end-at)]
		if err := readAt(r, b, int64(start+at)); err != nil {
			return nil, fmt.Errorf("tensor %s: %w", fault.Quote(e.name), err)
		}
		at += len(b)
		for size := e.size(); len(b) > 0; b = b[size:] {
			if size == 4 {
				data = append(data, float64(math.Float32frombits(binary.LittleEndian.Uint32(b))))
			} else {
				data = append(data, math.Float64frombits(binary.LittleEndian.Uint64(b)))
			}
		}
	}
	return data, nil
}

// readAt fills b from offset at. A file that ends before its size, because another process truncates it, is malformed.
func readAt(r io.ReaderAt, b []byte, at int64) error {
	n, err := r.ReadAt(b, at)
	switch {
	case n == len(b):
		return nil
	case err == nil || errors.Is(err, io.EOF):
		return malformed("offset %d: the file ends, expected %d more bytes", at+int64(n), len(b)-n)
	}
	return fmt.Errorf("offset %d: %w", at, err)
}

// Entry decodes a JSON entry of the metadata into to. Its errors do not mention Go types.
func (f *File) Entry(name string, to any) error {
	err := json.Unmarshal([]byte(f.Metadata[name]), to)
	var kind *json.UnmarshalTypeError
	switch {
	case !errors.As(err, &kind):
		return err
	case kind.Field == "":
		return malformed("unexpected JSON %s", kind.Value)
	}
	return malformed("unexpected JSON %s in %q", kind.Value, kind.Field)
}
