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

// A Frame is what serve reads and writes: 8 bytes, little-endian, that count the bytes of a JSON object; the object; and the bytes of
// its files, one after the other. Only the fields of a call or of an answer are set.
type Frame struct {
	Args  []string         `json:"args,omitempty"` // of a call: a command line
	Files []cli.ServedFile `json:"files"`          // inputs of the call; outputs of the answer

	Version string `json:"version,omitempty"` // of the first frame, which greets
	Note    string `json:"note,omitempty"`    // what a command writes to stderr meanwhile: progress, warnings
	Code    *int   `json:"code,omitempty"`    // of the answer: the exit code
	Error   string `json:"error,omitempty"`   // the line that goes with it
	Stdout  string `json:"stdout,omitempty"`
}

// An Answerer executes a call; what its command writes to stderr goes to notes.
type Answerer func(ctx context.Context, call *Frame, notes io.Writer) *Frame

// errFrame is wrapped by every error about the content of a frame.
var errFrame = errors.New("not a frame of serve")

// mostHeader bounds the JSON object of a frame, in bytes. A call of a hundred thousand gaps has them in a file.
const mostHeader = 1 << 24

// atOnce bounds the bytes of a file for which there is memory before they have come.
const atOnce = 64 << 20

// ReadFrame reads a frame; io.EOF where there is none. Memory grows with what has come, not with what a frame announces.
func ReadFrame(r *bufio.Reader) (*Frame, error) {
	if _, err := r.Peek(1); err != nil {
		return nil, err
	}
	var size uint64
	if err := binary.Read(r, binary.LittleEndian, &size); err != nil {
		return nil, cutOff("its length", err)
	}
	if size > mostHeader {
		return nil, fmt.Errorf("%d bytes of JSON; must be at most %d: %w", size, mostHeader, errFrame)
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
			return nil, fmt.Errorf("file %d has the name %.40q and %d bytes; must be a name, and 0 or more: %w", i, file.Name, file.Size,
				errFrame)
		}
		content := bytes.NewBuffer(make([]byte, 0, min(file.Size, atOnce)))
		if _, err := io.CopyN(content, r, file.Size); err != nil {
			return nil, cutOff(fmt.Sprintf("file %.40q", file.Name), err)
		}
		file.Content = content.Bytes()
	}
	return f, nil
}

func cutOff(what string, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("it ends within %s: %w", what, errFrame)
	}
	return err
}

// Write writes the frame.
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
