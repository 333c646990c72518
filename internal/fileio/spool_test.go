package fileio

import (
	"bytes"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

// TestSpool: much output is held in a file.
func TestSpool(t *testing.T) {
	s := &Spool{}
	defer s.Close()
	var want, got bytes.Buffer
	for i := range 2*spoolMemory/(1<<20) + 1 {
		part := bytes.Repeat([]byte{byte(i)}, 1<<20)
		want.Write(part)
		testkit.Must(s.Write(part))(t)
	}
	if s.file == nil || s.b.Len() > spoolMemory {
		t.Errorf("%d bytes in memory", s.b.Len())
	}
	if err := s.CopyTo(&got); err != nil || !bytes.Equal(got.Bytes(), want.Bytes()) {
		t.Errorf("%v; %d bytes of %d", err, got.Len(), want.Len())
	}
}
