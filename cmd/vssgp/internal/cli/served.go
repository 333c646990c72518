package cli

import (
	"bytes"
	"io"

	"github.com/vssgp/vssgp/internal/fileio"
)

// A ServedFile is a file of a call of serve, or of its answer.
type ServedFile struct {
	Name    string `json:"name"`
	Size    int64  `json:"size"`
	Content Chunks `json:"-"`
}

// Chunks are bytes in pieces. What is written to them does not move as they grow: an output of many rows is neither copied nor cleared
// twice.
type Chunks [][]byte

// Write never fails.
func (c *Chunks) Write(b []byte) (int, error) {
	const least, most = 1 << 12, 1 << 20
	for rest := b; len(rest) > 0; {
		last := len(*c) - 1
		if last < 0 || len((*c)[last]) == cap((*c)[last]) {
			size := least
			if last >= 0 {
				size = min(2*cap((*c)[last]), most)
			}
			*c = append(*c, make([]byte, 0, size))
			last++
		}
		n := min(len(rest), cap((*c)[last])-len((*c)[last]))
		(*c)[last] = append((*c)[last], rest[:n]...)
		rest = rest[n:]
	}
	return len(b), nil
}

// Size is the number of bytes.
func (c Chunks) Size() (n int64) {
	for _, piece := range c {
		n += int64(len(piece))
	}
	return n
}

// Whole returns the bytes in one piece.
func (c Chunks) Whole() []byte {
	if len(c) == 1 {
		return c[0]
	}
	return bytes.Join(c, nil)
}

// ServedFiles are the files of one call of serve: inputs that came with it, and all outputs, which go back with its answer.
type ServedFiles struct {
	In  map[string][]byte
	Out []ServedFile
}

// inputFile is an open file.
type inputFile interface {
	io.Reader
	io.ReaderAt
	io.Closer
}

type inMemory struct{ *bytes.Reader }

func (inMemory) Close() error { return nil }

// File returns an input that came with the call. A served command reads no other files.
func (m *ServedFiles) File(path string) (*bytes.Reader, error) {
	content, ok := m.In[path]
	if !ok {
		return nil, Mistake("%s did not come with the call, which has %d files; want one of these", path, len(m.In))
	}
	return bytes.NewReader(content), nil
}

// Open opens an input and returns its size: one that came with the call or, outside of serve, a regular file.
func (m *ServedFiles) Open(path string) (inputFile, int64, error) {
	if m == nil {
		return fileio.OpenRegular(path)
	}
	f, err := m.File(path)
	if err != nil {
		return nil, 0, err
	}
	return inMemory{f}, f.Size(), nil
}

// write adds outputs: all or none.
func (m *ServedFiles) write(files []fileio.File) error {
	out := make([]ServedFile, len(files))
	for i, f := range files {
		out[i].Name = f.Path
		if err := f.Write(&out[i].Content); err != nil {
			return err
		}
	}
	m.Out = append(m.Out, out...)
	return nil
}
