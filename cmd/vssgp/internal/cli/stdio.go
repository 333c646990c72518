package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/vssgp/vssgp/internal/fileio"
)

// ToStdout is the output path that stands for stdout.
const ToStdout = "-"

// A stream is stdout or stderr. The context ends a write that waits for a reader, and after
// a first error every write fails.
type Stream struct {
	ctx context.Context
	to  io.Writer
	err error // the first
	any bool  // something was written
}

// Write returns the first error again after it.
func (s *Stream) Write(b []byte) (n int, err error) {
	if s.err != nil {
		return 0, s.err
	}
	s.any = true
	n, err = fileio.Until(s.ctx, s.to).Write(b)
	if err != nil {
		s.err = onStdout(err)
	}
	return n, s.err
}

// Finish closes the stream and returns the first error: some file systems report a full disk
// only on closing, and not every print, by us or by cobra, checks for errors.
func (s *Stream) Finish() error {
	if f, ok := s.to.(*os.File); ok && s.any && s.err == nil {
		if err := f.Close(); err != nil {
			s.err = onStdout(err)
		}
	}
	return s.err
}

// onStdout words an error of stdout. It drops the path that the system reports, which no user gave.
func onStdout(err error) error {
	if errors.Is(err, context.Canceled) {
		return Interrupted(": stdout: " + err.Error())
	}
	var e *fs.PathError
	if errors.As(err, &e) {
		err = e.Err
	}
	return fmt.Errorf("write to stdout: %w", err)
}

// FromStdin is the input path that stands for stdin.
const FromStdin = "-"

// InputName is what messages call an input.
func InputName(path string) string {
	if path == FromStdin {
		return "stdin"
	}
	return path
}

// Spool copies a stream to a temporary file, because tables are read more than once. The file has no name any more where the
// system allows that.
func Spool(ctx context.Context, from io.Reader) (f *os.File, err error) {
	if f, err = os.CreateTemp("", "vssgp-*"); err != nil {
		return nil, fmt.Errorf("hold what comes from stdin: %w", err)
	}
	os.Remove(f.Name())
	done := make(chan error, 1)
	go func() { // a read from a terminal or a pipe waits as long as nobody writes
		_, err := io.Copy(f, from)
		done <- err
	}()
	select {
	case err = <-done:
	case <-ctx.Done():
		return nil, Interrupted(" while reading stdin") // f stays open for the copying, until the process ends
	}
	if err != nil {
		Drop(f)
		return nil, fmt.Errorf("read stdin: %w", err)
	}
	return f, nil
}

// Drop ends the use of a temporary file.
func Drop(f *os.File) {
	f.Close()
	os.Remove(f.Name()) // if the system did not allow it while the file was open
}
