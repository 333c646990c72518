package fileio

import "io"

// Fail simulates failures in tests. It is called before each operation on a file, which is "open", "read",
// "create", "write", "sync", "rename" or "sync folder". If it returns an error, the operation fails. It is nil outside
// of tests.
var Fail func(operation, path string) error

func fail(operation, path string) error {
	if Fail == nil {
		return nil
	}
	return Fail(operation, path)
}

// A failingWriter calls Fail before each write.
type failingWriter struct {
	io.Writer
	path string
}

func (w failingWriter) Write(b []byte) (int, error) {
	if err := fail("write", w.path); err != nil {
		return 0, err
	}
	return w.Writer.Write(b)
}
