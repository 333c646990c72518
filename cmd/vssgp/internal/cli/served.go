package cli

import (
	"bytes"
	"io"

	"github.com/vssgp/vssgp/internal/fileio"
)

// A ServedFile is a file in a request to serve or in its response.
type ServedFile struct {
	Name    string `json:"name"`
	Size    int64  `json:"size"`
	Content []byte `json:"-"`
}

// ServedFiles are the files of one request to serve: the inputs sent with it and the outputs returned with its response.
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

// Open opens an input and returns its size. A served command reads only files sent with the request; other commands read regular files.
func (m *ServedFiles) Open(path string) (inputFile, int64, error) {
	if m == nil {
		return fileio.OpenRegular(path)
	}
	content, ok := m.In[path]
	if !ok {
		return nil, 0, Mistake("%s was not sent with the request, which has %s", path, Counted(len(m.In), "file"))
	}
	return struct {
		*bytes.Reader
		io.Closer
	}{bytes.NewReader(content), io.NopCloser(nil)}, int64(len(content)), nil
}

// write adds outputs. If writing one of them fails, it adds none.
func (m *ServedFiles) write(files []fileio.File) error {
	out := make([]ServedFile, len(files))
	for i, f := range files {
		var b bytes.Buffer
		if err := f.Write(&b); err != nil {
			return err
		}
		out[i] = ServedFile{Name: f.Path, Content: b.Bytes()}
	}
	m.Out = append(m.Out, out...)
	return nil
}
