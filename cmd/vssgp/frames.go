package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// A frame is what serve reads and writes: 8 bytes, little-endian, that count the bytes of a JSON object; the object; and the bytes of
// its files, one after the other. Only the fields of a call, or those of an answer, are set.
type frame struct {
	Args  []string     `json:"args,omitempty"` // of a call: a command line
	Files []servedFile `json:"files"`          // inputs of the call; outputs of the answer

	Version string `json:"version,omitempty"` // of the first frame, which greets
	Note    string `json:"note,omitempty"`    // what a command writes to stderr meanwhile: progress, warnings
	Code    *int   `json:"code,omitempty"`    // of the answer: the exit code
	Error   string `json:"error,omitempty"`   // the line that goes with it
	Stdout  string `json:"stdout,omitempty"`
}

// A servedFile is a file of a call of serve, or of its answer.
type servedFile struct {
	Name    string `json:"name"`
	Size    int64  `json:"size"`
	Content chunks `json:"-"`
}

// chunks are bytes in pieces. What is written to them does not move as they grow: an output of many rows is neither copied nor cleared twice.
type chunks [][]byte

// Write never fails.
func (c *chunks) Write(b []byte) (int, error) {
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

// size is the number of bytes.
func (c chunks) size() (n int64) {
	for _, piece := range c {
		n += int64(len(piece))
	}
	return n
}

// whole returns the bytes in one piece.
func (c chunks) whole() []byte {
	if len(c) == 1 {
		return c[0]
	}
	return bytes.Join(c, nil)
}

// An answerer executes a call; what its command writes to stderr goes to notes.
type answerer func(ctx context.Context, call *frame, notes io.Writer) *frame

// errFrame is wrapped by every error about what a frame holds.
var errFrame = errors.New("not a frame of serve")

// mostHeader bounds the JSON object of a frame, in bytes. A call of a hundred thousand gaps has them in a file.
const mostHeader = 1 << 24

// readFrame reads a frame; io.EOF where there is none. Memory grows with what has come, not with what a frame announces.
func readFrame(r *bufio.Reader) (*frame, error) {
	if _, err := r.Peek(1); err != nil {
		return nil, err
	}
	var size uint64
	if err := binary.Read(r, binary.LittleEndian, &size); err != nil {
		return nil, cutOff("its length", err)
	}
	if size > mostHeader {
		return nil, fmt.Errorf("%d bytes of JSON; want at most %d: %w", size, mostHeader, errFrame)
	}
	header, err := readBytes(r, int64(size))
	if err != nil {
		return nil, cutOff("its JSON", err)
	}
	f := &frame{}
	if err := json.Unmarshal(header, f); err != nil {
		return nil, fmt.Errorf("%w: %w", err, errFrame)
	}
	for i := range f.Files {
		file := &f.Files[i]
		if file.Size < 0 || file.Name == "" {
			return nil, fmt.Errorf("file %d has the name %.40q and %d bytes; want a name, and 0 or more: %w", i, file.Name, file.Size, errFrame)
		}
		content, err := readBytes(r, file.Size)
		if err != nil {
			return nil, cutOff(fmt.Sprintf("file %.40q", file.Name), err)
		}
		file.Content = chunks{content}
	}
	return f, nil
}

// readBytes reads n bytes.
func readBytes(r io.Reader, n int64) ([]byte, error) {
	const most = 64 << 20 // that are believed before they are there
	b := make([]byte, min(n, most))
	for have := 0; ; {
		more, err := io.ReadFull(r, b[have:])
		have += more
		if err != nil || int64(have) == n {
			return b, err
		}
		b = append(b, make([]byte, min(n-int64(have), int64(have)))...)
	}
}

func cutOff(what string, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("it ends within %s: %w", what, errFrame)
	}
	return err
}

// write writes the frame.
func (f *frame) write(w io.Writer) error {
	for i := range f.Files {
		f.Files[i].Size = f.Files[i].Content.size()
	}
	header, err := json.Marshal(f)
	if err != nil {
		return err
	}
	if _, err := w.Write(append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...)); err != nil {
		return err
	}
	for _, file := range f.Files {
		for _, piece := range file.Content {
			if _, err := w.Write(piece); err != nil {
				return err
			}
		}
	}
	return nil
}
