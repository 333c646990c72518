package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
)

// spoolMemory is how much of a spool is in memory.
const spoolMemory = 1 << 24

// spool holds output that is to appear on stdout whole or not at all: in memory, and
// beyond spoolMemory in a temporary file.
type spool struct {
	b    bytes.Buffer
	file *os.File
}

// Write adds to the spool.
func (s *spool) Write(b []byte) (int, error) {
	if s.b.Len()+len(b) > spoolMemory {
		if err := s.spill(); err != nil {
			return 0, err
		}
	}
	return s.b.Write(b)
}

// spill empties the memory into the file.
func (s *spool) spill() (err error) {
	if s.file == nil {
		if s.file, err = os.CreateTemp("", "vssgp-*"); err != nil {
			return fmt.Errorf("hold what goes to stdout: %w", err)
		}
		os.Remove(s.file.Name()) // where an open file may go its space is freed however this ends
	}
	if _, err = s.b.WriteTo(s.file); err != nil {
		return fmt.Errorf("hold what goes to stdout: %w", err)
	}
	return nil
}

// copyTo writes all of it.
func (s *spool) copyTo(w io.Writer) error {
	if s.file != nil {
		if _, err := s.file.Seek(0, io.SeekStart); err != nil {
			return fmt.Errorf("hold what goes to stdout: %w", err)
		}
		if _, err := io.Copy(w, s.file); err != nil {
			return fmt.Errorf("write to stdout: %w", err)
		}
	}
	if _, err := s.b.WriteTo(w); err != nil {
		return fmt.Errorf("write to stdout: %w", err)
	}
	return nil
}

func (s *spool) close() {
	if s.file == nil {
		return
	}
	s.file.Close()
	os.Remove(s.file.Name()) // where that could not be done while it was open
}
