package serve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
)

// A Frame is a message that serve reads or writes. It is encoded as the length of a JSON object in bytes (8 bytes, little-endian), the
// object, and the bytes of its files in sequence. A frame has only the fields of its kind: request, response, version or note.
type Frame struct {
	Args  []string         `json:"args,omitempty"` // request: a command line
	Files []cli.ServedFile `json:"files"`          // request: inputs; response: outputs

	Version string `json:"version,omitempty"` // only in the first frame
	Note    string `json:"note,omitempty"`    // output of a running command on stderr: progress, warnings
	Code    *int   `json:"code,omitempty"`    // response: the exit code
	Error   string `json:"error,omitempty"`   // response: the error line
	Stdout  string `json:"stdout,omitempty"`
}

// An Answerer executes a request and returns the response. It writes the command's output on stderr to notes.
type Answerer func(ctx context.Context, call *Frame, notes io.Writer) *Frame

// errFrame is wrapped by every error about the content of a frame.
var errFrame = errors.New("not a frame of serve")

// maxHeader is the maximum size of a frame's JSON object in bytes. Long lists, such as many gaps, are sent as files.
const maxHeader = 1 << 24

// maxPrealloc is the maximum memory in bytes that is allocated for a file before its content arrives.
const maxPrealloc = 64 << 20

// ReadFrame reads a frame or returns io.EOF. Its memory grows with the received bytes, not with the sizes in the header.
func ReadFrame(r *bufio.Reader) (*Frame, error) {
	if _, err := r.Peek(1); err != nil {
		return nil, err
	}
	var size uint64
	if err := binary.Read(r, binary.LittleEndian, &size); err != nil {
		return nil, cutOff("its length", err)
	}
	if size > maxHeader {
		return nil, fmt.Errorf("the JSON object has %d bytes; the maximum is %d: %w", size, maxHeader, errFrame)
	}
	var header bytes.Buffer
	if _, err := io.CopyN(&header, r, int64(size)); err != nil {
		return nil, cutOff("its JSON", err)
	}
	f := &Frame{}
	if err := json.Unmarshal(header.Bytes(), f); err != nil {
		return nil, fmt.Errorf("%w: %w", err, errFrame)
	}
	for i := range f.Files {
		file := &f.Files[i]
		if file.Size < 0 || file.Name == "" {
			return nil, fmt.Errorf("file %d has the name %.40q and %d bytes; the name must not be empty, and the size must be 0 or more: %w",
				i, file.Name, file.Size, errFrame)
		}
		content := bytes.NewBuffer(make([]byte, 0, min(file.Size, maxPrealloc)))
		if _, err := io.CopyN(content, r, file.Size); err != nil {
			return nil, cutOff(fmt.Sprintf("file %.40q", file.Name), err)
		}
		file.Content = content.Bytes()
	}
	return f, nil
}

// cutOff returns an error that wraps errFrame if the input ends within a part of a frame, else err.
func cutOff(what string, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the input ends within %s: %w", what, errFrame)
	}
	return err
}

// Write writes the frame and sets the sizes of its files.
func (f *Frame) Write(w io.Writer) error {
	for i := range f.Files {
		f.Files[i].Size = int64(len(f.Files[i].Content))
	}
	header, err := json.Marshal(f)
	if err != nil {
		return err
	}
	if _, err := w.Write(append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...)); err != nil {
		return err
	}
	for _, file := range f.Files {
		if _, err := w.Write(file.Content); err != nil {
			return err
		}
	}
	return nil
}
