package main

import (
	"bytes"
	"io"

	"github.com/vssgp/vssgp/internal/atomicfile"
)

// memory holds the files of one call of serve: inputs that came with it, and all outputs, which go back with its answer.
type memory struct {
	in  map[string][]byte
	out []frameFile
}

// inputFile is an open file.
type inputFile interface {
	io.Reader
	io.ReaderAt
	io.Closer
}

type inMemory struct{ *bytes.Reader }

func (inMemory) Close() error { return nil }

// file returns an input that came with the call; ok is false for one of the file system's.
func (m *memory) file(path string) (f *bytes.Reader, ok bool) {
	if m == nil {
		return nil, false
	}
	content, ok := m.in[path]
	return bytes.NewReader(content), ok
}

// open opens an input and returns its size: one that came with the call, or a regular file.
func (m *memory) open(path string) (inputFile, int64, error) {
	if f, ok := m.file(path); ok {
		return inMemory{f}, f.Size(), nil
	}
	return atomicfile.OpenRegular(path)
}

// write adds outputs: all or none.
func (m *memory) write(files []atomicfile.File) error {
	out := make([]frameFile, len(files))
	for i, f := range files {
		out[i].Name = f.Path
		if err := f.Write(&out[i].content); err != nil {
			return err
		}
	}
	m.out = append(m.out, out...)
	return nil
}
