package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/vssgp/vssgp/internal/atomicfile"
)

// toStdout is the output path that stands for stdout.
const toStdout = "-"

// A stream is stdout or stderr: a write that waits for a reader ends with the context, and what fails once has failed for good.
type stream struct {
	ctx context.Context
	to  io.Writer
	err error // the first
	any bool  // something was written
}

// Write is an error, too, after the first.
func (s *stream) Write(b []byte) (n int, err error) {
	if s.err != nil {
		return 0, s.err
	}
	s.any = true
	n, err = atomicfile.Until(s.ctx, s.to).Write(b)
	if err != nil {
		s.err = onStdout(err)
	}
	return n, s.err
}

// finish closes the stream, where some file systems first say that they are full, and is the first error: what was printed
// without asking whether it arrived, by us or by cobra, may not have.
func (s *stream) finish() error {
	if f, ok := s.to.(*os.File); ok && s.any && s.err == nil {
		if err := f.Close(); err != nil {
			s.err = onStdout(err)
		}
	}
	return s.err
}

// onStdout is an error in words of its own: the system's name a path that nobody has given.
func onStdout(err error) error {
	if errors.Is(err, context.Canceled) {
		return &interruption{": stdout: " + err.Error()}
	}
	var e *fs.PathError
	if errors.As(err, &e) {
		err = e.Err
	}
	return fmt.Errorf("write to stdout: %w", err)
}
