package fileio

import (
	"bytes"
	"fmt"
	"io"
	"os"
)

// spoolMemory is the maximum number of bytes of a Spool in memory.
const spoolMemory = 1 << 24

// A Spool stores output that cannot be written yet, in memory or, above 16 MiB, in a temporary file. The zero value is empty.
type Spool struct {
	InMemory bool // never use a temporary file

	b    bytes.Buffer
	file *os.File
}

// Write appends to the spool.
func (s *Spool) Write(b []byte) (int, error) {
	if !s.InMemory && s.b.Len()+len(b) > spoolMemory {
		if err := s.spill(); err != nil {
			return 0, fmt.Errorf("store the output: %w", err)
		}
	}
	return s.b.Write(b)
}

// spill moves the content of the memory to the file.
func (s *Spool) spill() (err error) {
	if s.file == nil {
		if s.file, err = os.CreateTemp("", "vssgp-*"); err != nil {
			return err
		}
		os.Remove(s.file.Name()) // if the system allows it, so that the space is freed however the process ends
	}
	_, err = s.b.WriteTo(s.file)
	return err
}

// CopyTo writes the content to w. It can be called once.
func (s *Spool) CopyTo(w io.Writer) error {
	if s.file != nil {
		if _, err := s.file.Seek(0, io.SeekStart); err != nil {
			return fmt.Errorf("store the output: %w", err)
		}
		if _, err := io.Copy(w, s.file); err != nil {
			return err
		}
	}
	_, err := s.b.WriteTo(w)
	return err
}

// Close frees the memory and the file.
func (s *Spool) Close() {
	if s.file != nil {
		s.file.Close()
		os.Remove(s.file.Name()) // if the system did not allow it while the file was open
	}
	*s = Spool{}
}
