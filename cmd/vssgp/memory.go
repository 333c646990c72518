package main

import (
	"bytes"
	"io"

	"github.com/vssgp/vssgp/internal/fileio"
)

// memory holds the files of one call of serve: inputs that came with it, and all outputs, which go back with its answer.
type memory struct {
	in  map[string][]byte
	out []servedFile
}

// inputFile is an open file.
type inputFile interface {
	io.Reader
	io.ReaderAt
	io.Closer
}

type inMemory struct{ *bytes.Reader }

func (inMemory) Close() error { return nil }

// file returns an input that came with the call. A served command reads no other files.
func (m *memory) file(path string) (*bytes.Reader, error) {
	content, ok := m.in[path]
	if !ok {
		return nil, mistake("%s did not come with the call, which has %d files; want one of these", path, len(m.in))
	}
	return bytes.NewReader(content), nil
}

// open opens an input and returns its size: one that came with the call or, outside of serve, a regular file.
func (m *memory) open(path string) (inputFile, int64, error) {
	if m == nil {
		return fileio.OpenRegular(path)
	}
	f, err := m.file(path)
	if err != nil {
		return nil, 0, err
	}
	return inMemory{f}, f.Size(), nil
}

// write adds outputs: all or none.
func (m *memory) write(files []fileio.File) error {
	out := make([]servedFile, len(files))
	for i, f := range files {
		out[i].Name = f.Path
		if err := f.Write(&out[i].Content); err != nil {
			return err
		}
	}
	m.out = append(m.out, out...)
	return nil
}
